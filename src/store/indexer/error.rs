//! Why something could not be indexed.

use crate::capture::spool::SpoolError;
use crate::store::open::OpenError;
use crate::store::reindex::ReindexError;
use crate::store::schema::{self, SchemaError};
use std::io;

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The recording could not be created.
    #[error(transparent)]
    Create(#[from] SchemaError),
    /// The recording could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The spool could not be read.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// What is derived could not be derived anew.
    #[error(transparent)]
    Reindex(#[from] ReindexError),
    /// The recording could not be written.
    #[error("could not write the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// A long line could not be copied from the spool.
    #[error("could not copy a line of {size} bytes from the spool")]
    Copy {
        /// Its size.
        size: u64,
        /// Why.
        source: io::Error,
    },
}

impl IndexError {
    /// Whether somebody else holds the file: nothing was lost, trying again later may help.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if schema::is_busy(error))
    }
}
