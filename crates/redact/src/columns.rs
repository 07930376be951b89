//! Values in the column below a name: tables as programs print them, CSV, and rows of SQL.
//!
//! ```text
//!  user,password       | user | password |     USER   PASSWORD      INSERT INTO t (user, password)
//!  ada,this            |------|----------|     ada    this          VALUES ('ada', 'this')
//!                      | ada  | this     |
//! ```

use super::bind::{Name, Value};
use super::extent::{line_end, line_start, near, regex, within};
use super::value::Placement;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Rows of a table that are looked at.
const ROWS: usize = 1000;

/// Bytes of a row.
const ROW: usize = 4096;

/// How the cells of a row are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// By this byte; what is quoted may have it.
    By(u8),
    /// By their place below the heading.
    At(usize),
}

/// The beginning of a statement that names columns.
static INSERT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)insert\s+into\s+[^\s(]{1,128}\s*$"));

/// The values in the column of which `name` is the heading; none where it is no heading.
pub(super) fn values(text: &[u8], name: &Name) -> Vec<Value> {
    let row = row_at(text, name.span.start);
    if row.len() >= ROW {
        return Vec::new();
    }
    if let Some(values) = inserted(text, &row, name) {
        return values;
    }
    let Some(cells) = cells(text, &row, name) else {
        return Vec::new();
    };
    let count = cells.count(&text[row.clone()]);
    let index = cells.count(&text[row.start..name.span.start]);
    let (mut values, mut at) = (Vec::new(), row.end + 1);
    for _ in 0..ROWS {
        let Some(next) = (at < text.len()).then(|| row_at(text, at)) else {
            break;
        };
        at = next.end + 1;
        let content = &text[next.clone()];
        if is_rule(content) && content.contains(&b'-') {
            continue;
        }
        if content.trim_ascii().is_empty() || content.len() >= ROW || cells.count(content) != count
        {
            break;
        }
        let cell = cells.cell(content, index.saturating_sub(1));
        let span = trim(text, next.start + cell.start..next.start + cell.end);
        if !span.is_empty() {
            values.push(Value::new(span, Placement::Loose));
        }
    }
    values
}

/// The row on which `at` is; what is longer than a row can be is cut.
fn row_at(text: &[u8], at: usize) -> Range<usize> {
    line_start(text, at)..line_end(&text[..text.len().min(at + ROW)], at)
}

/// Whether a row is a line that is drawn.
fn is_rule(row: &[u8]) -> bool {
    row.iter().all(|byte| b"|+-=: \t\r".contains(byte))
}

/// How the row is divided in which `name` is a cell; `None` where it is not the first row of a table.
fn cells(text: &[u8], row: &Range<usize>, name: &Name) -> Option<Cells> {
    let content = &text[row.clone()];
    let before = text[row.start..name.span.start].trim_ascii_end();
    let after = text[name.span.end..row.end].trim_ascii_start();
    let gap = row.end - name.span.end - after.len();
    let edge = |byte: Option<&u8>| byte.copied().unwrap_or(b'\n');
    let (left, right) = (edge(before.last()), edge(after.first()));
    let is_between = |sign: u8| {
        [left, right]
            .iter()
            .all(|byte| [sign, b'\n'].contains(byte))
    };
    let is_quoted = left == b'"' && right == b'"';
    let mut signs = [b'|', b',', b'\t', b';'].into_iter();
    let by = signs.find(|sign| (is_between(*sign) || is_quoted) && content.contains(sign));
    let is_column = gap > 1 || after.is_empty();
    let starts_apart = before.is_empty() || text[..name.span.start].ends_with(b"  ");
    let cells = match by {
        Some(sign) => Cells::By(sign),
        None if is_column && starts_apart && is_heading(content) => {
            return Some(Cells::At(name.span.start - row.start));
        }
        None => return None,
    };
    // Below other rows it is no heading.
    let above = row.start.checked_sub(1).map(|end| &text[row_at(text, end)]);
    let is_first =
        above.is_none_or(|above| is_rule(above) || cells.count(above) != cells.count(content));
    is_first.then_some(cells)
}

/// Whether a row has several cells, and each begins like a word: `USER  PASSWORD`.
fn is_heading(row: &[u8]) -> bool {
    let row = String::from_utf8_lossy(row);
    let cells = row.split("  ").map(str::trim);
    let mut cells = cells.filter(|cell| !cell.is_empty());
    cells.clone().nth(1).is_some() && cells.all(|cell| cell.starts_with(char::is_alphanumeric))
}

impl Cells {
    fn count(self, row: &[u8]) -> usize {
        match self {
            Self::By(sign) => split(row, sign).count(),
            Self::At(_) => 0,
        }
    }

    /// Where the cell stands in a row.
    fn cell(self, row: &[u8], index: usize) -> Range<usize> {
        match self {
            Self::By(sign) => split(row, sign).nth(index).unwrap_or(0..0),
            Self::At(start) if row.len() > start && (start == 0 || row[start - 1] == b' ') => {
                let end = memchr::memmem::find(&row[start..], b"  ");
                start..end.map_or(row.len(), |length| start + length)
            }
            Self::At(_) => 0..0,
        }
    }
}

/// Where the cells of a row stand that are told apart by a byte.
fn split(row: &[u8], sign: u8) -> impl Iterator<Item = Range<usize>> {
    let (mut start, mut is_quoted) = (0, false);
    let ends = row.iter().copied().chain([sign]).enumerate();
    ends.filter_map(move |(at, byte)| {
        is_quoted ^= byte == b'"';
        let is_end = byte == sign && !is_quoted || at == row.len();
        is_end.then(|| std::mem::replace(&mut start, at + 1)..at)
    })
}

/// Without white space and quotes around it.
fn trim(text: &[u8], span: Range<usize>) -> Range<usize> {
    within(text, span, |byte| {
        byte.is_ascii_whitespace() || b"\"'`".contains(&byte)
    })
}

/// The values of a column of which a statement of SQL inserts rows; `None` where it is none.
fn inserted(text: &[u8], row: &Range<usize>, name: &Name) -> Option<Vec<Value>> {
    let before = &text[row.start..name.span.start];
    let open = memchr::memrchr(b'(', before)?;
    INSERT.find(&before[..open])?;
    let index = memchr::memchr_iter(b',', &before[open..]).count();
    let close = memchr::memchr(b')', near(text, name.span.end, ROWS * 64))?;
    let mut at = name.span.end + close + 1;
    let mut values = Vec::new();
    // Rows are tuples; strings have their quotes doubled.
    while let Some(open) = memchr::memchr(b'(', &text[at..]).filter(|open| *open < 64) {
        let (mut is_quoted, mut start, mut cell, mut is_over) = (false, at + open + 1, 0, false);
        let mut end = start;
        while let Some(byte) = text.get(end).filter(|_| !is_over) {
            is_quoted ^= *byte == b'\'';
            is_over = !is_quoted && *byte == b')';
            if !is_quoted && matches!(byte, b',' | b')') {
                if cell == index {
                    values.push(Value::new(trim(text, start..end), Placement::Alone));
                }
                (cell, start) = (cell + 1, end + 1);
            }
            end += 1;
        }
        at = end;
        if values.len() >= ROWS || !is_over {
            break;
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::super::names::Class;
    use super::*;

    fn found<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
        let start = text.find(name).unwrap();
        let name = Name {
            span: start..start + name.len(),
            class: Class::Password,
            is_phrase: false,
        };
        let values = values(text.as_bytes(), &name);
        values.into_iter().map(|value| &text[value.span]).collect()
    }

    #[test]
    fn columns_are_bound_by_their_place() {
        assert_eq!(
            found("id,password,x\n1,one1,a\n2,\"two,2\",b\n\n", "password"),
            ["one1", "two,2"]
        );
        let table = "| user | password |\n|------|---------:|\n| ada | one1 |\n| bob | two2 |\nend";
        assert_eq!(found(table, "password"), ["one1", "two2"]);
        let aligned = "NAME   PASSWORD   AGE\nada    one1       3d\nbob    two2       4d\n";
        assert_eq!(found(aligned, "PASSWORD"), ["one1", "two2"]);
        let sql =
            "INSERT INTO users (name, password, x) VALUES ('ada', 'o''ne', 1), ('b,(', 'two', 2);";
        assert_eq!(found(sql, "password"), ["o''ne", "two"]);
    }

    #[test]
    fn other_rows_are_no_headings() {
        assert_eq!(
            found(
                "| a | b | c |\n| password | varchar(255) | NO |\n| x | y | z |\n",
                "password"
            ),
            [""; 0]
        );
        assert_eq!(
            found("the password, and\nsome more, too", "password"),
            [""; 0]
        );
    }
}
