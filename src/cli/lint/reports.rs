//! Findings for machines: SARIF 2.1.0 for code scanning, `JUnit` test reports (a suite per recording,
//! a case per rule), and annotations of GitHub Actions (one per rule and recording).
//!
//! Code scanning shows some thousands of results of a run, the first ones, and drops the rest. So no
//! more are written, the worst of each recording first, and a notification counts what is left out.

use super::Level;
use super::checked::{Checked, Told, sentence};
use crate::cli::exit::Failure;
use crate::cli::machine::{self, Annotation, Annotations, Case, Kind, Verdict, safe};
use crate::cli::output::Output;
use mcpreel_lint::{Rule, Severity, catalogue};
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::plural;
use serde_json::{Value, json};
use std::path::Path;

/// Results of a run, as many as code scanning shows.
const RESULTS: usize = 5000;

/// Results of one rule in one recording, so that one rule leaves room for the others.
const OF_A_RULE: u32 = 100;

/// The results of a SARIF file.
#[derive(Debug, Default)]
pub struct Sarif {
    results: Vec<Value>,
    left_out: u64,
}

impl Sarif {
    /// Adds what was found in one recording.
    pub fn add(&mut self, checked: &Checked) -> Result<(), Failure> {
        let uri = uri(checked.recording.path());
        checked.each_group(OF_A_RULE, |told| {
            self.left_out += told.more;
            for finding in &told.findings {
                if self.results.len() == RESULTS {
                    self.left_out += 1;
                    continue;
                }
                let request = checked.recording.request_of(finding)?;
                let result = result(checked, &told, finding, request.map(|seq| seq.0), &uri);
                self.results.push(result);
            }
            Ok(())
        })
    }

    pub fn write(self, out: &mut Output) -> Result<(), Failure> {
        let mut invocation = json!({"executionSuccessful": true});
        if self.left_out > 0 {
            let left_out = plural(self.left_out, "finding");
            let text = format!("{left_out} left out here; `mcpreel lint --json` has all of them");
            invocation["toolExecutionNotifications"] =
                json!([{"level": "warning", "message": {"text": text}}]);
        }
        let rules: Vec<_> = catalogue().iter().map(|rule| descriptor(rule)).collect();
        let driver = json!({
            "name": "mcpreel",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        });
        Ok(out.json(&json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": driver},
                "results": self.results,
                "invocations": [invocation],
            }],
        }))?)
    }
}

fn descriptor(rule: &Rule) -> Value {
    let mut descriptor = json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity.as_str()},
    });
    if let Some((_, url)) = rule.reference() {
        descriptor["helpUri"] = url.into();
    }
    descriptor
}

fn result(
    checked: &Checked,
    told: &Told,
    finding: &FindingRow,
    request: Option<u64>,
    uri: &str,
) -> Value {
    let path = finding.path.as_deref().map(safe);
    let place = checked.place(finding);
    let name = match &path {
        Some(path) => format!("{place} {path}"),
        None => place,
    };
    json!({
        "ruleId": safe(&told.rule),
        "level": told.severity.as_str(),
        "message": {"text": safe(&sentence(finding))},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri}},
            "logicalLocations": [{"fullyQualifiedName": name}],
        }],
        "properties": {
            "frame": finding.frame.map(|seq| seq.0),
            "request": request,
            "path": path,
        },
    })
}

/// A path as a reference in the sense of RFC 3986.
fn uri(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let scheme = if path.is_absolute() { "file://" } else { "" };
    let mut uri = scheme.to_owned();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

/// Findings that a case shows; a report is read by people.
const CASE_SHOWS: u32 = 20;

/// The suite of one recording: a case per rule that is not passed over, and per rule that another
/// version of mcpreel has found.
pub fn junit(checked: &Checked, fail_on: Level, out: &mut Output) -> Result<(), Failure> {
    let rules = catalogue().iter().map(|rule| rule.id);
    let rules = rules.filter(|id| !checked.skip.contains(*id));
    let mut cases: Vec<_> = rules.map(passed).collect();
    checked.each_group(CASE_SHOWS, |told| {
        let at = cases.iter().position(|case| *case.name == *told.rule);
        let at = at.unwrap_or_else(|| {
            cases.push(passed(&told.rule));
            cases.len() - 1
        });
        let case = &mut cases[at];
        if fail_on.fails(told.severity) {
            let summary = mcpreel_lint::rule(&told.rule).map_or("", |rule| rule.summary);
            case.verdict = Verdict::Failed(summary.to_owned());
        }
        let severity = told.severity.as_str();
        for finding in &told.findings {
            let path = finding.path.as_deref();
            let path = path.map_or_else(String::new, |path| format!("{path}: "));
            let place = checked.place(finding);
            let line = format!("{severity} {place}: {path}{}", finding.detail);
            case.lines.push(line);
        }
        if told.more > 0 {
            let more = plural(told.more, "more finding");
            case.lines.push(format!("and {more}"));
        }
        Ok(())
    })?;
    let suite = format!("{} {}", checked.id, checked.name);
    machine::suite(&suite, &cases, out)
}

fn passed(rule: &str) -> Case {
    Case {
        name: rule.to_owned(),
        verdict: Verdict::Passed,
        lines: Vec::new(),
    }
}

/// Adds what was found in one recording.
pub fn github(checked: &Checked, annotations: &mut Annotations) -> Result<(), Failure> {
    let file = checked.recording.path().to_string_lossy();
    checked.each_group(1, |told| {
        let first = told.findings.first();
        let first = first.map_or_else(String::new, |finding| checked.placed(finding));
        let more = match told.count() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("{}{more}", safe(&first));
        annotations.add(Annotation {
            kind: match told.severity {
                Severity::Error => Kind::Error,
                Severity::Warning => Kind::Warning,
                Severity::Note => Kind::Notice,
            },
            file: &file,
            title: &told.rule,
            message: &message,
            stands_for: told.count(),
        });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(
            uri(Path::new("/tmp/a b#1.reel")),
            "file:///tmp/a%20b%231.reel"
        );
        assert_eq!(
            uri(Path::new("recordings/ü.reel")),
            "recordings/%C3%BC.reel"
        );
    }
}
