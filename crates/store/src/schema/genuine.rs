//! Whether the tables of a file are those that a recording has.
//!
//! A recording may come from anybody, and an `SQLite` schema is a program: a view in place of a
//! table, or a column that is computed, can keep whoever reads it busy for ever. So the switches
//! of the connection are set against it, and what bears the name of one of our tables must have
//! been made by the same statement, but for comments and white space. What people add beside them
//! (tables and views of their own) is never looked at, and welcome.

use super::{FormatVersion, MIGRATIONS, version_of};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Row};
use std::collections::HashMap;
use std::sync::OnceLock;

const SELECT_OBJECTS: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema";

/// Whether the schema may hold what is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Additions {
    /// Tables, indexes and views of other names, on other tables.
    Allowed,
    /// No additions: where `SQLite` has been told to overlook faults of the schema, the names in it
    /// need not be those in its statements.
    Refused,
}

#[derive(Debug)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

/// The objects of a format version, by name.
type Objects = HashMap<String, Object>;

/// Sets what keeps the schema of a file that anybody may have made from doing anything.
pub fn distrust(conn: &Connection) -> rusqlite::Result<()> {
    for (switch, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        conn.set_db_config(switch, on)?;
    }
    Ok(())
}

/// The name of the first thing in the schema that no recording of its format version has; `None`
/// if there is none, or the version is not known. That a table is missing is not looked for.
pub fn stranger(conn: &Connection, additions: Additions) -> rusqlite::Result<Option<String>> {
    let version = version_of(conn)?;
    let Some(ours) = objects()?.get(version.0 as usize) else {
        return Ok(None);
    };
    let mut statement = conn.prepare(SELECT_OBJECTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let object = Object::from_row(row)?;
        if !object.may_stand_beside(ours, additions) {
            return Ok(Some(format!(
                "{} {:?}",
                object.kind.escape_debug(),
                object.name
            )));
        }
    }
    Ok(None)
}

/// The objects of every format version, from 0, as this program makes them.
fn objects() -> rusqlite::Result<&'static [Objects]> {
    static OBJECTS: OnceLock<Vec<Objects>> = OnceLock::new();
    if let Some(objects) = OBJECTS.get() {
        return Ok(objects);
    }
    let conn = Connection::open_in_memory()?;
    let mut versions = vec![Objects::new()];
    for migration in MIGRATIONS {
        conn.execute_batch(migration)?;
        let mut statement = conn.prepare(SELECT_OBJECTS)?;
        let objects = statement.query_map([], |row| {
            let object = Object::from_row(row)?;
            Ok((object.name.clone(), object))
        })?;
        versions.push(objects.collect::<rusqlite::Result<_>>()?);
    }
    debug_assert_eq!(versions.len(), FormatVersion::CURRENT.0 as usize + 1);
    Ok(OBJECTS.get_or_init(|| versions))
}

impl Object {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get(3)?,
        })
    }

    fn may_stand_beside(&self, ours: &Objects, additions: Additions) -> bool {
        if let Some(genuine) = ours.get(&self.name) {
            return self.is_same(genuine);
        }
        // `SQLite` ignores case in names, and ends them at a NUL.
        let is_ours = |name: &str| ours.keys().any(|our| our.eq_ignore_ascii_case(name));
        additions == Additions::Allowed
            && matches!(self.kind.as_str(), "table" | "index" | "view")
            && !self.name.contains('\0')
            && !self.table.contains('\0')
            && !is_ours(&self.name)
            && !is_ours(&self.table)
    }

    fn is_same(&self, genuine: &Self) -> bool {
        let sql = match (&self.sql, &genuine.sql) {
            (Some(sql), Some(genuine)) => sql == genuine || essence(sql) == essence(genuine),
            (sql, genuine) => sql.is_none() && genuine.is_none(),
        };
        sql && self.kind == genuine.kind && self.table == genuine.table
    }
}

/// A statement without comments, every white space one blank; quoted text as it is.
fn essence(sql: &str) -> String {
    let mut essence = String::with_capacity(sql.len());
    let mut quote = None;
    let mut characters = sql.chars().peekable();
    while let Some(mut character) = characters.next() {
        match quote {
            Some(end) if character == end => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            None if character == '-' && characters.peek() == Some(&'-') => {
                characters.by_ref().find(|&c| c == '\n');
                character = ' ';
            }
            Some(_) | None => {}
        }
        if quote.is_some() || !character.is_ascii_whitespace() {
            essence.push(character);
        } else if !essence.ends_with(' ') {
            essence.push(' ');
        }
    }
    essence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_white_space_make_no_difference_and_all_else_does() {
        let ours = "CREATE TABLE t (\n  a TEXT -- it's\n CHECK (a IN ('x y', 'z'))\n)";
        for same in [
            "CREATE TABLE t ( a TEXT CHECK (a IN ('x y', 'z')) )",
            "CREATE  TABLE t ( -- '\n a TEXT CHECK (a IN ('x y', 'z'))\n)",
        ] {
            assert_eq!(essence(same), essence(ours));
        }
        for other in [
            "CREATE TABLE t ( a TEXT CHECK (a IN ('x  y', 'z')) )",
            "CREATE TABLE t ( a TEXT CHECK (a IN ('x y', 'z--\n')) )",
            "CREATE TABLE t ( a TEXT CHECK (a IN ('x y', 'z')), b AS (1) )",
            "CREATE TABLE t ( a TEXT /* */ CHECK (a IN ('x y', 'z')) )",
        ] {
            assert_ne!(essence(other), essence(ours));
        }
    }
}
