//! From a filter to a condition in SQL, which is constant pieces and bound values.
//!
//! What decides:
//!
//! * A test of something absent is false; `!=` is the denial of `=` and `!~` of `~`, so they are
//!   true there. Of several values (findings, `[*]`) one that fits is enough.
//! * `:` on text contains, case folded as in [`pattern`]. `=` compares texts as they are. `~`
//!   searches; a pattern that does not compile fits nothing.
//! * Words and numbers are equal or in order. Numbers are signed 64-bit; what is more is cut.
//! * Ids compare by type and exact value: `id:7` fits `7.0` and not `"7"`.
//! * Values in bodies, and `code`, compare by their own type: see [`body`].
//! * A word of its own looks, in smart case, in summary, method and name, and in the bodies as
//!   they are or as JSON may have escaped it; of a line in its bytes, of an event in its JSON.
//!   `text:x` is the same; `text=x` never folds case; `text~x` sees bytes as they are.
//!
//! What columns cannot tell is asked of the SQL function `fits`: its first argument is the number
//! of a [`Test`], the others are the values to test.

use super::Context;
use super::column::Source;
use crate::schema::to_sql;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::query::ast::{Expr, Field, Flag, Op, Query, Root, Subject, Type, Value};
use mcpreel_trace::query::body::{self, JsonTest};
use mcpreel_trace::query::pattern;
use mcpreel_wire::brief;
use mcpreel_wire::http::Head;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Path, Step, Value as Json};
use regex::bytes::Regex;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value as Bound;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, LazyLock};

/// The rules whose findings say that a line was not read as a whole.
const TRUNCATED: &str = " IN ('frame-truncated', 'frame-deep-nesting', 'frame-outline-only',
    'batch-too-long')";

/// Bytes; `SQLite` refuses patterns of more than 50,000.
const LONGEST_LIKE: usize = 1000;

/// The first parameter of a condition: before it stand the frames of a range.
const FIRST: usize = 3;

/// A test that columns cannot decide.
#[derive(Debug)]
enum Test {
    Pattern(Option<Regex>),
    Id(Option<RequestId>),
    Json(JsonTest),
    /// A value of the header with this name, in the head of the request or of the response.
    Header(Box<str>, Option<Regex>),
    /// A value at a path in the bodies of the request and of the response.
    Body(Root, Path, Option<JsonTest>),
}

/// The tests of the conditions of a filter.
#[derive(Clone, Debug, Default)]
pub(super) struct Tests(Arc<Vec<Test>>);

/// Makes the conditions of a filter, one source after the other, and its tests.
pub(super) struct Compiler<'q> {
    query: &'q Query,
    context: Context,
    source: Source,
    tests: Vec<Test>,
    values: Vec<Bound>,
}

impl Tests {
    /// Lets `conn` use them. It has those of one filter at a time.
    pub fn install(&self, conn: &Connection) -> rusqlite::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        let tests = Arc::clone(&self.0);
        conn.create_scalar_function("fits", -1, flags, move |context| {
            let number: u32 = context.get(0)?;
            let value = |at: usize| {
                let value = (at < context.len()).then(|| context.get_raw(at));
                value.and_then(|value| value.as_bytes_or_null().ok().flatten())
            };
            let values = [value(1), value(2)];
            Ok(tests
                .get(number as usize)
                .is_some_and(|test| test.fits(values)))
        })
    }
}

