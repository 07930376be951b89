//! A row of a tree as a line.
//!
//! ```text
//! ▾ params (2)
//!     name       "search_docs"
//!   ▸ content (1) [{"type":"text","text":"quota exceeded"}]
//! ```

use super::spans::{self, Hits, Spans};
use super::tree::{NodeId, Tree, resolved};
use crate::theme::{Glyph, Look, Role};
use mcpreel_wire::json::{Kind, Unit, Units};
use mcpreel_wire::text::{escape, escape_bytes, size, width};
use std::ops::Range;

/// Columns that names take at least; wider names than the second move their own value only.
const NAME: usize = 6;
const WIDE_NAME: usize = 20;

/// Names that are looked at for their width.
const NAMES: usize = 64;

/// Values longer than this say how long, where they are cut.
const LONG: usize = 200;

/// Columns that the length of a value that is cut may take.
const SIZE: usize = 10;

/// The column in which the value of `node` begins.
pub fn value_at(tree: &Tree, node: NodeId, columns: usize) -> usize {
    spans::width(&before(tree, node, columns, &[], Look::default()))
}

/// The sign and the name of `id`.
fn before(tree: &Tree, id: NodeId, columns: usize, hits: Hits<'_>, look: Look) -> Spans {
    let node = tree.node(id);
    let (can_fold, is_folded) = (tree.can_fold(id), tree.is_folded(id));
    let sign = match (can_fold, is_folded) {
        (false, _) => " ",
        (true, true) => look.glyph(Glyph::Folded),
        (true, false) => look.glyph(Glyph::Unfolded),
    };
    let indent = indent(tree.depth(id), columns);
    let mut line = vec![(Role::Faint, format!("{indent}{sign} "))];
    let before = spans::width(&line);
    match &node.key {
        Some(key) => {
            let key = unquoted(tree, id, key.clone());
            line.extend(excerpt(tree, id, key, columns, hits, Role::JsonKey));
        }
        None if id == NodeId::ROOT => {}
        None => line.push((Role::Faint, format!("[{}]", node.position))),
    }
    line.push(match &node.key {
        _ if can_fold => {
            let within = if node.kind == Kind::String {
                " JSON"
            } else {
                ""
            };
            (Role::Faint, format!("{within} ({}) ", node.children))
        }
        Some(_) => {
            let used = spans::width(&line) - before;
            let gap = names(tree, id).max(NAME).saturating_sub(used) + 1;
            (Role::Text, " ".repeat(gap))
        }
        None => (Role::Text, " ".to_owned()),
    });
    line
}

/// The row `row`, with what is folded in it as on the wire; nothing behind the last row. A string
/// that goes on in the next line ends at the byte `end`.
pub fn line(
    tree: &Tree,
    row: usize,
    end: Option<usize>,
    columns: usize,
    hits: Hits<'_>,
    look: Look,
) -> Spans {
    let Some(id) = tree.node_at(row) else {
        return Spans::new();
    };
    let node = tree.node(id);
    let mut line = before(tree, id, columns, hits, look);
    let can_fold = tree.can_fold(id);
    if can_fold && !tree.is_folded(id) {
        return spans::cut(line, columns);
    }
    let role = match node.kind {
        Kind::Array | Kind::Object => Role::Faint,
        Kind::String => Role::JsonString,
        Kind::Number => Role::JsonNumber,
        Kind::Bool | Kind::Null => Role::JsonWord,
    };
    let span = node.value.start..end.unwrap_or(node.value.end);
    let room = columns.saturating_sub(spans::width(&line));
    let value = excerpt(tree, id, span.clone(), room, hits, role);
    let is_cut = spans::width(&value) > room || begin(tree, id, &span, room, hits) > span.start;
    let is_long = span.len() > LONG && !can_fold && is_cut;
    let more = Some(format!(" {}", size(span.len() as u64))).filter(|_| is_long);
    line.extend(value);
    let room = columns.saturating_sub(more.as_deref().map_or(0, width));
    let mut line = spans::cut(line, room);
    line.extend(more.map(|more| (Role::Faint, more)));
    spans::cut(line, columns)
}

/// As much of `range` as `columns` columns can need: its beginning, or what is around its first hit.
pub fn excerpt(
    tree: &Tree,
    id: NodeId,
    range: Range<usize>,
    columns: usize,
    hits: Hits<'_>,
    role: Role,
) -> Spans {
    let start = begin(tree, id, &range, columns, hits);
    let end = spans::enough(tree.text(), start, columns).min(range.end);
    let mut excerpt = piece(tree, id, start..end, hits, role);
    if start > range.start {
        excerpt.insert(0, (Role::Faint, "…".to_owned()));
    }
    excerpt
}

