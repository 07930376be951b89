//! A recording, and what was found in it.

use super::Level;
use crate::cli::exit::Failure;
use crate::cli::select;
use crate::cli::show::each_finding;
use mcpreel_lint::Severity;
use mcpreel_store::library::{Entry, Library, short_id};
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_wire::text::plural;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

/// A recording and what was found in it, by rule, the worst first.
pub struct Checked {
    pub recording: Recording,
    /// Its id, and the beginning of it that is long enough to name it.
    pub whole_id: String,
    pub id: String,
    pub name: String,
    /// How it stands, where that is not as it should be in the end.
    pub state: Option<&'static str>,
    pub groups: Vec<Group>,
    /// What is overdue right now in a live recording; not on record.
    pub overdue: Vec<FindingRow>,
    /// Findings of rules that are passed over.
    pub allowed: u64,
    pub skip: BTreeSet<String>,
}

/// The findings of one rule with one severity.
pub struct Group {
    pub severity: Severity,
    pub group: FindingGroup,
}

impl Group {
    fn new(group: FindingGroup) -> Self {
        // What another version of mcpreel has found and we do not know is worth a note.
        let severity = Severity::parse(&group.severity).unwrap_or(Severity::Note);
        Self { severity, group }
    }
}

impl Checked {
    /// Reads what was found in the recording at `path`, but for the rules in `skip`.
    pub fn new(
        path: &Path,
        library: &Library,
        entries: &[Entry],
        skip: &BTreeSet<String>,
    ) -> Result<Self, Failure> {
        let recording = select::recording(path, library)?;
        let summary = recording.summary()?;
        let last = recording.last_finding()?;
        let all = recording.finding_groups_between(0, last)?;
        let (skipped, groups): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|group| skip.contains(&*group.rule));
        let mut groups: Vec<_> = groups.into_iter().map(Group::new).collect();
        groups.sort_by_key(|group| (Reverse(group.severity), group.group.first));
        let mut overdue = Vec::new();
        if select::is_live(&recording, &summary) {
            let now = Moment(wall_clock_ns().saturating_sub(summary.wall_ns));
            overdue = recording.overdue(&summary, now)?;
            overdue.retain(|finding| !skip.contains(&*finding.rule));
        }
        Ok(Self {
            id: short_id(&summary.id, entries).to_owned(),
            whole_id: summary.id.clone(),
            name: summary.name.clone(),
            state: (!summary.state.is_final()).then(|| select::state(&recording, &summary)),
            recording,
            groups,
            overdue,
            allowed: skipped.iter().map(|group| group.count).sum(),
            skip: skip.clone(),
        })
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        let groups = self
            .groups
            .iter()
            .filter(|group| group.severity == severity);
        let stored: u64 = groups.map(|group| group.group.count).sum();
        let overdue = self.overdue.iter();
        let is_so = |finding: &&FindingRow| &*finding.severity == severity.as_str();
        stored + overdue.filter(is_so).count() as u64
    }

    /// Whether something is as bad as that.
    pub fn fails(&self, level: Level) -> bool {
        let mut severities = Severity::ALL.into_iter();
        severities.any(|severity| level.fails(severity) && self.count(severity) > 0)
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
        let mut overdue = self.overdue.iter();
        overdue.try_for_each(|finding| show(finding, finding.frame.map(|seq| seq.0)))
    }

    /// Gives the findings of each rule to `show`, at most `limit` of those on record, the worst
    /// first. What is overdue right now is as bad as the rule says, and comes last.
    pub fn each_group(
        &self,
        limit: u32,
        mut show: impl FnMut(Told) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for Group { severity, group } in &self.groups {
            let (rule, word) = (&group.rule, &group.severity);
            let findings = self.recording.findings_of_group(rule, word, limit)?;
            show(Told {
                severity: *severity,
                rule: rule.clone(),
                more: group.count.saturating_sub(findings.len() as u64),
                findings,
            })?;
        }
        let mut overdue = self.overdue.iter();
        overdue.try_for_each(|finding| {
            show(Told {
                severity: Severity::parse(&finding.severity).unwrap_or(Severity::Note),
                rule: finding.rule.clone(),
                more: 0,
                findings: vec![finding.clone()],
            })
        })
    }

    /// `2 errors, 1 warning, 3 notes`, or `nothing found`.
    pub fn counts(&self) -> String {
        let severities = Severity::ALL.into_iter().rev();
        let counted = severities.map(|severity| (self.count(severity), severity.as_str()));
        let said: Vec<_> = counted
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| plural(count, word))
            .collect();
        if said.is_empty() {
            return "nothing found".to_owned();
        }
        said.join(", ")
    }

    /// `7f3a#12`, or the recording where a finding points at no frame.
    pub fn place(&self, finding: &FindingRow) -> String {
        match finding.frame {
            Some(seq) => format!("{}#{}", self.id, seq.0),
            None => self.id.clone(),
        }
    }

    /// A finding for whoever sees nothing else: where, and what was found.
    pub fn placed(&self, finding: &FindingRow) -> String {
        format!("{}: {}", self.place(finding), sentence(finding))
    }
}

/// What a rule has found in a recording.
pub struct Told {
    pub severity: Severity,
    pub rule: Box<str>,
    /// The first of them.
    pub findings: Vec<FindingRow>,
    /// How many more there are.
    pub more: u64,
}

impl Told {
    pub fn count(&self) -> u64 {
        self.findings.len() as u64 + self.more
    }
}

/// A finding for whoever does not see its rule: what that is about, where, and what was found.
pub fn sentence(finding: &FindingRow) -> String {
    let summary = mcpreel_lint::rule(&finding.rule).map_or("", |rule| rule.summary);
    let path = finding.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {path}"));
    format!("{summary}{path}: {}", finding.detail)
}
