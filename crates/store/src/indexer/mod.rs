//! Draining a spool into a recording.
//!
//! ```text
//!  spool ──record──▶ line (per stream) ──frame──▶ derive ──▶ write ──▶ SQLite
//! ```
//!
//! [`Indexer::step`] is one transaction. With the frames it commits how far each stream is cut
//! (`stream.committed`) and where to read on (`recording.resume`: the first record with a byte
//! that is in no frame yet; `recording.drained`: the end of what was looked at). Whoever starts
//! again reads from `resume` and passes over what is committed, so frames, gaps and events are on
//! record once, whenever the process dies.
//!
//! What is derived depends on all that came before, which is gone after a restart or a failed
//! transaction. From then on an indexer takes care of frames and events only; its recording has
//! the derived version 0, and [`mod@derive`] derives everything anew, by the same code.
//!
//! Whoever calls drives the loop, and knows how long the spool is and when to stop.

mod batch;
mod conversation;
pub mod derive;
pub(crate) mod line;
pub(crate) mod long;
mod network;
pub mod write;

use super::schema::{State, from_sql, to_sql};
use super::{open, schema};
use batch::{Batch, names_unread};
use derive::Deriver;
pub use derive::IndexError;
pub use line::COLLECT_LIMIT;
use line::Line;
use mcpreel_capture::spool::{Progress, SpoolReader, Tail};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{Seq, StreamId};
use network::Connections;
pub(crate) use network::Owned;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempPath;
use write::Writer;

/// Drained parts of the spool are released in pieces of at least this size: each takes a system
/// call.
const RELEASE_AT_LEAST: u64 = 256 * 1024;

/// How much of the WAL counts. It reads the pages that are to be moved: an error where they are gone.
const IN_WAL: &str = "PRAGMA wal_checkpoint(PASSIVE)";

const MARK_UNDERIVED: &str = "UPDATE recording SET derived_version = 0";

/// Drains one spool into one recording.
pub struct Indexer {
    path: PathBuf,
    conn: Connection,
    pub(super) spool: SpoolReader,
    state: Position,
    deriver: Option<Deriver>,
    /// What the last transaction left.
    files: FileMarks,
    /// A transaction failed: memory is ahead of the file.
    astray: bool,
    /// What was released of the spool; `None`: its recorder has gone, nobody writes it again.
    released: Option<u64>,
    payload: Vec<u8>,
    /// The same recording in a smaller file, which takes its place when nobody reads it.
    smaller: Option<TempPath>,
}

impl Indexer {
    /// Creates the recording `path` of the session that `context` describes, to be filled from
    /// `spool`.
    pub fn create(
        path: &Path,
        context: &ProcessContext,
        spool: SpoolReader,
    ) -> Result<Self, IndexError> {
        let conn = schema::create(path, context, spool.first_position())?;
        Self::new(path, conn, spool, Some(Deriver::default()))
    }

    /// Goes on with the recording `path` of a session that is not over, which was `made` just now or
    /// begun by another process: derives anew what that has committed, and then what comes.
    pub(crate) fn go_on(
        path: &Path,
        made: Option<Connection>,
        spool: SpoolReader,
    ) -> Result<Self, IndexError> {
        let (conn, deriver) = if let Some(conn) = made {
            (conn, Deriver::default())
        } else {
            let conn = open::writable(path)?;
            let deriver =
                derive::rebuild_all(&conn, &mut |frames| publish_derived(&spool, frames))?;
            (conn, deriver)
        };
        Self::new(path, conn, spool, Some(deriver))
    }

    /// Goes on with the recording `path` where its last committed transaction ended. What is
    /// derived is left to [`mod@derive`].
    pub fn resume(path: &Path, spool: SpoolReader) -> Result<Self, IndexError> {
        let conn = open::writable(path)?;
        conn.execute(MARK_UNDERIVED, [])?;
        Self::new(path, conn, spool, None)
    }

