//! Why something could not be indexed.

use crate::open::OpenError;
use crate::reindex::ReindexError;
use crate::schema::{self, SchemaError};
use mcpreel_capture::spool::SpoolError;
use std::io;

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
    /// What is derived could not be derived anew.
    #[error(transparent)]
    Reindex(#[from] ReindexError),
    /// The recording could not be written.
    #[error("could not write the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// A long line could not be copied from the spool.
    #[error("could not copy a line of {size} bytes from the spool")]
    Copy { size: u64, source: io::Error },
}

impl IndexError {
    /// Whether somebody else holds the file: nothing was lost, trying again later may help.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if schema::is_busy(error))
    }
}
