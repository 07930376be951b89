//! SARIF 2.1.0, for code scanning. Results are written as they are found, the worst first.
//!
//! Whoever takes them shows some thousands of a run and drops the rest, some without a word. So no
//! more are written, and a notification says how many were left out.

use super::checked::{Checked, Told, sentence};
use crate::cli::exit::Failure;
use crate::cli::machine::safe;
use crate::cli::output::Output;
use mcpreel_lint::{Rule, catalogue};
use mcpreel_store::reader::FindingRow;
use mcpreel_wire::text::plural;
use serde_json::{Value, json};
use std::path::Path;

/// Results of a run, as many as code scanning shows.
const RESULTS: u64 = 5000;

/// Results of one rule in one recording, so that one rule leaves room for the others.
const OF_A_RULE: u32 = 100;

/// How far it is.
#[derive(Debug, Default)]
pub struct Sarif {
    results: u64,
    left_out: u64,
}

/// Everything before the results.
pub fn begin(out: &mut Output) -> Result<(), Failure> {
    let rules: Vec<_> = catalogue().iter().map(|rule| descriptor(rule)).collect();
    let tool = json!({"driver": {
        "name": "mcpreel",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    }});
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    Ok(out.line(&format!(
        r#"{{"$schema":"{schema}","version":"2.1.0","runs":[{{"tool":{tool},"results":["#
    ))?)
}

impl Sarif {
    /// The results of one recording.
    pub fn recording(&mut self, checked: &Checked, out: &mut Output) -> Result<(), Failure> {
        let uri = uri(checked.recording.path());
        checked.each_group(OF_A_RULE, |told| {
            self.left_out += told.more;
            for finding in &told.findings {
                if self.results == RESULTS {
                    self.left_out += 1;
                    continue;
                }
                let comma = if self.results > 0 { "," } else { "" };
                self.results += 1;
                let request = checked.recording.request_of(finding)?;
                let result = result(checked, &told, finding, request.map(|seq| seq.0), &uri);
                out.line(&format!("{comma}{result}"))?;
            }
            Ok(())
        })
    }

    /// Everything after the results.
    pub fn end(&self, out: &mut Output) -> Result<(), Failure> {
        let mut invocation = json!({"executionSuccessful": true});
        if self.left_out > 0 {
            let left_out = plural(self.left_out, "finding");
            let text = format!("{left_out} left out here; `mcpreel lint --json` has all of them");
            invocation["toolExecutionNotifications"] =
                json!([{"level": "warning", "message": {"text": text}}]);
        }
        Ok(out.line(&format!(r#"],"invocations":[{invocation}]}}]}}"#))?)
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