    fn new(
        path: &Path,
        conn: Connection,
        spool: SpoolReader,
        deriver: Option<Deriver>,
    ) -> Result<Self, IndexError> {
        Ok(Self {
            path: path.to_owned(),
            released: deriver.is_some().then_some(0),
            spool,
            state: Position::load(&conn)?,
            files: marks_of(path),
            conn,
            deriver,
            astray: false,
            payload: Vec::new(),
            smaller: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in frames of the connections of another recording.
    pub(crate) fn copied(&mut self, frames: Vec<Owned>) -> Result<(), IndexError> {
        self.find_back()?;
        self.transact(|batch| batch.copied(frames))
    }

    /// Puts a remark on record.
    pub(super) fn warn(&mut self, message: &str) -> Result<(), IndexError> {
        let message = message.to_owned();
        self.transact(|batch| batch.event(batch.state.t_last, EventKind::Warning { message }))
    }

    /// The place of the next record in the spool.
    pub fn position(&self) -> u64 {
        self.state.next
    }

    /// Takes records into the recording, in one transaction within `budget`. Returns whether it
    /// has come to the end of the spool.
    ///
    /// After an error nothing of it is on record, and the next call begins where this one did.
    pub fn step(&mut self, tail: Tail, budget: &Budget) -> Result<bool, IndexError> {
        self.find_back()?;
        let caught_up = self.transact(|batch| batch.drain(tail, budget))?;
        self.release();
        Ok(caught_up)
    }

    /// Ends the recording: unfinished lines become frames, bytes that are missing at the end are
    /// stated, open exchanges get their end, and the file becomes one plain file. To be called
    /// when a step has caught up and nothing more comes.
    ///
    /// `state` is what a whole recording is then: [`State::Complete`] or [`State::Recovered`]. A
    /// reader may still hold it in WAL mode: [`Self::leave_wal`] tries again. `false`: all frames are
    /// on record, what is derived from them is not. The spool stays, and the next reader derives.
    pub fn finish(&mut self, state: State) -> Result<bool, IndexError> {
        self.find_back()?;
        let status = self.spool.status()?;
        let is_derived = self.deriver.is_some();
        let state = if is_derived { state } else { State::Pending };
        self.transact(|batch| batch.finish(&status, state))?;
        if is_derived {
            self.make_one_plain_file()?;
        }
        Ok(is_derived)
    }

    pub fn frames(&self) -> u64 {
        self.state.last_seq.0
    }

    /// Ends the recording of a recorder that has gone: like [`Self::finish`], and derives
    /// everything anew.
    pub(super) fn recover(&mut self, progress: &mut dyn FnMut(u64)) -> Result<State, IndexError> {
        self.find_back()?;
        self.deriver = None;
        let status = self.spool.status()?;
        let state = match status.end {
            Some(_) => State::Complete,
            None => State::Recovered,
        };
        self.transact(|batch| {
            batch.finish(&status, state)?;
            batch.warn_of_damage()?;
            if state == State::Recovered {
                batch.recovered()?;
            }
            let spool = &*batch.spool;
            let mut derived = |frames| {
                publish_derived(spool, frames);
                progress(frames);
            };
            derive::rebuild(batch.conn, &mut derived).map(drop)
        })?;
        // A reader that is in the way is no error: the next one makes up for it.
        self.make_one_plain_file()?;
        Ok(state)
    }

    /// Takes the spool away, which is not needed any more. One of which a part could not be read
    /// is only renamed (`NAME.spool.damaged`): somebody may yet save what is in there.
    pub fn release_spool(&self) -> io::Result<()> {
        release(self.spool.path(), &self.conn)
    }

    /// Makes a complete recording one plain file. `false` if a reader is in the way.
    pub fn leave_wal(&mut self) -> Result<bool, IndexError> {
        let is_plain = schema::leave_wal(&self.conn)?;
        if let Some(smaller) = self.smaller.take_if(|_| is_plain) {
            // Nobody has it open: who copies it now gets the one or the other, whole.
            drop(smaller.persist(&self.path));
        }
        Ok(is_plain)
    }

    /// Leaves what is in the log of the database there when the file is closed: to move it into the
    /// file takes room on the disk.
    pub(crate) fn keep_wal(&self) {
        let setting = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        // Where it fails the disk becomes fuller than it should.
        let _ = self.conn.set_db_config(setting, true);
    }

    /// The recording is complete: makes it one plain file if it can be done now.
    fn make_one_plain_file(&mut self) -> Result<(), IndexError> {
        self.smaller = schema::smaller(&self.conn, &self.path);
        self.leave_wal().map(drop)
    }

    /// After a failed transaction memory is ahead of the file: begins again from the file.
    fn find_back(&mut self) -> Result<(), IndexError> {
        if self.astray {
            self.state = Position::load(&self.conn)?;
            self.deriver = None;
            self.conn.execute(MARK_UNDERIVED, [])?;
            self.astray = false;
        }
        Ok(())
    }

    fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        if are_disturbed(&self.path, self.files) {
            // Another program that uses SQLite may have moved all of the WAL into the file.
            self.files[1].bytes = 0;
            let in_wal = self.conn.query_row(IN_WAL, [], |row| row.get::<_, i64>(1));
            if are_disturbed(&self.path, self.files) || in_wal != Ok(0) {
                return Err(IndexError::Disturbed);
            }
        }
        // Whoever else holds the file is found out here, before anything has changed in memory.
        let transaction = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?;
        if !self.state.is_last(&transaction)? {
            return Err(IndexError::TakenOver);
        }
        self.astray = true;
        let mut batch = Batch {
            conn: &transaction,
            writer: Writer::prepare(&transaction)?,
            spool: &mut self.spool,
            state: &mut self.state,
            deriver: self.deriver.as_mut(),
            payload: &mut self.payload,
        };
        let value = work(&mut batch)?;
        batch.save()?;
        drop(batch);
        transaction.commit()?;
        // What somebody has done meanwhile must not pass for our own work.
        for (left, now) in self.files.iter_mut().zip(marks_of(&self.path)) {
            left.bytes = left.bytes.max(now.bytes);
        }
        self.astray = false;
        Ok(value)
    }

    /// Tells the recorder which part of the spool it may write again.
    fn release(&mut self) {
        let (resume, drained) = (self.state.resume(), self.state.next);
        if self
            .released
            .is_none_or(|it| resume < it + RELEASE_AT_LEAST)
        {
            return;
        }
        let progress = Progress {
            released: resume,
            drained,
            ..self.spool.progress()
        };
        // Where it fails the spool grows.
        if self.spool.publish(&progress).is_ok() {
            self.released = Some(resume);
        }
    }
}

/// Lets those who wait for the indexer see that it comes further.
fn publish_derived(spool: &SpoolReader, frames: u64) {
    let progress = Progress {
        derived: frames,
        ..spool.progress()
    };
    // Where it fails they give up sooner.
    let _ = spool.publish(&progress);
}

/// The limits of one transaction.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub bytes: u64,
    pub nanos: u64,
    /// The clock that measures the work.
    pub clock: Clock,
}

impl Budget {
    /// The budget of an indexer beside a running session: a longer transaction keeps the writers of
    /// annotations waiting and viewers behind, a shorter one costs throughput.
    pub fn beside_a_session(clock: Clock) -> Self {
        Self {
            bytes: 4 * 1024 * 1024,
            nanos: 20_000_000,
            clock,
        }
    }

