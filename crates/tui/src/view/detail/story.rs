//! What happened from a request to its answer.
//!
//! ```text
//!  12:04.318            → request       tools/call search_docs {q:"rust async"}
//!  12:04.330    +12 ms  ← notification  progress 1/100
//!  12:04.402    +72 ms  ← request         elicitation/create confirm?
//!  12:05.160   +758 ms  ← response      tool-error: quota exceeded
//! ```
//!
//! The longest gap stands out: that is where the time went.

use super::Pane;
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use mcpreel_share::phrases::story::{Row, Tone};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, pad_end, pad_start, since};
use ratatui::Frame;

/// From this width on there is room for the time beside the gap, and for whole words.
const WIDE: usize = 84;

pub fn draw(pane: &Pane<'_>, frame: &mut Frame<'_>) {
    let faint = |text: &str| vec![(Role::Faint, text.to_owned())];
    let Some(story) = &pane.shown.story else {
        let text = if pane.shown.item.exchange().is_some() {
            "reading"
        } else {
            "no exchange: it has no story"
        };
        return pane.line(0, faint(text), false, frame);
    };
    let look = pane.app.settings.look;
    let longest = story.longest_gap();
    let (cursor, top) = pane.shown.at_story;
    let rows = story.rows.iter().enumerate().skip(top);
    let mut next = 0;
    for (row, (at, entry)) in (0..pane.area.height).zip(rows) {
        let line = line(entry, longest == Some(at), pane.columns(), look);
        pane.line(row, line, at == cursor, frame);
        next = row + 1;
    }
    if story.left_out > 0 && next < pane.area.height {
        let left_out = mcpreel_wire::text::count(story.left_out);
        let text = format!("{left_out} more of the same are not shown");
        pane.line(next, vec![(Role::Warn, text)], false, frame);
    }
}

fn line(row: &Row, is_longest: bool, columns: usize, look: Look) -> Spans {
    let mut line = Spans::new();
    let is_wide = columns >= WIDE;
    if is_wide {
        line.push((Role::Faint, pad_start(&since(row.t.0), 10)));
    }
    let gap = match row.gap_ns {
        0 => String::new(),
        gap => format!("+{}", duration(gap)),
    };
    let gap_role = if is_longest { Role::Warn } else { Role::Faint };
    line.push((gap_role, pad_start(&gap, 10)));
    let role = role(row);
    line.push((role, format!("  {} ", arrow(row, look))));
    let word = match row.word {
        "notification" if !is_wide => "notif.",
        word => word,
    };
    line.push((role, pad_end(word, if is_wide { 13 } else { 9 })));
    // What the other side asked meanwhile stands further in: it lies within the call.
    let nested = matches!(row.tone, Tone::Child | Tone::Round);
    let indent = if nested { "  " } else { "" };
    let text_role = match row.tone {
        Tone::Own => Role::Text,
        Tone::Notification | Tone::Line => Role::Faint,
        _ => role,
    };
    line.push((text_role, format!("{indent}{}", row.text)));
    line
}

fn arrow(row: &Row, look: Look) -> &'static str {
    match (row.tone, row.direction) {
        (Tone::Finding, _) => look.glyph(Glyph::Warning),
        (Tone::Event, _) => look.glyph(Glyph::Diamond),
        (_, Some(Direction::ClientToServer)) => look.glyph(Glyph::ToServer),
        (_, Some(Direction::ServerToClient)) => look.glyph(Glyph::ToClient),
        (_, None) => look.glyph(Glyph::Note),
    }
}

fn role(row: &Row) -> Role {
    match row.tone {
        Tone::Own => Role::Strong,
        Tone::Notification => Role::Notification,
        Tone::Child => Role::FromServer,
        Tone::Round => Role::Text,
        Tone::Line => Role::Stderr,
        Tone::Event => Role::Event,
        Tone::Finding => Role::Warn,
    }
}
