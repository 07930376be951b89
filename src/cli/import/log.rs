//! The sessions in a log of another program, each a recording.
//!
//! A log is read twice: the id of a recording comes from all that its session says, so that a log
//! that has grown makes no second recordings of what it had before.

use super::Made;
use crate::cli::output::Progress;
use crc32fast::Hasher;
use mcpreel_share::import::{About, BYTE_ORDER_MARK, DATED_NS, Entry, Format, MAX_LINE, What};
use mcpreel_share::lines::Lines;
use mcpreel_store::library::REEL;
use mcpreel_store::record::import::{Import, ImportError};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{escape, plural, size};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

/// Sessions that are made at once; the lines of others are passed over.
const MOST_OPEN: usize = 100;

/// Lines that are passed over are named one by one up to here.
const MOST_NAMED: usize = 5;

/// A log to be imported.
pub(super) struct Log<'a> {
    pub file: File,
    pub path: &'a Path,
    /// Its name in messages.
    pub shown: &'a str,
    pub format: Format,
    /// The name of its recordings, whatever the log says.
    pub name: Option<&'a str>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl Log<'_> {
    /// Makes its recordings in `folder`.
    pub fn import(mut self, folder: &Path) -> Result<Vec<Made>, LogError> {
        let len = self.file.metadata()?.len();
        let (mut plans, mut open) = (Vec::new(), HashMap::new());
        self.read((0, len), &mut |_, entry| {
            if matches!(entry.what, What::Begin(_)) {
                open.insert(entry.session.to_owned(), plans.len());
                plans.push(Plan::default());
            }
            let plan = open.get(entry.session).and_then(|at| plans.get_mut(*at));
            if let Some(plan) = plan {
                plan.add(&entry);
            }
            Ok(())
        })?;
        self.file.rewind()?;
        give_ids(&mut plans);
        let mut sessions = Sessions {
            log: &self,
            folder,
            plans: plans.into_iter().enumerate(),
            open: HashMap::new(),
            made: Vec::new(),
            passed: Vec::new(),
            more: 0,
        };
        self.read((len, len), &mut |line, entry| sessions.entry(line, entry))?;
        sessions.finish()
    }

    /// Gives what the lines of the first `len` bytes say to `visit`, with their numbers. As progress
    /// `before` bytes were read already.
    fn read(
        &self,
        (before, len): (u64, u64),
        visit: &mut dyn FnMut(u64, Entry<'_>) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut reader = self.format.reader();
        let mut progress = Progress::stderr();
        let mut lines = Lines::of(&self.file, MAX_LINE as u64 + 1);
        // A log that grows meanwhile is read up to where it ended before.
        while lines.position() < len && lines.advance()? {
            progress.now_and_then(|| {
                let read = size(before.midpoint(lines.position()));
                format!("{}: {read} of {} read", self.shown, size(len))
            });
            let number = lines.number();
            let mut result = Ok(());
            let mut take = |entry: Entry<'_>| {
                if result.is_ok() {
                    result = visit(number, entry);
                }
            };
            match lines.held() {
                Some(line) => reader.line(text_of(line, number), &mut take),
                None => take(Entry {
                    session: "",
                    wall_ns: None,
                    what: What::Nothing("it is too long"),
                }),
            }
            result?;
        }
        Ok(())
    }
}

/// A line without its terminator and a byte order mark.
fn text_of(line: &[u8], number: u64) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) if number == 1 => rest,
        _ => line,
    }
}

/// The facts about a session that are needed before its recording is made.
#[derive(Debug, Default)]
struct Plan {
    id: String,
    /// The first time that a line of it has.
    start_ns: Option<u64>,
    /// A time that could not be read.
    unread_time: Option<String>,
    hasher: Hasher,
}