    /// The budget of a command that drains a spool while nobody else uses it.
    pub fn alone(clock: Clock) -> Self {
        Self {
            bytes: 32 * 1024 * 1024,
            nanos: 200_000_000,
            clock,
        }
    }

    fn is_spent(&self, began: Moment, bytes: u64) -> bool {
        bytes >= self.bytes || self.clock.now().0.saturating_sub(began.0) >= self.nanos
    }
}

// What other programs do to a recording while it is made.

/// What shows whether a file is still what it was; nothing where there is none.
#[derive(Clone, Copy, Default)]
struct FileMark {
    inode: u64,
    bytes: u64,
}

/// Of the file of a recording and of its WAL.
type FileMarks = [FileMark; 2];

fn marks_of(reel: &Path) -> FileMarks {
    ["", "-wal"].map(|suffix| {
        let file = open::beside(reel, suffix).metadata();
        file.map_or_else(
            |_| FileMark::default(),
            |file| FileMark {
                inode: file.ino(),
                bytes: file.len(),
            },
        )
    })
}

/// Whether the files of `reel` are others than a transaction `left`, or shorter: in WAL mode none is
/// ever cut off, but a WAL of which all is in the file. The index of the WAL must not be asked:
/// to close a file gives up all locks that this process has on it.
fn are_disturbed(reel: &Path, left: FileMarks) -> bool {
    let now = marks_of(reel);
    let mut both = now.iter().zip(left);
    // A recording that was removed before its first mark has no inode in either.
    now[0].inode == 0 || both.any(|(now, then)| now.inode != then.inode || now.bytes < then.bytes)
}

/// Puts what is left of the recording `reel` away (`NAME.reel.damaged`).
pub(crate) fn put_away(reel: &Path) {
    if reel.metadata().is_ok_and(|file| file.len() > 0) {
        let kept = damaged(reel).find(|path| !path.exists());
        let _ = kept.map(|kept| std::fs::rename(reel, kept));
    }
    schema::discard(reel);
}

// What becomes of a spool that is drained.

/// Removes the spool `path` of a recording, or renames it if a part of it could not be read.
pub(crate) fn release(path: &Path, recording: &Connection) -> io::Result<()> {
    // In doubt it is kept.
    if matches!(names_unread(recording), Ok(false)) {
        return std::fs::remove_file(path);
    }
    match damaged(path).find(|path| !path.exists()) {
        Some(kept) => std::fs::rename(path, kept),
        None => Ok(()),
    }
}

/// The names for the file `path` once it is known to be damaged: the first of these that is
/// free.
pub(crate) fn damaged(path: &Path) -> impl Iterator<Item = PathBuf> {
    let names = std::iter::once(String::from(".damaged"))
        .chain((2..).map(|number| format!(".damaged-{number}")));
    names.map(move |suffix| open::beside(path, &suffix))
}

// How far a spool is drained: what is committed with the frames, and read again at the next start.

const SELECT_PROGRESS: &str = "SELECT resume, drained, frames, bytes, gap_bytes, t_last,
    (SELECT coalesce(max(id), 0) FROM event) FROM recording";
const IS_LAST: &str = "SELECT drained = ?1 AND frames = ?2 AND state IN ('live', 'pending')
    FROM recording";
const SELECT_STREAMS: &str = "SELECT id, committed FROM stream WHERE id <= 2 ORDER BY id";

#[derive(Default)]
struct Position {
    pub next: u64,
    /// What the file says of it.
    pub drained: u64,
    /// Events before it are on record.
    pub events_from: u64,
    pub lines: Vec<Line>,
    pub connections: Connections,
    pub last_seq: Seq,
    pub last_event: u64,
    pub bytes: u64,
    pub gap_bytes: u64,
    pub t_last: Moment,
}

impl Position {
    /// The stream's line; streams that were not foreseen are added.
    pub fn line(&mut self, stream: StreamId) -> &mut Line {
        let at = stream.index();
        if self.lines.len() <= at {
            self.lines.resize_with(at + 1, Line::default);
        }
        &mut self.lines[at]
    }