impl Test {
    fn fits(&self, values: [Option<&[u8]>; 2]) -> bool {
        if let Self::Body(root, path, test) = self {
            let mut fits = |value: Json<'_>| test.as_ref().is_none_or(|it| it.fits(value));
            return body::any(values, (*root, path), &mut fits);
        }
        if let Self::Header(name, regex) = self {
            let fits = |value: &str| {
                regex
                    .as_ref()
                    .is_some_and(|it| it.is_match(value.as_bytes()))
            };
            let heads = values.into_iter().flatten().filter_map(Head::parse);
            return heads.into_iter().any(|head| head.all(name).any(fits));
        }
        let [Some(value), _] = values else {
            return false;
        };
        match self {
            Self::Pattern(regex) => regex.as_ref().is_some_and(|regex| {
                let mut found = regex.find_iter(value);
                found.any(|found| !is_in_base64(value, found.range()))
            }),
            Self::Id(id) => {
                let found = str::from_utf8(value).ok().and_then(RequestId::from_json);
                id.is_some() && *id == found
            }
            Self::Json(test) => {
                let document = Document::parse(value);
                document.is_ok_and(|document| test.fits(document.root()))
            }
            Self::Header(..) | Self::Body(..) => false,
        }
    }
}

impl<'q> Compiler<'q> {
    pub fn new(query: &'q Query, context: Context) -> Self {
        Self {
            query,
            context,
            source: Source::Event,
            tests: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The condition on the rows of `source`, and the values that are bound in it.
    pub fn condition(&mut self, source: Source) -> (String, Vec<Bound>) {
        self.source = source;
        let expr = self.query.expr.as_ref();
        let sql = expr.map_or("1".to_owned(), |expr| self.expr(expr));
        (sql, std::mem::take(&mut self.values))
    }

    /// Whether bytes of messages have to be read.
    pub fn reads_bodies(&self) -> bool {
        self.query.expr.as_ref().is_some_and(reads_bodies)
    }

    /// Whether only rows with a name can fit.
    pub fn needs_name(&self) -> bool {
        self.query.expr.as_ref().is_some_and(needs_name)
    }

    pub fn finish(self) -> Tests {
        Tests(Arc::new(self.tests))
    }

    fn bind(&mut self, value: impl Into<Bound>) -> String {
        let number = FIRST + self.values.len();
        self.values.push(value.into());
        format!("?{number}")
    }

    /// A condition that never holds. The 0 is bound: with a literal one `SQLite`
    /// cannot use the index named in `INDEXED BY` and fails.
    fn never(&mut self) -> String {
        self.bind(0)
    }

    /// Asks `test` about `values`.
    fn ask(&mut self, test: Test, values: &[&str]) -> String {
        let number = self.tests.len();
        self.tests.push(test);
        format!("fits({number}, {})", values.join(", "))
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::And(all) => self.list(all, " AND "),
            Expr::Or(any) => self.list(any, " OR "),
            Expr::Not(inner) => not(&self.expr(inner)),
            Expr::Is(flag) => self.flag(*flag),
            Expr::Has(Subject::Field(field)) => self.has(*field),
            // An empty pattern is in every value.
            Expr::Has(Subject::Header(name)) => self.header(name, Regex::new("").ok()),
            Expr::Has(Subject::Body(root, path)) => self.body(*root, path, None),
            Expr::Text(text) => self.text(needle(text, pattern::ignores_case(text))),
            Expr::Compare { subject, op, value } => match op.denied() {
                Some(op) => not(&self.compare(subject, op, value)),
                None => self.compare(subject, *op, value),
            },
        }
    }

    /// Expressions that read bodies come last.
    fn list(&mut self, list: &[Expr], between: &str) -> String {
        let mut sorted: Vec<_> = list.iter().collect();
        sorted.sort_by_key(|expr| reads_bodies(expr));
        let conditions: Vec<_> = sorted.into_iter().map(|expr| self.expr(expr)).collect();
        halves(&conditions, between)
    }

    fn has(&mut self, field: Field) -> String {
        match (field, self.source.column(field)) {
            (Field::Text, _) => "1".to_owned(),
            (Field::Finding | Field::Severity, _) => self.source.findings("1"),
            (Field::Level | Field::Logger, _) => self.logged(field, None),
            (_, Some(column)) => format!("({column}) IS NOT NULL"),
            (_, None) => self.never(),
        }
    }

    fn compare(&mut self, subject: &Subject, op: Op, value: &Value) -> String {
        let field = match subject {
            Subject::Field(field) => *field,
            Subject::Header(name) => return self.header(name, text_pattern(op, value)),
            Subject::Body(root, path) => {
                return self.body(*root, path, Some(JsonTest::new(op, value)));
            }
        };
        if field == Field::Text {
            return self.text(in_text(op, value));
        }
        let kind = field.kind_of_values();
        if !op.suits(kind) {
            return self.never();
        }
        let column = |field| self.source.column(field);
        if let (Field::Tool, Some(name), Some(method)) =
            (field, column(Field::Name), column(Field::Method))
        {
            // The name first: of most rows nothing else has to be read.
            let condition = self.test(&name, kind, op, value);
            return format!("({condition} AND {method} = 'tools/call')");
        }
        match (field, column(field)) {
            (Field::Finding | Field::Severity, _) => {
                let is_rule = field == Field::Finding;
                // The `+` keeps `SQLite` from the index of all findings by their rule.
                let column = if is_rule { "+rule" } else { "severity" };
                let condition = self.test_text(column, kind, op, value);
                self.source.findings(&condition)
            }
            (Field::Level | Field::Logger, _) => self.logged(field, Some(JsonTest::new(op, value))),
            (_, None) => self.never(),
            (_, Some(column)) => self.test(&column, kind, op, value),
        }
    }

    fn test(&mut self, column: &str, kind: Type, op: Op, value: &Value) -> String {
        match kind {
            Type::Text | Type::Words(_) => self.test_text(column, kind, op, value),
            Type::Number | Type::Duration | Type::Size | Type::Time => {
                let Some(range) = within(op, value, self.context) else {
                    return self.never();
                };
                let (first, last) = (self.bind(*range.start()), self.bind(*range.end()));
                format!("({column}) BETWEEN {first} AND {last}")
            }
            Type::Id => self.ask_column(Test::Id(id(value)), column),
            Type::Json => self.ask_column(Test::Json(JsonTest::new(op, value)), column),
        }
    }

    fn ask_column(&mut self, test: Test, column: &str) -> String {
        let fits = self.ask(test, &[column]);
        format!("(({column}) IS NOT NULL AND {fits})")
    }

    /// `SQLite` folds the letters of ASCII, which is all that a needle of ASCII asks for, and ends
    /// some texts at a NUL.
    fn test_text(&mut self, column: &str, kind: Type, op: Op, value: &Value) -> String {
        let text = text_of(value);
        let contains = op == Op::Contains && kind == Type::Text;
        let is_plain = text.is_ascii() && text.len() <= LONGEST_LIKE;
        if op == Op::Matches || text.contains('\0') || contains && !is_plain {
            return self.ask_column(Test::Pattern(text_pattern(op, value)), column);
        }
        if contains {
            // Half the time of `instr(lower(…))`.
            let escaped = text
                .replace('\\', r"\\")
                .replace('%', r"\%")
                .replace('_', r"\_");
            let needle = self.bind(format!("%{escaped}%"));
            return format!("({column}) LIKE {needle} ESCAPE '\\'");
        }
        let text = self.bind(brief::asked(text).into_owned());
        format!("({column}) = {text}")
    }

    /// A condition on the member of that name in the params of a log message.
    fn logged(&mut self, field: Field, test: Option<JsonTest>) -> String {
        if !matches!(self.source, Source::Alone | Source::Message) {
            return self.never();
        }
        let member = Path::new(vec![Step::Member(field.as_str().into())]);
        let fits = self.body(Root::Params, &member, test);
        format!("(m.method = 'notifications/message' AND {fits})")
    }

    fn header(&mut self, name: &str, pattern: Option<Regex>) -> String {
        let Some(http) = self.source.http() else {
            return self.never();
        };
        let head = |of: &str| {
            format!("(SELECT raw FROM frame WHERE seq = (SELECT {of} FROM http WHERE id = {http}))")
        };
        let (request, response) = (head("request"), head("response"));
        self.ask(Test::Header(name.into(), pattern), &[&request, &response])
    }

    fn body(&mut self, root: Root, path: &Path, test: Option<JsonTest>) -> String {
        let [request, response] = self.source.bodies();
        let values = match root {
            Root::Params | Root::Req => [request, "NULL"],
            Root::Result | Root::Error | Root::Res => ["NULL", response],
            Root::Meta => [request, response],
        };
        self.ask(Test::Body(root, path.clone(), test), &values)
    }

    fn text(&mut self, [plain, escaped]: [Option<Regex>; 2]) -> String {
        let (texts, bytes) = self.source.texts();
        let mut any = vec!["0".to_owned()];
        let test = |&text| self.ask(Test::Pattern(plain.clone()), &[text]);
        any.extend(texts.iter().map(test));
        any.extend(bytes.map(|bytes| self.ask(Test::Pattern(escaped.clone()), &[bytes])));
        format!("({})", any.join(" OR "))
    }

    fn flag(&mut self, flag: Flag) -> String {
        let slow = format!("latency>{}ns", to_sql(self.context.slow_ns));
        let meaning = match flag {
            Flag::Failed => &FAILED,
            Flag::Open => "status=open",
            Flag::Late => "status=late",
            Flag::Slow => &slow,
            Flag::Marked => "has:mark",
            Flag::Noted => "has:note",
            Flag::Modern => "era=modern",
            Flag::Legacy => "era=legacy",
            Flag::Notification => "kind=notification",
            Flag::Batch => match self.source.batch() {
                Some([may, bytes]) => {
                    let bracket = Regex::new(BRACKET).ok();
                    return format!("({may} AND {})", self.ask(Test::Pattern(bracket), &[bytes]));
                }
                None => return self.never(),
            },
            Flag::Truncated => return self.source.findings(&format!("+rule{TRUNCATED}")),
            Flag::Waiting => match self.source {
                Source::Exchange => return WAITING.to_owned(),
                Source::Message => {
                    return format!("(m.kind IN ('request', 'response') AND {WAITING})");
                }
                _ => return self.never(),
            },
            Flag::Resumed => "has:header.last-event-id",
            Flag::Sse => {
                let Some(http) = self.source.http() else {
                    return self.never();
                };
                return format!(
                    "((SELECT content_type FROM http WHERE id = {http}) = 'text/event-stream')"
                );
            }
        };
        let meaning = Query::parse(meaning).expect("the meaning of a flag is a filter");
        meaning.expr.map_or("1".to_owned(), |expr| self.expr(&expr))
    }
}

fn needs_name(expr: &Expr) -> bool {
    match expr {
        Expr::And(all) => all.iter().any(needs_name),
        Expr::Compare { subject, op, .. } => {
            use Field::{Name, Prompt, Tool, Uri};
            let field = matches!(subject, Subject::Field(Name | Tool | Prompt | Uri));
            field && op.denied().is_none()
        }
        _ => false,
    }
}

/// What failed, as [`Status::is_failure_of`] has it.
static FAILED: LazyLock<String> = LazyLock::new(|| {
    let any = |is: &dyn Fn(&Status) -> bool| {
        let words = Status::ALL.iter().filter(|status| is(status));
        let words = words.map(|status| format!("status={}", status.as_str()));
        format!("({})", words.collect::<Vec<_>>().join(" OR "))
    };
    let failed = any(&|status| status.is_failure_of(""));
    let harmless = Status::HARMLESS_FOR.map(|method| {
        let of = any(&|status| status.is_failure_of("") && !status.is_failure_of(method));
        format!(" -(method={method} {of})")
    });
    failed + &harmless.concat()
});

/// The first bytes of a batch.
const BRACKET: &str = r"(?-u)\A(\xef\xbb\xbf)?[\t\n\x0c\r ]*\[";

fn not(condition: &str) -> String {
    format!("(({condition}) IS NOT TRUE)")
}

/// Conditions with a word between them. `SQLite` takes expressions of some depth only, so a long
/// list is cut in halves.
fn halves(list: &[String], between: &str) -> String {
    match list {
        [] => "1".to_owned(),
        [one] => one.clone(),
        list => {
            let (first, second) = list.split_at(list.len() / 2);
            let (first, second) = (halves(first, between), halves(second, between));
            format!("({first}{between}{second})")
        }
    }
}

/// The server has waited for its client, or waits now.
const WAITING: &str = "(e.waited > 0 OR (e.status = 'open' AND EXISTS
    (SELECT 1 FROM exchange c WHERE c.parent = e.id AND c.status = 'open')))";