impl Plan {
    fn add(&mut self, entry: &Entry<'_>) {
        if matches!(entry.what, What::Nothing(_)) {
            return;
        }
        let hasher = &mut self.hasher;
        hasher.update(&entry.wall_ns.unwrap_or(0).to_le_bytes());
        match &entry.what {
            What::Nothing(_) => {}
            What::Begin(about) => {
                hasher.update(about.name.as_bytes());
                for word in &about.argv {
                    hasher.update(word.as_bytes());
                    hasher.update(b"\0");
                }
            }
            What::Line { stream, bytes, .. } => {
                hasher.update(&stream.0.to_le_bytes());
                hasher.update(bytes);
                hasher.update(b"\n");
            }
            What::Event(kind) => hasher.update(&serde_json::to_vec(kind).unwrap_or_default()),
            What::UnreadTime(text) => {
                self.unread_time.get_or_insert_with(|| text.clone());
            }
        }
        self.start_ns = self.start_ns.or(entry.wall_ns);
    }

    /// Why nothing is known of when a session was, if so.
    fn untimed(&self) -> Option<String> {
        let why = match (self.start_ns, &self.unread_time) {
            (Some(_), _) => return None,
            (None, None) => "the log has no times".to_owned(),
            (None, Some(time)) => format!("its times could not be read, like {}", escape(time)),
        };
        Some(format!(
            "{why}: everything stands at 0, and latencies mean nothing"
        ))
    }
}

fn give_ids(plans: &mut [Plan]) {
    let mut taken = HashSet::new();
    for plan in plans {
        let mut id = plan.hasher.clone().finalize();
        // Sessions that are alike are told apart by their order.
        while !taken.insert(id) {
            plan.hasher.update(b"again");
            id = plan.hasher.clone().finalize();
        }
        plan.id = format!("{id:08x}");
    }
}

/// The sessions of a log while their recordings are made.
struct Sessions<'a> {
    log: &'a Log<'a>,
    folder: &'a Path,
    /// Sessions that have not begun, with their numbers.
    plans: std::iter::Enumerate<std::vec::IntoIter<Plan>>,
    open: HashMap<String, Session>,
    /// Recordings that are made, with the numbers of their sessions.
    made: Vec<(usize, Made)>,
    /// Lines that were passed over, one sentence each, and the number of further ones.
    passed: Vec<String>,
    more: u64,
}

impl Sessions<'_> {
    fn entry(&mut self, line: u64, entry: Entry<'_>) -> Result<(), LogError> {
        match entry.what {
            What::Nothing(why) => self.pass(line, why),
            What::Begin(about) => self.begin(entry.session, about)?,
            what => match self.open.get_mut(entry.session) {
                Some(session) => session.entry(entry.wall_ns, what)?,
                None => self.pass(line, "it belongs to one session too many"),
            },
        }
        Ok(())
    }

    fn begin(&mut self, key: &str, mut about: About) -> Result<(), LogError> {
        if let Some(before) = self.open.remove(key) {
            self.made.push(before.finish(self.log.format)?);
        }
        let Some(plan) = self.plans.next().filter(|_| self.open.len() < MOST_OPEN) else {
            return Ok(());
        };
        if let Some(name) = self.log.name {
            name.clone_into(&mut about.name);
        } else if about.name.is_empty() {
            let stem = self.log.path.file_stem().unwrap_or_default();
            about.name = stem.to_string_lossy().into_owned();
        }
        let session = Session::begin(plan, about, self.folder)?;
        self.open.insert(key.to_owned(), session);
        Ok(())
    }

    fn pass(&mut self, line: u64, why: &str) {
        if self.passed.len() < MOST_NAMED {
            let passed = format!("{}: line {line} is passed over: {why}", self.log.shown);
            self.passed.push(passed);
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self) -> Result<Vec<Made>, LogError> {
        for session in self.open.into_values() {
            self.made.push(session.finish(self.log.format)?);
        }
        self.made.sort_by_key(|(number, _)| *number);
        if self.more > 0 {
            let lines = plural(self.more, "more line");
            let passed = format!("{}: {lines} passed over", self.log.shown);
            self.passed.push(passed);
        }
        let mut made: Vec<_> = self.made.into_iter().map(|(_, made)| made).collect();
        if let Some(first) = made.first_mut() {
            first.remarks.splice(0..0, self.passed);
        }
        Ok(made)
    }
}

