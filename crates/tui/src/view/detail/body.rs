//! The lines of the messages.
//!
//! ```text
//! ▾ request  id 7                                        412 B   +12:04.318
//!   ▾ params (2)                          a tree, or
//!     ▾ arguments (1)
//!         q      "rust"  string, required: what to look for
//!         limit  "ten"  ✗ is a string, not a number
//!       ▸ _meta (3) {…}  ⚠ 2
//! {"jsonrpc":"2.0","id":7,"method":…      bytes as text, or
//! 0000:0000  7b 22 6a 73 6f 6e 72 70  63 22 3a 22 32 2e 30 22  {"jsonrpc":"2.0"
//! ⚠ the first 1.0 MB of 20 MB · L loads more
//! ```

use super::{Pane, head};
use crate::app::detail::body::{Line, Spot};
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::spans::{self, Spans};
use crate::widget::{hex, tree_line};
use crate::worker::detail::Wrong;
use mcpreel_wire::text::{count, cut, width};
use ratatui::Frame;

/// Columns by which what belongs to a heading stands further in.
pub const INDENT: usize = 2;

pub(super) fn draw(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let columns = pane.columns();
    let Some(body) = pane.session.detail.body(columns) else {
        return;
    };
    let look = pane.app.settings.look;
    let cursor = body.snap(pane.shown.at.cursor);
    let mut at = Some(body.snap(pane.shown.at.top));
    for row in 0..pane.area.height {
        let Some(position) = at else { break };
        let Some(line) = body.line(position) else {
            break;
        };
        let line = match line {
            Line::Head(part) => head::line(pane, part),
            Line::Row(row, wrong, told) => {
                let columns = columns.saturating_sub(INDENT);
                let signs = wrong.map_or_else(Spans::new, |wrong| sign(wrong, look));
                let room = columns.saturating_sub(spans::width(&signs));
                let mut line = tree_line::line(row, room, look);
                line.extend(signs);
                let line = with(line, wrong.and_then(|wrong| wrong.told), columns, " ");
                with(line, told, columns, "  ")
            }
            Line::Text(line) => {
                let mut spans = Spans::new();
                spans::push(&mut spans, line.pieces, Role::Text);
                spans
            }
            Line::Hex(line) => hex_line(&line, columns),
            Line::Note(note) => note_line(note, look),
        };
        let indented = matches!(position.spot, Spot::Note(_) | Spot::Node(_));
        let line = if indented { indent(line) } else { line };
        pane.line(row, line, position == cursor, frame);
        at = body.next(position);
    }
}

/// A value with what is known of it, where there is room for some of it.
fn with(mut line: Spans, told: Option<&str>, columns: usize, gap: &str) -> Spans {
    /// Columns in which something can be said.
    const SOME: usize = 6;
    let room = columns.saturating_sub(spans::width(&line) + gap.len());
    if let Some(told) = told.filter(|told| room >= SOME.min(width(told))) {
        line.push((Role::Faint, format!("{gap}{}", cut(told, room))));
    }
    line
}

/// The sign of what is wrong in a row, and how much where it is more than one thing.
pub(super) fn sign(wrong: Wrong<'_>, look: Look) -> Spans {
    let (glyph, role) = theme::severity(wrong.worst.as_str());
    let sign = look.glyph(glyph);
    let text = if wrong.count > 1 || wrong.told.is_none() {
        format!("  {sign} {}", count(wrong.count as u64))
    } else {
        format!("  {sign}")
    };
    vec![(role, text)]
}

fn indent(mut line: Spans) -> Spans {
    line.insert(0, (Role::Text, " ".repeat(INDENT)));
    line
}

fn note_line(note: &str, look: Look) -> Spans {
    let sign = look.glyph(Glyph::Warning);
    vec![(Role::Warn, format!("{sign} {note}"))]
}

fn hex_line(line: &hex::Line, columns: usize) -> Spans {
    let per_line = hex::per_line(columns);
    let mut spans = vec![(Role::Faint, format!("{}  ", line.offset))];
    for at in 0..per_line {
        let gap = if at + 1 == per_line || at % 8 == 7 {
            "  "
        } else {
            " "
        };
        match line.cells.get(at) {
            Some(cell) => spans.push((role(cell.hit, Role::Text), cell.hex())),
            None => spans.push((Role::Text, "  ".to_owned())),
        }
        spans.push((Role::Text, gap.to_owned()));
    }
    for cell in &line.cells {
        let text = cell.character().to_string();
        spans.push((role(cell.hit, Role::Faint), text));
    }
    spans
}

fn role(hit: bool, otherwise: Role) -> Role {
    if hit { Role::Hit } else { otherwise }
}
