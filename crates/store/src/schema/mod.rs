//! The tables of a recording: how they are made and brought up to date, and how values stand in
//! their columns.
//!
//! A recording is an `SQLite` file with `STRICT` tables, [`APPLICATION_ID`] and, as its
//! `user_version`, the [`FormatVersion`]: the number of `MIGRATIONS` that made it. The list is
//! only ever appended to. While the recorder lives the file is in WAL mode; afterwards it is one
//! plain file.
//!
//! * `recording.sql`: what is on record;
//! * `derived.sql`: what is derived from it, rebuilt when [`DERIVED_VERSION`] changes;
//! * `network.sql`: what connections over the network need beside these;
//! * `views.sql`: views for people with `sqlite3`;
//! * `genuine`: whether the tables of a file are these.

mod genuine;

use super::open;
pub use genuine::{Additions, distrust, stranger};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{DEFAULT_SLOW_NS, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::Direction;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, named_params, params};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;
use std::{fmt, io};
use strum::{EnumString, IntoStaticStr};
use tempfile::{NamedTempFile, TempPath};

/// Marks an `SQLite` file as a recording: `mcpr` in ASCII.
pub const APPLICATION_ID: u32 = 0x6D63_7072;

/// The version of the code that derives messages, exchanges, findings and the session. To be
/// raised whenever it would derive anything else from the same frames.
pub const DERIVED_VERSION: u32 = 21;

/// Each makes the next format version from the one before, the first from nothing.
const MIGRATIONS: &[&str] = &[
    concat!(
        include_str!("recording.sql"),
        include_str!("derived.sql"),
        include_str!("views.sql")
    ),
    // What is derived is derived anew afterwards.
    "ALTER TABLE exchange ADD COLUMN summary TEXT NOT NULL DEFAULT '';",
    // What `message_alone` holds, as far as it has a name.
    "CREATE INDEX message_alone_named ON message (frame, part) WHERE name IS NOT NULL
        AND (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled'));",
    include_str!("network.sql"),
];

/// The first version of mcpreel that reads what this one writes.
const NEEDS: &str = "0.1.0";

/// 4096, the default, makes recordings a fifth larger.
const PAGE_SIZE: u32 = 16_384;

/// Each table and each index takes a page: 400 kB in a session of a few messages.
const SMALL_PAGE_SIZE: u32 = 1024;

/// The wait of a writer for another one. Writers hold the file for milliseconds, beside busy processes
/// for longer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// A recording of more pages is not small: it would not shrink by much, or grow.
const IS_SMALL: &str = "SELECT page_size > ?1 AND page_count <= 64
    FROM pragma_page_size, pragma_page_count";
const INSERT_FORMAT: &str = "INSERT INTO format (needs) VALUES (?1)";
const INSERT_RECORDING: &str = "INSERT INTO recording
    (one, id, name, state, origin, parent, wall_ns, transport, context, slow_ns, redaction, resume,
    drained, derived_version)
    VALUES (1, :id, :name, :state, :origin, :parent, :wall_ns, :transport, :context, :slow_ns,
    :redaction, :resume, :resume, :derived)";
const INSERT_STREAM: &str =
    "INSERT INTO stream (id, direction, kind, label) VALUES (?1, ?2, ?3, ?4)";

/// The version of the recording format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion(pub u32);

impl FormatVersion {
    /// The version that this program writes, and the newest that it reads.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the list is written by hand"
    )]
    pub const CURRENT: Self = Self(MIGRATIONS.len() as u32);
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a recording could not be created.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The file could not be made; it may exist already.
    #[error("could not create the recording")]
    Create(#[source] io::Error),
    #[error("could not write the tables of the recording")]
    Sqlite(#[from] rusqlite::Error),
}

/// Creates the recording `path` (mode 0600) of the session that `context` describes.
///
/// `resume` is where the first record of its spool stands. The connection is in WAL mode, the
/// tables have reached the main file, so whoever finds it knows what it is.
pub fn create(
    path: &Path,
    context: &ProcessContext,
    resume: u64,
) -> Result<Connection, SchemaError> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(SchemaError::Create)?;
    fill(path, context, resume).inspect_err(|_| discard(path))
}

/// Makes the tables and first rows of the recording `path` that has none: an empty file, or one
/// whose creation was interrupted.
pub fn fill(path: &Path, context: &ProcessContext, resume: u64) -> Result<Connection, SchemaError> {
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    distrust(&conn)?;
    conn.pragma_update(None, "page_size", PAGE_SIZE)?;
    // There is nothing yet that a power failure could take.
    conn.pragma_update(None, "synchronous", "OFF")?;
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    // Readers see the file as it is while it grows.
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    configure_writer(&conn)?;
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // The interrupted creation may have come to its end in the WAL, where the header of the file
    // does not show it.
    if version_of(&transaction)? == FormatVersion(0) {
        migrate(&transaction)?;
        insert_first_rows(&transaction, context, resume)?;
    }
    transaction.commit()?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(conn)
}

