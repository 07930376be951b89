//! What was found in a recording, in the formats of `lint`: text, SARIF 2.1.0 for code scanning,
//! `JUnit` test reports (a suite per recording, a case per rule), and annotations of GitHub Actions
//! (one per rule and recording).

use super::Level;
use crate::cli::ci_reports::{Annotation, Case, Verdict, safe};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::cli::rows::each_finding;
use crate::cli::{rows, select};
use mcpreel_lint::{Rule, Severity, catalogue};
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_wire::text::{count, escape, pad_start, plural};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Prints the findings of one recording for people.
pub fn text(checked: &Checked<'_>, out: &mut Output) -> Result<(), Failure> {
    let title = format!("{} {}", checked.id, escape(&checked.name));
    let title = out.paint(Ink::Strong, &title);
    // Of a recording that stops in the middle not everything was looked at.
    let state = checked.state.map(|state| format!(" ({state})"));
    let state = state.unwrap_or_default();
    let allowed = match checked.allowed {
        0 => String::new(),
        allowed => format!(", {} passed over", count(allowed)),
    };
    out.line(&format!("{title}{state}: {}{allowed}", checked.counts()))?;
    for group in &checked.groups {
        out.line("")?;
        text_of_rule(group, out)?;
    }
    Ok(())
}

fn text_of_rule(group: &Group, out: &mut Output) -> Result<(), Failure> {
    let rule = mcpreel_lint::rule(&group.rule);
    let summary = rule.map_or_else(String::new, |rule| format!(": {}", rule.summary));
    let times = match group.count {
        _ if group.is_overdue => " (right now)".to_owned(),
        1 => String::new(),
        times => format!(" ({})", count(times)),
    };
    let severity = rows::severity(group.severity.as_str(), out);
    let title = out.paint(Ink::Strong, &escape(&group.rule));
    out.line(&format!("{severity}  {title}{summary}{times}"))?;
    for finding in &group.findings {
        let place = finding.frame.map(|seq| format!("#{}", seq.0));
        let place = pad_start(&place.unwrap_or_default(), 7);
        let path = finding.path.as_deref();
        let path = path.map(|path| format!("{}: ", out.paint(Ink::Strong, &escape(path))));
        let path = path.unwrap_or_default();
        out.line(&format!("{place}  {path}{}", escape(&finding.detail)))?;
    }
    if group.more() > 0 {
        let more = plural(group.more(), "more finding");
        let more = format!("         … and {more}; --json has all");
        out.inked(Ink::Faint, &more)?;
    }
    if let Some(rule) = rule {
        out.inked(Ink::Faint, &format!("         fix: {}", rule.fix))?;
    }
    Ok(())
}

/// Results of a run. Code scanning shows so many, the first ones, and drops the rest: the worst of
/// each recording stand first, and a notification counts what is left out.
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
            self.left_out += group.count - group.findings.len().min(room) as u64;
        }
        Ok(())
    }

    /// The file.
    pub fn file(self) -> Value {
        let mut invocation = json!({"executionSuccessful": true});
        if self.left_out > 0 {
            let left_out = plural(self.left_out, "finding");
            let text = format!("{left_out} left out here; `mcpreel lint --json` has all of them");
            invocation["toolExecutionNotifications"] =
                json!([{"level": "warning", "message": {"text": text}}]);
        }
        let rules: Vec<_> = catalogue().iter().map(|rule| descriptor(rule)).collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "mcpreel",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "results": self.results,
                "invocations": [invocation],
            }],
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

fn result(
    checked: &Checked<'_>,
    group: &Group,
    finding: &FindingRow,
    uri: &str,
) -> Result<Value, Failure> {
    let request = checked.recording.request_of(finding)?;
    let path = finding.path.as_deref().map(safe);
    let name = match &path {
        Some(path) => format!("{} {path}", checked.place(finding)),
        None => checked.place(finding),
    };
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
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// The suite of one recording: a case per rule that is not passed over, and per rule that another
/// version of mcpreel has found.
pub fn suite(checked: &Checked<'_>, fail_on: Level) -> (String, Vec<Case>) {
    let passed = |rule: &str| Case {
        name: rule.to_owned(),
        verdict: Verdict::Passed,
        lines: Vec::new(),
    };
    let rules = catalogue().iter().map(|rule| rule.id);
    let rules = rules.filter(|id| !checked.skip.contains(*id));
    let mut cases: Vec<_> = rules.map(passed).collect();
    for group in &checked.groups {
        let at = cases.iter().position(|case| *case.name == *group.rule);
        let at = at.unwrap_or(cases.len());
        if at == cases.len() {
            cases.push(passed(&group.rule));
        }
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
    (format!("{} {}", checked.id, checked.name), cases)
}

/// An annotation per rule that found something in one recording.
pub fn annotations(checked: &Checked<'_>) -> impl Iterator<Item = Annotation> {
    checked.groups.iter().filter_map(|group| {
        let first = group.findings.first()?;
        let mut message = safe(&format!("{}: {}", checked.place(first), sentence(first)));
        if group.count > 1 {
            message = format!("{message} (and {} more)", group.count - 1);
        }
        Some(Annotation {
            kind: match group.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            },
            file: checked.recording.path().to_string_lossy().into_owned(),
            title: group.rule.to_string(),
            message,
            stands_for: group.count,
        })
    })
}

/// A recording and what was found in it, by rule, the worst first.
pub struct Checked<'s> {
    pub recording: Recording,
    pub whole_id: String,
    /// The beginning of the id that is long enough to name the recording.
    pub id: String,
    pub name: String,
    /// The state of a recording that is not final.
    pub state: Option<&'static str>,
    pub groups: Vec<Group>,
    /// The number of findings of the rules in `skip`.
    pub allowed: u64,
    /// The rules that are passed over.
    pub skip: &'s BTreeSet<String>,
}