/// Where the excerpt of `range` begins: some words before the first hit, if that would be cut off.
fn begin(tree: &Tree, id: NodeId, range: &Range<usize>, columns: usize, hits: Hits<'_>) -> usize {
    let first = hits.partition_point(|hit| hit.end <= range.start);
    let Some(hit) = hits.get(first).filter(|hit| hit.start < range.end) else {
        return range.start;
    };
    let enough = spans::enough(tree.text(), range.start, columns).min(range.end);
    let fits = |end: usize, columns: usize| {
        let text = piece(tree, id, range.start..end.min(enough), &[], Role::Text);
        end <= enough && spans::width(&text) <= columns
    };
    if fits(range.end, columns) || fits(hit.end, columns.saturating_sub(SIZE)) {
        return range.start;
    }
    let from = spans::floor_char(tree.text(), hit.start.saturating_sub(columns / 3));
    let from = from.max(range.start);
    let word = memchr::memchr(b' ', &tree.text()[from..hit.start]);
    word.map_or(from, |at| from + at + 1)
}

/// A piece of the value or the name of `id`.
pub fn piece(tree: &Tree, id: NodeId, range: Range<usize>, hits: Hits<'_>, role: Role) -> Spans {
    let is_within = tree.node(id).is_within;
    let text = |bytes: &[u8]| {
        let text = is_within.then(|| escape(&resolved(bytes)).into_owned());
        text.unwrap_or_else(|| escape_bytes(bytes).into_owned())
    };
    spans::divide_as(tree.text(), range, hits, role, text)
}

/// The bytes of a string in lines of so many columns, none of which ends within a word, where that can be,
/// nor within an escape.
pub fn lines(tree: &Tree, id: NodeId, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let node = tree.node(id);
    let (mut start, end) = (node.value.start, node.value.end);
    std::iter::from_fn(move || {
        let (mut at, mut used, mut word) = (start, 0, None);
        while at < end {
            let next = at + letter(&tree.text()[at..end], node.is_within);
            used += match &tree.text()[at..next] {
                [b' '..=b'~'] => 1,
                _ => spans::width(&piece(tree, id, at..next, &[], Role::Text)),
            };
            if used > columns && at > start {
                break;
            }
            let is_blank = &tree.text()[at..next] == b" " && at > start;
            word = if is_blank { Some(next) } else { word };
            at = next;
        }
        let line = start..word.filter(|_| at < end).unwrap_or(at);
        start = line.end;
        (!line.is_empty()).then_some(line)
    })
}

/// Bytes of the first letter of a string, or of its escape; within a string that is escaped itself.
fn letter(bytes: &[u8], is_within: bool) -> usize {
    let mut units = Units::new(bytes);
    let begins = units.next() == Some(Unit::Char('\\'));
    if is_within && begins && units.next() == Some(Unit::Char('u')) {
        units.by_ref().take(4).for_each(drop);
    }
    bytes.len() - units.left()
}

/// The widest of the names beside `node` that hold no more than a value: values stand above each
/// other there.
fn names(tree: &Tree, node: NodeId) -> usize {
    let leaves = tree.siblings(node).take(NAMES);
    let leaves = leaves.filter(|&node| !tree.can_fold(node));
    let widths = leaves.filter_map(|id| Some(unquoted(tree, id, tree.node(id).key.clone()?).len()));
    let widths = widths.filter(|&width| width <= WIDE_NAME);
    widths.max().unwrap_or(0)
}

/// A name without its quotes where nothing in it needs them.
fn unquoted(tree: &Tree, id: NodeId, key: Range<usize>) -> Range<usize> {
    // Within a string the quotes are escaped, one way or the other.
    let whole = tree.text().get(key.clone()).unwrap_or_default();
    let quote = |is_short: bool| match (tree.node(id).is_within, is_short) {
        (false, _) => 1,
        (true, true) => 2,
        (true, false) => "\\u0022".len(),
    };
    let start = key.start + quote(whole.starts_with(b"\\\""));
    let inner = start
        ..key
            .end
            .saturating_sub(quote(whole.ends_with(b"\\\"")))
            .max(start);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-$./".contains(byte);
    let bytes = tree.text().get(inner.clone()).unwrap_or_default();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        inner
    } else {
        key
    }
}

