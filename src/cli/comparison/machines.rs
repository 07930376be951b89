//! A comparison for programs: one JSON object per line, a summary first; as a test report, a case
//! per method and tool; as annotations, in which what fails is an error and the rest a notice.

use super::party::opens;
use super::verdict::{Entry, grouped, left_out, unfired, verdict};
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::machine::{
    self, Annotation, Annotations, Case, Kind, Verdict, begin_junit, end_junit,
};
use crate::cli::output::Output;
use mcpreel_replay::diff::words;
use mcpreel_replay::diff::{Account, Call, Class, Counts, Difference, Half, Outcome};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, plural};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Differences that a test case shows; a report is read by people.
const SHOWN: usize = 20;

/// Writes a comparison for programs.
pub fn json(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let (report, parties) = (compared.report, compared.parties);
    out.json(&summary(compared))?;
    for (trouble, text) in &report.troubles {
        out.json(&json!({"kind": "trouble", "trouble": trouble.as_str(), "text": text}))?;
    }
    for offer in &report.offers {
        let (list, name) = (offer.list.member(), &offer.name);
        let about = json!({"kind": "offer", "list": list, "name": name, "times": offer.times});
        let seqs = [offer.left, offer.right];
        out.json(&line(about, seqs, &offer.difference, parties))?;
    }
    for account in &report.accounts {
        exchange(account, parties, out)?;
    }
    for rule in &report.unfired {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        out.json(&json!({"kind": "unfired", "at": at, "rule": rule}))?;
    }
    Ok(())
}

fn summary(compared: &Compared<'_>) -> Value {
    let report = compared.report;
    let counts: Map<_, _> = Class::ALL
        .into_iter()
        .map(|class| (class.as_str().to_owned(), report.count(class).into()))
        .collect();
    let [left, right] = compared.parties;
    json!({
        "kind": "summary",
        "verdict": verdict(compared),
        "exit_code": report.exit_code(),
        "fail_on": report.fail_on.as_str(),
        "left": left,
        "right": right,
        "compared": report.compared,
        "same": report.same,
        "redacted": report.redacted,
        "counts": counts,
        "rules": compared.rules,
        "left_out": report.left_out,
    })
}

/// A difference as an object, with what it is `about`.
fn line(
    about: Value,
    seqs: [Option<Seq>; 2],
    difference: &Difference,
    parties: &[Party; 2],
) -> Value {
    let half = match difference.half {
        Half::Request => "request",
        Half::Response => "response",
    };
    let mut line = about;
    for (key, value) in [
        ("class", difference.class.as_str().into()),
        ("left", json!(seqs[0].map(|seq| seq.0))),
        ("right", json!(seqs[1].map(|seq| seq.0))),
        ("half", half.into()),
        ("path", json!(difference.path)),
        ("change", difference.change.as_str().into()),
        ("was", json!(difference.left)),
        ("is", json!(difference.right)),
        ("note", json!(difference.note)),
        ("open", json!(opens(parties, seqs))),
    ] {
        line[key] = value;
    }
    line
}

fn exchange(account: &Account, parties: &[Party; 2], out: &mut Output) -> Result<(), Failure> {
    let seqs = [account.left, account.right];
    let (method, name) = (&account.method, &account.name);
    for difference in &account.differences {
        let about = json!({"kind": "difference", "method": method, "name": name});
        out.json(&line(about, seqs, difference, parties))?;
    }
    if account.outcome != Outcome::Differs || account.more > 0 {
        out.json(&json!({
            "kind": "exchange",
            "class": account.class.map(Class::as_str),
            "method": method,
            "name": name,
            "left": seqs[0].map(|seq| seq.0),
            "right": seqs[1].map(|seq| seq.0),
            "outcome": words::outcome(account),
            "text": words::said(account),
            "differences_left_out": account.more,
            "open": opens(parties, seqs),
        }))?;
    }
    Ok(())
}

