//! A comparison for programs: one JSON object per line, a summary first; as a test report, a case
//! per method and tool; as annotations, in which what fails is an error and the rest a notice.

use super::comparison_text::{grouped, left_out, verdict};
use super::opens;
use super::{Compared, Party};
use crate::cli::ci_reports::{self, Annotation, Case, Verdict};
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use mcpreel_replay::diff::{Class, Counts, Difference, Half, Outcome, words};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, plural};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Differences that a test case shows; a report is read by people.
const SHOWN: usize = 20;

/// Writes a comparison for programs.
pub fn json(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let (report, parties) = (compared.report, compared.parties);
    let counts =
        Class::ALL.map(|class| (class.as_str().to_owned(), report.counts.of(class).into()));
    let [left, right] = parties;
    out.json(&json!({
        "kind": "summary",
        "verdict": verdict(compared),
        "exit_code": report.exit_code(),
        "fail_on": report.fail_on.as_str(),
        "left": left,
        "right": right,
        "compared": report.compared,
        "same": report.same,
        "redacted": report.redacted,
        "counts": Map::from_iter(counts),
        "rules": compared.rules,
        "left_out": report.left_out,
    }))?;
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
        let seqs = [account.left, account.right];
        let (method, name) = (&account.method, &account.name);
        for difference in &account.differences {
            let about = json!({"kind": "difference", "method": method, "name": name});
            out.json(&line(about, seqs, difference, parties))?;
        }
        if account.outcome == Outcome::Differs && account.more == 0 {
            continue;
        }
        let (outcome, text) = words::outcome(account);
        out.json(&json!({
            "kind": "exchange",
            "class": account.class.map(Class::as_str),
            "method": method,
            "name": name,
            "left": seqs[0].map(|seq| seq.0),
            "right": seqs[1].map(|seq| seq.0),
            "outcome": outcome,
            "text": text,
            "differences_left_out": account.more,
            "open": opens(parties, seqs),
        }))?;
    }
    for rule in &report.unfired {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        out.json(&json!({"kind": "unfired", "at": at, "rule": rule}))?;
    }
    Ok(())
}

/// A difference as an object, with what it is about.
fn line(
    mut line: Value,
    seqs: [Option<Seq>; 2],
    difference: &Difference,
    parties: &[Party; 2],
) -> Value {
    let half = match difference.half {
        Half::Request => "request",
        Half::Response => "response",
    };
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

/// Writes a test report: a case for the comparison as a whole, then one per call.
pub fn junit(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let troubles = report.troubles.iter().map(|(_, text)| text.to_string());
    let mut cases = vec![Case {
        name: "comparison".to_owned(),
        verdict: match report.trouble() {
            Some(_) => Verdict::Error(verdict(compared)),
            None => Verdict::Passed,
        },
        lines: troubles.chain(left_out(report, SHOWN)).collect(),
    }];
    let mut lines: HashMap<_, Vec<String>> = HashMap::new();
    for group in grouped(report) {
        let more = group.entries.len().saturating_sub(SHOWN) as u64 + group.more;
        let of_call = lines.entry(group.call).or_default();
        of_call.extend(group.entries.iter().take(SHOWN).map(|entry| {
            let spots = opens(compared.parties, entry.seqs).join(", ");
            let times = match entry.times {
                1 => String::new(),
                times => format!("{times} times, first "),
            };
            let class = entry.class_word();
            format!("{class} {} ({times}{spots})", entry.in_words())
        }));
        if more > 0 {
            of_call.push(format!("and {}", plural(more, "more difference")));
        }
    }
    cases.extend(report.tallies.iter().map(|((method, name), tally)| {
        let name = words::call((method, name.as_deref()));
        let is_skipped = tally.compared == 0 && tally.counts == Counts::default();
        Case {
            lines: lines.remove(&name).unwrap_or_default(),
            verdict: if tally.counts.failing(report.fail_on) > 0 {
                Verdict::Failed(words::counted(tally.counts))
            } else if is_skipped {
                Verdict::Skipped("not tried".to_owned())
            } else {
                Verdict::Passed
            },
            name,
        }
    }));
    // By names that are the same in every run: test reports tell from them how a test went before.
    let [left, right] = compared.parties.each_ref().map(Party::lasting_name);
    let suite = match compared.command {
        "mcpreel diff" if left != right => format!("{left} with {right}"),
        _ => left,
    };
    ci_reports::junit(compared.command, &[(suite, cases)], out)
}

/// Writes annotations.
pub fn github(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let file = Party::file(compared.parties);
    let annotation = |fails, title, message, stands_for| Annotation {
        kind: if fails { "error" } else { "notice" },
        file: file.clone(),
        title,
        message,
        stands_for,
    };
    let mut annotations = Vec::new();
    if report.trouble().is_some() {
        let title = "comparison".to_owned();
        annotations.push(annotation(true, title, verdict(compared), 1));
    }
    let mut left_out = report.left_out.exchanges + report.left_out.offers;
    for group in grouped(report) {
        left_out += group.more;
        for entry in &group.entries {
            let fails = entry.class.is_some_and(|class| report.fail_on.fails(class));
            let title = if entry.is_offer {
                entry.subject.clone()
            } else {
                group.title()
            };
            let title = format!("{}: {title}", entry.class_word());
            let spots = opens(compared.parties, entry.seqs).join(", ");
            let message = format!("{} ({spots})", entry.in_words());
            annotations.push(annotation(fails, title, message, entry.times));
        }
    }
    let noun = "difference";
    Ok(ci_reports::github(noun, &annotations, left_out, out)?)
}
