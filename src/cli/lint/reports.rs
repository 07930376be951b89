//! What was found in a recording, in the formats of `lint`: text, SARIF 2.1.0 for code scanning,
//! `JUnit` test reports (a suite per recording, a case per rule), and annotations of GitHub Actions
//! (one per rule and recording).

use super::Level;
use crate::cli::ci_reports::{Annotation, Case, Verdict, safe};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::cli::{rows, select};
use mcpreel_lint::{Rule, Severity, catalogue};
use mcpreel_store::library::{Entry, short_id};
use mcpreel_store::reader::{FindingRow, ReadError, Recording};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, pad_start, plural};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

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
        let rule = mcpreel_lint::rule(&group.rule);
        let summary = rule.map_or_else(String::new, |rule| format!(": {}", rule.summary));
        let times = match group.count {
            _ if group.is_overdue => " (right now)".to_owned(),
            1 => String::new(),
            times => format!(" ({})", count(times)),
        };
        let severity = rows::severity(group.severity.as_str(), out);
        let title = out.paint(Ink::Strong, &escape(&group.rule));
        out.line(&format!("\n{severity}  {title}{summary}{times}"))?;
        for (finding, _) in &group.findings {
            let place = finding.frame.map(|seq| format!("#{}", seq.0));
            let place = pad_start(&place.unwrap_or_default(), 7);
            let path = finding.path.as_deref();
            let path = path.map(|path| format!("{}: ", out.paint(Ink::Strong, &escape(path))));
            let path = path.unwrap_or_default();
            out.line(&format!("{place}  {path}{}", escape(&finding.detail)))?;
        }
        let more = group
            .more()
            .map(|more| format!("… and {more}; --json has all"));
        let fix = rule.map(|rule| format!("fix: {}", rule.fix));
        for hint in more.into_iter().chain(fix) {
            out.inked(Ink::Faint, &format!("         {hint}"))?;
        }
    }
    Ok(())
}

/// Results of a run. Code scanning shows so many, the first ones, and drops the rest: the worst of
/// each recording stand first, and a notification counts what is left out.
const RESULTS: usize = 5000;

/// The SARIF file of the recordings.
pub fn sarif(all: &[Checked<'_>]) -> Value {
    let results = all.iter().flat_map(|checked| {
        let uri = uri(&checked.path);
        let groups = checked.groups.iter();
        groups.flat_map(move |group| {
            let uri = uri.clone();
            let findings = group.findings.iter();
            findings.map(move |found| result(checked, group, found, &uri))
        })
    });
    let results: Vec<_> = results.take(RESULTS).collect();
    let groups = all.iter().flat_map(|checked| &checked.groups);
    let found: u64 = groups.map(|group| group.count).sum();
    let left_out = found.saturating_sub(results.len() as u64);
    let mut invocation = json!({"executionSuccessful": true});
    if left_out > 0 {
        let left_out = plural(left_out, "finding");
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
            "results": results,
            "invocations": [invocation],
        }],
    })
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
    (finding, request): &(FindingRow, Option<Seq>),
    uri: &str,
) -> Value {
    let path = finding.path.as_deref().map(safe);
    let place = checked.place(finding);
    let name = path.as_ref().map(|path| format!("{place} {path}"));
    json!({
        "ruleId": safe(&group.rule),
        "level": group.severity.as_str(),
        "message": {"text": safe(&sentence(finding))},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri}},
            "logicalLocations": [{"fullyQualifiedName": name.unwrap_or(place)}],
        }],
        "properties": {
            "frame": finding.frame.map(|seq| seq.0),
            "request": request.map(|seq| seq.0),
            "path": path,
        },
    })
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
    let ours = catalogue().iter().map(|rule| rule.id);
    let mut rules: Vec<&str> = ours.filter(|id| !checked.skip.contains(*id)).collect();
    for group in &checked.groups {
        if !rules.contains(&&*group.rule) {
            rules.push(&group.rule);
        }
    }
    let case = |rule: &str| {
        let (mut verdict, mut lines) = (Verdict::Passed, Vec::new());
        for group in checked.groups.iter().filter(|group| &*group.rule == rule) {
            if fail_on.fails(group.severity) {
                verdict = Verdict::Failed(summary(rule).to_owned());
            }
            lines.extend(group.findings.iter().map(|(finding, _)| {
                let (severity, place) = (group.severity.as_str(), checked.place(finding));
                let path = finding.path.as_deref();
                let path = path.map_or_else(String::new, |path| format!("{path}: "));
                format!("{severity} {place}: {path}{}", finding.detail)
            }));
            lines.extend(group.more().map(|more| format!("and {more}")));
        }
        let name = rule.to_owned();
        Case {
            name,
            verdict,
            lines,
        }
    };
    let cases = rules.into_iter().map(case).collect();
    (format!("{} {}", checked.id, checked.name), cases)
}

