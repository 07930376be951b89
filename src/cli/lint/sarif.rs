//! SARIF 2.1.0, for code scanning. Results are written as they are found: there may be a million.

use super::{Checked, sentence};
use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::lint::{Rule, Severity, catalogue};
use crate::store::reader::FindingRow;
use serde_json::{Value, json};
use std::path::Path;

/// How far it is.
#[derive(Debug, Default)]
pub struct Sarif {
    results: u64,
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

/// Everything after them.
pub fn end(out: &mut Output) -> Result<(), Failure> {
    Ok(out.line("]}]}")?)
}

impl Sarif {
    /// The results of one recording.
    pub fn recording(&mut self, checked: &Checked, out: &mut Output) -> Result<(), Failure> {
        let uri = uri(checked.recording.path());
        checked.each(|finding, request| {
            let comma = if self.results > 0 { "," } else { "" };
            self.results += 1;
            let result = result(checked, finding, request, &uri);
            Ok(out.line(&format!("{comma}{result}"))?)
        })
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

fn result(checked: &Checked, finding: &FindingRow, request: Option<u64>, uri: &str) -> Value {
    let level = Severity::parse(&finding.severity).map_or("note", Severity::as_str);
    let place = checked.place(finding);
    let name = match &finding.path {
        Some(path) => format!("{place} {path}"),
        None => place,
    };
    json!({
        "ruleId": finding.rule,
        "level": level,
        "message": {"text": sentence(finding)},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri}},
            "logicalLocations": [{"fullyQualifiedName": name}],
        }],
        "properties": {
            "frame": finding.frame.map(|seq| seq.0),
            "request": request,
            "path": finding.path,
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