fn reads_bodies(expr: &Expr) -> bool {
    match expr {
        Expr::And(list) | Expr::Or(list) => list.iter().any(reads_bodies),
        Expr::Not(inner) => reads_bodies(inner),
        Expr::Text(_) => true,
        Expr::Is(flag) => matches!(flag, Flag::Batch | Flag::Waiting),
        Expr::Has(subject) | Expr::Compare { subject, .. } => match subject {
            Subject::Header(_) | Subject::Body(..) => true,
            Subject::Field(field) => {
                matches!(field, Field::Text | Field::Level | Field::Logger)
            }
        },
    }
}

/// A text as it is in texts for people, and as it may be escaped in bodies.
fn needle(text: &str, ignore_case: bool) -> [Option<Regex>; 2] {
    [
        pattern::contains(text, ignore_case),
        pattern::in_json(text, ignore_case),
    ]
}

fn in_text(op: Op, value: &Value) -> [Option<Regex>; 2] {
    let text = text_of(value);
    match op {
        Op::Matches => {
            let regex = pattern::regex(text).ok();
            [regex.clone(), regex]
        }
        Op::Contains => needle(text, pattern::ignores_case(text)),
        _ => needle(text, false),
    }
}

/// Whether a place is in the Base64 of an image or a file, which nobody reads.
fn is_in_base64(bytes: &[u8], place: Range<usize>) -> bool {
    const MANY: usize = 256;
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte);
    let (before, rest) = bytes.split_at(place.start);
    let after = rest.iter().take(MANY).take_while(is_letter).count();
    let before = before.iter().rev().take(MANY).take_while(is_letter).count();
    after >= place.len() && before + after >= MANY
}

