//! Read-only access to one recording.
//!
//! Every call is one short statement, so that no reader keeps a live recording's WAL from being
//! checkpointed. Long lists come in pages by key: `after` is the last key of the page before.

mod bytes;
pub mod reader_rows;

use super::indexer::IndexError;
use super::open;
use super::open::{OpenError, Opened, uri};
use super::schema::{DERIVED_VERSION, State, is_id, to_sql};
pub use crate::notices::Beginning;
pub use bytes::FramePage;
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::session::Session;
pub use reader_rows::{EventRow, FindingRow, MessageRow};
use reader_rows::{Stored, number, word};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::path::{Path, PathBuf};

pub(super) const PAGE_ROWS: u32 = 1000;

/// Why something of a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The recording could not be opened, or is damaged where it was read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The derived rows are of another version and could not be made anew in a copy.
    #[error(transparent)]
    Reindex(#[from] IndexError),
}

#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    /// Declared before what it rests on, so that it is closed first.
    opened: Opened,
    /// The file that this recording was made of and stands for as long as it is open, and what has
    /// to be kept for that.
    stands_in: Option<(PathBuf, Box<dyn Any + Send + Sync>)>,
}

impl Recording {
    /// Opens the recording `path`.
    ///
    /// The file is never changed: where what is derived is of another version, it is derived anew
    /// in a temporary copy. A recording that is still written is read as it stands.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let recording = Self::open_as_it_is(path)?;
        let summary = recording.summary()?;
        if summary.derived || !summary.state.is_final() {
            return Ok(recording);
        }
        drop(recording);
        let opened = open::copied(path)?;
        super::indexer::derive::rebuild_all(&opened.conn, &mut |_| ())?;
        Ok(Self {
            path: path.to_owned(),
            opened,
            stands_in: None,
        })
    }

    pub(super) fn open_as_it_is(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            path: path.to_owned(),
            opened: open::read_only(path)?,
            stands_in: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn summary(&self) -> Result<Summary, ReadError> {
        self.read(Summary::read)
    }

    /// The heads of up to `limit` frames after `after`.
    pub fn heads(&self, after: Seq, limit: u32) -> Result<Vec<FrameHead>, ReadError> {
        let params = (to_sql(after.0), limit);
        self.rows("WHERE seq > ?1 ORDER BY seq LIMIT ?2", params)
    }

    pub fn head(&self, seq: Seq) -> Result<Option<FrameHead>, ReadError> {
        self.row("WHERE seq = ?1", [to_sql(seq.0)])
    }

    /// Nanoseconds until the asking side cancelled a request, where it did.
    pub fn cancelled_after_ns(&self, exchange: &Exchange) -> Result<Option<u64>, ReadError> {
        let cancel = exchange.cancelled.map(|seq| self.head(seq)).transpose()?;
        Ok(cancel.flatten().map(|head| {
            let waited = head.t_first.since(exchange.t_request).as_nanos();
            u64::try_from(waited).unwrap_or(u64::MAX)
        }))
    }

    /// A page of events after the one with the number `after`.
    pub fn events(&self, after: u64) -> Result<Vec<EventRow>, ReadError> {
        let params = (to_sql(after), PAGE_ROWS);
        self.rows("WHERE id > ?1 ORDER BY id LIMIT ?2", params)
    }

    /// The messages of the frames after `after` up to `last`.
    pub fn messages(&self, after: Seq, last: Seq) -> Result<Vec<MessageRow>, ReadError> {
        let range = (to_sql(after.0), to_sql(last.0));
        let between = "WHERE m.frame > ?1 AND m.frame <= ?2 ORDER BY m.frame, m.part";
        self.rows(between, range)
    }

    /// The messages of the frame `seq`.
    pub fn messages_of_frame(&self, seq: Seq) -> Result<Vec<MessageRow>, ReadError> {
        self.rows("WHERE m.frame = ?1 ORDER BY m.part", [to_sql(seq.0)])
    }

    /// The message at `part` of the frame `seq`.
    pub(super) fn message(&self, seq: Seq, part: u32) -> Result<Option<MessageRow>, ReadError> {
        self.row("WHERE m.frame = ?1 AND m.part = ?2", (to_sql(seq.0), part))
    }

    /// All messages that belong to an exchange, in order.
    pub fn messages_of_exchange(&self, id: ExchangeId) -> Result<Vec<MessageRow>, ReadError> {
        let of_exchange = "WHERE m.exchange = ?1 ORDER BY m.frame, m.part";
        self.rows(of_exchange, [to_sql(id.0)])
    }

    /// The next `limit` exchanges after `after`, in the order of their requests.
    pub fn exchanges(&self, after: ExchangeId, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        let params = (to_sql(after.0), limit);
        self.rows("WHERE e.id > ?1 ORDER BY e.id LIMIT ?2", params)
    }

    /// The exchanges with these numbers.
    pub fn exchanges_of(&self, ids: &[ExchangeId]) -> Result<Vec<Exchange>, ReadError> {
        let exchanges = ids.iter().map(|id| self.exchange(*id));
        exchanges.filter_map(Result::transpose).collect()
    }

    /// The exchanges at `keys`.
    pub fn exchanges_at(&self, keys: &[ItemKey]) -> Result<Vec<Exchange>, ReadError> {
        let exchanges = keys.iter().map(|key| self.exchange_at(*key));
        exchanges.filter_map(Result::transpose).collect()
    }

    /// The exchange whose request is the message at `key`.
    pub(super) fn exchange_at(&self, key: ItemKey) -> Result<Option<Exchange>, ReadError> {
        let at = (to_sql(key.seq.0), key.nth);
        self.row("WHERE e.request = ?1 AND e.request_part = ?2", at)
    }

    /// Gives every exchange to `visit`, in the order of their requests.
    pub fn each_exchange(&self, mut visit: impl FnMut(Exchange)) -> Result<(), ReadError> {
        let mut after = ExchangeId(0);
        loop {
            let page = self.exchanges(after, PAGE_ROWS)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.id;
            page.into_iter().for_each(&mut visit);
        }
    }

    pub fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        self.row("WHERE e.id = ?1", [to_sql(id.0)])
    }

    /// The exchanges that a message of the frame `seq` belongs to.
    pub fn exchanges_of_frame(&self, seq: Seq) -> Result<Vec<Exchange>, ReadError> {
        let of_frame =
            "WHERE e.id IN (SELECT exchange FROM message WHERE frame = ?1) ORDER BY e.id";
        self.rows(of_frame, [to_sql(seq.0)])
    }

    /// A page of findings after the one with the number `after`.
    pub fn findings(&self, after: u64) -> Result<Vec<FindingRow>, ReadError> {
        let params = (to_sql(after), PAGE_ROWS);
        self.rows("WHERE id > ?1 ORDER BY id LIMIT ?2", params)
    }

    /// The findings that point at the frame `seq`.
    pub fn findings_of_frame(&self, seq: Seq) -> Result<Vec<FindingRow>, ReadError> {
        self.rows("WHERE frame = ?1 ORDER BY id", [to_sql(seq.0)])
    }

    /// Changes whenever somebody else has written the file.
    pub fn data_version(&self) -> Result<i64, ReadError> {
        let version = self.one("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(version.unwrap_or_default())
    }

    /// Whether changes of the file are not noticed: it is read as it was when it was opened.
    pub fn is_frozen(&self) -> bool {
        self.opened.frozen
    }

    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ReadError> {
        let result = read(&self.opened.conn);
        Ok(result.map_err(|error| OpenError::from_sqlite(&self.path, error))?)
    }

    /// The rows of a table for which a condition holds.
    pub(super) fn rows<T: Stored>(
        &self,
        condition: &'static str,
        params: impl Params,
    ) -> Result<Vec<T>, ReadError> {
        self.list(&select::<T>(condition), params, T::read)
    }

    /// The row of a table for which a condition holds.
    pub(super) fn row<T: Stored>(
        &self,
        condition: &'static str,
        params: impl Params,
    ) -> Result<Option<T>, ReadError> {
        self.one(&select::<T>(condition), params, T::read)
    }

    pub(super) fn list<T>(
        &self,
        sql: &str,
        params: impl Params,
        convert: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            statement.query_map(params, convert)?.collect()
        })
    }

    /// A number that a query gives; 0 if it has no rows.
    pub(super) fn number(&self, sql: &str, params: impl Params) -> Result<u64, ReadError> {
        Ok(self.one(sql, params, |row| number(row, 0))?.unwrap_or(0))
    }

    /// Whether a query has rows.
    pub(super) fn has(&self, sql: &str, params: impl Params) -> Result<bool, ReadError> {
        Ok(self.one(sql, params, |_| Ok(()))?.is_some())
    }

    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        convert: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            statement.query_row(params, convert).optional()
        })
    }
}

