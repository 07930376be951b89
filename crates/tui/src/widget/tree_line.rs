//! A row of a tree as a line.
//!
//! ```text
//! ▾ params (2)
//!     name       "search_docs"
//!   ▸ content (1) [{type:"text", text:"quota exceeded"}]
//! ```

use super::pieces::Piece;
use super::spans::{self, Spans};
use super::tree::{Row, Sign};
use crate::theme::{Glyph, Look, Role};
use mcpreel_wire::json::Kind;
use mcpreel_wire::text::size;

/// Columns that names take at least.
const NAME: usize = 6;

/// Values longer than this say how long, where they are cut.
const LONG: usize = 200;

pub fn line(row: Row, columns: usize, look: Look) -> Spans {
    let mut line = Spans::new();
    line.push((Role::Faint, indent(row.depth, columns)));
    line.push((Role::Faint, format!("{} ", sign(row.sign, look))));
    let names = row
        .key
        .iter()
        .map(|piece| mcpreel_wire::text::width(&piece.text));
    let pad = row.names.max(NAME).saturating_sub(names.sum());
    let is_element = row.key.first().is_some_and(is_position);
    let key = if is_element {
        Role::Faint
    } else {
        Role::JsonKey
    };
    spans::push(&mut line, row.key, key);
    match row.sign {
        Sign::Leaf if is_element => line.push((Role::Text, " ".to_owned())),
        Sign::Leaf => line.push((Role::Text, " ".repeat(pad + 1))),
        Sign::Folded | Sign::Unfolded => {
            line.push((Role::Faint, format!(" ({}) ", row.count)));
        }
    }
    let more = row.more.filter(|&more| more > LONG);
    let more = more.map_or_else(Spans::new, |more| {
        vec![(Role::Faint, format!(" {}", size(more as u64)))]
    });
    let room = columns.saturating_sub(spans::width(&more));
    spans::push(&mut line, row.value, role(row.sign, row.kind));
    let mut line = spans::cut(line, room);
    line.extend(more);
    spans::cut(line, columns)
}

/// Names are in quotes or plain; only a position stands in brackets.
fn is_position(piece: &Piece) -> bool {
    piece.text.starts_with('[')
}

fn sign(sign: Sign, look: Look) -> &'static str {
    match sign {
        Sign::Leaf => " ",
        Sign::Folded => look.glyph(Glyph::Folded),
        Sign::Unfolded => look.glyph(Glyph::Unfolded),
    }
}

fn role(sign: Sign, kind: Kind) -> Role {
    match (sign, kind) {
        (Sign::Folded, _) | (_, Kind::Array | Kind::Object) => Role::Faint,
        (_, Kind::String) => Role::JsonString,
        (_, Kind::Number) => Role::JsonNumber,
        (_, Kind::Bool | Kind::Null) => Role::JsonWord,
    }
}

/// Two columns for each level, but never more than a third of the line: from there on the level
/// is written as a number.
fn indent(depth: u16, columns: usize) -> String {
    let wanted = usize::from(depth) * 2;
    let most = (columns / 3).max(4);
    if wanted <= most {
        return " ".repeat(wanted);
    }
    format!("{:>most$} ", format!("{depth}:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widget::tree::{Limit, Tree};

    fn show(json: &str, columns: usize) -> String {
        let tree = Tree::read(json.as_bytes().into(), Limit::PAGE).unwrap();
        let rows = (0..tree.rows()).map(|row| tree.row(row, columns, &[]).unwrap());
        let lines = rows.map(|row| line(row, columns, Look::default()));
        let lines: Vec<String> = lines
            .map(|line| {
                assert!(spans::width(&line) <= columns);
                line.into_iter().map(|(_, text)| text).collect()
            })
            .collect();
        lines.join("\n")
    }

    #[test]
    fn names_and_values_stand_above_each_other() {
        insta::assert_snapshot!(
            show(r#"{"name":"search_docs","arguments":{"q":"rust","tags":[1,true]}}"#, 40),
            @r#"
          name   "search_docs"
        ▾ arguments (2) 
            q      "rust"
          ▾ tags (2) 
              [0] 1
              [1] true
        "#);
    }

    #[test]
    fn a_long_value_says_how_long_it_is() {
        let json = format!(r#"{{"data":"{}"}}"#, "x".repeat(2000));
        assert_eq!(show(&json, 40), "  data   \"xxxxxxxxxxxxxxxxxxxxxx… 2.0 kB");
    }

    #[test]
    fn deep_nesting_leaves_room_for_the_value() {
        let json = format!("{}7{}", "[".repeat(500), "]".repeat(500));
        let shown = show(&json, 30);
        assert_eq!(shown.lines().last(), Some("      499:   [0] 7"));
    }
}
