//! Why a recording could not be made, filled, or derived anew.

use crate::open::OpenError;
use crate::schema::{self, SchemaError};
use mcpreel_capture::spool::SpoolError;
use std::io;

/// Why a recording could not be made, filled, or derived anew.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The recording could not be created.
    #[error(transparent)]
    Create(#[from] SchemaError),
    /// The recording could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error("could not write the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// The bytes of a long frame could not be copied or read.
    #[error("could not copy a line of {size} bytes")]
    Copy { size: u64, source: io::Error },
}

impl IndexError {
    /// Whether somebody else holds the file: nothing was lost, trying again later may help.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if schema::is_busy(error))
    }
}
