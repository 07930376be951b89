//! The sessions in a log of another program, each a recording.

use super::Made;
use crate::cli::cassette::checksum;
use crate::cli::held::Lines;
use crate::cli::output::Progress;
use crate::formats::import::{About, Format, MAX_LINE, Said, What};
use crate::record::import::{Import, ImportError};
use crate::store::library::REEL;
use crate::text::{plural, size};
use crate::trace::clock::Moment;
use crate::trace::event::{EventKind, ProcessContext};
use crate::trace::frame::StreamId;
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
    /// What it is called in what is said of it, escaped.
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
    /// Makes its recordings in `folder`.
    pub fn take(mut self, folder: &Path) -> Result<Vec<Made>, LogError> {
        let shown = self.shown;
        let (id, len) = (checksum(&mut self.file)?, self.file.metadata()?.len());
        self.file.rewind()?;
        let mut reader = self.format.reader();
        let mut sessions = Sessions {
            log: &self,
            folder,
            id,
            open: HashMap::new(),
            made: Vec::new(),
            passed: Vec::new(),
            more: 0,
        };
        let mut progress = Progress::stderr();
        let mut lines = Lines::of(&self.file, MAX_LINE as u64 + 1);
        while lines.next()? {
            progress.now_and_then(|| {
                format!("{shown}: {} of {} read", size(lines.position()), size(len))
            });
            let Some(line) = lines.held() else {
                sessions.pass(lines.number(), "it is too long");
                continue;
            };
            let line = unterminated(line);
            sessions.hear(lines.number(), |said| reader.line(line, said))?;
        }
        drop(progress);
        sessions.hear(lines.number(), |said| reader.finish(said))?;
        sessions.finish(shown)
    }
}

/// The sessions of a log.
struct Sessions<'a> {
    log: &'a Log<'a>,
    folder: &'a Path,
    /// The id of the first; the others have one made of it.
    id: u32,
    open: HashMap<String, Session>,
    made: Vec<Made>,
    /// Lines that say nothing, as far as they are told one by one.
    passed: Vec<String>,
    more: u64,
}

impl Sessions<'_> {
    /// Takes what `tell` says by the line `line`.
    fn hear(
        &mut self,
        line: u64,
        tell: impl FnOnce(&mut dyn FnMut(Said<'_>)),
    ) -> Result<(), LogError> {
        let mut failed = None;
        tell(&mut |said| failed = failed.take().or(self.said(line, said).err()));
        failed.map_or(Ok(()), Err)
    }

    fn said(&mut self, line: u64, said: Said<'_>) -> Result<(), LogError> {
        let what = match said.what {
            What::Nothing(why) => {
                self.pass(line, why);
                return Ok(());
            }
            What::Begin(about) => return self.begin(said.session, said.wall_ns, about),
            what => what,
        };
        match self.open.get_mut(said.session) {
            Some(session) => session.said(said.wall_ns, what)?,
            None => self.pass(line, "it belongs to one session too many"),
        }
        Ok(())
    }

    fn begin(&mut self, key: &str, wall_ns: Option<u64>, about: About) -> Result<(), LogError> {
        if let Some(before) = self.open.remove(key) {
            self.made.push(before.finish(self.log.format)?);
        }
        if self.open.len() == MOST_OPEN {
            return Ok(());
        }
        let mut hasher = crc32fast::Hasher::new_with_initial(self.id);
        let number = self.made.len() + self.open.len();
        if number > 0 {
            hasher.update(&number.to_le_bytes());
        }
        let id = format!("{:08x}", hasher.finalize());
        let context = ProcessContext {
            recording: id.clone(),
            name: self.name(about.name),
            origin: "import".into(),
            wall_ns: wall_ns.unwrap_or(0),
            transport: about.transport.unwrap_or_else(|| "stdio".into()),
            argv: about.argv,
            cwd: about.cwd,
            ..ProcessContext::default()
        };
        let session = Session::begin(&self.folder.join(id).with_extension(REEL), context)?;
        self.open.insert(key.to_owned(), session);
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
        let mut open: Vec<_> = self.open.into_values().collect();
        open.sort_by(|a, b| a.reel.cmp(&b.reel));
        for session in open {
            self.made.push(session.finish(self.log.format)?);
        }
        if self.more > 0 {
            let lines = plural(self.more, "more line");
            self.passed.push(format!("{lines} passed over"));
        }
        let passed = self.passed.iter().map(|line| format!("{shown}: {line}"));
        if let Some(first) = self.made.first_mut() {
            first.told.splice(0..0, passed);
        }
        Ok(self.made)
    }
}

/// A session that is being made.
struct Session {
    reel: std::path::PathBuf,
    import: Import,
    /// Wall clock of t = 0; 0 while no line had a time.
    start_ns: u64,
    now: Moment,
    guesses: u64,
}

impl Session {
    fn begin(reel: &Path, context: ProcessContext) -> Result<Self, ImportError> {
        Ok(Self {
            reel: reel.to_owned(),
            start_ns: context.wall_ns,
            import: Import::begin(reel, context)?,
            now: Moment(0),
            guesses: 0,
        })
    }

    fn said(&mut self, wall_ns: Option<u64>, what: What<'_>) -> Result<(), ImportError> {
        if let Some(wall_ns) = wall_ns.filter(|_| self.start_ns > 0) {
            // A clock that was set back must not turn the order round.
            self.now = self.now.max(Moment(wall_ns.saturating_sub(self.start_ns)));
        }
        match what {
            What::Line {
                stream,
                bytes,
                is_guess,
            } => {
                self.guesses += u64::from(is_guess);
                self.line(stream, bytes)
            }
            What::Event(kind) => self.import.event(self.now, &kind),
            What::Begin(_) | What::Nothing(_) => Ok(()),
        }
    }

    fn line(&mut self, stream: StreamId, bytes: &[u8]) -> Result<(), ImportError> {
        self.import.chunk(stream, self.now, bytes)?;
        self.import.chunk(stream, self.now, b"\n")
    }

    fn finish(mut self, format: Format) -> Result<Made, ImportError> {
        let mut told = Vec::new();
        if self.start_ns == 0 {
            told.push("the log has no times: everything stands at 0, and latencies mean nothing");
        }
        let guesses = format!(
            "which way {} went is a guess: the log does not say it",
            plural(self.guesses, "line")
        );
        if self.guesses > 0 {
            told.push(&guesses);
        }
        for message in &told {
            let message = (*message).to_owned();
            self.import
                .event(self.now, &EventKind::Warning { message })?;
        }
        self.import.finish(self.now)?;
        Ok(Made {
            reel: self.reel,
            of: format.as_str(),
            told: told.into_iter().map(str::to_owned).collect(),
        })
    }
}

fn unterminated(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
