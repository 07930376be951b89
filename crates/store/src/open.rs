//! Opening a recording to read it, or saying in one sentence why it cannot be read.
//!
//! The header of the file tells what it is before `SQLite` sees it, so a file that is no recording
//! is never touched. Three ways lead to the rows:
//!
//! * shared: an ordinary read-only connection, for finished recordings and for live ones;
//! * immutable: for a file in WAL mode that has no WAL beside it (copied from a live recording),
//!   which a read-only connection would want to create;
//! * a temporary copy: where the folder is read-only and a WAL or journal stands beside the file.

use super::schema;
use super::schema::{APPLICATION_ID, Additions, FormatVersion};
use mcpreel_capture::spool::open_regular;
use mcpreel_wire::text::uri_path;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::ffi::OsString;
use std::fs::Permissions;
use std::io;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The wait of a reader for a writer that switches the journal mode.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// Statements that are kept ready: a viewer asks for some dozens of things again and again.
const STATEMENTS: usize = 64;

/// A connection that reads, and what it holds on to.
#[derive(Debug)]
pub struct Opened {
    /// Declared first, so that it is closed before a copy is removed.
    pub conn: Connection,
    /// Whether changes of the file are not noticed.
    pub frozen: bool,
    /// The copy that the connection reads, where that is not the file itself, and its folder.
    copy: Option<(PathBuf, TempDir)>,
}

impl Opened {
    /// The copy that is read, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.copy.as_ref().map(|(file, _)| &**file)
    }
}

/// Opens the recording `path` to read it.
pub fn read_only(path: &Path) -> Result<Opened, OpenError> {
    let path = &real(path);
    let header = Header::read(path)?;
    let beside = has_beside(path)?;
    let frozen = header.wal && !beside;
    let mode = if frozen {
        Mode::Immutable
    } else {
        Mode::Shared
    };
    let opened = match connect(path, mode) {
        Err(OpenError::Sqlite { source, .. }) if beside && cannot_write(&source) => copy_of(path)?,
        conn => Opened {
            conn: conn?,
            frozen,
            copy: None,
        },
    };
    header.check(path, &opened.conn)?;
    Ok(opened)
}

/// Opens a copy of the recording `path` that may be written; it vanishes with the connection.
pub fn copied(path: &Path) -> Result<Opened, OpenError> {
    let path = &real(path);
    let header = Header::read(path)?;
    let mut opened = copy_of(path)?;
    header.check(path, &opened.conn)?;
    migrate(path, &header, &mut opened.conn)?;
    Ok(opened)
}

/// Opens the recording `path` to write it, and brings an older format up to date.
pub fn writable(path: &Path) -> Result<Connection, OpenError> {
    let header = Header::read(path)?;
    let mut conn = connect(path, Mode::Writable)?;
    header.check(path, &conn)?;
    schema::configure_writer(&conn).map_err(|e| OpenError::from_sqlite(path, e))?;
    migrate(path, &header, &mut conn)?;
    Ok(conn)
}

/// Brings an older format up to date.
fn migrate(path: &Path, header: &Header, conn: &mut Connection) -> Result<(), OpenError> {
    if header.version >= FormatVersion::CURRENT {
        return Ok(());
    }
    let mut migrate = || {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        schema::migrate(&transaction)?;
        transaction.commit()
    };
    migrate().map_err(|e| OpenError::from_sqlite(path, e))
}

/// Whether the recording `path` is in WAL mode, and therefore more than one file.
pub fn is_wal(path: &Path) -> Result<bool, OpenError> {
    Ok(Header::read(path)?.wal)
}

/// Whether `path` has all that its creation as a recording puts into it. To be asked before it is
/// opened: while it is being created it can be opened, and lacks its tables.
pub fn is_born(path: &Path) -> Result<bool, OpenError> {
    match Header::read(path) {
        Ok(_) => Ok(true),
        Err(OpenError::Missing { .. } | OpenError::Empty { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a file or its folder may not be written.
pub fn cannot_write(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(
        error.sqlite_error_code(),
        Some(CannotOpen | ReadOnly | PermissionDenied)
    )
}

/// Opens a copy of the recording `path`, in a folder of its own that is removed with it.
fn copy_of(path: &Path) -> Result<Opened, OpenError> {
    let copy = || -> io::Result<(PathBuf, TempDir)> {
        let owners = Permissions::from_mode(0o700);
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("mcpreel-").permissions(owners).tempdir()?;
        let file = folder.path().join("copy.reel");
        for suffix in ["", "-wal", "-journal"] {
            let (from, to) = (beside(path, suffix), beside(&file, suffix));
            if suffix.is_empty() || from.metadata().is_ok_and(|it| it.len() > 0) {
                std::fs::copy(from, &to)?;
                // A copy takes over the permissions of a file that may be read-only.
                std::fs::set_permissions(to, Permissions::from_mode(0o600))?;
            }
        }
        Ok((file, folder))
    };
    let (file, folder) = copy().map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })?;
    let conn = connect(&file, Mode::Writable)?;
    // Nobody needs the copy after a power failure.
    let fast = conn.pragma_update(None, "synchronous", "OFF");
    fast.map_err(|e| OpenError::from_sqlite(path, e))?;
    Ok(Opened {
        conn,
        frozen: true,
        copy: Some((file, folder)),
    })
}

#[derive(Clone, Copy)]
enum Mode {
    Shared,
    Immutable,
    Writable,
}

fn connect(path: &Path, mode: Mode) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let (flags, query) = match mode {
        Mode::Shared => (flags | OpenFlags::SQLITE_OPEN_READ_ONLY, "mode=ro"),
        Mode::Immutable => (flags | OpenFlags::SQLITE_OPEN_READ_ONLY, "immutable=1"),
        Mode::Writable => (flags | OpenFlags::SQLITE_OPEN_READ_WRITE, "mode=rw"),
    };
    let connect = || {
        let conn = Connection::open_with_flags(uri(path, query), flags)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        schema::distrust(&conn)?;
        // Else a statement that could use a partial index for some values is planned anew for each
        // of them, which takes several times what it does.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Opening is lazy: the first read finds what is in the way.
        let stranger = match schema::stranger(&conn, Additions::Allowed) {
            Err(error) if is_corrupt(&error) && !matches!(mode, Mode::Writable) => {
                // What is left of a file that was cut off can be read only with these switches:
                // without them `SQLite` refuses all of it since its schema says that there is more.
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true)?;
                schema::stranger(&conn, Additions::Refused)?
            }
            stranger => stranger?,
        };
        Ok((conn, stranger))
    };
    match connect().map_err(|e| OpenError::from_sqlite(path, e))? {
        (conn, None) => Ok(conn),
        (_, Some(stranger)) => Err(OpenError::Damaged {
            path: path.to_owned(),
            detail: format!("no recording has its {stranger}"),
        }),
    }
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}

