//! A copy of a recording with other bytes in some of its frames.
//!
//! ```text
//!  frames ── as they are, or with other bytes ──▶ the copy
//!  what is derived of them ─┬─ the same with the other bytes (`twins`): copied
//!                           └─ else: derived anew
//! ```
//!
//! Frames and events keep their numbers and their times. It is made in a new file that nobody else
//! knows of, and needs no care for a power failure until it is whole.

mod odd;
mod prose;
mod twins;

use super::indexer::write;
use super::open::{self, OpenError};
use super::reader::{EventRow, ReadError, Recording};
use super::reindex::{self, Ended, ReindexError};
use super::schema::{self, SchemaError};
use super::values::{State, to_sql};
use crate::trace::event::{EventKind, ProcessContext};
use crate::trace::frame::{Seq, StreamId};
use odd::Odd;
use rusqlite::{Connection, params};
use std::io;
use std::path::{Path, PathBuf};

/// Nobody needs it after a power failure, and nothing of what is written over stays in it. What was
/// written is not looked at again soon.
const FAST_AND_CLEAN: &str =
    "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA cache_size = -1000";
const ATTACH: &str = "ATTACH ?1 AS source";
const COPY_DERIVED: &str = "INSERT INTO main.message SELECT * FROM source.message;
    INSERT INTO main.line SELECT * FROM source.line;
    INSERT INTO main.finding SELECT * FROM source.finding";

/// Without an index that refuses rows they are copied as they stand in the file, three times as
/// fast.
const COPY_EXCHANGES: &str = "DROP INDEX main.exchange_by_request;
    INSERT INTO main.exchange SELECT * FROM source.exchange";
const INDEX: &str = "SELECT sql FROM main.sqlite_schema WHERE name = 'exchange_by_request'";
const FORGET_RECORDING: &str = "DELETE FROM main.recording";
/// It is gone through once: what of it is kept in memory is of no use.
const BEGIN: &str = "PRAGMA source.cache_size = -500;
    CREATE TEMP TABLE altered (frame INTEGER PRIMARY KEY); BEGIN";
const COPY_FRAMES: &str = r#"INSERT INTO main.frame (seq, stream, "offset", t_first, t_last, raw)
    SELECT seq, stream, "offset" + CASE stream WHEN 0 THEN ?3 WHEN 1 THEN ?4 ELSE ?5 END,
        t_first, t_last, raw
    FROM source.frame WHERE seq > ?1 AND seq <= ?2 ORDER BY seq"#;
const ALTER_FRAME: &str = r#"INSERT INTO main.frame (seq, stream, "offset", t_first, t_last, raw)
    SELECT seq, stream, "offset" + ?2, t_first, t_last, ?3 FROM source.frame WHERE seq = ?1"#;
const PLACE: &str = "SELECT stream, length(raw) FROM source.frame WHERE seq = ?1";
const NOTE_ALTERED: &str = "INSERT INTO temp.altered (frame) VALUES (?1)";
const COPY_START: &str = "INSERT INTO main.event (id, t, after_seq, detail)
    SELECT id, t, after_seq, ?1 FROM source.event WHERE kind = 'start'";
const SAVE_STREAM: &str = "UPDATE main.stream SET committed = ?2 +
    (SELECT committed FROM source.stream s WHERE s.id = stream.id) WHERE id = ?1";
const SAVE: &str = "UPDATE main.recording SET state = ?1, bytes = ?2 + s.bytes, frames = s.frames,
    gap_bytes = s.gap_bytes, t_last = s.t_last FROM source.recording s";

/// Frames that are copied between two questions whether to go on.
const AT_ONCE: u64 = 4096;

/// How it came to what is derived in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// It was the same.
    Copied,
    /// From all frames and events.
    Anew,
}