    /// The first record with a byte that is in no frame yet.
    pub fn resume(&self) -> u64 {
        let open = self.lines.iter().filter_map(|line| line.open);
        open.fold(self.next, |first, open| first.min(open.record))
    }

    /// Whether nobody else has gone on with the recording, and it is not whole.
    fn is_last(&self, conn: &Connection) -> rusqlite::Result<bool> {
        let mut last = conn.prepare_cached(IS_LAST)?;
        last.query_row([to_sql(self.drained), to_sql(self.last_seq.0)], |row| {
            row.get(0)
        })
    }

    pub fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut state = conn.query_row(SELECT_PROGRESS, [], |row| {
            let number = |at| row.get(at).map(from_sql);
            Ok(Self {
                next: number(0)?,
                drained: number(1)?,
                events_from: number(1)?,
                lines: Vec::new(),
                connections: Connections::default(),
                last_seq: Seq(number(2)?),
                last_event: number(6)?,
                bytes: number(3)?,
                gap_bytes: number(4)?,
                t_last: Moment(number(5)?),
            })
        })?;
        let mut streams = conn.prepare(SELECT_STREAMS)?;
        let mut rows = streams.query([])?;
        while let Some(row) = rows.next()? {
            state.line(StreamId(row.get(0)?)).committed = from_sql(row.get(1)?);
        }
        state.connections = Connections::load(conn)?;
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever came then was written into a file without a name, and nobody was told.
    #[test]
    fn a_recording_that_was_gone_before_its_first_transaction_is_disturbed() {
        let nowhere = Path::new("/nowhere/a.reel");
        assert!(are_disturbed(nowhere, marks_of(nowhere)));
    }
}
