//! Completing a recording whose recorder has gone.
//!
//! One path for a recorder that was killed and for one that had to leave a part of the session in
//! the spool: take the lock, append the frames that are missing, derive everything anew, say so,
//! remove the spool. A process that dies here leaves what the next one needs.
//!
//! Only files in the library are to be given to this module. Whatever may not be written is left
//! alone.

use super::follow::{INTERVAL, STANDSTILL};
use super::indexer::derive::reindex;
use super::indexer::{Budget, IndexError, Indexer, release};
use super::library::{Entry, EntryError, Standing, spool_of, start_of};
use super::open::OpenError;
use super::reader::{ReadError, Recording};
use super::schema::State;
use super::{open, schema};
use mcpreel_capture::spool;
use mcpreel_capture::spool::{LockError, SpoolError, SpoolLock, SpoolReader, Tail};
use mcpreel_trace::clock::Clock;
use nix::unistd::{AccessFlags, access};
use rusqlite::Connection;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a recording could not be completed.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    ReadSpool(#[from] SpoolError),
    /// The spool does not say whose it is.
    #[error(transparent)]
    Start(#[from] EntryError),
    /// The recording could not be created, drained or derived anew.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// There is nothing but a spool, which may not be taken over.
    #[error("its folder cannot be written")]
    OutOfReach,
    /// There is nothing but a spool yet, which somebody else holds.
    #[error("{} is still being made by another process; try again in a moment", path.display())]
    Busy { path: PathBuf },
    /// Beside a session what is in the spool stays there: the disk needs what room it has.
    #[error("{0}")]
    NoRoom(String),
    /// The lock of the spool could not be tried, or the spool not be removed.
    #[error("could not take over the spool {}", path.display())]
    Spool { path: PathBuf, source: io::Error },
}

/// A recording with more frames is not derived anew while somebody waits for a list.
const QUICK: u64 = 4000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Draining { done: u64, of: u64 },
    Deriving { frames: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Whole,
    /// The recorder is running: nothing was touched.
    Live,
    /// The files may not be written: nothing was touched.
    ReadOnly,
    /// The time was up; the rest is still in the spool.
    Partly,
    Completed {
        /// All that it has now: an indexer may have added some before.
        frames: u64,
        /// [`State::Recovered`] if the recorder did not come to its end.
        state: State,
    },
}

/// Completes the recording `reel`, makes it one plain file, and brings what is derived up to
/// date. To be called before its rows are read.
pub fn bring_up_to_date(
    reel: &Path,
    clock: Clock,
    progress: &mut dyn FnMut(Stage),
) -> Result<Outcome, RecoverError> {
    let outcome = match take_over(reel, clock, None, progress) {
        // Its indexer had only been late: now it is waited for.
        Err(RecoverError::Index(IndexError::TakenOver)) => take_over(reel, clock, None, progress)?,
        outcome => outcome?,
    };
    match outcome {
        Outcome::Whole => tidy(reel, progress)?,
        Outcome::ReadOnly if is_missing(reel) => return Err(RecoverError::OutOfReach),
        Outcome::Live if is_missing(reel) => {
            let path = reel.to_owned();
            return Err(RecoverError::Busy { path });
        }
        _ => {}
    }
    Ok(outcome)
}

/// Whether there is nothing of the recording `reel` yet but its spool.
pub fn is_missing(reel: &Path) -> bool {
    matches!(open::is_born(reel), Ok(false)) && spool_of(reel).exists()
}

/// Waits until the recorder lets go of `reel`, or `goes_on` says no; returns whether it let go. A
/// reader may see a session end before the thread that indexes it is done, and would read a part.
#[must_use = "if it is false, the recording may not be whole"]
pub fn wait_for_recorder(reel: &Path, goes_on: &mut dyn FnMut() -> bool) -> bool {
    while Entry::read(reel).standing == Standing::Live {
        if !goes_on() {
            return false;
        }
        std::thread::sleep(INTERVAL);
    }
    true
}

/// Adds to the recording `reel` what can be added within `limit`. For lists, whose readers wait.
pub fn drain_for(reel: &Path, clock: Clock, limit: Duration) -> Result<Outcome, RecoverError> {
    take_over(reel, clock, Some(limit), &mut |_| ())
}

fn take_over(
    reel: &Path,
    clock: Clock,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(Stage),
) -> Result<Outcome, RecoverError> {
    let path = spool_of(reel);
    if !path.exists() {
        return Ok(Outcome::Whole);
    }
    if !is_writable(reel, &path) {
        return Ok(Outcome::ReadOnly);
    }
    tracing::debug!(spool = %path.display(), ?limit, "a spool is left");
    let waits = limit.is_none();
    let is_at_work = wait_for_indexer(&path, clock, limit, progress);
    if is_at_work && !waits {
        return Ok(Outcome::Partly);
    }
    let _lock = match lock_patiently(&path, &|| waits && is_missing(reel)) {
        Ok(lock) => lock,
        Err(LockError::Missing) => return Ok(Outcome::Whole),
        Err(LockError::Held) => {
            tracing::debug!("it is in use");
            return Ok(Outcome::Live);
        }
        Err(LockError::Io(source)) => return Err(RecoverError::Spool { path, source }),
    };
    if open::is_born(reel)? && Recording::open_as_it_is(reel)?.summary()?.state.is_final() {
        // It was killed between its last transaction and removing the spool.
        let released = release(&path, &open::read_only(reel)?.conn);
        released.map_err(|source| RecoverError::Spool { path, source })?;
        return Ok(Outcome::Whole);
    }
    let (mut indexer, size) = begin(reel, &path)?;
    let is_drained = drain(&mut indexer, size, clock, limit, progress)?;
    // To derive everything anew may take longer than somebody with a limit waits.
    if !is_drained || limit.is_some() && indexer.frames() > QUICK {
        return Ok(Outcome::Partly);
    }
    let state = indexer.recover(&mut |frames| progress(Stage::Deriving { frames }))?;
    let frames = indexer.frames();
    tracing::debug!(frames, ?state, "completed");
    let released = indexer.release_spool();
    released.map_err(|source| RecoverError::Spool { path, source })?;
    Ok(Outcome::Completed { frames, state })
}

/// The indexer that goes on with the recording `reel` from the spool `path`, and the size of that.
fn begin(reel: &Path, path: &Path) -> Result<(Indexer, u64), RecoverError> {
    drop(make_if_missing(reel, path)?);
    let mut spool = SpoolReader::open(path)?;
    let size = spool.last_position()?;
    Ok((Indexer::resume(reel, spool)?, size))
}

/// Makes the tables of the recording `reel`; `None`: it has them.
pub(crate) fn make_if_missing(
    reel: &Path,
    spool: &Path,
) -> Result<Option<Connection>, RecoverError> {
    let make = match reel.exists() {
        true if open::is_born(reel)? => return Ok(None),
        true => schema::fill,
        false => schema::create,
    };
    let start = start_of(spool)?;
    let first = SpoolReader::open(spool)?.first_position();
    let conn = make(reel, &start, first).map_err(IndexError::from)?;
    Ok(Some(conn))
}

/// Drains a spool of `size` bytes. Returns `false` if the time was up before its end.
fn drain(
    indexer: &mut Indexer,
    of: u64,
    clock: Clock,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(Stage),
) -> Result<bool, RecoverError> {
    let mut budget = Budget::alone(clock);
    let deadline = clock.deadline(limit.map_or(u64::MAX, nanos));
    loop {
        budget.nanos = deadline.left_ns().min(budget.nanos);
        if budget.nanos == 0 {
            return Ok(false);
        }
        let caught_up = indexer.step(Tail::Final, &budget)?;
        let done = indexer.position();
        progress(Stage::Draining { done, of });
        if caught_up {
            return Ok(true);
        }
    }
}

/// Makes a finished recording one plain file, and brings what is derived up to date.
fn tidy(reel: &Path, progress: &mut dyn FnMut(Stage)) -> Result<(), RecoverError> {
    let summary = Recording::open_as_it_is(reel)?.summary()?;
    // A log beside the file was left by a writer that was killed in a transaction.
    let is_plain = !open::is_wal(reel)? && !open::has_beside(reel)?;
    if !summary.state.is_final() || (summary.derived && is_plain) || !may_write(reel) {
        return Ok(());
    }
    if !summary.derived {
        reindex(reel, &mut |frames| progress(Stage::Deriving { frames }))?;
    }
    if !is_plain {
        // Opening it rolls an interrupted transaction back. A reader that is in the way is no
        // error: the next one may succeed.
        schema::leave_wal(&open::writable(reel)?).map_err(|e| OpenError::from_sqlite(reel, e))?;
    }
    Ok(())
}

// Who may complete a recording: whoever has the lock of its spool, and may write.

/// The pause between two attempts at the lock of a spool.
const PAUSE: Duration = Duration::from_millis(2);

/// Attempts at the lock: whoever only looks whether a recorder lives holds it for
/// microseconds, whoever creates the recording for two seconds at most.
const ATTEMPTS: u32 = 5;
const CREATION_ATTEMPTS: u32 = 1000;

/// Waits while the indexer of a session that is over completes its recording: for as long as that
/// comes further, or for `limit`. Returns whether it is still at work.
fn wait_for_indexer(
    path: &Path,
    clock: Clock,
    limit: Option<Duration>,
    progress: &mut dyn FnMut(Stage),
) -> bool {
    let mut done = (0, 0);
    let mut deadline = clock.deadline(nanos(limit.unwrap_or(STANDSTILL)));
    while deadline.left_ns() > 0 {
        let Ok(mut spool) = SpoolReader::open(path) else {
            return false;
        };
        // The lock first: an indexer says that the session is over before it takes the lock.
        let is_held = matches!(spool::lock(path), Err(LockError::Held));
        let now = spool.progress();
        let has_recorder = is_held && !now.is_over;
        if has_recorder || !now.indexer_lives() {
            return false;
        }
        if limit.is_none() && (now.drained, now.derived) != done {
            done = (now.drained, now.derived);
            deadline = clock.deadline(nanos(STANDSTILL));
        }
        let done = now.drained;
        let of = spool.last_position().unwrap_or(done);
        progress(Stage::Draining { done, of });
        std::thread::sleep(PAUSE);
    }
    true
}

/// Takes the lock of the spool `path`. Whoever `is_creating` the recording gets time for that.
fn lock_patiently(path: &Path, is_creating: &dyn Fn() -> bool) -> Result<SpoolLock, LockError> {
    let mut attempts = 1;
    loop {
        let result = spool::lock(path);
        let goes_on = attempts < ATTEMPTS || attempts < CREATION_ATTEMPTS && is_creating();
        if !goes_on || !matches!(result, Err(LockError::Held)) {
            return result;
        }
        std::thread::sleep(PAUSE);
        attempts += 1;
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn is_writable(reel: &Path, spool: &Path) -> bool {
    let folder = reel
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let may_create = may_write(folder.unwrap_or(Path::new(".")));
    (may_write(reel) || !reel.exists()) && may_write(spool) && may_create
}

fn may_write(path: &Path) -> bool {
    access(path, AccessFlags::W_OK).is_ok()
}