/// A session whose recording is being made.
struct Session {
    /// Its number among the sessions of the log.
    number: usize,
    plan: Plan,
    reel: PathBuf,
    import: Import,
    now: Moment,
    /// Lines whose direction is a guess.
    guesses: u64,
    /// Messages without a time.
    undated: u64,
    /// Messages that the log does not hold whole.
    shortened: u64,
    /// Lines that the log lacks.
    skipped: u64,
}

impl Session {
    fn begin(
        (number, plan): (usize, Plan),
        about: About,
        folder: &Path,
    ) -> Result<Self, ImportError> {
        let reel = folder.join(&plan.id).with_extension(REEL);
        let context = ProcessContext {
            recording: plan.id.clone(),
            name: about.name,
            origin: "import".into(),
            wall_ns: plan.start_ns.filter(|ns| *ns >= DATED_NS).unwrap_or(0),
            transport: about.transport.unwrap_or_else(|| "stdio".into()),
            argv: about.argv,
            cwd: about.cwd,
            ..ProcessContext::default()
        };
        let mut import = Import::begin(&reel, context)?;
        if let Some(message) = plan.untimed() {
            import.event(Moment(0), &EventKind::Untimed { message })?;
        }
        Ok(Self {
            number,
            plan,
            reel,
            import,
            now: Moment(0),
            guesses: 0,
            undated: 0,
            shortened: 0,
            skipped: 0,
        })
    }

    fn entry(&mut self, wall_ns: Option<u64>, what: What<'_>) -> Result<(), ImportError> {
        if let Some((wall_ns, start_ns)) = wall_ns.zip(self.plan.start_ns) {
            // A clock that was set back must not turn the order round.
            self.now = self.now.max(Moment(wall_ns.saturating_sub(start_ns)));
        }
        match what {
            What::Line {
                stream,
                bytes,
                is_guess,
            } => {
                let is_undated = wall_ns.is_none() && self.plan.start_ns.is_some();
                self.undated += u64::from(is_undated && stream != StreamId::STDERR);
                self.guesses += u64::from(is_guess);
                self.import.chunk(stream, self.now, bytes)?;
                self.import.chunk(stream, self.now, b"\n")
            }
            What::Event(kind) => {
                match &kind {
                    EventKind::Shortened { .. } => self.shortened += 1,
                    EventKind::Skipped { lines, .. } => {
                        self.skipped = self.skipped.saturating_add(*lines);
                    }
                    _ => {}
                }
                self.import.event(self.now, &kind)
            }
            What::Begin(_) | What::UnreadTime(_) | What::Nothing(_) => Ok(()),
        }
    }

    /// The log says no more of the session.
    fn finish(mut self, format: Format) -> Result<(usize, Made), ImportError> {
        let mut remarks = Vec::new();
        let mut remark = |count: u64, noun: &str, text: &str| {
            if count > 0 {
                remarks.push(text.replace("{}", &plural(count, noun)));
            }
        };
        remark(self.shortened, "message", "the log does not hold {} whole");
        remark(self.skipped, "line", "the log lacks {}");
        let undated = "the log has no time for {}, which stand where the one before does";
        remark(self.undated, "line", undated);
        let guesses = "which way {} went is a guess: the log does not say it";
        remark(self.guesses, "line", guesses);
        for message in remarks.iter().cloned() {
            let warning = EventKind::Warning { message };
            self.import.event(self.now, &warning)?;
        }
        self.import.finish(self.now)?;
        remarks.splice(0..0, self.plan.untimed());
        let made = Made {
            reel: self.reel,
            format: format.as_str(),
            remarks,
        };
        Ok((self.number, made))
    }
}
