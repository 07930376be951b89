//! `mcpreel lint`: what is wrong in recordings, by rule.
//!
//! * [`checked`]: a recording and what was found in it;
//! * [`text`]: for people; [`sarif`], [`junit`], [`github`]: for those who run it by a machine;
//! * [`about`]: `--list` and `--explain`.

mod about;
mod checked;
mod github;
mod junit;
mod sarif;
mod text;

use super::args::{self, Format, Level, Lint as Args};
use super::exit::{Exit, Failure, Outcome, code};
use super::json::FindingLine;
use super::machine::github::Annotations;
use super::machine::junit as xml;
use super::output::{self, Output};
use super::{folder, select};
use checked::Checked;
use mcpreel_config::Setting;
use mcpreel_store::library::Library;
use mcpreel_wire::text::escape;
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
    annotations: Annotations,
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
            annotations: Annotations::new("finding"),
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        match self.format {
            Format::Sarif => sarif::begin(&mut self.out),
            Format::Junit => xml::begin("mcpreel lint", &mut self.out),
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
            Format::Github => github::recording(checked, &mut self.annotations)?,
        }
        self.recordings += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.format {
            Format::Sarif => self.sarif.end(&mut self.out)?,
            Format::Junit => xml::end(&mut self.out)?,
            Format::Github => self.annotations.write(&mut self.out)?,
            Format::Text => {}
        }
        Ok(self.out.flush()?)
    }
}
