//! Why a recording cannot be read.

use crate::schema::FormatVersion;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{} does not exist; `mcpreel ls` lists the recordings", path.display())]
    Missing { path: PathBuf },
    #[error("could not read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Something else than a database.
    #[error("{} is no recording: it is not an SQLite file, nor a cassette", path.display())]
    NotSqlite { path: PathBuf },
    #[error("{} is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{} is no recording: it is an SQLite file of another program", path.display())]
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