/// What a text has to match, where `SQLite` cannot test it.
fn text_pattern(op: Op, value: &Value) -> Option<Regex> {
    let text = text_of(value);
    match op {
        Op::Matches => pattern::regex(text).ok(),
        Op::Contains => pattern::contains(text, true),
        _ => Regex::new(&format!(r"\A{}\z", regex::escape(text))).ok(),
    }
}

fn text_of(value: &Value) -> &str {
    match value {
        Value::Text { text, .. } | Value::Json(text) => text,
        Value::Number(_) | Value::Range(_) | Value::Ago(_) => "",
    }
}

fn id(value: &Value) -> Option<RequestId> {
    match value {
        Value::Json(json) => RequestId::from_json(json),
        Value::Text { text, .. } => Some(RequestId::string(text)),
        Value::Number(_) | Value::Range(_) | Value::Ago(_) => None,
    }
}

/// The numbers that fit.
fn within(op: Op, value: &Value, context: Context) -> Option<RangeInclusive<i64>> {
    let end = to_sql(context.end.0);
    let number = match value {
        Value::Range(range) => return Some(range.clone()),
        Value::Number(number) => *number,
        Value::Ago(nanos) => end.saturating_sub_unsigned(*nanos),
        Value::Text { .. } | Value::Json(_) => return None,
    };
    Some(match op {
        Op::Less => i64::MIN..=number.checked_sub(1)?,
        Op::AtMost => i64::MIN..=number,
        Op::More => number.checked_add(1)?..=i64::MAX,
        Op::AtLeast => number..=i64::MAX,
        _ => number..=number,
    })
}
