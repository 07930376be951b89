//! Why a copy could not be made.

use crate::open::OpenError;
use crate::reader::ReadError;
use crate::reindex::ReindexError;
use crate::schema::SchemaError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum AlterError {
    /// It could not be opened, or what it is made of.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// What is derived could not be derived anew.
    #[error(transparent)]
    Derive(#[from] ReindexError),
    /// It could not be written, or what it is made of could not be read.
    #[error("could not copy the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// There is no second thread to be had.
    #[error("could not look through the recording")]
    Thread(#[source] io::Error),
}

impl From<ReadError> for AlterError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Open(error) => Self::Open(error),
            ReadError::Reindex(error) => Self::Derive(error),
        }
    }
}