/// The query for the rows of a table for which a condition holds.
fn select<T: Stored>(condition: &str) -> String {
    format!("SELECT {} {condition}", T::COLUMNS)
}

// A recording as a second file.

/// Makes one plain file of what stands in the recording at the moment, its WAL included.
const COPY: &str = "VACUUM INTO ?1";

impl Recording {
    /// Copies all of it into `file`, which is there and empty: what a live recording gets meanwhile
    /// is not in the copy.
    pub fn copy_into(&self, file: &Path) -> Result<(), ReadError> {
        self.read(|conn| conn.execute(COPY, [uri(file, "mode=rw")]).map(drop))
    }
}

// Several queries of one state of a file.

/// Holds a state of a file: see [`Recording::hold`].
#[derive(Debug)]
#[must_use]
pub struct Held<'r>(
    #[expect(dead_code, reason = "it is there to be dropped")] Option<rusqlite::Transaction<'r>>,
);

impl Recording {
    /// Until what is returned is dropped, all that is read is of one state of the file, and nobody
    /// asks for each row anew whether that has changed, which takes as long as to read it. Nothing
    /// that takes longer than some milliseconds may be done meanwhile.
    pub fn hold(&self) -> Result<Held<'_>, ReadError> {
        let conn = &self.opened.conn;
        // Whoever holds it already holds it for those within.
        let transaction = conn.is_autocommit().then(|| conn.unchecked_transaction());
        let transaction = transaction.transpose();
        let transaction = transaction.map_err(|e| OpenError::from_sqlite(&self.path, e))?;
        Ok(Held(transaction))
    }
}

