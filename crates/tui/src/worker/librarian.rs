//! The recordings of the folder.
//!
//! The folder is listed about once a second while it is on the screen, so a list has to be cheap:
//! of each file only the dates are looked at, and it is read again when they have changed, or as
//! long as somebody records. Recordings whose recorders have gone are completed on the way, for a
//! tenth of a second each time.

use crate::effect::Answer;
use crate::panels::library;
use crate::panels::shelf::Row;
use crate::worker::vitals::OPEN;
use mcpreel_lint::cause::causes;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Entry, Library, Standing, newest_first, spool_of};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::recovery::{self, Outcome};
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use mcpreel_trace::exchange::{Exchange, Status};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Within a list recordings are completed for so long; whoever looks at them waits meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

/// Recordings that are asked after a list what went wrong in them: each has to be opened for that.
const ASKED: usize = 32;

/// Answers questions about the folder.
#[derive(Debug)]
pub struct Librarian {
    library: Library,
    clock: Clock,
    known: BTreeMap<PathBuf, Known>,
}

/// A recording as it was when it was read last.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    entry: Arc<Entry>,
    /// What went wrong, in a sentence; none until it was asked.
    why: Option<Arc<str>>,
    open: Arc<[Exchange]>,
    /// The recording cannot be completed as long as its files stay as they are.
    hopeless: bool,
}

/// The dates and sizes of the files of a recording.
type Stamp = [Option<(i64, i64, u64)>; 3];

impl Librarian {
    pub fn new(library: Library, clock: Clock) -> Self {
        Self {
            library,
            clock,
            known: BTreeMap::new(),
        }
    }

    /// Lists the folder; once more, if recordings could be completed meanwhile.
    pub fn list(&mut self, tell: &mut dyn FnMut(Answer)) {
        if let Err(error) = self.read() {
            return tell(Answer::new(|viewer| {
                library::unreadable(&mut viewer.app, error)
            }));
        }
        tell(self.listed());
        if self.complete() | self.explain() {
            tell(self.listed());
        }
    }

    /// Reads what has changed since the last time.
    fn read(&mut self) -> Result<(), String> {
        let reels = self.library.reels().map_err(|error| sentence(&error))?;
        // Dates before contents: what changes in between is read once more.
        let stamps: Vec<_> = reels.iter().map(|reel| stamp_of(reel)).collect();
        let mut known = std::mem::take(&mut self.known);
        let mut listed = BTreeMap::new();
        if known.is_empty() {
            let all = self.library.list().map_err(|error| sentence(&error))?;
            listed.extend(all.into_iter().map(|entry| (entry.path.clone(), entry)));
        }
        for (reel, stamp) in reels.into_iter().zip(stamps) {
            let old = known.remove(&reel);
            // A recorder that has gone leaves nothing but its lock, and no date tells that.
            let is_live = |known: &Known| known.entry.standing == Standing::Live;
            let fresh = match old {
                Some(old) if old.stamp == stamp && !is_live(&old) => old,
                old => {
                    let entry = listed.remove(&reel).unwrap_or_else(|| Entry::read(&reel));
                    // Of a live one it is asked again when more has failed.
                    let is_same = |old: &Known| {
                        entry.standing == Standing::Live && failed(&old.entry) == failed(&entry)
                    };
                    Known {
                        stamp,
                        open: open_calls(&entry).unwrap_or_default().into(),
                        why: old.filter(is_same).and_then(|old| old.why),
                        entry: Arc::new(entry),
                        hopeless: false,
                    }
                }
            };
            self.known.insert(reel, fresh);
        }
        Ok(())
    }

    /// Completes what can be completed while somebody waits for the list; whether that changed
    /// anything.
    fn complete(&mut self) -> bool {
        let began = self.clock.now().0;
        let mut changed = false;
        for (path, known) in &mut self.known {
            if known.hopeless || !known.entry.is_left_behind() {
                continue;
            }
            let spent = Duration::from_nanos(self.clock.now().0.saturating_sub(began));
            let Some(left) = PATIENCE.checked_sub(spent).filter(|left| !left.is_zero()) else {
                break;
            };
            let outcome = recovery::drain_for(path, self.clock, left);
            // What cannot be completed stays as it is, and is listed so.
            known.hopeless = matches!(outcome, Err(_) | Ok(Outcome::ReadOnly));
            known.stamp = stamp_of(path);
            known.entry = Arc::new(Entry::read(path));
            (known.why, known.open) = Default::default();
            changed = true;
        }
        changed
    }

    /// Asks the newest recordings that are over, or in which something failed, what went wrong in them; whether
    /// there were any.
    fn explain(&mut self) -> bool {
        let is_asked = |known: &Known| {
            let is_well = known.entry.standing == Standing::Live && failed(&known.entry) == 0;
            known.why.is_some() || is_well
        };
        let all = self.known.iter_mut().rev();
        let mut asked = all
            .filter(|(_, known)| !is_asked(known))
            .take(ASKED)
            .peekable();
        let is_any = asked.peek().is_some();
        for (path, known) in asked {
            let is_live = known.entry.standing == Standing::Live;
            known.why = Some(why(path, is_live).unwrap_or_default().into());
        }
        is_any
    }

    /// Live recordings first, then the newest.
    fn listed(&self) -> Answer {
        let known = self.known.values();
        let row = |known: &Known| Row {
            entry: Arc::clone(&known.entry),
            why: known.why.clone().unwrap_or_default(),
            open: Arc::clone(&known.open),
        };
        let mut rows: Vec<_> = known.map(row).collect();
        newest_first(&mut rows);
        rows.sort_by_key(|row| row.standing != Standing::Live);
        Answer::new(|viewer| library::listed(&mut viewer.app, rows))
    }
}

fn failed(entry: &Entry) -> u64 {
    entry.summary().map_or(0, |summary| summary.failed)
}

/// What went wrong in a recording; nothing where nothing did, or it cannot be told.
fn why(reel: &Path, is_live: bool) -> Result<String, ReadError> {
    let recording = Recording::open(reel)?;
    let began = recording.summary()?.wall_ns;
    let now = is_live.then(|| Moment(wall_clock_ns().saturating_sub(began)));
    let causes = causes(&recording.facts(now)?).into_iter();
    let mut trouble = causes.filter(|cause| cause.is_trouble() && !(is_live && cause.is_wait()));
    Ok(trouble
        .next()
        .map(|cause| cause.sentence)
        .unwrap_or_default())
}

/// The oldest calls of a live recording that wait for an answer, a few.
fn open_calls(entry: &Entry) -> Result<Vec<Exchange>, ReadError> {
    let is_open = |summary: &Summary| summary.open > 0;
    if entry.standing != Standing::Live || !entry.summary().is_some_and(is_open) {
        return Ok(Vec::new());
    }
    Recording::open(&entry.path)?.first_of(Status::Open, OPEN)
}

fn stamp_of(reel: &Path) -> Stamp {
    let mut wal = reel.as_os_str().to_owned();
    wal.push("-wal");
    [reel.to_owned(), PathBuf::from(wal), spool_of(reel)].map(|file| {
        let file = file.metadata().ok()?;
        Some((file.mtime(), file.mtime_nsec(), file.size()))
    })
}
