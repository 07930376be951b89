//! A recording, and what was found in it.

use crate::cli::exit::Failure;
use crate::cli::rows::each_finding;
use crate::cli::select;
use mcpreel_lint::Severity;
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_wire::text::plural;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

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
