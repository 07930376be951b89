//! The filter and what it leaves.
//!
//! ```text
//!  filter ✓ method:tools/call latency>200ms                                   37 of 1 204 shown
//!  filter ✓ method:tools/call▏                       scanning 61 % · 12 hits · Ctrl-C stops
//!  filter ✗ metod:tools/call▏                               still is:failed, 13 of 38 shown
//! ```
//!
//! What is good, unfinished or bad differs in its sign; the message stands beside it, and
//! in the [`popup`] under its place while the filter is typed.

pub mod popup;

use crate::app::filter::{Filter, is_edited};
use crate::app::prompt::Prompt;
use crate::app::{App, Session};
use crate::theme::{Glyph, Look, Role};
use mcpreel_trace::query::ErrorKind;
use mcpreel_wire::text::{count, cut, escape, pad_end, plural, width};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if area.is_empty() {
        return;
    }
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let counts = cut(&counts(session, look, columns / 2), columns / 2);
    let edited = is_edited(app);
    let label = label(&session.filter, look, columns);
    let used: usize = label.iter().map(|span| width(&span.content)).sum();
    let room = columns.saturating_sub(used + width(&counts) + 3);
    let mut spans = label;
    if edited {
        let (text, caret) = window(app, room);
        let x = area.x + u16::try_from(used + caret).unwrap_or(0);
        frame.set_cursor_position(Position::new(x.min(area.right() - 1), area.y));
        spans.push(Span::styled(pad_end(&text, room), look.style(Role::Text)));
    } else {
        spans.extend(said(&session.filter, look, room));
    }
    spans.push(Span::styled(
        format!("  {counts} "),
        look.style(Role::Faint),
    ));
    frame.render_widget(Line::from(spans), area);
}

fn label(filter: &Filter, look: &Look, columns: usize) -> Vec<Span<'static>> {
    let (glyph, role) = match &filter.error {
        _ if filter.off => (Glyph::Prompt, Role::Faint),
        Some(error) if error.kind == ErrorKind::Incomplete => (Glyph::Running, Role::Open),
        Some(_) => (Glyph::Failed, Role::Bad),
        None if filter.query.expr.is_none() => (Glyph::Prompt, Role::Prompt),
        None => (Glyph::Ok, Role::Good),
    };
    let word = match (columns, filter.off) {
        (..50, _) => " ",
        (_, true) => " filter off ",
        (_, false) => " filter ",
    };
    vec![
        Span::styled(word, look.style(Role::Prompt)),
        Span::styled(format!("{} ", look.glyph(glyph)), look.style(role)),
    ]
}

/// The filter as it is while nobody types, with what is wrong with it.
fn said(filter: &Filter, look: &Look, room: usize) -> Vec<Span<'static>> {
    let text = cut(&escape(&filter.text), room);
    let left = room.saturating_sub(width(&text));
    let role = if filter.off { Role::Faint } else { Role::Text };
    let wrong = filter.error.as_ref().map_or_else(String::new, |error| {
        cut(&format!("  {}", escape(&error.message)), left)
    });
    let left = left.saturating_sub(width(&wrong));
    vec![
        Span::styled(text, look.style(role)),
        Span::styled(wrong, look.style(Role::Bad)),
        Span::raw(" ".repeat(left)),
    ]
}

/// What the rows are, in `room` columns if that can be: while what stands there is no filter they
/// are those of the one before, `still is:failed, 13 of 38 shown`.
fn counts(session: &Session, look: &Look, room: usize) -> String {
    let counts = found(session, look);
    let filter = &session.filter;
    if filter.error.is_none() || filter.off {
        return counts;
    }
    still(&filter.query.to_string(), &counts, room)
}

/// The counts with the filter that they are of; without it where there is too little room.
fn still(filter: &str, counts: &str, room: usize) -> String {
    /// Columns in which something of a filter can be seen.
    const SOME: usize = 6;
    let filter = escape(if filter.is_empty() { "all" } else { filter });
    let left = room.saturating_sub(width("still , ") + width(counts));
    if left < SOME.min(width(&filter)) {
        return format!("still {counts}");
    }
    format!("still {}, {counts}", cut(&filter, left))
}

/// `37 of 1 204 shown`, or how far the scan is.
fn found(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let (scan, hits) = (&list.scan, list.index.items());
    let noun = if session.filter.is_on() { "hit" } else { "row" };
    let dot = if look.ascii { "-" } else { "·" };
    if scan.shown != scan.generation {
        return "scanning".to_owned();
    }
    if scan.stopped {
        return format!(
            "partial: {} in the newest {} %",
            plural(hits, noun),
            scan.percent
        );
    }
    if !scan.done {
        let hits = plural(hits, noun);
        return format!(
            "scanning {} % {dot} {hits} {dot} Ctrl-C stops",
            scan.percent
        );
    }
    match scan.total {
        Some(total) if session.filter.is_on() => {
            format!("{} of {} shown", count(hits), count(total.max(hits)))
        }
        _ => plural(hits, "row"),
    }
}

/// The part of what is typed that there is room for, and the column of the caret in it.
fn window(app: &App, room: usize) -> (String, usize) {
    let Some(prompt) = prompt(app) else {
        return (String::new(), 0);
    };
    let (head, tail) = halves(prompt);
    let (head, tail) = (escape(head), escape(tail));
    let mut skipped = 0;
    let mut from = 0;
    let all = width(&head);
    for (at, cluster) in head.grapheme_indices(true) {
        if all - skipped < room.max(1) {
            break;
        }
        skipped += width(cluster);
        from = at + cluster.len();
    }
    let shown = &head[from..];
    let text = cut(&format!("{shown}{tail}"), room);
    (text, width(shown))
}

fn prompt(app: &App) -> Option<&Prompt> {
    match app.overlays.last() {
        Some(crate::app::Overlay::Prompt(prompt)) => Some(prompt),
        _ => None,
    }
}

/// What stands before the caret and after.
fn halves(prompt: &Prompt) -> (&str, &str) {
    let text = prompt.input.value();
    let caret = text.char_indices().nth(prompt.input.cursor());
    text.split_at(caret.map_or(text.len(), |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_filter_before_say_so_in_the_room_there_is() {
        let told = |filter, room| still(filter, "13 of 38 shown", room);
        assert_eq!(told("is:failed", 50), "still is:failed, 13 of 38 shown");
        assert_eq!(told("is:failed", 30), "still is:fail…, 13 of 38 shown");
        assert_eq!(told("is:failed", 27), "still 13 of 38 shown");
        assert_eq!(told("", 50), "still all, 13 of 38 shown");
        assert_eq!(told("\u{1b}", 50), "still \\x1b, 13 of 38 shown");
    }
}
