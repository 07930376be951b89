//! Values in the column below a name: tables as programs print them, CSV, and rows of SQL.
//!
//! ```text
//!  user,password       | user | password |     USER   PASSWORD      INSERT INTO t (user, password)
//!  ada,this            |------|----------|     ada    this          VALUES ('ada', 'this')
//!                      | ada  | this     |
//! ```

use super::extent::{is_around, line_end, line_start, near, regex, within};
use super::names::Name;
use super::value::{Bond, Value};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Rows of a table that are looked at.
const ROWS: usize = 1000;

/// Bytes of a row.
const ROW: usize = 4096;

/// Signs between the cells of a row.
const SIGNS: [&str; 7] = ["┆", "│", "┃", "|", "\t", ";", ","];

/// What rows that are drawn consist of.
const DRAWN: &str = "|+-=:│┆┃─━═┼├┤╪╞╡╭╮╰╯┌┐└┘┬┴┈╌ \t\r";

/// How the cells of a row are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    /// By this sign; what is quoted may have it.
    By(&'static str),
    /// By two blanks at least: a cell stands above or below the others of its column.
    Aligned,
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
    // A heading is nothing without a row below it.
    if row.end + 1 >= text.len() {
        return Vec::new();
    }
    let Some((cells, heading)) = heading(text, &row, name) else {
        return Vec::new();
    };
    let headings = cells.of(&text[row.clone()]);
    let place = name.span.start - row.start..name.span.end - row.start;
    let (mut values, mut at) = (Vec::new(), row.end + 1);
    for _ in 0..ROWS {
        let Some(next) = (at < text.len()).then(|| row_at(text, at)) else {
            break;
        };
        at = next.end + 1;
        let content = &text[next.clone()];
        if is_drawn(content) && !content.trim_ascii().is_empty() {
            continue;
        }
        let found = cells.of(content);
        let cell = match cells {
            Cells::By(_) if found.len() == headings.len() => found.get(heading),
            Cells::By(_) => None,
            Cells::Aligned => found
                .iter()
                .find(|cell| cell.start < place.end && cell.end > place.start),
        };
        if content.len() >= ROW || found.len() < 2 || cell.is_none() && cells != Cells::Aligned {
            break;
        }
        let span = cell.map_or(0..0, |cell| next.start + cell.start..next.start + cell.end);
        let span = within(text, span, is_around);
        if !span.is_empty() {
            values.push(Value::new(span, Bond::Cell));
        }
    }
    values
}

/// A cell of a table of HTML.
static TAGGED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)<t[hd][^<>]*>\s*([^<>]*?)\s*</t[hd]>"));

