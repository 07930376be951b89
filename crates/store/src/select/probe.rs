//! Whether any exchange can fit at all, told by the few methods, names and ends that they have.
//!
//! A filter that nothing fits is the dearest one: everything is looked at before the first page is
//! known to be empty. Names and ends come from indexes, each value once, so that a mistyped tool
//! costs some microseconds instead of a look at every exchange.

use super::compile::Compiler;
use super::condition::Condition;
use super::plan::FIRST_VALUE;
use super::source::Source;
use super::{Context, Question};
use mcpreel_trace::frame::Seq;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

/// Values that are looked at. With more of them a look at the rows is as fast.
const MOST: usize = 500;

const NEXT_METHOD: &str = "SELECT method FROM exchange WHERE method > ?1 ORDER BY method LIMIT 1";
const NAMELESS: &str = "SELECT NULL FROM exchange WHERE method = ?1 AND name IS NULL LIMIT 1";
const NEXT_NAME: &str = "SELECT name FROM exchange WHERE method = ?1 AND name > ?2
    ORDER BY name LIMIT 1";
const NO_METHOD: &str = "SELECT 1 FROM exchange WHERE method = '' LIMIT 1";
const EMPTY_NAME: &str = "SELECT 1 FROM exchange WHERE method = ?1 AND name = '' LIMIT 1";
const NEXT_STATUS: &str = "SELECT status FROM exchange INDEXED BY exchange_not_ok
    WHERE status <> 'ok' AND status > ?1 ORDER BY status LIMIT 1";

/// Asks whether any exchange can fit.
#[derive(Debug)]
pub(super) struct Probe {
    methods: Option<Test>,
    names: Option<Test>,
    statuses: Option<Test>,
    /// What was found when that was the last frame. Names and ends do not vanish.
    known: Option<(Seq, bool)>,
}

impl Probe {
    pub fn new(question: &Question, context: Context) -> Self {
        let test = |source| Test::new(source, question, context);
        Self {
            methods: test(Source::Method),
            names: test(Source::Name),
            // What an exchange was at a moment is not in an index.
            statuses: test(Source::Status).filter(|_| question.until.is_none()),
            known: None,
        }
    }

    /// Whether an exchange may fit, when `last` is the last frame.
    pub fn may_fit(&mut self, conn: &Connection, last: Seq) -> rusqlite::Result<bool> {
        match self.known {
            Some((_, true)) => return Ok(true),
            Some((at, false)) if at == last => return Ok(false),
            _ => {}
        }
        let by_name = self.names.as_ref();
        let by_name = by_name.map(|test| any_name(conn, self.methods.as_ref(), test));
        let by_status = self.statuses.as_ref().map(|test| any_status(conn, test));
        let may = by_name.unwrap_or(Ok(true))? && by_status.unwrap_or(Ok(true))?;
        self.known = Some((last, may));
        Ok(may)
    }
}

/// Whether the test holds for the method and name of an exchange, or there are too many.
/// Names of methods of which none can fit, whatever its name, are not looked at.
fn any_name(conn: &Connection, methods: Option<&Test>, test: &Test) -> rusqlite::Result<bool> {
    let mut seen = 0;
    let mut method = String::new();
    while let Some(next) = one(conn, NEXT_METHOD, &[&method])? {
        method = next;
        seen += 1;
        if seen > MOST {
            return Ok(true);
        }
        if let Some(methods) = methods
            && !methods.holds(conn, &method, None)?
        {
            continue;
        }
        let mut nameless = conn.prepare_cached(NAMELESS)?;
        if nameless.exists([&method])? && test.holds(conn, &method, None)? {
            return Ok(true);
        }
        let mut name = String::new();
        let mut empty = conn.prepare_cached(EMPTY_NAME)?;
        if empty.exists([&method])? && test.holds(conn, &method, Some(&name))? {
            return Ok(true);
        }
        while let Some(next) = one(conn, NEXT_NAME, &[&method, &name])? {
            name = next;
            seen += 1;
            if seen > MOST || test.holds(conn, &method, Some(&name))? {
                return Ok(true);
            }
        }
    }
    // It is before the first one, and nobody who means well has it.
    conn.prepare_cached(NO_METHOD)?.exists([])
}

/// Whether the test holds for the end of an exchange.
fn any_status(conn: &Connection, test: &Test) -> rusqlite::Result<bool> {
    if test.holds(conn, "ok", None)? {
        return Ok(true);
    }
    let mut status = String::new();
    while let Some(next) = one(conn, NEXT_STATUS, &[&status])? {
        status = next;
        if test.holds(conn, &status, None)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one(conn: &Connection, sql: &str, params: &[&str]) -> rusqlite::Result<Option<String>> {
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params_from_iter(params), |row| row.get(0));
    found.optional()
}

/// What columns say about an exchange of which only two values are known.
#[derive(Debug)]
struct Test {
    sql: String,
    values: Vec<Value>,
}

impl Test {
    /// `None` if these values do not matter.
    fn new(source: Source, question: &Question, context: Context) -> Option<Self> {
        let compiler = Compiler {
            source,
            context,
            until: question.until,
        };
        let may = compiler.query(&question.query).may;
        if may == Condition::Constant(true) {
            return None;
        }
        let mut sql = String::from("SELECT 1");
        sql.push_str(source.range(false));
        let mut values = Vec::new();
        sql.push_str(" AND ");
        may.write(&mut sql, &mut values, FIRST_VALUE);
        Some(Self { sql, values })
    }

    fn holds(
        &self,
        conn: &Connection,
        first: &str,
        second: Option<&str>,
    ) -> rusqlite::Result<bool> {
        let known = [Some(first), second].map(|text| Value::from(text.map(str::to_owned)));
        let mut statement = conn.prepare_cached(&self.sql)?;
        statement.exists(params_from_iter(known.iter().chain(&self.values)))
    }
}
