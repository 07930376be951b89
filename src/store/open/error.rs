//! Why a recording cannot be read.

use crate::store::schema::FormatVersion;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such file.
    #[error("{} does not exist; `mcpreel ls` lists the recordings", path.display())]
    Missing {
        /// What was looked for.
        path: PathBuf,
    },
    /// The kernel refused.
    #[error("could not read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Something else than a database.
    #[error("{} is no recording: it is not an SQLite file, nor a cassette", path.display())]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// Nothing.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A database of another program.
    #[error("{} is no recording: it is an SQLite file of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer mcpreel.
    #[error("{} has recording format {version}, this program reads up to {}; it needs mcpreel {} or newer",
        path.display(), FormatVersion::CURRENT, needs.as_deref().unwrap_or("of a later version"))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: FormatVersion,
        /// The first version of mcpreel that reads it, where the file says so.
        needs: Option<String>,
    },
    /// Another program holds the file.
    #[error("{} is locked by another program; try again when it has let go", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error("{} is damaged ({detail}); `sqlite3 {} .recover` may save a part of it", path.display(), path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What `SQLite` found.
        detail: String,
    },
    /// `SQLite` refused for another reason.
    #[error("could not open {}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

impl OpenError {
    /// The error that `source` is for the recording `path`.
    #[must_use]
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
