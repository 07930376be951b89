//! `mcpreel lint`: what is wrong in recordings, by rule.
//!
//! * [`text`]: for people; [`sarif`], [`junit`], [`github`]: for those who run it by a machine;
//! * [`about`]: `--list` and `--explain`.

mod about;
mod github;
mod junit;
mod sarif;
mod text;

use super::args::{self, Format, Level, Lint as Args};
use super::exit::{Exit, Failure, Outcome, code};
use super::folder;
use super::json::FindingLine;
use super::output::{self, Output};
use super::select::{self, Ready};
use super::show::each_finding;
use crate::config::Setting;
use crate::lint::{self, Severity};
use crate::store::library::{Entry, Library, short_id};
use crate::store::reader::{FindingRow, Recording};
use crate::store::story::FindingGroup;
use crate::text::{escape, plural};
use crate::trace::clock::{Moment, wall_clock_ns};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Looks at the recordings that are meant, or says what the rules are.
pub fn run(args: &Args) -> Outcome {
    if let Some(id) = &args.explain {
        return about::explain(id);
    }
    if args.list {
        return about::list(args.json);
    }
    let settings = folder::Settings::read();
    let library = Library::new(folder::of(&args.folder)?);
    let entries = library.list()?;
    let allowed = allowed(&args.allow, &settings.config().allow);
    let mut report = Report::new(args);
    let mut exit = Exit::Fine;
    report.begin()?;
    for path in which(args, &library)? {
        let checked = Checked::new(&path, &library, &entries, &allowed);
        match checked.and_then(|checked| report.add(&checked)) {
            Ok(()) => {}
            Err(failure @ (Failure::Closed | Failure::Usage(_))) => return Err(failure),
            Err(failure) => {
                let (_, why) = code(Err(failure));
                let why = why.unwrap_or_default();
                output::say(&format!("not looked at: {}", escape(&why)));
                exit = Exit::Refused;
            }
        }
    }
    report.end()?;
    Ok(match exit {
        Exit::Fine if report.failed => Exit::Found,
        exit => exit,
    })
}

/// The rules whose findings are passed over. Whatever the configuration names and is no rule is a
/// warning: a rule of a later version must not keep this one from working.
fn allowed(named: &[String], config: &[Setting]) -> BTreeSet<String> {
    let mut allowed: BTreeSet<_> = named.iter().cloned().collect();
    for setting in config {
        if let Err(fault) = args::rule(&setting.text) {
            output::say(&format!("{}: {fault}", setting.at));
        }
        allowed.insert(setting.text.clone());
    }
    allowed
}

/// The recordings that are meant; of a folder all that are in it, the newest first.
fn which(args: &Args, library: &Library) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for text in &args.recordings {
        let path = Path::new(text);
        if path.is_dir() {
            let inside = Library::new(path).list()?;
            if inside.is_empty() {
                let path = path.display().to_string();
                output::say(&format!("no recordings in {}", escape(&path)));
            }
            paths.extend(inside.into_iter().map(|entry| entry.path));
        } else {
            paths.push(select::find(text, library)?.path);
        }
    }
    Ok(paths)
}

/// A recording and what was found in it, by rule, the worst first.
struct Checked {
    recording: Recording,
    /// What the recording rests on.
    _ready: Ready,
    /// Its id, and the beginning of it that is long enough to name it.
    whole_id: String,
    id: String,
    name: String,
    groups: Vec<Group>,
    /// What is overdue right now in a live recording; not on record.
    overdue: Vec<FindingRow>,
    /// Findings of rules that are passed over.
    allowed: u64,
    skip: BTreeSet<String>,
}

/// The findings of one rule with one severity.
struct Group {
    severity: Severity,
    group: FindingGroup,
}

impl Checked {
    fn new(
        path: &Path,
        library: &Library,
        entries: &[Entry],
        skip: &BTreeSet<String>,
    ) -> Result<Self, Failure> {
        let ready = Ready::new(path, library)?;
        let recording = ready.open()?;
        let summary = recording.summary()?;
        let last = recording.last_finding()?;
        let all = recording.finding_groups_between(0, last, None)?;
        let (skipped, groups): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|group| skip.contains(&*group.rule));
        // What another version of mcpreel has found and we do not know is worth a note.
        let severity = |group: &FindingGroup| Severity::parse(&group.severity);
        let mut groups: Vec<_> = groups
            .into_iter()
            .map(|group| Group {
                severity: severity(&group).unwrap_or(Severity::Note),
                group,
            })
            .collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.severity), group.group.first));
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
            recording,
            _ready: ready,
            groups,
            overdue,
            allowed: skipped.iter().map(|group| group.count).sum(),
            skip: skip.clone(),
        })
    }

    /// How many findings have this severity.
    fn count(&self, severity: Severity) -> u64 {
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
    fn fails(&self, level: Level) -> bool {
        let mut severities = Severity::ALL.into_iter();
        severities.any(|severity| level.fails(severity) && self.count(severity) > 0)
    }

    /// Gives every finding to `show` that is not passed over, with the request it is about.
    fn each(
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

    /// `7f3a#12`, or the recording where a finding points at no frame.
    fn place(&self, finding: &FindingRow) -> String {
        match finding.frame {
            Some(seq) => format!("{}#{}", self.id, seq.0),
            None => self.id.clone(),
        }
    }
}

/// A finding for whoever does not see its rule: what that is about, where, and what was found.
fn sentence(finding: &FindingRow) -> String {
    let summary = lint::rule(&finding.rule).map_or("", |rule| rule.summary);
    let path = finding.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {path}"));
    format!("{summary}{path}: {}", finding.detail)
}

/// `2 errors, 1 warning, 3 notes`, or `nothing found`.
fn counts(checked: &Checked) -> String {
    let severities = Severity::ALL.into_iter().rev();
    let counted = severities.map(|severity| (checked.count(severity), severity.as_str()));
    let said: Vec<_> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    if said.is_empty() {
        return "nothing found".to_owned();
    }
    said.join(", ")
}

/// What is written, as it is found.
struct Report {
    format: Format,
    json: bool,
    fail_on: Level,
    out: Output,
    /// Recordings so far.
    recordings: u64,
    /// Whether something was as bad as `fail_on`.
    failed: bool,
    sarif: sarif::Sarif,
}

impl Report {
    fn new(args: &Args) -> Self {
        Self {
            format: args.format,
            json: args.json,
            fail_on: args.fail_on,
            out: Output::stdout(),
            recordings: 0,
            failed: false,
            sarif: sarif::Sarif::default(),
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        match self.format {
            Format::Sarif => sarif::begin(&mut self.out),
            Format::Junit => junit::begin(&mut self.out),
            Format::Text | Format::Github => Ok(()),
        }
    }

    fn add(&mut self, checked: &Checked) -> Result<(), Failure> {
        self.failed |= checked.fails(self.fail_on);
        let out = &mut self.out;
        match self.format {
            _ if self.json => checked.each(|finding, request| {
                let mut line = FindingLine::new(finding, request);
                line.recording = Some(&checked.whole_id);
                Ok(out.json(&line)?)
            })?,
            Format::Text => text::recording(checked, self.recordings > 0, out)?,
            Format::Sarif => self.sarif.recording(checked, out)?,
            Format::Junit => junit::recording(checked, self.fail_on, out)?,
            Format::Github => github::recording(checked, out)?,
        }
        self.recordings += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.format {
            Format::Sarif => sarif::end(&mut self.out)?,
            Format::Junit => junit::end(&mut self.out)?,
            Format::Text | Format::Github => {}
        }
        Ok(self.out.flush()?)
    }
}
