//! Whether the tables of a file are those that a recording has.
//!
//! A recording may come from anybody, and an `SQLite` schema is a program: a view in place of a
//! table, or a column that is computed, can keep whoever reads it busy for ever. So the switches
//! of the connection are set against it, and what bears the name of one of our tables must have
//! been made by the same statement, but for comments and white space. What people add beside them
//! (tables and views of their own) is never looked at, and welcome.

use super::{MIGRATIONS, version_of};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
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

/// The kind of an object of a schema, its table, and its statement.
type Object = (String, String, Option<String>);

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
    // Each statement of its own would lock the file, and look whether it has changed.
    let _reading = conn.unchecked_transaction()?;
    let version = version_of(conn)?;
    let Some(ours) = objects()?.get(version.0 as usize) else {
        return Ok(None);
    };
    // `SQLite` ignores case in names, and ends them at a NUL.
    let is_free = |name: &str| {
        let is_ours = ours.keys().any(|our| our.eq_ignore_ascii_case(name));
        !is_ours && !name.contains('\0')
    };
    let stranger = read(conn)?.into_iter().find(|(name, found)| {
        if let Some(genuine) = ours.get(name) {
            return !is_same(found, genuine);
        }
        let (kind, table, _) = found;
        let is_addition = matches!(kind.as_str(), "table" | "index" | "view");
        additions == Additions::Refused || !is_addition || !is_free(name) || !is_free(table)
    });
    Ok(stranger.map(|(name, (kind, ..))| format!("{} {name:?}", kind.escape_debug())))
}

/// The objects of every format version, from 0, as this program makes them.
fn objects() -> rusqlite::Result<&'static [HashMap<String, Object>]> {
    static OBJECTS: OnceLock<Vec<HashMap<String, Object>>> = OnceLock::new();
    if let Some(objects) = OBJECTS.get() {
        return Ok(objects);
    }
    let conn = Connection::open_in_memory()?;
    let mut versions = vec![HashMap::new()];
    for migration in MIGRATIONS {
        conn.execute_batch(migration)?;
        versions.push(read(&conn)?.into_iter().collect());
    }
    Ok(OBJECTS.get_or_init(|| versions))
}

/// What stands in a schema, by name.
fn read(conn: &Connection) -> rusqlite::Result<Vec<(String, Object)>> {
    let mut statement = conn.prepare(SELECT_OBJECTS)?;
    let objects = statement.query_map([], |row| {
        Ok((row.get(1)?, (row.get(0)?, row.get(2)?, row.get(3)?)))
    })?;
    objects.collect()
}

fn is_same((kind, table, sql): &Object, genuine: &Object) -> bool {
    let is_sql = match (sql, &genuine.2) {
        (Some(sql), Some(genuine)) => sql == genuine || essence(sql) == essence(genuine),
        (sql, genuine) => sql.is_none() && genuine.is_none(),
    };
    is_sql && *kind == genuine.0 && *table == genuine.1
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
