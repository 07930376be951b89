//! `mcpreel tail`: a recording while it is made.

mod entries;
mod watch;

pub use watch::Newcomers;

use super::args::Tail as Args;
use super::cassette::Tape;
use super::exit::{Exit, Failure, Outcome};
use super::lines::Width;
use super::output::{self, Output};
use super::{filter, folder, select};
use entries::Entries;
pub use entries::{Shown, bytes};
use mcpreel_store::library::{Entry, Library, Standing, spool_of};
use mcpreel_store::reader::Summary;
use mcpreel_store::recovery::{self, Outcome as Done, RecoverError};
use mcpreel_store::select::Question;
use mcpreel_store::tail::{INTERVAL, News, Tail, Update};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::escape;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

/// Frames have at least this many digits' room, so that the columns do not jump.
const ROOM: u64 = 99_999;

/// Polls without news between two looks at whether the recording was abandoned.
const LOOK_EVERY: u32 = 15;

/// Follows the recording that the arguments name, or the newest live one, or the next.
pub fn run(args: &Args) -> Outcome {
    let query = filter::parse(args.filter.query.as_deref())?;
    let library = Library::new(folder::of(&args.folder)?);
    let path = match &args.recording {
        Some(text) => select::find(text, &library)?.path,
        None => newest_or_next(&library)?,
    };
    // A cassette has all that there is; it is shown like a recording that has just ended.
    let tape = Tape::of(&path)?;
    tape.iter().for_each(Tape::tell);
    let path = tape.as_ref().map_or(&*path, Tape::reel);
    let entry = Entry::read(path);
    let name = escape(&entry.name).into_owned();
    output::say(&format!("following {} {name}", entry.id));
    follow(path, &library, query, args.json)?;
    Ok(Exit::Fine)
}

fn newest_or_next(library: &Library) -> Result<PathBuf, Failure> {
    let mut newcomers = Newcomers::since_now(library.dir());
    let entries = library.list()?;
    let live = entries
        .into_iter()
        .find(|entry| entry.standing == Standing::Live);
    if let Some(entry) = live {
        return Ok(entry.path);
    }
    let dir = library.dir().display().to_string();
    output::say(&format!("waiting for a recording in {}", escape(&dir)));
    loop {
        if let Some(path) = newcomers.next() {
            return Ok(path);
        }
        thread::sleep(INTERVAL);
    }
}

/// Shows the recording `path`, or those of its rows that fit, until it ends.
pub fn follow(
    path: &Path,
    library: &Library,
    query: Option<Query>,
    json: bool,
) -> Result<(), Failure> {
    let mut tail = Tail::new(path);
    let mut follower = Follower {
        path,
        out: Output::stream(),
        entries: Entries::default(),
        summary: None,
        query,
        quiet: 0,
        json,
    };
    loop {
        match tail.poll()? {
            Update::News(news) => {
                let more = news.more;
                follower.show(&tail, *news)?;
                if more {
                    continue;
                }
            }
            Update::Waiting | Update::Quiet => {
                if follower.is_abandoned() {
                    break;
                }
            }
            Update::Orphaned if library.contains(path) => take_over(path)?,
            Update::Orphaned | Update::Ended => break,
        }
        follower.tell_what_is_open(&tail)?;
        thread::sleep(INTERVAL);
    }
    follower.out.flush()?;
    Ok(())
}

/// Completes a recording whose recorder has gone, so that its end can be shown.
fn take_over(path: &Path) -> Result<(), Failure> {
    match recovery::bring_up_to_date(path, Clock::start(), &mut |_| ()) {
        // Somebody else is at it: that is followed.
        Err(RecoverError::Busy { .. }) => Ok(()),
        Err(error) if recovery::is_missing(path) => Err(select::not_made(path, error)),
        Ok(Done::ReadOnly) => {
            let (reel, spool) = (path.display(), spool_of(path));
            let words = format!(
                "the recorder has gone, and what its journal {} still holds cannot be added to \
                 {reel}, which may not be written; copy both to a folder that can be written",
                spool.display()
            );
            Err(anyhow::anyhow!("{}", escape(&words)).into())
        }
        outcome => Ok(outcome.map(drop)?),
    }
}

/// What is shown, and what has been.
struct Follower<'a> {
    path: &'a Path,
    out: Output,
    entries: Entries,
    /// The session as of the last news.
    summary: Option<Summary>,
    /// Which rows are shown.
    query: Option<Query>,
    /// Polls without news.
    quiet: u32,
    json: bool,
}

impl Follower<'_> {
    fn show(&mut self, tail: &Tail, news: News) -> Result<(), Failure> {
        self.summary = Some(news.summary.clone());
        self.quiet = 0;
        for shown in self.entries.take(news) {
            self.write(tail, &shown)?;
        }
        Ok(self.out.flush()?)
    }

    /// Whether nobody will ever end the recording: it is a copy of a live one. One that has just
    /// ended looks the same for a moment, until its end is polled.
    fn is_abandoned(&mut self) -> bool {
        self.quiet += 1;
        self.quiet > LOOK_EVERY
            && self.quiet.is_multiple_of(LOOK_EVERY)
            && Entry::read(self.path).standing == Standing::Cut
    }

    fn tell_what_is_open(&mut self, tail: &Tail) -> Result<(), Failure> {
        let Some(summary) = &self.summary else {
            return Ok(());
        };
        let now = wall_clock_ns().saturating_sub(summary.wall_ns);
        for shown in self.entries.open_for_long(now) {
            self.write(tail, &shown)?;
        }
        Ok(self.out.flush()?)
    }

    /// Whether the row is among those that were asked for.
    fn fits(&self, tail: &Tail, shown: &Shown) -> Result<bool, Failure> {
        let (Some(query), Some(summary)) = (&self.query, &self.summary) else {
            return Ok(true);
        };
        let (lens, key) = shown.row();
        let question = Question {
            lens,
            query: query.clone(),
            until: None,
        };
        let context = filter::context(summary, !summary.state.is_final());
        let fitting = entries::with_recording(tail, self.path, |recording| {
            Ok(recording.fitting(&question, context, &[key])?)
        })?;
        Ok(!fitting.is_empty())
    }

    fn write(&mut self, tail: &Tail, shown: &Shown) -> Result<(), Failure> {
        if !self.fits(tail, shown)? {
            return Ok(());
        }
        let raw = match shown.frame() {
            Some(head) => entries::with_recording(tail, self.path, |recording| {
                entries::bytes(recording, head, self.json)
            })?,
            None => Vec::new(),
        };
        Ok(self.print(shown, &raw)?)
    }

    fn print(&mut self, shown: &Shown, raw: &[u8]) -> io::Result<()> {
        if self.json {
            return self.out.json(&shown.json(raw));
        }
        let line = shown.line(raw, None, Width::up_to(ROOM), &self.out);
        self.out.line(&line)
    }
}
