//! What was found in a recording, in the formats of `lint`: text, SARIF 2.1.0 for code scanning,
//! `JUnit` test reports (a suite per recording, a case per rule), and annotations of GitHub Actions
//! (one per rule and recording).

use super::Level;
use crate::cli::ci_reports::{Annotation, Case, Verdict, safe};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::cli::{rows, select};
use mcpreel_lint::{Rule, Severity, catalogue};
use mcpreel_share::export::without_nulls;
use mcpreel_store::library::{Entry, short_id};
use mcpreel_store::reader::{FindingRow, ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, pad_start, plural, uri_path};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A recording and what was found in it, by rule, the worst first.
pub struct Checked<'s> {
    path: PathBuf,
    whole_id: String,
    /// The beginning of the id that is long enough to name the recording.
    id: String,
    name: String,
    /// The state of a recording that is not final.
    state: Option<&'static str>,
    pub groups: Vec<Group>,
    /// The number of findings of the rules in `skip`.
    allowed: u64,
    /// The rules that are passed over.
    skip: &'s BTreeSet<String>,
}

/// The findings of one rule with one severity.
pub struct Group {
    /// A severity that only a later version of mcpreel knows counts as a note.
    severity: Severity,
    id: Box<str>,
    /// The rule; `None` if only another version of mcpreel has it.
    rule: Option<&'static Rule>,
    /// The first of them, each with the request it is about.
    findings: Vec<(FindingRow, Option<Seq>)>,
    count: u64,
    /// Whether this is overdue right now in a live recording, and not on record.
    is_overdue: bool,
}

impl Group {
    fn new(id: &str, severity: &str, count: u64, findings: Vec<(FindingRow, Option<Seq>)>) -> Self {
        Self {
            severity: severity.parse().unwrap_or(Severity::Note),
            id: id.into(),
            rule: mcpreel_lint::rule(id),
            findings,
            count,
            is_overdue: false,
        }
    }

    pub fn fails(&self, level: Level) -> bool {
        level.is_some_and(|least| self.severity >= least)
    }