/// The findings of one rule with one severity.
pub struct Group {
    pub severity: Severity,
    pub rule: Box<str>,
    /// The first of them.
    pub findings: Vec<FindingRow>,
    pub count: u64,
    /// Whether this is overdue right now in a live recording, and not on record.
    pub is_overdue: bool,
}

impl Group {
    /// The number of findings besides those that were read.
    pub fn more(&self) -> u64 {
        self.count.saturating_sub(self.findings.len() as u64)
    }
}

/// A severity that only a later version of mcpreel knows counts as a note.
fn severity(word: &str) -> Severity {
    Severity::parse(word).unwrap_or(Severity::Note)
}

impl<'s> Checked<'s> {
    /// Reads what was found in the recording at `path`, of each rule the first `limit` findings.
    pub fn new(
        path: &Path,
        library: &Library,
        entries: &[Entry],
        skip: &'s BTreeSet<String>,
        limit: u32,
    ) -> Result<Self, Failure> {
        let recording = select::recording(path, library)?;
        let summary = recording.summary()?;
        let mut stored = recording.finding_groups_between(0, recording.last_finding()?)?;
        stored.sort_by_key(|group| (Reverse(severity(&group.severity)), group.first));
        let (mut groups, mut allowed) = (Vec::new(), 0);
        for group in stored {
            if skip.contains(&*group.rule) {
                allowed += group.count;
                continue;
            }
            groups.push(Group {
                severity: severity(&group.severity),
                findings: recording.findings_of_group(&group.rule, &group.severity, limit)?,
                rule: group.rule,
                count: group.count,
                is_overdue: false,
            });
        }
        if select::is_live(&recording, &summary) {
            let now = Moment(wall_clock_ns().saturating_sub(summary.wall_ns));
            let overdue = recording.overdue(&summary, now)?.into_iter();
            let overdue = overdue.filter(|finding| !skip.contains(&*finding.rule));
            groups.extend(overdue.map(|finding| Group {
                severity: severity(&finding.severity),
                rule: finding.rule.clone(),
                findings: vec![finding],
                count: 1,
                is_overdue: true,
            }));
        }
        Ok(Self {
            id: short_id(&summary.id, entries).to_owned(),
            state: (!summary.state.is_final()).then(|| select::state(&recording, &summary)),
            whole_id: summary.id,
            name: summary.name,
            recording,
            groups,
            allowed,
            skip,
        })
    }

    /// Gives every finding to `show` that is not passed over, with the request it is about.
    pub fn each(
        &self,
        mut show: impl FnMut(&FindingRow, Option<u64>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        each_finding(&self.recording, |finding, request| {
            if self.skip.contains(&*finding.rule) {
                return Ok(());
            }
            show(finding, request)
        })?;
        let overdue = self.groups.iter().filter(|group| group.is_overdue);
        let mut overdue = overdue.flat_map(|group| &group.findings);
        overdue.try_for_each(|finding| show(finding, finding.frame.map(|seq| seq.0)))
    }

    /// `2 errors, 1 warning, 3 notes`, or `nothing found`.
    pub fn counts(&self) -> String {
        let mut counts = Vec::new();
        for severity in Severity::ALL.into_iter().rev() {
            let of_severity = self
                .groups
                .iter()
                .filter(|group| group.severity == severity);
            let count = of_severity.map(|group| group.count).sum();
            if count > 0 {
                counts.push(plural(count, severity.as_str()));
            }
        }
        if counts.is_empty() {
            return "nothing found".to_owned();
        }
        counts.join(", ")
    }

    /// `7f3a#12`, or the recording where a finding points at no frame.
    pub fn place(&self, finding: &FindingRow) -> String {
        match finding.frame {
            Some(seq) => format!("{}#{}", self.id, seq.0),
            None => self.id.clone(),
        }
    }
}

/// A finding for a reader who does not see its rule: what the rule is about, where, and the detail.
pub fn sentence(finding: &FindingRow) -> String {
    let summary = mcpreel_lint::rule(&finding.rule).map_or("", |rule| rule.summary);
    let path = finding.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {path}"));
    format!("{summary}{path}: {}", finding.detail)
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
