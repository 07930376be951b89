//! Rows that go into one table together.
//!
//! A statement opens a cursor for the table and for each of its indices, which costs as much as a
//! row does: one statement for several rows opens them once.

use rusqlite::{CachedStatement, Connection, ToSql};

const TOGETHER: usize = 8;

pub(super) struct Lot<'c> {
    one: CachedStatement<'c>,
    together: CachedStatement<'c>,
}

impl<'c> Lot<'c> {
    /// For rows of `table` with these columns.
    pub fn prepare(conn: &'c Connection, table: &str, columns: &str) -> rusqlite::Result<Self> {
        let values = vec!["?"; columns.split(',').count()].join(", ");
        let insert = |rows: usize| {
            let rows = vec![format!("({values})"); rows].join(", ");
            // A row that cannot be written undoes the transaction, by whoever began it: that
            // SQLite remembers how to undo each statement would cost a copy of every page.
            conn.prepare_cached(&format!(
                "INSERT OR FAIL INTO {table} ({columns}) VALUES {rows}"
            ))
        };
        Ok(Self {
            one: insert(1)?,
            together: insert(TOGETHER)?,
        })
    }

    /// Inserts `rows`; `fill` gives the values of each, in the order of the columns.
    pub fn insert<T>(
        &mut self,
        mut rows: impl ExactSizeIterator<Item = T>,
        fill: impl Fn(&mut Values<'_, 'c>, T) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        while rows.len() > 0 {
            let (statement, count) = match rows.len() {
                TOGETHER.. => (&mut self.together, TOGETHER),
                _ => (&mut self.one, 1),
            };
            let mut values = Values::of(statement);
            for row in rows.by_ref().take(count) {
                fill(&mut values, row)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// The values of a statement, one after the other.
pub(super) struct Values<'s, 'c> {
    statement: &'s mut CachedStatement<'c>,
    next: usize,
}

impl<'s, 'c> Values<'s, 'c> {
    /// Of this statement, from the first on.
    pub fn of(statement: &'s mut CachedStatement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    pub fn push(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_inserted_once_however_many_there_are() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
            .unwrap();
        for count in 0..20_u32 {
            let mut lot = Lot::prepare(&conn, "t", "a, b").unwrap();
            lot.insert(0..count, |values, row| {
                values.push(row)?;
                values.push(format!("row {row}"))
            })
            .unwrap();
            let (rows, right): (u32, u32) = conn
                .query_row("SELECT count(*), sum(b = 'row ' || a) FROM t", [], |row| {
                    Ok((row.get(0)?, row.get::<_, Option<_>>(1)?.unwrap_or(0)))
                })
                .unwrap();
            assert_eq!((rows, right), (count, count));
            conn.execute("DELETE FROM t", []).unwrap();
        }
    }
}
