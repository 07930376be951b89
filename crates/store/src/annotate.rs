//! Marks and notes that people put on frames, and on a recording as a whole.
//!
//! Each is one short transaction on a connection of its own, so that a session that is being
//! recorded is never kept waiting. A finished recording stays one plain file with its permissions.
//! Neither deriving anew nor recovery touches what stands here.

use super::open;
use super::open::OpenError;
use super::reader::reader_rows::number;
use super::reader::{PAGE_ROWS, ReadError, Recording};
use super::schema::to_sql;
use mcpreel_trace::clock::wall_clock_ns;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Annotation;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The wait of an annotation for the recorder, whose transactions take some 20 ms.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

const HAS_FRAME: &str = "SELECT EXISTS (SELECT 1 FROM frame WHERE seq = ?1)";
const SET_MARK: &str = "INSERT INTO annotation (frame, mark, wall_ns) VALUES (?1, ?2, ?3)
    ON CONFLICT (frame) DO UPDATE SET mark = excluded.mark, wall_ns = excluded.wall_ns";
const SET_NOTE: &str = "INSERT INTO annotation (frame, note, wall_ns) VALUES (?1, ?2, ?3)
    ON CONFLICT (frame) DO UPDATE SET note = excluded.note, wall_ns = excluded.wall_ns";
const FORGET: &str = "DELETE FROM annotation WHERE frame = ?1 AND mark IS NULL AND note IS NULL";
const SET_RECORDING_NOTE: &str = "UPDATE recording SET note = ?1";
const SET_FROM_ELSEWHERE: &str =
    "UPDATE recording SET context = json_set(context, '$.from_elsewhere', json('true'))";
const SET_REDACTION: &str = "UPDATE recording SET redaction = ?1";

/// Why an annotation could not be written.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// The recording could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file or its folder may not be written.
    #[error("{} is read-only, so nothing can be noted in it; copy it to a folder of your own", path.display())]
    ReadOnly { path: PathBuf },
    #[error("{} has no frame #{}", path.display(), frame.0)]
    NoFrame { path: PathBuf, frame: Seq },
}

/// Puts `mark` (a word, empty for a plain mark) on `frame` of the recording `path`, or with `None`
/// takes it away.
pub fn set_mark(path: &Path, frame: Seq, mark: Option<&str>) -> Result<(), AnnotateError> {
    set(path, SET_MARK, frame, mark)
}

/// Puts `note` on `frame` of the recording `path`, or on the recording as a whole, or with `None`
/// takes it away.
pub fn set_note(path: &Path, frame: Option<Seq>, note: Option<&str>) -> Result<(), AnnotateError> {
    match frame {
        Some(frame) => set(path, SET_NOTE, frame, note),
        None => write(path, |conn| {
            conn.execute(SET_RECORDING_NOTE, [note]).map(drop)
        }),
    }
}

fn set(
    path: &Path,
    sql: &'static str,
    frame: Seq,
    text: Option<&str>,
) -> Result<(), AnnotateError> {
    if write(path, |conn| on_frame(conn, sql, frame, text))? {
        return Ok(());
    }
    let path = path.to_owned();
    Err(AnnotateError::NoFrame { path, frame })
}

/// Writes all marks and notes of a copy, the note on it as a whole, and what was redacted.
pub fn write_all(
    path: &Path,
    (note, redaction): (Option<&str>, Option<&str>),
    on_frames: &[(Seq, Annotation)],
) -> Result<(), AnnotateError> {
    write(path, |conn| {
        for (frame, Annotation { mark, note }) in on_frames {
            for (sql, text) in [(SET_MARK, mark), (SET_NOTE, note)] {
                if text.is_some() {
                    on_frame(conn, sql, *frame, text.as_deref())?;
                }
            }
        }
        conn.execute(SET_REDACTION, [redaction])?;
        conn.execute(SET_RECORDING_NOTE, [note]).map(drop)
    })
}

/// Notes in a copy that the recording which it was made from lay in another folder: it may have been
/// anybody's.
pub fn set_from_elsewhere(path: &Path) -> Result<(), AnnotateError> {
    write(path, |conn| conn.execute(SET_FROM_ELSEWHERE, []).map(drop))
}

fn on_frame(
    conn: &Connection,
    sql: &'static str,
    frame: Seq,
    text: Option<&str>,
) -> rusqlite::Result<bool> {
    let seq = to_sql(frame.0);
    let exists = conn.query_row(HAS_FRAME, [seq], |row| row.get(0))?;
    if exists {
        conn.execute(sql, params![seq, text, to_sql(wall_clock_ns())])?;
        conn.execute(FORGET, [seq])?;
    }
    Ok(exists)
}

fn write<T>(
    path: &Path,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, AnnotateError> {
    let path = &open::real(path);
    let read_only = || AnnotateError::ReadOnly { path: path.clone() };
    let conn = open::writable(path).map_err(|error| match error {
        OpenError::Sqlite { source, .. } if open::cannot_write(&source) => read_only(),
        error => error.into(),
    })?;
    let write = || {
        conn.busy_timeout(BUSY_TIMEOUT)?;
        let transaction = Transaction::new_unchecked(&conn, TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    };
    write().map_err(|error| match error {
        error if open::cannot_write(&error) => read_only(),
        error => OpenError::from_sqlite(path, error).into(),
    })
}

// What people wrote on frames.

const ANNOTATIONS: &str = "SELECT frame, mark, note FROM annotation WHERE frame > ?1
    ORDER BY frame LIMIT ?2";

impl Recording {
    /// A page of marks and notes on frames after `after`.
    pub fn annotations(&self, after: Seq) -> Result<Vec<(Seq, Annotation)>, ReadError> {
        self.list(ANNOTATIONS, (to_sql(after.0), PAGE_ROWS), |row| {
            let annotation = Annotation {
                mark: row.get(1)?,
                note: row.get(2)?,
            };
            Ok((Seq(number(row, 0)?), annotation))
        })
    }
}