/// `file:` URI of a path, whatever its bytes are.
pub(crate) fn uri(path: &Path, query: &str) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = uri_path(absolute.as_os_str().as_bytes(), b"");
    format!("file:{path}?{query}")
}

/// The file that `path` means where it is a symbolic link: a WAL, journal or spool stands beside
/// that one.
pub fn real(path: &Path) -> PathBuf {
    let real = path.is_symlink().then(|| path.canonicalize().ok());
    real.flatten().unwrap_or_else(|| path.to_owned())
}

/// The file beside `path` with `suffix` at the end of its whole name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether a WAL or journal stands beside the file. A pipe in its place would be waited for.
pub(super) fn has_beside(path: &Path) -> Result<bool, OpenError> {
    let mut has = false;
    for suffix in ["-wal", "-journal"] {
        let path = beside(path, suffix);
        let Ok(metadata) = path.metadata() else {
            continue;
        };
        if !metadata.is_file() {
            let source = io::Error::other("it is no regular file");
            return Err(OpenError::Io { path, source });
        }
        has |= metadata.len() > 0;
    }
    Ok(has)
}

// Why a recording cannot be read.

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} does not exist; `mcpreel ls` lists the recordings", path.display())]
    Missing { path: PathBuf },
    #[error("could not read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Something else than a database.
    #[error("{} is not a recording: it is not an SQLite file, nor a cassette", path.display())]
    NotSqlite { path: PathBuf },
    /// Nothing, or a recording whose creation was interrupted.
    #[error("{} is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{} is not a recording: it is an SQLite file of another program", path.display())]
    Foreign { path: PathBuf },
    #[error("{} has recording format {version}, this program reads up to {}; it needs mcpreel {} or newer",
        path.display(), FormatVersion::CURRENT, needs.as_deref().unwrap_or("of a later version"))]
    Newer {
        path: PathBuf,
        version: FormatVersion,
        /// The first version of mcpreel that reads it, where the file says so.
        needs: Option<String>,
    },
    /// Another program holds the file.
    #[error("{} is locked by another program; try again when it has let go", path.display())]
    Locked { path: PathBuf },
    #[error("{} is damaged ({detail}); `sqlite3 {} .recover` may save a part of it", path.display(), path.display())]
    Damaged { path: PathBuf, detail: String },
    /// `SQLite` refused for another reason.
    #[error("could not open {}", path.display())]
    Sqlite {
        path: PathBuf,
        source: rusqlite::Error,
    },
}

impl OpenError {
    /// The error that `source` is for the recording `path`.
    pub fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotSqlite { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            // A table or row that is missing in a file that says that it is a recording is damage.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) | None => Self::Damaged {
                path,
                detail: source.to_string(),
            },
            Some(_) => Self::Sqlite { path, source },
        }
    }
}

// What the header of a file says, before `SQLite` sees it.

const SELECT_NEEDS: &str = "SELECT needs FROM format";

/// The first bytes of the file.
struct Header {
    pub version: FormatVersion,
    pub wal: bool,
}

impl Header {
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        let error = |source: io::Error| {
            let path = path.to_owned();
            match source.kind() {
                io::ErrorKind::NotFound => OpenError::Missing { path },
                io::ErrorKind::UnexpectedEof if path.metadata().is_ok_and(|m| m.len() == 0) => {
                    OpenError::Empty { path }
                }
                io::ErrorKind::UnexpectedEof => OpenError::NotSqlite { path },
                _ => OpenError::Io { path, source },
            }
        };
        let mut bytes = [0; 100];
        open_regular(path, false)
            .and_then(|mut file| file.read_exact(&mut bytes))
            .map_err(error)?;
        if !bytes.starts_with(b"SQLite format 3\0") {
            let path = path.to_owned();
            return Err(OpenError::NotSqlite { path });
        }
        let number = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if number(68) != APPLICATION_ID {
            let path = path.to_owned();
            return Err(OpenError::Foreign { path });
        }
        let version = FormatVersion(number(60));
        if version == FormatVersion(0) {
            let path = path.to_owned();
            return Err(OpenError::Empty { path });
        }
        let wal = bytes[18] == 2;
        Ok(Self { version, wal })
    }

    pub fn check(&self, path: &Path, conn: &Connection) -> Result<(), OpenError> {
        if self.version <= FormatVersion::CURRENT {
            return Ok(());
        }
        Err(OpenError::Newer {
            path: path.to_owned(),
            version: self.version,
            needs: conn.query_row(SELECT_NEEDS, [], |row| row.get(0)).ok(),
        })
    }
}