// A recording that stands for another file, for as long as it is open.

impl Recording {
    /// The same recording, which was made of the file `path` and stands for it as long as it is
    /// open; `rest` is what has to be kept for that.
    pub fn in_place_of(mut self, path: &Path, rest: Box<dyn Any + Send + Sync>) -> Self {
        let file = std::mem::replace(&mut self.path, path.to_owned());
        self.stands_in = Some((file, rest));
        self
    }

    /// The same, where the file that it stands for is handed on under this name.
    pub fn called(mut self, name: &Path) -> Self {
        debug_assert!(self.is_temporary(), "the path of a recording is its own");
        name.clone_into(&mut self.path);
        self
    }

    /// Whether it vanishes when it is closed.
    pub fn is_temporary(&self) -> bool {
        self.stands_in.is_some()
    }

    pub fn file(&self) -> &Path {
        let own = self.stands_in.as_ref().map(|(file, _)| &**file);
        self.opened.file().or(own).unwrap_or(&self.path)
    }
}

// The row of the session as a whole.

const SELECT: &str = "SELECT id, name, state, origin, parent, wall_ns, transport, context,
    redaction, note, frames, bytes, gap_bytes, t_last, derived_version, messages, exchanges,
    failed, open, findings, session,
    (SELECT count(*) FROM annotation), slow_ns FROM recording";

/// A recording in numbers and names. Times are nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    pub id: String,
    /// The name given with `--name`, else the command's.
    pub name: String,
    /// The state by the recording's own word: a killed recorder leaves `live`.
    pub state: State,
    /// The maker of the recording: `live`, `demo`, `replay`, `minimised`, `mock`, `import`.
    pub origin: String,
    /// The id of the recording that it was made from.
    pub parent: Option<String>,
    /// Wall clock of t = 0, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    pub transport: String,
    pub context: ProcessContext,
    /// The report of redaction as JSON, where something was taken out.
    pub redaction: Option<String>,
    pub note: Option<String>,
    pub frames: u64,
    pub bytes: u64,
    /// Bytes that were forwarded but are not on record.
    pub gap_bytes: u64,
    /// When the last thing on record happened, since t = 0.
    pub t_last_ns: u64,
    /// Whether what follows was derived from all frames by this version.
    pub derived: bool,
    pub messages: u64,
    pub exchanges: u64,
    pub failed: u64,
    /// Exchanges without an answer in a live recording.
    pub open: u64,
    /// Findings above a note.
    pub findings: u64,
    /// Names, versions, capabilities, phase.
    pub session: Session,
    /// Marks and notes that people made.
    pub annotations: u64,
    /// An answer that takes longer is slow.
    pub slow_ns: u64,
}

impl Summary {
    pub fn read(conn: &Connection) -> rusqlite::Result<Self> {
        conn.prepare_cached(SELECT)?.query_row([], Self::from_row)
    }

    /// Whether a person has noted or marked something.
    pub fn is_noted(&self) -> bool {
        self.note.is_some() || self.annotations > 0
    }

    /// Whether it was made by playing another recording, to a server or to a host.
    pub fn is_played(&self) -> bool {
        Self::is_of_player(&self.origin)
    }

    /// The same, by the maker of a recording.
    pub fn is_of_player(origin: &str) -> bool {
        matches!(origin, "replay" | "minimised" | "mock")
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: word(row, 0, |id| is_id(id).then(|| id.to_owned()))?,
            name: row.get(1)?,
            state: word(row, 2, |state| state.parse().ok())?,
            origin: row.get(3)?,
            parent: row.get(4)?,
            wall_ns: number(row, 5)?,
            transport: row.get(6)?,
            context: word(row, 7, |json| serde_json::from_str(json).ok())?,
            redaction: row.get(8)?,
            note: row.get(9)?,
            frames: number(row, 10)?,
            bytes: number(row, 11)?,
            gap_bytes: number(row, 12)?,
            t_last_ns: number(row, 13)?,
            derived: row.get::<_, u32>(14)? == DERIVED_VERSION,
            messages: number(row, 15)?,
            exchanges: number(row, 16)?,
            failed: number(row, 17)?,
            open: number(row, 18)?,
            findings: number(row, 19)?,
            session: row
                .get::<_, Option<String>>(20)?
                .and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default(),
            annotations: number(row, 21)?,
            slow_ns: number(row, 22)?,
        })
    }
}
