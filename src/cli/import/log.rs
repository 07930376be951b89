//! The sessions in a log of another program, each a recording.

use super::Made;
use super::plan::{Plan, Planner};
use super::session::Session;
use crate::cli::output::Progress;
use mcpreel_share::import::{About, BYTE_ORDER_MARK, Format, MAX_LINE, Said, What};
use mcpreel_share::lines::Lines;
use mcpreel_store::record::import::ImportError;
use mcpreel_wire::text::{plural, size};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;

/// Sessions that are made at once; what is said of others is passed over, and counted.
const MOST_OPEN: usize = 100;

/// Lines that are passed over are told one by one up to here.
const MOST_TOLD: usize = 5;

/// A log.
pub(super) struct Log<'a> {
    pub file: File,
    pub path: &'a Path,
    /// What messages call it.
    pub shown: &'a str,
    pub format: Format,
    /// What its recordings are called, whatever it says.
    pub name: Option<&'a str>,
}

/// Why a log could not be taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl Log<'_> {
    /// Makes its recordings in `folder`. It is read twice: ids come from all that a session says.
    pub fn take(mut self, folder: &Path) -> Result<Vec<Made>, LogError> {
        let len = self.file.metadata()?.len();
        let mut planner = Planner::default();
        self.read((0, 2 * len), len, &mut |_, said| {
            planner.said(&said);
            Ok(())
        })?;
        self.file.rewind()?;
        let mut plans = planner.finish();
        plans.reverse();
        let mut sessions = Sessions {
            log: &self,
            folder,
            plans,
            begun: 0,
            open: HashMap::new(),
            made: Vec::new(),
            passed: Vec::new(),
            more: 0,
        };
        self.read((len, 2 * len), len, &mut |line, said| {
            sessions.said(line, said)
        })?;
        sessions.finish(self.shown)
    }

    /// Gives what the lines of the first `until` bytes say to `hear`, with their numbers. As
    /// progress it counts as so many bytes of how many.
    fn read(
        &self,
        (from, of): (u64, u64),
        until: u64,
        hear: &mut dyn FnMut(u64, Said<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut reader = self.format.reader();
        let mut progress = Progress::stderr();
        let mut lines = Lines::of(&self.file, MAX_LINE as u64 + 1);
        // What is written meanwhile is of another time.
        while lines.position() < until && lines.next()? {
            progress.now_and_then(|| {
                let read = size(from.midpoint(lines.position()));
                format!("{}: {read} of {} read", self.shown, size(of / 2))
            });
            let number = lines.number();
            let mut failed = None;
            let mut tell = |said: Said<'_>| failed = failed.take().or(hear(number, said).err());
            match lines.held() {
                Some(line) => reader.line(text_of(line, number), &mut tell),
                None => tell(Said {
                    session: "",
                    wall_ns: None,
                    what: What::Nothing("it is too long"),
                }),
            }
            failed.map_or(Ok(()), Err)?;
        }
        let mut failed = None;
        let number = lines.number();
        reader.finish(&mut |said| failed = failed.take().or(hear(number, said).err()));
        failed.map_or(Ok(()), Err)
    }
}

/// The sessions of a log.
struct Sessions<'a> {
    log: &'a Log<'a>,
    folder: &'a Path,
    /// Those that have not begun, the next one last.
    plans: Vec<Plan>,
    begun: usize,
    open: HashMap<String, Session>,
    /// Those that are over, with their numbers.
    made: Vec<(usize, Made)>,
    /// Lines that say nothing, as far as they are told one by one.
    passed: Vec<String>,
    more: u64,
}

impl Sessions<'_> {
    fn said(&mut self, line: u64, said: Said<'_>) -> Result<(), LogError> {
        let what = match said.what {
            What::Nothing(why) => {
                self.pass(line, why);
                return Ok(());
            }
            What::Begin(about) => return self.begin(said.session, about),
            what => what,
        };
        match self.open.get_mut(said.session) {
            Some(session) => session.said(said.wall_ns, what)?,
            None => self.pass(line, "it belongs to one session too many"),
        }
        Ok(())
    }

    fn begin(&mut self, key: &str, about: About) -> Result<(), LogError> {
        if let Some(before) = self.open.remove(key) {
            self.finished(before)?;
        }
        let (number, plan) = (self.begun, self.plans.pop());
        self.begun += 1;
        let Some(plan) = plan.filter(|_| self.open.len() < MOST_OPEN) else {
            return Ok(());
        };
        let name = self.name(about.name);
        let about = About { name, ..about };
        let session = Session::begin(number, plan, about, self.folder)?;
        self.open.insert(key.to_owned(), session);
        Ok(())
    }

    fn finished(&mut self, session: Session) -> Result<(), LogError> {
        let number = session.number;
        let made = session.finish(self.log.format)?;
        self.made.push((number, made));
        Ok(())
    }

    /// What the log calls it, else after the file.
    fn name(&self, told: String) -> String {
        let stem = || {
            self.log
                .path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
        };
        match self.log.name {
            Some(name) => name.to_owned(),
            None if told.is_empty() => stem().into_owned(),
            None => told,
        }
    }

    fn pass(&mut self, line: u64, why: &str) {
        if self.passed.len() < MOST_TOLD {
            self.passed
                .push(format!("line {line} is passed over: {why}"));
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self, shown: &str) -> Result<Vec<Made>, LogError> {
        for session in std::mem::take(&mut self.open).into_values() {
            self.finished(session)?;
        }
        self.made.sort_by_key(|(number, _)| *number);
        if self.more > 0 {
            let lines = plural(self.more, "more line");
            self.passed.push(format!("{lines} passed over"));
        }
        let passed = self.passed.iter().map(|line| format!("{shown}: {line}"));
        if let Some((_, first)) = self.made.first_mut() {
            first.told.splice(0..0, passed);
        }
        Ok(self.made.into_iter().map(|(_, made)| made).collect())
    }
}

/// A line without what stands around its text.
fn text_of(line: &[u8], number: u64) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let marked = (number == 1).then(|| line.strip_prefix(BYTE_ORDER_MARK));
    marked.flatten().unwrap_or(line)
}