    fn summary(&self) -> &'static str {
        self.rule.map_or("", |rule| rule.summary)
    }

    /// Says how many findings there are besides those that were read.
    fn more(&self) -> Option<String> {
        let more = self.count.saturating_sub(self.findings.len() as u64);
        (more > 0).then(|| plural(more, "more finding"))
    }

    /// A finding for a reader who does not see its rule.
    fn sentence(&self, finding: &FindingRow) -> String {
        let path = finding.path.as_deref();
        let path = path.map_or_else(String::new, |path| format!(" at {path}"));
        format!("{}{path}: {}", self.summary(), finding.detail)
    }
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
        stored.sort_by_key(|group| {
            (
                Reverse(group.severity.parse::<Severity>().ok()),
                group.first,
            )
        });
        let (mut groups, mut allowed) = (Vec::new(), 0);
        for group in stored {
            if skip.contains(&*group.rule) {
                allowed += group.count;
                continue;
            }
            let first = recording.findings_of_group(&group.rule, &group.severity, limit)?;
            let first = first.into_iter().map(|finding| {
                let request = recording.request_of(&finding)?;
                Ok::<_, ReadError>((finding, request))
            });
            let first = first.collect::<Result<_, _>>()?;
            groups.push(Group::new(&group.rule, &group.severity, group.count, first));
        }
        if let Some(now) = select::now(recording, &summary) {
            let overdue = recording.overdue(&summary, now)?.into_iter();
            let overdue = overdue.filter(|finding| !skip.contains(&*finding.rule));
            groups.extend(overdue.map(|one| Group {
                is_overdue: true,
                ..Group::new(&one.rule, &one.severity, 1, vec![(one.clone(), one.frame)])
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
        let mut print = |finding: &FindingRow, request| {
            let id = json!({"recording": self.whole_id});
            let line = rows::joined(id, rows::finding_json(finding, request));
            Ok::<_, Failure>(out.json(&line)?)
        };
        rows::each_finding(recording, |finding, request| {
            if self.skip.contains(&*finding.rule) {
                return Ok(());
            }
            print(finding, request)
        })?;
        let mut overdue = self.groups.iter().filter(|group| group.is_overdue);
        overdue
            .try_for_each(|group| print(&group.findings[0].0, group.findings[0].1.map(|seq| seq.0)))
    }

    /// Prints the findings for people.
    pub fn text(&self, out: &mut Output) -> Result<(), Failure> {
        let title = format!("{} {}", self.id, escape(&self.name));
        let title = out.paint(Ink::Strong, &title);
        // Of a recording that stops in the middle not everything was looked at.
        let state = self.state.map(|state| format!(" ({state})"));
        let allowed = (self.allowed > 0).then(|| format!(", {} ignored", count(self.allowed)));
        let (state, allowed) = (state.unwrap_or_default(), allowed.unwrap_or_default());
        out.line(&format!("{title}{state}: {}{allowed}", self.counts()))?;
        for group in &self.groups {
            let summary = group.rule.map(|rule| format!(": {}", rule.summary));
            let times = match group.count {
                _ if group.is_overdue => " (right now)".to_owned(),
                1 => String::new(),
                times => format!(" ({})", count(times)),
            };
            let severity = rows::severity(group.severity.as_str(), out);
            let title = out.paint(Ink::Strong, &escape(&group.id));
            let summary = summary.unwrap_or_default();
            out.line(&format!("\n{severity}  {title}{summary}{times}"))?;
            for (finding, _) in &group.findings {
                let place = finding.frame.map(|seq| format!("#{}", seq.0));
                let place = pad_start(&place.unwrap_or_default(), 7);
                let path = finding.path.as_deref();
                let path = path.map(|path| format!("{}: ", out.paint(Ink::Strong, &escape(path))));
                let path = path.unwrap_or_default();
                out.line(&format!("{place}  {path}{}", escape(&finding.detail)))?;
            }
            let more = group.more();
            let more = more.map(|more| format!("… and {more}; --json has all"));
            let fix = group.rule.map(|rule| format!("fix: {}", rule.fix));
            let section = group.rule.and_then(Rule::reference);
            let section = section.map(|(title, url)| format!("see: {title}, {url}"));
            for hint in more.into_iter().chain(fix).chain(section) {
                out.inked(Ink::Faint, &format!("         {hint}"))?;
            }
        }
        Ok(())
    }

    /// `2 errors, 1 warning, 3 notes`, or `nothing found`.
    fn counts(&self) -> String {
        let counts = Severity::ALL.into_iter().rev().filter_map(|severity| {
            let groups = self.groups.iter();
            let of_severity = groups.filter(|group| group.severity == severity);
            let count = of_severity.map(|group| group.count).sum();
            (count > 0).then(|| plural(count, severity.as_str()))
        });
        let counts = counts.collect::<Vec<_>>();
        match counts[..] {
            [] => "nothing found".to_owned(),
            _ => counts.join(", "),
        }
    }

    /// `7f3a#12`, or the recording where a finding points at no frame.
    fn place(&self, finding: &FindingRow) -> String {
        match finding.frame {
            Some(seq) => format!("{}#{}", self.id, seq.0),
            None => self.id.clone(),
        }
    }

    /// The test suite of the recording: a case per rule that is not passed over, and per rule that
    /// another version of mcpreel has found.
    pub fn suite(&self, fail_on: Level) -> (String, Vec<Case>) {
        let ours = catalogue().iter().map(|rule| rule.id);
        let mut rules: Vec<&str> = ours.filter(|id| !self.skip.contains(*id)).collect();
        let foreign = self.groups.iter().filter(|group| group.rule.is_none());
        rules.extend(foreign.map(|group| &*group.id));
        let case = |rule: &str| {
            let (mut verdict, mut lines) = (Verdict::Passed, Vec::new());
            for group in self.groups.iter().filter(|group| &*group.id == rule) {
                if group.fails(fail_on) {
                    verdict = Verdict::Failed(group.summary().to_owned());
                }
                lines.extend(group.findings.iter().map(|(finding, _)| {
                    let (severity, place) = (group.severity.as_str(), self.place(finding));
                    let path = finding.path.as_deref().map(|path| format!("{path}: "));
                    let path = path.unwrap_or_default();
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
        (format!("{} {}", self.id, self.name), cases)
    }

    /// An annotation per rule that found something.
    pub fn annotations(&self) -> impl Iterator<Item = Annotation> {
        self.groups.iter().filter_map(|group| {
            let (first, _) = group.findings.first()?;
            let mut message = safe(&format!("{}: {}", self.place(first), group.sentence(first)));
            if group.count > 1 {
                let _ = write!(message, " (and {} more)", group.count - 1);
            }
            Some(Annotation {
                kind: match group.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Note => "notice",
                },
                file: self.path.to_string_lossy().into_owned(),
                title: group.id.to_string(),
                message,
                stands_for: group.count,
            })
        })
    }
}

/// The SARIF file of the recordings; a notification counts the findings that were not read.
pub fn sarif(all: &[Checked<'_>]) -> Value {
    let (mut results, mut found) = (Vec::new(), 0);
    for checked in all {
        let uri = uri(&checked.path);
        for group in &checked.groups {
            found += group.count;
            let group_results = group.findings.iter().map(|(finding, request)| {
                let path = finding.path.as_deref().map(safe);
                let place = checked.place(finding);
                let name = path.as_ref().map(|path| format!("{place} {path}"));
                json!({
                    "ruleId": safe(&group.id),
                    "level": group.severity.as_str(),
                    "message": {"text": safe(&group.sentence(finding))},
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
            });
            results.extend(group_results);
        }
    }
    let mut invocation = json!({"executionSuccessful": true});
    if let left_out @ 1.. = found - results.len() as u64 {
        let left_out = plural(left_out, "finding");
        let text = format!("{left_out} left out here; `mcpreel lint --json` has all of them");
        invocation["toolExecutionNotifications"] =
            json!([{"level": "warning", "message": {"text": text}}]);
    }
    let rules = catalogue().iter().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": rule.why},
            "help": {"text": rule.fix},
            "helpUri": rule.reference().map(|(_, url)| url),
            "defaultConfiguration": {"level": rule.severity.as_str()},
        })
    });
    let rules = rules.map(without_nulls);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "mcpreel",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "results": results,
            "invocations": [invocation],
        }],
    })
}

/// A path as a reference in the sense of RFC 3986.
fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    format!("{scheme}{}", uri_path(path.as_os_str().as_bytes(), b""))
}
