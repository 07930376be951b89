//! A copy of a recording that says something else of its session as a whole: its id, its name, its
//! context, its note. Frames, other events and what is derived from them are the same.

use super::open::{self, OpenError};
use super::reader::{ReadError, Recording, Summary};
use super::schema::{self, Additions};
use crate::trace::event::{EventKind, ProcessContext};
use rusqlite::{Connection, Error, Transaction, TransactionBehavior, params};
use std::path::Path;

/// No version writes them yet.
const HAS_BESIDE: &str =
    "SELECT EXISTS (SELECT 1 FROM frame WHERE envelope IS NOT NULL OR origin IS NOT NULL)";
const SET_HEADING: &str = "UPDATE recording SET name = ?1, context = ?2, redaction = ?3, note = ?4, \
     id = ?5, parent = ?6";
const FORGET: &str = "DELETE FROM annotation";
const SET_START: &str = "UPDATE event SET detail = ?1 WHERE kind = 'start'";

/// Nobody needs the copy after a power failure, and nothing of what it said before stays in it.
const FAST_AND_CLEAN: &str = "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON";

impl Recording {
    /// Whether nothing is in the file but what this version knows: the bytes of frames, events, what
    /// people wrote, the session as a whole, and what this version derives of these.
    pub fn is_ours(&self) -> Result<bool, ReadError> {
        let derived = self.summary()?.derived;
        let is_ours = |conn: &Connection| {
            Ok(schema::stranger(conn, Additions::Refused)?.is_none()
                && !conn.query_row(HAS_BESIDE, [], |row| row.get(0))?)
        };
        Ok(derived && self.read(is_ours)?)
    }

    /// Copies it into `file`, which is there and empty, with the id, the name, the context, the note
    /// and the redaction of `summary`, without marks and notes on frames.
    pub fn copy_under(&self, summary: &Summary, file: &Path) -> Result<(), ReadError> {
        self.copy_for_now(file)?;
        let conn = open::writable(file)?;
        let written = set(&conn, summary);
        Ok(written.map_err(|error| OpenError::from_sqlite(file, error))?)
    }
}

fn set(conn: &Connection, summary: &Summary) -> rusqlite::Result<()> {
    conn.execute_batch(FAST_AND_CLEAN)?;
    let context = ProcessContext {
        name: summary.name.clone(),
        redaction: summary.redaction.clone(),
        ..summary.context.clone()
    };
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    transaction.execute(
        SET_HEADING,
        params![
            summary.name,
            json(&context)?,
            summary.redaction,
            summary.note,
            summary.id,
            summary.context.parent
        ],
    )?;
    transaction.execute(FORGET, [])?;
    transaction.execute(SET_START, [json(&EventKind::Start(Box::new(context)))?])?;
    transaction.commit()
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}