/// Writes a test report.
pub fn junit(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let mut cases = vec![whole(compared)];
    let mut lines = case_lines(compared);
    cases.extend(report.tallies.iter().map(|(call, tally)| {
        let is_skipped = tally.compared == 0 && tally.counts == Counts::default();
        Case {
            name: words::call((&call.0, call.1.as_deref())),
            verdict: if tally.counts.failing(report.fail_on) > 0 {
                Verdict::Failed(words::counted(tally.counts))
            } else if is_skipped {
                Verdict::Skipped("not tried".to_owned())
            } else {
                Verdict::Passed
            },
            lines: lines.remove(call).unwrap_or_default(),
        }
    }));
    // By names that are the same in every run: test reports tell from them how a test went before.
    let [left, right] = compared.parties.each_ref().map(Party::lasting_name);
    let suite = match compared.command {
        "mcpreel diff" if left != right => format!("{left} with {right}"),
        _ => left,
    };
    begin_junit(compared.command, out)?;
    machine::suite(&suite, &cases, out)?;
    end_junit(out)
}

/// The comparison as a whole: whether there was anything to compare.
fn whole(compared: &Compared<'_>) -> Case {
    let report = compared.report;
    let troubles = report.troubles.iter();
    let mut lines: Vec<_> = troubles.map(|(_, text)| text.to_string()).collect();
    lines.extend(left_out(report));
    lines.extend(unfired(report, SHOWN));
    Case {
        name: "comparison".to_owned(),
        verdict: match report.trouble() {
            Some(_) => Verdict::Error(verdict(compared)),
            None => Verdict::Passed,
        },
        lines,
    }
}

/// What is said, by the call that it is said of.
fn case_lines(compared: &Compared<'_>) -> BTreeMap<Call, Vec<String>> {
    let mut all: BTreeMap<Call, Vec<String>> = BTreeMap::new();
    for group in grouped(compared.report) {
        let call = (group.call.0.into(), group.call.1.map(Into::into));
        let lines = all.entry(call).or_default();
        let entries: Vec<_> = group.entries.iter().filter(|one| !one.is_noise()).collect();
        let shown = entries.iter().take(SHOWN);
        lines.extend(shown.map(|entry| case_line(entry, compared)));
        let more = entries.len().saturating_sub(SHOWN) as u64 + group.more;
        if more > 0 {
            lines.push(format!("and {}", plural(more, "more difference")));
        }
    }
    all
}

fn case_line(entry: &Entry<'_>, compared: &Compared<'_>) -> String {
    let class = entry.class.map_or("skipped", Class::as_str);
    let spots = opens(compared.parties, entry.seqs).join(", ");
    let times = match entry.times {
        1 => String::new(),
        times => format!("{times} times, first "),
    };
    format!("{class} {} ({times}{spots})", entry.in_words())
}

/// Writes annotations.
pub fn github(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let file = Party::file(compared.parties);
    let mut annotations = Annotations::new("difference");
    let mut add = |kind, title: &str, message: &str, stands_for| {
        annotations.add(Annotation {
            kind,
            file: &file,
            title,
            message,
            stands_for,
        });
    };
    if report.trouble().is_some() {
        add(Kind::Error, "comparison", &verdict(compared), 1);
    }
    let groups = grouped(report);
    for (group, entry) in groups
        .iter()
        .flat_map(|one| one.entries.iter().map(move |it| (one, it)))
    {
        let fails = entry.class.is_some_and(|class| report.fail_on.fails(class));
        if entry.is_noise() && !fails {
            continue;
        }
        let subject = if entry.is_offer {
            entry.subject.clone()
        } else {
            group.title()
        };
        let class = entry.class.map_or("skipped", Class::as_str);
        let spots = match opens(compared.parties, entry.seqs).join(", ") {
            none if none.is_empty() => none,
            spots => format!(" ({spots})"),
        };
        let kind = if fails { Kind::Error } else { Kind::Notice };
        let message = format!("{}{spots}", entry.in_words());
        add(kind, &format!("{class}: {subject}"), &message, entry.times);
    }
    let more = groups.iter().map(|group| group.more).sum::<u64>();
    let more = more + report.left_out.exchanges + report.left_out.offers;
    annotations.left_out(Kind::Notice, more);
    annotations.write(out)
}
