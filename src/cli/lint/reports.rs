//! Findings for machines: SARIF 2.1.0 for code scanning, `JUnit` test reports (a suite per recording,
//! a case per rule), and annotations of GitHub Actions (one per rule and recording).
//!
//! Code scanning shows some thousands of results of a run, the first ones, and drops the rest. So no
//! more are written, the worst of each recording first, and a notification counts what is left out.

use super::Level;
use super::checked::{Checked, Group, sentence};
use crate::cli::exit::Failure;
use crate::cli::machine::{self, Annotation, Annotations, Case, Kind, Verdict, safe};
use crate::cli::output::Output;
use mcpreel_lint::{Rule, Severity, catalogue};
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::plural;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Results of a run, as many as code scanning shows.
const RESULTS: usize = 5000;

/// The results of a SARIF file.
#[derive(Debug, Default)]
pub struct Sarif {
    results: Vec<Value>,
    left_out: u64,
}

impl Sarif {
    /// Adds what was found in one recording.
    pub fn add(&mut self, checked: &Checked<'_>) -> Result<(), Failure> {
        let uri = uri(checked.recording.path());
        for group in &checked.groups {
            let room = RESULTS - self.results.len();
            for finding in group.findings.iter().take(room) {
                self.results.push(result(checked, group, finding, &uri)?);
            }
            let beyond = group.findings.len().saturating_sub(room) as u64;
            self.left_out += group.more() + beyond;
        }
        Ok(())
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
    checked: &Checked<'_>,
    group: &Group,
    finding: &FindingRow,
    uri: &str,
) -> Result<Value, Failure> {
    let request = checked.recording.request_of(finding)?;
    let path = finding.path.as_deref().map(safe);
    let mut name = checked.place(finding);
    if let Some(path) = &path {
        name = format!("{name} {path}");
    }
    Ok(json!({
        "ruleId": safe(&group.rule),
        "level": group.severity.as_str(),
        "message": {"text": safe(&sentence(finding))},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri}},
            "logicalLocations": [{"fullyQualifiedName": name}],
        }],
        "properties": {
            "frame": finding.frame.map(|seq| seq.0),
            "request": request.map(|seq| seq.0),
            "path": path,
        },
    }))
}

/// A path as a reference in the sense of RFC 3986.
fn uri(path: &Path) -> String {
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

/// The suite of one recording: a case per rule that is not passed over, and per rule that another
/// version of mcpreel has found.
pub fn junit(checked: &Checked<'_>, fail_on: Level, out: &mut Output) -> Result<(), Failure> {
    let rules = catalogue().iter().map(|rule| rule.id);
    let rules = rules.filter(|id| !checked.skip.contains(*id));
    let mut cases: Vec<_> = rules.map(passed).collect();
    for group in &checked.groups {
        let at = cases.iter().position(|case| *case.name == *group.rule);
        let at = at.unwrap_or_else(|| {
            cases.push(passed(&group.rule));
            cases.len() - 1
        });
        let case = &mut cases[at];
        if fail_on.fails(group.severity) {
            let summary = mcpreel_lint::rule(&group.rule).map_or("", |rule| rule.summary);
            case.verdict = Verdict::Failed(summary.to_owned());
        }
        for finding in &group.findings {
            let (severity, place) = (group.severity.as_str(), checked.place(finding));
            let path = finding.path.as_deref();
            let path = path.map_or_else(String::new, |path| format!("{path}: "));
            case.lines
                .push(format!("{severity} {place}: {path}{}", finding.detail));
        }
        if group.more() > 0 {
            let more = plural(group.more(), "more finding");
            case.lines.push(format!("and {more}"));
        }
    }
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
pub fn github(checked: &Checked<'_>, annotations: &mut Annotations) {
    let file = checked.recording.path().to_string_lossy();
    for group in &checked.groups {
        let Some(first) = group.findings.first() else {
            continue;
        };
        let first = format!("{}: {}", checked.place(first), sentence(first));
        let mut message = safe(&first);
        if group.count > 1 {
            message = format!("{message} (and {} more)", group.count - 1);
        }
        annotations.add(Annotation {
            kind: match group.severity {
                Severity::Error => Kind::Error,
                Severity::Warning => Kind::Warning,
                Severity::Note => Kind::Notice,
            },
            file: &file,
            title: &group.rule,
            message: &message,
            stands_for: group.count,
        });
    }
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