/// The values in the column of a table of HTML of which `name` is the heading.
pub(super) fn tagged(text: &[u8], name: &Name) -> Vec<Value> {
    let before = &text[name.span.start.saturating_sub(ROW)..name.span.start];
    let row = memchr::memmem::rfind(before, b"<tr").map_or(&before[..0], |row| &before[row..]);
    let index = TAGGED.find_iter(row).count();
    let rest = near(text, name.span.end, ROW * 16);
    let rest = &rest[..memchr::memmem::find(rest, b"</table").unwrap_or(rest.len())];
    let rows = memchr::memmem::find_iter(rest, b"<tr").filter(|_| !row.is_empty());
    let cells = rows.filter_map(|start| {
        let row = near(rest, start, ROW);
        let row = &row[..memchr::memmem::find(row, b"</tr").unwrap_or(row.len())];
        let cell = TAGGED.captures_iter(row).nth(index)?.get(1)?;
        let start = name.span.end + start + cell.start();
        Some(Value::new(start..start + cell.len(), Bond::Cell))
    });
    cells.take(ROWS).collect()
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

/// How the row is divided in which `name` is a cell, and which one; `None` where it is not the first
/// row of a table.
fn heading(text: &[u8], row: &Range<usize>, name: &Name) -> Option<(Cells, usize)> {
    let content = &text[row.clone()];
    let is_name = |cell: &Range<usize>| {
        let cell = row.start + cell.start..row.start + cell.end;
        cell.start <= name.span.start
            && within(text, cell.clone(), is_around).end == name.span.end
            && name.span.start - cell.start < 24
    };
    // What follows tells nearly always that it is none, without a look at the whole row.
    let behind = within(text, name.span.end..row.end, |byte| {
        b" \"'`*\r".contains(&byte)
    });
    let behind = &text[behind];
    let signs = SIGNS.iter().filter(|sign| {
        behind.is_empty()
            || behind.starts_with(sign.as_bytes())
            || **sign == "┆" && behind.starts_with("│".as_bytes())
    });
    let by = signs.map(|sign| Cells::By(sign)).chain([Cells::Aligned]);
    for cells in by {
        let found = cells.of(content);
        let is_table = found.len() > 1
            && match cells {
                Cells::Aligned => is_heading(content),
                Cells::By(",") => {
                    let below = &text[row_at(text, (row.end + 1).min(text.len()))];
                    let is_sentence =
                        found.len() < 3 && content.contains(&b' ') && below.contains(&b' ');
                    !found.iter().any(Range::is_empty)
                        && (!is_sentence || content.contains(&b'"'))
                        && !content.iter().any(|byte| b"(){}=<>*&:;".contains(byte))
                }
                Cells::By(";") => !found.iter().any(Range::is_empty),
                Cells::By(_) => true,
            };
        let Some(index) = found.iter().position(is_name).filter(|_| is_table) else {
            continue;
        };
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
        let is_first = last.is_none_or(is_other);
        return is_first.then_some((cells, index));
    }
    None
}

/// Whether a row has several cells, and each begins like a word: `USER  PASSWORD`.
fn is_heading(row: &[u8]) -> bool {
    let row = String::from_utf8_lossy(row);
    let cells = row.split("  ").map(str::trim);
    let mut cells = cells.filter(|cell| !cell.is_empty());
    cells.clone().nth(1).is_some() && cells.all(|cell| cell.starts_with(char::is_alphanumeric))
}

impl Cells {
    /// Where the cells of a row stand.
    fn of(self, row: &[u8]) -> Vec<Range<usize>> {
        match self {
            // Frames of data have another sign at their edges.
            Self::By("┆") => {
                let edge = "│".as_bytes();
                let start = memchr::memmem::find(row, edge).map_or(0, |at| at + edge.len());
                let end = memchr::memmem::rfind(row, edge).map_or(row.len(), |end| end.max(start));
                let cells = split(&row[start..end], "┆".as_bytes()).into_iter();
                cells
                    .map(|cell| cell.start + start..cell.end + start)
                    .collect()
            }
            Self::By(sign) => split(row, sign.as_bytes()),
            Self::Aligned => {
                let ends = memchr::memmem::find_iter(row, b"  ").chain([row.len()]);
                let mut start = 0;
                let cells = ends.filter_map(|end| {
                    let cell = std::mem::replace(&mut start, end)..end;
                    let cell = within(row, cell, |byte| byte.is_ascii_whitespace());
                    (!cell.is_empty()).then_some(cell)
                });
                cells.collect()
            }
        }
    }
}

/// Where the cells of a row stand that are told apart by a sign.
fn split(row: &[u8], sign: &[u8]) -> Vec<Range<usize>> {
    let (mut start, mut quoted, mut cells) = (0, false, Vec::new());
    for at in memchr::memchr2_iter(b'"', sign[0], row) {
        quoted ^= row[at] == b'"';
        if !quoted && at >= start && row[at..].starts_with(sign) {
            cells.push(start..at);
            start = at + sign.len();
        }
    }
    cells.push(start..row.len());
    cells
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
                    values.push(Value::new(within(text, start..end, is_around), Bond::Alone));
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
