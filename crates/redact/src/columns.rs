//! Values in the column below a name: tables as programs print them, CSV, and rows of SQL.
//!
//! ```text
//!  user,password       | user | password |     USER   PASSWORD      INSERT INTO t (user, password)
//!  ada,this            |------|----------|     ada    this          VALUES ('ada', 'this')
//!                      | ada  | this     |
//! ```

use super::extent::{is_around, leading, line_end, line_start, near, regex, valid, within};
use super::names::Name;
use super::value::{Bond, Value};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Rows of a table that are looked at.
const ROWS: usize = 1000;

/// Bytes of a row.
const ROW: usize = 4096;

/// Signs between the cells of a row; a table has one of these sets.
const SIGNS: [&str; 4] = ["|│┆┃", "\t", ";", ","];

/// What rows that are drawn consist of.
const DRAWN: &str = "|+-=:│┆┃─━═┼├┤╪╞╡╭╮╰╯┌┐└┘┬┴┈╌ \t\r";

/// How the cells of a row are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// By one of these signs; what is quoted may have it.
    By(&'static str),
    /// By two blanks at least: a cell stands above or below the others of its column.
    Aligned,
}

/// The beginning of a statement that names columns.
static INSERT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)insert\s+into\s+[^\s(]{1,128}\s*$"));

/// A value of the rows that it inserts; strings have their quotes doubled.
static INSERTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?-u)[(,]\s*('(?:[^']|'')*'|[^'(),\s][^'(),]*)"));

/// The values in the column of which `name` is the heading; none where it is no heading.
pub(super) fn values(text: &[u8], name: &Name) -> Vec<Value> {
    let row = row_at(text, name.span.start);
    if row.len() >= ROW {
        return Vec::new();
    }
    if let Some(values) = inserted(text, &row, name) {
        return values;
    }
    let Some((cells, headings, heading)) = heading(text, &row, name) else {
        return Vec::new();
    };
    let (mut values, mut at) = (Vec::new(), row.end + 1);
    while at < text.len() && values.len() < ROWS {
        let next = row_at(text, at);
        at = next.end + 1;
        let content = &text[next.clone()];
        if is_drawn(content) && !content.trim_ascii().is_empty() {
            continue;
        }
        let mut found = cells.of(content);
        if content.len() >= ROW || found.len() < 2 {
            break;
        }
        let cell = match cells {
            Cells::By(_) if found.len() == headings => found.swap_remove(heading),
            Cells::By(_) => break,
            Cells::Aligned => {
                let is_below = |cell: &Range<usize>| row.start + cell.end > name.span.start;
                found.into_iter().find(is_below).unwrap_or_default()
            }
        };
        let span = within(
            text,
            next.start + cell.start..next.start + cell.end,
            is_around,
        );
        values.push(Value::new(span, Bond::Cell));
    }
    values
}

/// The row on which `at` is; what is longer than a row can be is cut.
fn row_at(text: &[u8], at: usize) -> Range<usize> {
    line_start(text, at)..line_end(&text[..text.len().min(at + ROW)], at)
}

/// Whether a row is a line that is drawn.
fn is_drawn(row: &[u8]) -> bool {
    let row = String::from_utf8_lossy(row);
    row.chars().all(|char| DRAWN.contains(char))
}

/// How the row is divided in which `name` is a cell, into how many, and which one it is; `None` where it
/// is not the first row of a table.
fn heading(text: &[u8], row: &Range<usize>, name: &Name) -> Option<(Cells, usize, usize)> {
    let content = &text[row.clone()];
    let behind = &text[name.span.end..row.end];
    let behind = valid(&behind[leading(behind, |byte| b" \"'`*\r".contains(&byte))..]);
    let before = valid(&text[row.start..name.span.start]);
    let is_by = |signs: &&&str| match behind.chars().next() {
        Some(sign) => signs.contains(sign),
        None => before.contains(|sign| signs.contains(sign)),
    };
    let cells = SIGNS
        .iter()
        .find(is_by)
        .map_or(Cells::Aligned, |signs| Cells::By(signs));
    let found = cells.of(content);
    let is_table = match cells {
        Cells::By("," | ";") if found.iter().any(Range::is_empty) => false,
        Cells::By(",") => {
            let below = &text[row_at(text, (row.end + 1).min(text.len()))];
            let is_sentence = found.len() < 3 && content.contains(&b' ') && below.contains(&b' ');
            !is_sentence && !content.iter().any(|byte| b"(){}=<>*&:;".contains(byte))
        }
        _ => true,
    };
    let is_name = |cell: &Range<usize>| {
        let cell = row.start + cell.start..row.start + cell.end;
        cell.contains(&name.span.start) && within(text, cell, is_around).end == name.span.end
    };
    let index = found.iter().position(is_name)?;
    // Below other rows it is no heading.
    let above = |row: &Range<usize>| row.start.checked_sub(1).map(|end| row_at(text, end));
    let mut last = above(row);
    while let Some(line) = last.take_if(|last| is_drawn(&text[last.clone()])) {
        last = above(&line);
    }
    // Above may be the letters of a sheet.
    let is_other = |last: Range<usize>| {
        let above = cells.of(&text[last]);
        above.len() != found.len() || above.iter().all(|cell| cell.len() < 3)
    };
    let is_first = is_table && found.len() > 1 && last.is_none_or(is_other);
    is_first.then_some((cells, found.len(), index))
}

impl Cells {
    /// Where the cells of a row stand.
    fn of(self, row: &[u8]) -> Vec<Range<usize>> {
        let (mut start, mut is_quoted, mut cells) = (0, false, Vec::new());
        match self {
            Self::By(signs) => {
                for (at, sign) in valid(row).char_indices() {
                    is_quoted ^= sign == '"';
                    if !is_quoted && signs.contains(sign) {
                        cells.push(start..at);
                        start = at + sign.len_utf8();
                    }
                }
                cells.push(start..row.len());
            }
            Self::Aligned => {
                for end in memchr::memmem::find_iter(row, b"  ").chain([row.len()]) {
                    let cell = within(row, start..end, |byte| byte.is_ascii_whitespace());
                    cells.extend((!cell.is_empty()).then_some(cell));
                    start = end;
                }
            }
        }
        cells
    }
}

/// The values of a column of which a statement of SQL inserts rows; `None` where it is none.
fn inserted(text: &[u8], row: &Range<usize>, name: &Name) -> Option<Vec<Value>> {
    let before = &text[row.start..name.span.start];
    let open = memchr::memrchr(b'(', before)?;
    INSERT.find(&before[..open])?;
    let rest = near(text, name.span.end, ROWS * 64);
    let close = memchr::memchr(b')', rest)?;
    let end = memchr::memmem::find(rest, b");")
        .unwrap_or(rest.len())
        .max(close);
    let count = |list: &[u8]| memchr::memchr_iter(b',', list).count();
    let index = count(&before[open..]);
    let columns = index + count(&rest[..close]) + 1;
    let cells = INSERTED
        .captures_iter(&rest[close..end])
        .filter_map(|cell| cell.get(1));
    let cells = cells.skip(index).step_by(columns).map(|cell| {
        let start = name.span.end + close + cell.start();
        Value::new(
            within(text, start..start + cell.len(), is_around),
            Bond::Alone,
        )
    });
    Some(cells.collect())
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