/// Removes a recording that could not be filled, so that it can be created again.
pub(crate) fn discard(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(open::beside(path, suffix));
    }
}

/// Brings a recording of an older format up to date, within the caller's transaction.
pub fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let version = version_of(transaction)?;
    for migration in MIGRATIONS.iter().skip(version.0 as usize) {
        transaction.execute_batch(migration)?;
    }
    if version < FormatVersion::CURRENT {
        transaction.pragma_update(None, "user_version", FormatVersion::CURRENT.0)?;
    }
    Ok(())
}

fn version_of(conn: &Connection) -> rusqlite::Result<FormatVersion> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0).map(FormatVersion))
}

/// Settings of every connection that writes.
pub fn configure_writer(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// Leaves WAL mode, so that the recording is one plain file. `false` if a reader is in the way.
///
/// What the WAL holds is synced into the file first. What remains is a mark in its header, valid
/// before and after: to sync that as well would double the waits at the end of a session.
pub fn leave_wal(conn: &Connection) -> rusqlite::Result<bool> {
    let checkpoint = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (busy, in_wal, moved): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(busy == 0 && in_wal == moved)
    });
    let synced = checkpoint.unwrap_or(false);
    let synchronous = if synced { "OFF" } else { "NORMAL" };
    conn.pragma_update(None, "synchronous", synchronous)?;
    let mode = conn.pragma_update_and_check(None, "journal_mode", "DELETE", |row| {
        row.get::<_, String>(0)
    });
    match mode {
        Ok(mode) => Ok(mode == "delete"),
        Err(error) if is_busy(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A copy of the recording `path` with pages that are small as well, if it is small and one can be made.
pub fn smaller(conn: &Connection, path: &Path) -> Option<TempPath> {
    let is_small = conn.query_row(IS_SMALL, [SMALL_PAGE_SIZE], |row| row.get(0));
    let folder = path.parent().filter(|_| is_small.unwrap_or(false))?;
    let copy = NamedTempFile::new_in(folder).ok()?;
    let settings = conn.pragma_update(None, "page_size", SMALL_PAGE_SIZE);
    let written = settings.and_then(|()| conn.execute("VACUUM INTO ?1", [copy.path().to_str()]));
    written.ok()?;
    let mode = path.metadata().ok()?.permissions();
    copy.as_file().set_permissions(mode).ok()?;
    copy.as_file().sync_data().ok()?;
    Some(copy.into_temp_path())
}

/// Whether somebody else holds the file.
pub fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

/// The rows of the format, of the streams and of the session, which says so far what `context`
/// does.
fn insert_first_rows(
    transaction: &Transaction<'_>,
    context: &ProcessContext,
    resume: u64,
) -> rusqlite::Result<()> {
    transaction.execute(INSERT_FORMAT, [NEEDS])?;
    let json = serde_json::to_string(context)
        .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    transaction.execute(
        INSERT_RECORDING,
        named_params! {
            ":id": context.recording,
            ":name": context.name,
            ":state": State::Live.as_str(),
            ":origin": context.origin,
            ":parent": context.parent,
            ":wall_ns": to_sql(context.wall_ns),
            ":transport": context.transport,
            ":context": json,
            ":slow_ns": to_sql(context.slow_ns.unwrap_or(DEFAULT_SLOW_NS)),
            ":redaction": context.redaction,
            ":resume": to_sql(resume),
            ":derived": DERIVED_VERSION,
        },
    )?;
    for stream in StreamId::STDIO {
        let direction = stream.messages().map(Direction::as_str);
        let kind = direction.map_or("text", |_| "messages");
        let row = params![stream.0, direction, kind, stream.as_str()];
        transaction.execute(INSERT_STREAM, row)?;
    }
    Ok(())
}

// How the values of a recording stand in its columns.
//
// Enumerations are words, so that they read well in `sqlite3`; request ids and error codes are
// the JSON text from the wire; numbers are `SQLite`'s signed 64-bit integers.

/// A count, time or offset as `SQLite` keeps it. Nothing that is recorded comes near 2^63.
pub fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number that [`to_sql`] wrote; 0 for a negative one, which only a damaged file has.
pub fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Whether `text` has the form of a recording's id: eight hex digits.
pub fn is_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A moment as it stands in a column.
pub fn moment(number: i64) -> Moment {
    Moment(from_sql(number))
}

/// The state of a recording by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum State {
    /// The recorder is writing, or was killed.
    Live,
    /// The session ended, and a part of it still stands in the spool.
    Pending,
    /// Whole, written to its end by its recorder or from a spool that was.
    Complete,
    /// Completed from the spool of a recorder that did not come to its end.
    Recovered,
}

impl State {
    /// The word used in recordings and output.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether nothing more will be added from a spool.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Recovered)
    }
}
