//! A comparison for programs: one JSON object per line, a summary first; as a test report, a case
//! per method and tool; as annotations, in which what fails is an error and the rest a notice.

use super::party::opens;
use super::said::{self, Entry, grouped, left_out, unfired, verdict};
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
        let about = json!({"list": offer.list.member(), "name": offer.name, "times": offer.times});
        let seqs = [offer.left, offer.right];
        out.json(&line("offer", about, seqs, &offer.difference, parties))?;
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
    let [left, right] = compared.parties.each_ref().map(side);
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

fn side(party: &Party) -> Value {
    json!({
        "id": party.id,
        "name": party.name,
        "version": party.version,
        "path": party.path,
        "seq": party.seq.map(|seq| seq.0),
        "exchanges": party.exchanges,
        "state": party.state,
        "gap_bytes": party.gap_bytes,
    })
}

/// A value that differs, with what it is `about`.
fn line(
    kind: &str,
    about: Value,
    seqs: [Option<Seq>; 2],
    difference: &Difference,
    parties: &[Party; 2],
) -> Value {
    let mut line = json!({"kind": kind, "class": difference.class.as_str()});
    let rest = json!({
        "left": seqs[0].map(|seq| seq.0),
        "right": seqs[1].map(|seq| seq.0),
        "half": match difference.half {
            Half::Request => "request",
            Half::Response => "response",
        },
        "path": difference.path,
        "change": difference.change.as_str(),
        "was": difference.left,
        "is": difference.right,
        "note": difference.note,
        "open": opens(parties, seqs),
    });
    if let (Value::Object(line), Value::Object(about), Value::Object(rest)) =
        (&mut line, about, rest)
    {
        line.extend(about);
        line.extend(rest);
    }
    line
}

fn exchange(account: &Account, parties: &[Party; 2], out: &mut Output) -> Result<(), Failure> {
    let seqs = [account.left, account.right];
    for difference in &account.differences {
        let about = json!({"method": account.method, "name": account.name});
        out.json(&line("difference", about, seqs, difference, parties))?;
    }
    if account.outcome != Outcome::Differs || account.more > 0 {
        out.json(&json!({
            "kind": "exchange",
            "class": account.class.map(Class::as_str),
            "method": account.method,
            "name": account.name,
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
    let report = compared.report;
    let mut all: BTreeMap<Call, Vec<String>> = BTreeMap::new();
    for offer in &report.offers {
        let lines = all.entry((offer.list.method().into(), None)).or_default();
        let entry = said::offered(offer);
        if lines.len() < SHOWN && !entry.is_noise() {
            let about = format!("{} at ", entry.subject);
            lines.push(case_line(&entry, &about, compared));
        }
    }
    for group in grouped(report) {
        let call = (group.method.into(), group.name.map(Into::into));
        let lines = all.entry(call).or_default();
        let entries: Vec<_> = group.entries.iter().filter(|one| !one.is_noise()).collect();
        let shown = entries.iter().take(SHOWN);
        lines.extend(shown.map(|entry| case_line(entry, "", compared)));
        let more = entries.len().saturating_sub(SHOWN) as u64 + group.more;
        if more > 0 {
            lines.push(format!("and {}", plural(more, "more difference")));
        }
    }
    all
}

fn case_line(entry: &Entry<'_>, about: &str, compared: &Compared<'_>) -> String {
    let class = entry.class.map_or("skipped", Class::as_str);
    let spots = opens(compared.parties, entry.seqs).join(", ");
    let times = match entry.times {
        1 => String::new(),
        times => format!("{times} times, first "),
    };
    format!("{class} {about}{} ({times}{spots})", entry.in_words())
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
    let mut entry = |subject: &str, entry: &Entry<'_>| {
        let title = format!(
            "{}: {subject}",
            entry.class.map_or("skipped", Class::as_str)
        );
        let said = entry.in_words();
        let message = match opens(compared.parties, entry.seqs).join(", ") {
            none if none.is_empty() => said,
            spots => format!("{said} ({spots})"),
        };
        if entry.class.is_some_and(|class| report.fail_on.fails(class)) {
            add(Kind::Error, &title, &message, entry.times);
        } else if !entry.is_noise() {
            add(Kind::Notice, &title, &message, entry.times);
        }
    };
    for offer in &report.offers {
        let offered = said::offered(offer);
        entry(&offered.subject, &offered);
    }
    let groups = grouped(report);
    for group in &groups {
        let subject = words::call((group.method, group.name));
        group.entries.iter().for_each(|one| entry(&subject, one));
    }
    let more = groups.iter().map(|group| group.more).sum::<u64>();
    let more = more + report.left_out.exchanges + report.left_out.offers;
    annotations.left_out(Kind::Notice, more);
    annotations.write(out)
}
