//! The rows of a recording as they stand in the file.

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// What stands in a recording, by table.
#[derive(Debug, PartialEq)]
pub struct Rows(Vec<(&'static str, Vec<Vec<Value>>)>);

/// What is derived from frames and events.
const DERIVED: [(&str, &str); 4] = [
    ("message", "SELECT * FROM message ORDER BY frame, part"),
    ("exchange", "SELECT * FROM exchange ORDER BY id"),
    ("finding", "SELECT * FROM finding ORDER BY id"),
    (
        "recording",
        "SELECT derived_version, messages, exchanges, failed, open, findings, session FROM recording",
    ),
];

const FRAMES: (&str, &str) = ("frame", "SELECT * FROM frame ORDER BY seq");

/// All bytes of the streams of a pipe, in the recording `path`: c2s, s2c, stderr.
pub fn streams(path: &Path) -> [Vec<u8>; 3] {
    let mut streams = <[Vec<u8>; 3]>::default();
    for row in &Rows::frames(path).0[0].1 {
        let (Value::Integer(stream), Some(Value::Blob(raw))) = (&row[1], row.last()) else {
            panic!("another table: {row:?}");
        };
        streams[usize::try_from(*stream).expect("it is one of three")].extend(raw);
    }
    streams
}

impl Rows {
    /// What is derived in the recording `path`.
    pub fn derived(path: &Path) -> Self {
        Self::read(path, &DERIVED)
    }

    /// The frames of the recording `path`.
    pub fn frames(path: &Path) -> Self {
        Self::read(path, &[FRAMES])
    }

    fn read(path: &Path, tables: &[(&'static str, &'static str)]) -> Self {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let conn = conn.expect("it is a database");
        let rows = |sql: &str| {
            let mut statement = conn.prepare(sql).expect("the table is there");
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
            rows.and_then(Iterator::collect)
                .expect("the rows can be read")
        };
        Self(
            tables
                .iter()
                .map(|(table, sql)| (*table, rows(sql)))
                .collect(),
        )
    }

    /// Fails, with the first row that differs, if `other` is not the same.
    pub fn assert_same(&self, other: &Self, what: &str) {
        for ((table, ours), (_, theirs)) in self.0.iter().zip(&other.0) {
            let differs = ours
                .iter()
                .zip(theirs)
                .find(|(ours, theirs)| ours != theirs);
            assert!(differs.is_none(), "{what}: {table} {differs:?}");
            assert_eq!(ours.len(), theirs.len(), "{what}: rows of {table}");
        }
    }

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> usize {
        self.0
            .iter()
            .filter(|(name, _)| *name == table)
            .map(|(_, rows)| rows.len())
            .sum()
    }
}
