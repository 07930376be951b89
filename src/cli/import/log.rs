//! The sessions in a log of another program, each a recording.
//!
//! A log is read twice: the id of a recording comes from all that its session says, so that a log
//! that has grown makes no second recordings of what it had before.

use crate::cli::cassette::Made;
use crate::cli::output::Progress;
use crc32fast::Hasher;
use mcpreel_share::import::{About, BYTE_ORDER_MARK, DATED_NS, Entry, Format, MAX_LINE, What};
use mcpreel_share::lines::Lines;
use mcpreel_store::library::REEL;
use mcpreel_store::record::import::Import;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{plural, size};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Seek as _;
use std::path::Path;

/// Lines that are passed over are named one by one up to here.
const MOST_NAMED: u64 = 5;

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

impl Log<'_> {
    /// Makes its recordings in `folder`.
    pub fn import(mut self, folder: &Path) -> anyhow::Result<Vec<Made>> {
        let len = self.file.metadata()?.len();
        let (mut plans, mut open) = (Vec::<Plan>::new(), HashMap::new());
        let (mut passed, mut remarks) = (0, Vec::new());
        self.read((0, len), &mut |line, entry| {
            match &entry.what {
                What::Nothing(why) => {
                    passed += 1;
                    if passed <= MOST_NAMED {
                        let shown = self.shown;
                        remarks.push(format!("{shown}: line {line} is skipped: {why}"));
                    }
                    return Ok(());
                }
                What::Begin(_) => {
                    open.insert(entry.session.to_owned(), plans.len());
                    plans.push(Plan::default());
                }
                _ => {}
            }
            let plan = open.get(entry.session).and_then(|at| plans.get_mut(*at));
            if let Some(plan) = plan {
                plan.add(&entry);
            }
            Ok(())
        })?;
        if passed > MOST_NAMED {
            let more = plural(passed - MOST_NAMED, "more line");
            remarks.push(format!("{}: {more} skipped", self.shown));
        }
        self.file.rewind()?;
        let ids = ids(&plans);
        let reel = |id: &String| folder.join(id).with_extension(REEL);
        let mut sessions = HashMap::<String, Session<'_>>::new();
        let mut planned = plans.iter().zip(&ids);
        self.read((len, len), &mut |_, entry| {
            if let What::Begin(about) = entry.what {
                let Some((plan, id)) = planned.next() else {
                    return Ok(());
                };
                let context = self.context(about, plan, id);
                let session = Session::begin(&reel(id), context, plan)?;
                let before = sessions.insert(entry.session.to_owned(), session);
                return before.map_or(Ok(()), Session::finish);
            }
            let session = sessions.get_mut(entry.session);
            session.map_or(Ok(()), |session| session.add(entry))
        })?;
        sessions.into_values().try_for_each(Session::finish)?;
        let mut made = Vec::new();
        for (plan, id) in plans.iter().zip(&ids) {
            // The first has those on the whole file too.
            let mut remarks = std::mem::take(&mut remarks);
            remarks.extend(plan.untimed().into_iter().chain(plan.remarks()));
            let format = self.format.as_str();
            made.push(Made {
                reel: reel(id),
                format,
                remarks,
            });
        }
        Ok(made)
    }

    fn context(&self, about: About, plan: &Plan, id: &str) -> ProcessContext {
        let stem = self.path.file_stem().unwrap_or_default();
        ProcessContext {
            recording: id.to_owned(),
            name: match self.name {
                Some(name) => name.to_owned(),
                None if about.name.is_empty() => stem.to_string_lossy().into_owned(),
                None => about.name,
            },
            origin: "import".into(),
            wall_ns: plan.start_ns.filter(|ns| *ns >= DATED_NS).unwrap_or(0),
            transport: about.transport.unwrap_or_else(|| "stdio".into()),
            argv: about.argv,
            cwd: about.cwd,
            ..ProcessContext::default()
        }
    }

    /// Gives what the lines of the first `len` bytes say to `visit`, with their numbers. As progress
    /// `before` bytes were read already.
    fn read(
        &self,
        (before, len): (u64, u64),
        visit: &mut dyn FnMut(u64, Entry<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
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
    /// The first time that a line of it has.
    start_ns: Option<u64>,
    hasher: Hasher,
    /// Lines whose direction is a guess.
    guesses: u64,
    /// Messages without a time.
    undated: u64,
    /// Messages that the log does not hold whole.
    shortened: u64,
    /// Lines that the log lacks.
    skipped: u64,
}

impl Plan {
    fn add(&mut self, entry: &Entry<'_>) {
        self.start_ns = self.start_ns.or(entry.wall_ns);
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
            What::Line {
                stream,
                bytes,
                is_guess,
            } => {
                hasher.update(&stream.0.to_le_bytes());
                hasher.update(bytes);
                hasher.update(b"\n");
                let is_message = *stream != StreamId::STDERR;
                self.undated += u64::from(is_message && entry.wall_ns.is_none());
                self.guesses += u64::from(*is_guess);
            }
            What::Event(kind) => {
                hasher.update(&serde_json::to_vec(kind).unwrap_or_default());
                match kind {
                    EventKind::Shortened { .. } => self.shortened += 1,
                    EventKind::Skipped { lines, .. } => {
                        self.skipped = self.skipped.saturating_add(*lines);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Why nothing is known of when a session was, if so.
    fn untimed(&self) -> Option<String> {
        let remark = "the log has no times that can be read: everything stands at 0, and latencies \
                      mean nothing";
        self.start_ns.is_none().then(|| remark.to_owned())
    }

    /// What the log lacks of the session, and what is a guess.
    fn remarks(&self) -> impl Iterator<Item = String> {
        // Without any time that is told otherwise.
        let undated = self.start_ns.map_or(0, |_| self.undated);
        let all = [
            (self.shortened, "message", "the log does not hold {} whole"),
            (self.skipped, "line", "the log lacks {}"),
            (
                undated,
                "line",
                "the log has no time for {}, which stand where the one before does",
            ),
            (
                self.guesses,
                "line",
                "which way {} went is a guess: the log does not say it",
            ),
        ];
        let some = all.into_iter().filter(|(count, ..)| *count > 0);
        some.map(|(count, noun, text)| text.replace("{}", &plural(count, noun)))
    }
}

/// The ids of the recordings. Sessions that are alike are told apart by their order.
fn ids(plans: &[Plan]) -> Vec<String> {
    let mut taken = HashSet::new();
    let ids = plans.iter().map(|plan| {
        let mut hasher = plan.hasher.clone();
        while !taken.insert(hasher.clone().finalize()) {
            hasher.update(b"again");
        }
        format!("{:08x}", hasher.finalize())
    });
    ids.collect()
}

/// A session whose recording is being made.
struct Session<'p> {
    plan: &'p Plan,
    import: Import,
    now: Moment,
}

impl<'p> Session<'p> {
    fn begin(reel: &Path, context: ProcessContext, plan: &'p Plan) -> anyhow::Result<Self> {
        let mut import = Import::begin(reel, context)?;
        if let Some(message) = plan.untimed() {
            import.event(Moment(0), &EventKind::Untimed { message })?;
        }
        let now = Moment(0);
        Ok(Self { plan, import, now })
    }

    fn add(&mut self, entry: Entry<'_>) -> anyhow::Result<()> {
        if let Some((wall_ns, start_ns)) = entry.wall_ns.zip(self.plan.start_ns) {
            // A clock that was set back must not turn the order round.
            self.now = self.now.max(Moment(wall_ns.saturating_sub(start_ns)));
        }
        match entry.what {
            What::Line { stream, bytes, .. } => {
                self.import.chunk(stream, self.now, bytes)?;
                self.import.chunk(stream, self.now, b"\n")?;
            }
            What::Event(kind) => self.import.event(self.now, &kind)?,
            What::Begin(_) | What::Nothing(_) => {}
        }
        Ok(())
    }

    /// The log says no more of the session.
    fn finish(mut self) -> anyhow::Result<()> {
        for message in self.plan.remarks() {
            let warning = EventKind::Warning { message };
            self.import.event(self.now, &warning)?;
        }
        Ok(self.import.finish(self.now)?)
    }
}