/// Why it could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AlterError {
    /// It could not be opened, or what it is made of.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It could not be created.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// What is derived could not be derived anew.
    #[error(transparent)]
    Derive(#[from] ReindexError),
    /// It could not be written, or what it is made of could not be read.
    #[error("could not copy the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// There is no second thread to be had.
    #[error("could not look through the recording")]
    Thread(#[source] io::Error),
}

/// Such a copy while it is being made.
#[derive(Debug)]
pub struct Altered {
    odd: Odd,
    conn: Connection,
    reel: PathBuf,
    context: ProcessContext,
    /// Bytes by which each stream is longer than it was.
    longer: [i64; StreamId::STDIO.len()],
    /// The last frame that is in it.
    last: Seq,
}

impl Recording {
    /// Begins a copy in the new file `reel`. The recording is over, all of its frames are of the
    /// streams of a stdio session, one after the other without a gap.
    pub fn alter(&self, reel: &Path) -> Result<Altered, AlterError> {
        let summary = self.summary()?;
        let odd = Odd::look(self, twins::most(summary.frames))?;
        let context = ProcessContext {
            recording: summary.id,
            ..ProcessContext::default()
        };
        let conn = create(reel, &context)?;
        conn.execute(ATTACH, [self.opened().uri()])?;
        conn.execute_batch(BEGIN)?;
        // As if it were the same: mostly it is.
        conn.execute_batch(COPY_DERIVED)?;
        let index: String = conn.query_row(INDEX, [], |row| row.get(0))?;
        conn.execute_batch(COPY_EXCHANGES)?;
        conn.execute_batch(&index)?;
        Ok(Altered {
            odd,
            conn,
            reel: reel.to_owned(),
            context,
            longer: [0; StreamId::STDIO.len()],
            last: Seq(0),
        })
    }
}

/// What the event of the start says.
fn start(context: &ProcessContext) -> rusqlite::Result<String> {
    let start = EventKind::Start(Box::new(context.clone()));
    serde_json::to_string(&start)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// A recording without a frame that only we write.
fn create(reel: &Path, context: &ProcessContext) -> Result<Connection, AlterError> {
    let conn = schema::create(reel, context, 0)?;
    schema::leave_wal(&conn)?;
    drop(conn);
    let conn = open::writable(reel)?;
    conn.execute_batch(FAST_AND_CLEAN)?;
    Ok(conn)
}

impl Altered {
    /// Says who asked for what where.
    pub fn describe(&mut self, context: &ProcessContext) -> Result<(), AlterError> {
        self.conn.execute(FORGET_RECORDING, [])?;
        schema::insert_recording(&self.conn, context, 0)?;
        self.conn.execute(COPY_START, [start(context)?])?;
        self.context.clone_from(context);
        Ok(())
    }

    /// Copies the frames up to `last` that are not in it yet. `tell` is told how far it is, and may
    /// stop it.
    pub fn frames<E: From<AlterError>>(
        &mut self,
        last: Seq,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.last < last {
            let until = Seq(last.0.min(self.last.0 + AT_ONCE));
            self.copy_frames(until).map_err(AlterError::from)?;
            tell(until)?;
        }
        Ok(())
    }

    fn copy_frames(&mut self, until: Seq) -> rusqlite::Result<()> {
        let [c2s, s2c, stderr] = self.longer;
        let range = (to_sql(self.last.0), to_sql(until.0));
        let mut copy = self.conn.prepare_cached(COPY_FRAMES)?;
        copy.execute(params![range.0, range.1, c2s, s2c, stderr])?;
        self.last = until;
        Ok(())
    }

    /// The next frame has these bytes.
    pub fn frame(&mut self, seq: Seq, raw: &[u8]) -> Result<(), AlterError> {
        debug_assert_eq!(seq.0, self.last.0 + 1, "frames come in order");
        let key = to_sql(seq.0);
        let mut place = self.conn.prepare_cached(PLACE)?;
        let (stream, was): (u16, i64) =
            place.query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let stream = usize::from(stream);
        let before = self.longer.get(stream).copied().unwrap_or_default();
        let mut alter = self.conn.prepare_cached(ALTER_FRAME)?;
        alter.execute(params![key, before, raw])?;
        self.conn.prepare_cached(NOTE_ALTERED)?.execute([key])?;
        if let Some(longer) = self.longer.get_mut(stream) {
            *longer += to_sql(raw.len() as u64) - was;
        }
        self.last = seq;
        Ok(())
    }

    /// The next event after that of the start.
    pub fn event(&mut self, row: &EventRow) -> Result<(), AlterError> {
        write::event(&self.conn, row.id, &row.event)?;
        Ok(())
    }

    /// All frames and events are in it: adds what is derived of them, and what is known of the
    /// session as a whole; of events it is said whether one is another than it was. `tell` is told
    /// how far it is where that takes long, and may stop it.
    pub fn finish<E: From<AlterError>>(
        mut self,
        state: State,
        has_other_events: bool,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<Derived, E> {
        self.save(state).map_err(AlterError::from)?;
        if !has_other_events {
            let odd = self.odd.found()?;
            if twins::are_same(&self, &odd)? {
                return Ok(Derived::Copied);
            }
        }
        self.derive(tell)?;
        Ok(Derived::Anew)
    }

    fn save(&self, state: State) -> rusqlite::Result<()> {
        for (stream, longer) in StreamId::STDIO.into_iter().zip(self.longer) {
            self.conn.execute(SAVE_STREAM, (stream.0, longer))?;
        }
        let longer: i64 = self.longer.iter().sum();
        self.conn.execute(SAVE, (state.as_str(), longer))?;
        self.conn.execute_batch("COMMIT")
    }

    /// Derives everything anew.
    fn derive<E: From<AlterError>>(
        &self,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        let (stop, mut told) = (self.conn.get_interrupt_handle(), Ok(()));
        let mut derive = || {
            let transaction = self.conn.unchecked_transaction()?;
            reindex::rebuild(&transaction, Ended::Yes, &mut |frames| {
                if told.is_ok() {
                    told = tell(Seq(frames));
                }
                if told.is_err() {
                    stop.interrupt();
                }
            })?;
            Ok(transaction.commit()?)
        };
        let derived: Result<(), ReindexError> = derive();
        told?;
        Ok(derived.map_err(AlterError::from)?)
    }
}

impl From<ReadError> for AlterError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Open(error) => Self::Open(error),
            ReadError::Reindex(error) => Self::Derive(error),
        }
    }
}
