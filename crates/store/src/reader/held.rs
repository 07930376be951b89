//! Several questions to one state of a file.

use super::{ReadError, Recording};
use crate::open::OpenError;

/// Holds a state of a file: see [`Recording::hold`].
#[derive(Debug)]
#[must_use]
pub struct Held<'r>(
    #[expect(dead_code, reason = "it is there to be dropped")] Option<rusqlite::Transaction<'r>>,
);

impl Recording {
    /// Lets `work` see one state of the file. It must not take longer than some milliseconds.
    pub(crate) fn in_one_read<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let held = self.hold()?;
        let result = work(self);
        drop(held);
        result
    }

    /// Until what is returned is dropped, all that is read is of one state of the file, and nobody
    /// asks for each row anew whether that has changed, which takes as long as to read it. Nothing
    /// that takes longer than some milliseconds may be done meanwhile.
    pub fn hold(&self) -> Result<Held<'_>, ReadError> {
        let conn = &self.opened.conn;
        // Whoever holds it already holds it for those within.
        let transaction = conn.is_autocommit().then(|| conn.unchecked_transaction());
        let transaction = transaction.transpose();
        let transaction = transaction.map_err(|e| OpenError::from_sqlite(&self.path, e))?;
        Ok(Held(transaction))
    }
}
