//! A test report: a suite per recording, a case per rule.

use super::checked::Checked;
use crate::cli::args::Level;
use crate::cli::exit::Failure;
use crate::cli::machine::junit::{self, Case, Verdict};
use crate::cli::output::Output;
use mcpreel_lint::catalogue;
use mcpreel_wire::text::plural;
use std::collections::BTreeMap;

/// Findings that a case shows; a report is read by people.
const SHOWN: u32 = 20;

/// What a rule has found.
#[derive(Debug, Default)]
struct Found {
    is_failed: bool,
    /// A line each.
    lines: Vec<String>,
}

/// The suite of one recording.
pub fn recording(checked: &Checked, fail_on: Level, out: &mut Output) -> Result<(), Failure> {
    let mut found = found(checked, fail_on)?;
    let known = catalogue().iter().map(|rule| rule.id);
    let known: Vec<_> = known.filter(|id| !checked.skip.contains(*id)).collect();
    let mut cases: Vec<_> = known
        .iter()
        .map(|rule| case(rule, found.remove(*rule).unwrap_or_default()))
        .collect();
    // What another version of mcpreel has found and we do not know has a case as well.
    cases.extend(found.into_iter().map(|(rule, found)| case(&rule, found)));
    let suite = format!("{} {}", checked.id, checked.name);
    junit::suite(&suite, &cases, out)
}

fn case(rule: &str, found: Found) -> Case {
    let summary = mcpreel_lint::rule(rule).map_or("", |rule| rule.summary);
    Case {
        name: rule.to_owned(),
        verdict: if found.is_failed {
            Verdict::Failed(summary.to_owned())
        } else {
            Verdict::Passed
        },
        lines: found.lines,
    }
}

/// What was found, by rule.
fn found(checked: &Checked, fail_on: Level) -> Result<BTreeMap<Box<str>, Found>, Failure> {
    let mut all: BTreeMap<Box<str>, Found> = BTreeMap::new();
    checked.each_group(SHOWN, |told| {
        let found = all.entry(told.rule.clone()).or_default();
        found.is_failed |= fail_on.fails(told.severity);
        let severity = told.severity.as_str();
        for finding in &told.findings {
            let path = finding.path.as_deref();
            let path = path.map_or_else(String::new, |path| format!("{path}: "));
            let place = checked.place(finding);
            found
                .lines
                .push(format!("{severity} {place}: {path}{}", finding.detail));
        }
        if told.more > 0 {
            let more = plural(told.more, "more finding");
            found.lines.push(format!("and {more}"));
        }
        Ok(())
    })?;
    Ok(all)
}
