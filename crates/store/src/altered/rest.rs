//! Where the frames are that stay as they are.

use super::{AlterError, Altered};
use crate::reader::Recording;
use crate::reader::rows::number;
use crate::values::to_sql;
use mcpreel_trace::frame::Seq;
use rusqlite::OptionalExtension;

/// Takes the frames with other bytes out again.
const SET_ASIDE: &str = "DROP VIEW temp.frame;
    CREATE TEMP TABLE aside (seq INTEGER PRIMARY KEY, raw BLOB);
    INSERT INTO temp.aside SELECT seq, raw FROM main.frame;
    DELETE FROM main.frame; DELETE FROM temp.altered";
const NEXT_ASIDE: &str = "SELECT seq, raw FROM temp.aside WHERE seq > ?1 ORDER BY seq LIMIT 1";
const FRAMES: &str = "SELECT frames FROM main.recording";

/// Where the frames stand that have no other bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// In the copy, which may stay when the recording is gone.
    Copied,
    /// In the recording, which has to be there for as long as the copy is read.
    There,
}

impl Altered {
    pub(super) fn open(self) -> Result<Recording, AlterError> {
        // What it has not written yet is written.
        drop(self.conn);
        Ok(match self.rest {
            Rest::Copied => Recording::open(&self.reel)?,
            Rest::There => Recording::open_over(&self.reel, &self.source)?,
        })
    }

    /// Copies the frames that are not in it.
    pub(super) fn copy_rest<E: From<AlterError>>(
        &mut self,
        tell: &mut dyn FnMut(Seq) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.rest == Rest::Copied {
            return Ok(());
        }
        self.begin_anew().map_err(AlterError::from)?;
        while let Some((seq, raw)) = self.next_aside().map_err(AlterError::from)? {
            self.frames(Seq(seq.0.saturating_sub(1)), tell)?;
            self.frame(seq, &raw)?;
        }
        let last = self.conn.query_row(FRAMES, [], |row| number(row, 0));
        self.frames(Seq(last.map_err(AlterError::from)?), tell)?;
        self.conn
            .execute_batch("COMMIT")
            .map_err(AlterError::from)?;
        Ok(())
    }

    fn begin_anew(&mut self) -> rusqlite::Result<()> {
        self.rest = Rest::Copied;
        self.last = Seq(0);
        self.longer = Default::default();
        self.conn.execute_batch(SET_ASIDE)?;
        self.conn.execute_batch("BEGIN")
    }

    fn next_aside(&self) -> rusqlite::Result<Option<(Seq, Vec<u8>)>> {
        let mut next = self.conn.prepare_cached(NEXT_ASIDE)?;
        let row = next.query_row([to_sql(self.last.0)], |row| {
            Ok((Seq(number(row, 0)?), row.get(1)?))
        });
        row.optional()
    }
}