/// Two columns for each level, but never more than a third of the line: from there on the level
/// is written as a number.
fn indent(depth: usize, columns: usize) -> String {
    let (wanted, most) = (depth * 2, (columns / 3).max(4));
    if wanted <= most {
        return " ".repeat(wanted);
    }
    format!("{:>most$} ", format!("{depth}:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widget::tree::PAGE;

    fn show(json: &[u8], columns: usize, levels: u16, hits: Hits<'_>) -> String {
        let mut tree = Tree::read(json.into(), PAGE).unwrap();
        tree.fold_to(levels);
        let line = |row| {
            let line = line(&tree, row, None, columns, hits, Look::default());
            assert!(spans::width(&line) <= columns);
            let text = line.into_iter().map(|(role, text)| match role {
                Role::Hit => format!("«{text}»"),
                _ => text,
            });
            text.collect::<String>()
        };
        (0..tree.rows()).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn rows_are_those_of_the_wire_and_values_stand_above_each_other() {
        let json =
            r#"{"b":1.0,"name":"x\u001b","a":{"q":"rust","tags":[1,true]},"odd \"key":{},"":[]}"#;
        insta::assert_snapshot!(show(json.as_bytes(), 40, 9, &[]), @r#"
          b           1.0
          name        "x\u001b"
        ▾ a (2) 
            q      "rust"
          ▾ tags (2) 
              [0] 1
              [1] true
          "odd \"key" {}
          ""          []
        "#);
    }

    #[test]
    fn what_is_folded_is_shown_as_on_the_wire_with_hits_and_escapes() {
        let json = "{\"needle\":\"a needle\",\"o\u{202e}\":[{\"c\":\"needles\"}],\"long\":[\"0123456789012345678901234567890123456789\"]}";
        let hits: Vec<_> = json
            .match_indices("needle")
            .map(|(at, hit)| at..at + hit.len())
            .collect();
        insta::assert_snapshot!(show(json.as_bytes(), 40, 1, &hits), @r#"
          «needle» "a «needle»"
        ▸ "o\u{202e}" (1) [{"c":"«needle»s"}]
        ▸ long (1) ["01234567890123456789012345…
        "#);
        let hostile = b"{\"k\x7f\":\"\xff\xc2\x9b\",\"o\":{\"\xe2\x80\xae\":[\"\x7f\"]}}";
        insta::assert_snapshot!(show(hostile, 40, 1, &[]), @r#"
          "k\x7f" "\xff\u{9b}"
        ▸ o (1) {"\u{202e}":["\x7f"]}
        "#);
    }

    #[test]
    fn json_in_a_string_is_a_tree_without_the_escapes_of_the_string() {
        let json = r#"{"text":"{\"q\":\"a \\\"b\\\" \\u001b\u00e9\",\"n\":[1,\"needle\"]}","no":"{\"a\":1} x"}"#;
        let hits: Vec<_> = json
            .match_indices("needle")
            .map(|(at, hit)| at..at + hit.len())
            .collect();
        insta::assert_snapshot!(show(json.as_bytes(), 40, 9, &hits), @r#"
        ▾ text JSON (2) 
            q      "a \"b\" \u001bé"
          ▾ n (2) 
              [0] 1
              [1] "«needle»"
          no     "{\"a\":1} x"
        "#);
        insta::assert_snapshot!(show(json.as_bytes(), 40, 1, &[]), @r#"
        ▸ text JSON (2) "{\"q\":\"a \\\"b\\\" \…
          no     "{\"a\":1} x"
        "#);
        let other = json.replace("\\\"", "\\u0022");
        let [one, other] = [json, &other].map(|json| show(json.as_bytes(), 40, 9, &[]));
        assert_eq!(one.lines().next(), other.lines().next());
        assert_eq!(one.lines().nth(2), other.lines().nth(2), "{other}");
    }

    #[test]
    fn a_line_ends_after_a_word_and_never_within_an_escape() {
        let lines_of = |json: &str, row: usize, columns: usize| {
            let tree = Tree::read(json.as_bytes().into(), PAGE).unwrap();
            let id = tree.node_at(row).unwrap();
            let line = |line: Range<usize>| piece(&tree, id, line, &[], Role::Text);
            let lines = lines(&tree, id, columns).map(line).inspect(|line| {
                assert!(spans::width(line) <= columns, "{line:?}");
            });
            let text = lines.map(|line| line.into_iter().map(|(_, text)| text).collect());
            text.collect::<Vec<String>>()
        };
        let own = r#"{"a":"one two\n\u00e9 three"}"#;
        assert_eq!(
            lines_of(own, 0, 8),
            ["\"one ", "two\\n", "\\u00e9 ", "three\""]
        );
        let within = r#"{"a":"{\u0022b\u0022:\u0022one two\\n\\\u0022 \\u00e9\u0022}"}"#;
        assert_eq!(
            lines_of(within, 1, 8),
            ["\"one ", "two\\n\\\" ", "\\u00e9\""]
        );
    }

    #[test]
    fn a_long_value_says_how_long_it_is_and_deep_nesting_leaves_room() {
        let json = format!(r#"{{"data":"{}"}}"#, "x".repeat(2000));
        let shown = show(json.as_bytes(), 40, 9, &[]);
        assert_eq!(shown, "  data   \"xxxxxxxxxxxxxxxxxxxxxx… 2.0 kB");
        let json = format!("{}7{}", "[".repeat(500), "]".repeat(500));
        let shown = show(json.as_bytes(), 30, 999, &[]);
        assert_eq!(shown.lines().last(), Some("      499:   [0] 7"));
    }
}
