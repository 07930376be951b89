//! One column of a row as a value.

use crate::values::{self, from_sql};
use compact_str::CompactString;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era};
use rusqlite::Row;
use rusqlite::types::Type;

pub fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get(at).map(from_sql)
}

pub fn optional(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(from_sql))
}

/// A text that is mostly a short one.
pub(super) fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<CompactString>> {
    Ok(row.get_ref(at)?.as_str_or_null()?.map(Into::into))
}

/// The value that a word stands for. An unknown word is damage.
pub fn word<T>(row: &Row<'_>, at: usize, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word = row.get_ref(at)?.as_str()?;
    parse(word).ok_or_else(|| {
        let error = format!("unknown word {word:?}");
        rusqlite::Error::FromSqlConversionFailure(at, Type::Text, error.into())
    })
}

pub(super) fn direction(row: &Row<'_>, at: usize) -> rusqlite::Result<Direction> {
    word(row, at, values::direction)
}

pub(super) fn era(row: &Row<'_>, at: usize) -> rusqlite::Result<Era> {
    word(row, at, values::era)
}

pub(super) fn request_id(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<RequestId>> {
    let json = row.get_ref(at)?.as_str_or_null()?;
    let read = |json| RequestId::from_json(json).unwrap_or_else(|| RequestId::damaged(json));
    Ok(json.map(read))
}
