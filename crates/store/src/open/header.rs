//! What the header of a file says, before `SQLite` sees it.

use super::OpenError;
use crate::schema::{APPLICATION_ID, FormatVersion};
use mcpreel_capture::spool::open_regular;
use rusqlite::Connection;
use std::io::{self, Read};
use std::path::Path;

/// The part of an `SQLite` header that says what the file is.
const HEADER: usize = 100;

const SELECT_NEEDS: &str = "SELECT needs FROM format";

/// What the first bytes of the file say.
pub(super) struct Header {
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
        let mut bytes = [0; HEADER];
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
        Ok(Self {
            version: FormatVersion(number(60)),
            wal: bytes[18] == 2,
        })
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
