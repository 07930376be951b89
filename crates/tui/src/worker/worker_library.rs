//! The recordings of the folder, on a thread of its own.
//!
//! The folder is listed about once a second while it is on the screen, so a list has to be cheap:
//! of each file only the dates are looked at, and it is read again when they have changed, or as
//! long as somebody records. Recordings whose recorders have gone are completed on the way, for a
//! tenth of a second each time.

use mcpreel_share::phrases::sentence;
use mcpreel_store::annotate;
use mcpreel_store::library::{Entry, Library, Standing, retention, spool_of};
use mcpreel_store::recovery::{self, Outcome};
use mcpreel_trace::clock::Clock;
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Within a list recordings are completed for so long; whoever looks at them waits meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lists over which the rate of messages is taken: a single second of it would jump.
const SAMPLES: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    List,
    /// A note is written on a recording, or taken away.
    Note(PathBuf, Option<String>),
    Delete(PathBuf),
}

#[derive(Debug)]
pub enum Answer {
    /// What is in the folder: live recordings first, then the newest.
    Listed(Vec<Row>),
    /// The folder cannot be read: one sentence, escaped.
    Unreadable(String),
    /// Something was done: one sentence, escaped.
    Done(String),
    /// Something could not be done: one sentence, escaped.
    Refused(String),
}

#[derive(Clone, Debug)]
pub struct Row {
    pub entry: Arc<Entry>,
    /// Messages per second lately, where somebody records.
    pub rate: Option<f64>,
}

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
    /// Nothing more can be added to it as long as its files stay as they are.
    hopeless: bool,
    /// When it had how many messages, the oldest first.
    samples: VecDeque<(u64, u64)>,
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

    /// Answers a question. What was changed is listed again.
    pub fn answer(&mut self, ask: Ask, tell: &mut dyn FnMut(super::Answer)) {
        let mut tell = |answer| tell(super::Answer::Library(answer));
        match ask {
            Ask::List => {}
            Ask::Note(path, note) => tell(self.note(&path, note.as_deref())),
            Ask::Delete(path) => tell(delete(&path)),
        }
        if let Err(error) = self.read() {
            tell(Answer::Unreadable(error));
            return;
        }
        tell(self.listed());
        if self.complete() {
            tell(self.listed());
        }
    }

    fn note(&mut self, path: &Path, note: Option<&str>) -> Answer {
        let said = if note.is_some() {
            "noted; the recording is never pruned"
        } else {
            "the note was removed"
        };
        match annotate::set_note(path, None, note) {
            Ok(()) => {
                self.known.remove(path);
                Answer::Done(said.to_owned())
            }
            Err(error) => Answer::Refused(sentence(&error)),
        }
    }

    /// Reads what has changed since the last time.
    fn read(&mut self) -> Result<(), String> {
        let reels = self.library.reels().map_err(|error| sentence(&error))?;
        let now = self.clock.now().0;
        let mut known = std::mem::take(&mut self.known);
        for reel in reels {
            let stamp = stamp_of(&reel);
            let old = known.remove(&reel);
            let fresh = match old {
                Some(old) if old.stamp == stamp && !old.may_have_changed() => old,
                old => Known::read(&reel, stamp, old, now),
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
            changed = true;
        }
        changed
    }

    /// Live recordings first, then the newest.
    fn listed(&self) -> Answer {
        let mut rows: Vec<Row> = self.known.values().map(Known::row).collect();
        rows.sort_by(|a, b| {
            let key = |row: &Row| (row.entry.standing == Standing::Live, row.entry.wall_ns);
            (key(b), &b.entry.path).cmp(&(key(a), &a.entry.path))
        });
        Answer::Listed(rows)
    }
}

impl Known {
    fn read(reel: &Path, stamp: Stamp, old: Option<Self>, now: u64) -> Self {
        let entry = Arc::new(Entry::read(reel));
        let mut samples = old.map(|old| old.samples).unwrap_or_default();
        if let Some(summary) = entry.summary() {
            samples.push_back((now, summary.messages));
            if samples.len() > SAMPLES {
                samples.pop_front();
            }
        }
        Self {
            stamp,
            entry,
            hopeless: false,
            samples,
        }
    }

    /// Whether something may have happened that no date tells: a recorder that has gone leaves
    /// nothing but its lock.
    fn may_have_changed(&self) -> bool {
        self.entry.standing == Standing::Live
    }

    fn row(&self) -> Row {
        let is_live = self.entry.standing == Standing::Live;
        Row {
            entry: Arc::clone(&self.entry),
            rate: is_live.then(|| rate(&self.samples)).flatten(),
        }
    }
}

/// Messages per second between the first sample and the last.
fn rate(samples: &VecDeque<(u64, u64)>) -> Option<f64> {
    let ((from, before), (to, after)) = (samples.front()?, samples.back()?);
    let seconds = Duration::from_nanos(to.checked_sub(*from)?).as_secs_f64();
    let messages = u32::try_from(after.saturating_sub(*before)).unwrap_or(u32::MAX);
    (seconds > 0.0).then(|| f64::from(messages) / seconds)
}

fn stamp_of(reel: &Path) -> Stamp {
    let mut wal = reel.as_os_str().to_owned();
    wal.push("-wal");
    [reel.to_owned(), PathBuf::from(wal), spool_of(reel)].map(|file| {
        let file = file.metadata().ok()?;
        Some((file.mtime(), file.mtime_nsec(), file.size()))
    })
}

/// Deletes it as `prune` does, if nobody records.
fn delete(path: &Path) -> Answer {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = escape(&name);
    match retention::delete(path) {
        Ok(true) => Answer::Done(format!("{name} was deleted")),
        Ok(false) => Answer::Refused(format!("{name} is being recorded, so it stays")),
        Err(error) => Answer::Refused(format!("could not delete {name}: {}", sentence(&error))),
    }
}
