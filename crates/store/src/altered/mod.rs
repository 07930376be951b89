//! A copy of a recording with other bytes in some of its frames.
//!
//! ```text
//!  frames with other bytes ──▶ the copy
//!  frames as they are ─┬─ of a copy that stays: copied
//!                      └─ else: stay where they are, and are read from there
//!  what is derived of them ─┬─ the same with the other bytes (`twins`): copied
//!                           └─ else: derived anew, in a copy that has all frames
//! ```
//!
//! Frames and events keep their numbers and their times. It is made in a new file that nobody else
//! knows of, and needs no care for a power failure until it is whole.

mod differ;
mod error;
mod odd;
mod prose;
mod rest;
mod twins;

use super::annotate;
use super::indexer::write;
use super::open::{self, Source};
use super::reader::{EventRow, Recording};
use super::reindex::{self, Ended, ReindexError};
use super::schema;
use super::values::{State, to_sql};
pub use error::AlterError;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::item::Annotation;
use odd::Odd;
pub use rest::Rest;
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};

/// Nobody needs it after a power failure, and nothing of what is written over stays in it. What was
/// written is not looked at again soon.
const FAST_AND_CLEAN: &str =
    "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA cache_size = -1000";
const COPY_DERIVED: &str = "INSERT INTO main.message SELECT * FROM source.message;
    INSERT INTO main.line SELECT * FROM source.line;
    INSERT INTO main.finding SELECT * FROM source.finding";

/// Without an index that refuses rows they are copied as they stand in the file, three times as
/// fast.
const COPY_EXCHANGES: &str = "DROP INDEX main.exchange_by_request;
    INSERT INTO main.exchange SELECT * FROM source.exchange";
const INDEX: &str = "SELECT sql FROM main.sqlite_schema WHERE name = 'exchange_by_request'";
const FORGET_RECORDING: &str = "DELETE FROM main.recording";
const BEGIN: &str = "CREATE TEMP TABLE altered (frame INTEGER PRIMARY KEY); BEGIN";
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
    Copied,
    Anew,
}

/// Such a copy while it is being made.
#[derive(Debug)]
pub struct Altered {
    odd: Odd,
    conn: Connection,
    source: Source,
    rest: Rest,
    reel: PathBuf,
    context: ProcessContext,
    /// Bytes by which each stream is longer than it was.
    longer: [i64; StreamId::STDIO.len()],
    last: Seq,
}

impl Recording {
    /// Begins a copy in the new file `reel`. The recording is over, all of its frames are of the
    /// streams of a stdio session, one after the other without a gap.
    pub fn alter(&self, reel: &Path, rest: Rest) -> Result<Altered, AlterError> {
        let summary = self.summary()?;
        let odd = Odd::look(self, twins::most(summary.frames))?;
        let context = ProcessContext {
            recording: summary.id,
            ..ProcessContext::default()
        };
        let conn = create(reel, &context)?;
        let source = Source(self.opened().uri());
        source.attach(&conn)?;
        if rest == Rest::There {
            Source::join(&conn)?;
        }
        conn.execute_batch(BEGIN)?;
        // As if it were the same: mostly it is.
        conn.execute_batch(COPY_DERIVED)?;
        let index: String = conn.query_row(INDEX, [], |row| row.get(0))?;
        conn.execute_batch(COPY_EXCHANGES)?;
        conn.execute_batch(&index)?;
        Ok(Altered {
            odd,
            conn,
            source,
            rest,
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
    pub fn describe(&mut self, context: &ProcessContext) -> Result<(), AlterError> {
        self.conn.execute(FORGET_RECORDING, [])?;
        schema::insert_recording(&self.conn, context, 0)?;
        self.conn.execute(COPY_START, [start(context)?])?;
        self.context.clone_from(context);
        Ok(())
    }

    /// The frames up to `last` are as they were: copies those that are not in it yet, unless they
    /// stay where they are. `tell` is told how far it is, and may stop it.
    pub fn frames<E: From<AlterError>>(
        &mut self,
        last: Seq,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.rest == Rest::There {
            self.last = last;
            return tell(last);
        }
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
        // Frames that stay where they are keep their places in their stream as well.
        let before = match (self.rest, self.longer.get(stream)) {
            (Rest::Copied, Some(longer)) => *longer,
            (Rest::There, _) | (_, None) => 0,
        };
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

    pub fn annotate(&mut self, frame: Seq, wrote: &Annotation) -> Result<(), AlterError> {
        Ok(annotate::put(&self.conn, frame, wrote)?)
    }

    /// What people wrote on the recording as a whole.
    pub fn note(&mut self, note: &str) -> Result<(), AlterError> {
        Ok(annotate::put_note(&self.conn, note)?)
    }

    /// All frames and events are in it: adds what is derived of them, and what is known of the
    /// session as a whole; of events it is said whether one is another than it was. `tell` is told
    /// how far it is where that takes long, and may stop it.
    pub fn finish<E: From<AlterError>>(
        mut self,
        state: State,
        has_other_events: bool,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(Recording, Derived), E> {
        self.save(state).map_err(AlterError::from)?;
        if !has_other_events {
            let odd = self.odd.found()?;
            if twins::are_same(&self, &odd)? {
                return Ok((self.open()?, Derived::Copied));
            }
        }
        self.copy_rest(tell)?;
        self.derive(tell)?;
        Ok((self.open()?, Derived::Anew))
    }

    fn save(&self, state: State) -> rusqlite::Result<()> {
        for (stream, longer) in StreamId::STDIO.into_iter().zip(self.longer) {
            self.conn.execute(SAVE_STREAM, (stream.0, longer))?;
        }
        let longer: i64 = self.longer.iter().sum();
        self.conn.execute(SAVE, (state.as_str(), longer))?;
        self.conn.execute_batch("COMMIT")
    }

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