/// An annotation per rule that found something in one recording.
pub fn annotations(checked: &Checked<'_>) -> impl Iterator<Item = Annotation> {
    checked.groups.iter().filter_map(|group| {
        let (first, _) = group.findings.first()?;
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
            file: checked.path.to_string_lossy().into_owned(),
            title: group.rule.to_string(),
            message,
            stands_for: group.count,
        })
    })
}

/// A recording and what was found in it, by rule, the worst first.
pub struct Checked<'s> {
    path: PathBuf,
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
    /// The first of them, each with the request it is about.
    pub findings: Vec<(FindingRow, Option<Seq>)>,
    pub count: u64,
    /// Whether this is overdue right now in a live recording, and not on record.
    pub is_overdue: bool,
}

impl Group {
    /// Says how many findings there are besides those that were read.
    fn more(&self) -> Option<String> {
        let more = self.count.saturating_sub(self.findings.len() as u64);
        (more > 0).then(|| plural(more, "more finding"))
    }
}

/// A severity that only a later version of mcpreel knows counts as a note.
fn severity(word: &str) -> Severity {
    Severity::parse(word).unwrap_or(Severity::Note)
}

impl<'s> Checked<'s> {
    /// Reads what was found in a recording, of each rule the first `limit` findings.
    pub fn new(
        recording: &Recording,
        entries: &[Entry],
        skip: &'s BTreeSet<String>,
        limit: u32,
    ) -> Result<Self, Failure> {
        let summary = recording.summary()?;
        let mut stored = recording.finding_groups_between(0, recording.last_finding()?)?;
        stored.sort_by_key(|group| (Reverse(severity(&group.severity)), group.first));
        let (mut groups, mut allowed) = (Vec::new(), 0);
        for group in stored {
            if skip.contains(&*group.rule) {
                allowed += group.count;
                continue;
            }
            let first = recording.findings_of_group(&group.rule, &group.severity, limit)?;
            let first = first.into_iter().map(|finding| {
                let request = recording.request_of(&finding)?;
                Ok((finding, request))
            });
            groups.push(Group {
                severity: severity(&group.severity),
                findings: first.collect::<Result<_, ReadError>>()?,
                rule: group.rule,
                count: group.count,
                is_overdue: false,
            });
        }
        if select::is_live(recording, &summary) {
            let now = Moment(wall_clock_ns().saturating_sub(summary.wall_ns));
            let overdue = recording.overdue(&summary, now)?.into_iter();
            let overdue = overdue.filter(|finding| !skip.contains(&*finding.rule));
            groups.extend(overdue.map(|finding| Group {
                severity: severity(&finding.severity),
                rule: finding.rule.clone(),
                count: 1,
                is_overdue: true,
                findings: vec![(finding.clone(), finding.frame)],
            }));
        }
        Ok(Self {
            path: recording.path().to_owned(),
            id: short_id(&summary.id, entries).to_owned(),
            state: (!summary.state.is_final()).then(|| select::state(recording, &summary)),
            whole_id: summary.id,
            name: summary.name,
            groups,
            allowed,
            skip,
        })
    }

    /// Prints every finding of the recording that is not passed over, each as one line of JSON.
    pub fn json(&self, recording: &Recording, out: &mut Output) -> Result<(), Failure> {
        let id = json!({"recording": self.whole_id});
        let mut print = |finding: &FindingRow, request| {
            let line = rows::joined(id.clone(), rows::finding_json(finding, request));
            Ok::<_, Failure>(out.json(&line)?)
        };
        rows::each_finding(recording, |finding, request| {
            if self.skip.contains(&*finding.rule) {
                return Ok(());
            }
            print(finding, request)
        })?;
        let overdue = self.groups.iter().filter(|group| group.is_overdue);
        let mut overdue = overdue.flat_map(|group| &group.findings);
        overdue.try_for_each(|(finding, request)| print(finding, request.map(|seq| seq.0)))
    }

    /// `2 errors, 1 warning, 3 notes`, or `nothing found`.
    pub fn counts(&self) -> String {
        let counts = Severity::ALL.into_iter().rev().filter_map(|severity| {
            let groups = self.groups.iter();
            let of_severity = groups.filter(|group| group.severity == severity);
            let count = of_severity.map(|group| group.count).sum();
            (count > 0).then(|| plural(count, severity.as_str()))
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        if counts.is_empty() {
            "nothing found".to_owned()
        } else {
            counts
        }
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
fn sentence(finding: &FindingRow) -> String {
    let path = finding.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {path}"));
    format!("{}{path}: {}", summary(&finding.rule), finding.detail)
}

fn summary(rule: &str) -> &'static str {
    mcpreel_lint::rule(rule).map_or("", |rule| rule.summary)
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
