//! The row of the session as a whole.

use super::rows::{number, word};
use crate::schema::DERIVED_VERSION;
use crate::values::{State, is_id};
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::session::Session;
use rusqlite::{Connection, Row};
use serde::Serialize;

const SELECT: &str = "SELECT id, name, state, origin, parent, wall_ns, transport, context,
    redaction, note, frames, bytes, gap_bytes, t_last, derived_version, messages, exchanges,
    failed, open, findings, session,
    (SELECT count(*) FROM annotation), slow_ns FROM recording";

/// A recording in numbers and names. Times are nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub id: String,
    /// The name given with `--name`, else the command's.
    pub name: String,
    /// How it stands, as it says itself: a killed recorder leaves `live`.
    pub state: State,
    /// What made it: `live`, `demo`, `replay`, `minimised`, `mock`, `import`.
    pub origin: String,
    /// The id of the recording that it was made from.
    pub parent: Option<String>,
    /// Wall clock of t = 0, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    pub transport: String,
    pub context: ProcessContext,
    /// What was taken out, where something was.
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
        matches!(&*self.origin, "replay" | "minimised" | "mock")
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: word(row, 0, |id| is_id(id).then(|| id.to_owned()))?,
            name: row.get(1)?,
            state: word(row, 2, State::parse)?,
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
