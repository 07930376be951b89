//! The recordings of the folder.
//!
//! The folder is listed about once a second while it is on the screen, so a list has to be cheap:
//! of each file only the dates are looked at, and it is read again when they have changed, or as
//! long as somebody records. Recordings whose recorders have gone are completed on the way, for a
//! tenth of a second each time.

use crate::effect::Answer;
use crate::panels::library;
use crate::panels::shelf::Row;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Entry, Library, Standing, spool_of};
use mcpreel_store::recovery::{self, Outcome};
use mcpreel_trace::clock::Clock;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Within a list recordings are completed for so long; whoever looks at them waits meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

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
    /// The recording cannot be completed as long as its files stay as they are.
    hopeless: bool,
    /// When it had how many messages, the last two times.
    samples: [Option<(u64, u64)>; 2],
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
        if self.complete() {
            tell(self.listed());
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
        Answer::new(|viewer| library::listed(&mut viewer.app, rows))
    }
}

impl Known {
    fn read(reel: &Path, stamp: Stamp, old: Option<Self>, now: u64) -> Self {
        let entry = Arc::new(Entry::read(reel));
        let before = old.and_then(|old| old.samples[1]);
        let sample = entry.summary().map(|summary| (now, summary.messages));
        Self {
            stamp,
            entry,
            hopeless: false,
            samples: [before, sample],
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
            rate: is_live.then(|| rate(self.samples)).flatten(),
        }
    }
}

/// Messages per second between the first sample and the last.
fn rate([before, after]: [Option<(u64, u64)>; 2]) -> Option<f64> {
    let ((from, before), (to, after)) = (before?, after?);
    let seconds = Duration::from_nanos(to.checked_sub(from)?).as_secs_f64();
    let messages = u32::try_from(after.saturating_sub(before)).unwrap_or(u32::MAX);
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
