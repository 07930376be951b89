//! What was true at a moment, in place of the detail.
//!
//! ```text
//!  ┌ state at #1187  12:04.318 ───────────────────────────────┐
//!  │ phase     ready                                          │
//!  │ version   asked 2025-11-25, agreed 2025-06-18            │
//!  │ server    weather-server 1.4                             │
//!  │   can     tools, used · logging · ⚠ prompts: not declared│
//!  │ client    claude-code 2.1                                │
//!  │   can     sampling, used · roots                         │
//!  │ tools     14, listed at #1181, changed since (#1185)     │
//!  │             search_docs, get_weather, …                  │
//!  │ open      2 calls                                        │
//!  │             #1187 → tools/call search_docs   842 ms      │
//!  │ log level debug, since #12                               │
//!  └──────────────────────────────────────────────────────────┘
//! ```

mod lines;

use crate::action::Action;
use crate::app::playback::Playback;
use crate::app::text::Line as Pieces;
use crate::app::{App, Focus, Session};
use crate::layout;
use crate::panels::footer::Chip;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{self, cut, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let Some(pane) = &session.playback.pane else {
        return;
    };
    let title = match (&pane.state, session.until()) {
        (Some((seq, _)), Some(_)) => format!("state at #{}", seq.0),
        (Some((seq, _)), None) => format!("state now, at #{}", seq.0),
        (None, _) => format!("state{}", look.glyph(Glyph::Ellipsis)),
    };
    let focus = session.focus == Focus::Detail;
    let (columns, shown) = room(area);
    let lines = of(app, session, columns);
    let top = pane.top.min(lines.len().saturating_sub(shown));
    let below = lines.len().saturating_sub(top + shown);
    let foot = match below {
        0 => "S closes".to_owned(),
        below => format!(
            "{} {} S closes",
            text::plural(below as u64, "more line"),
            look.glyph(Glyph::More)
        ),
    };
    let inner = frame::draw(look, &title, &foot, focus, area, frame);
    for (line, row) in lines.into_iter().skip(top).zip(inner.rows()) {
        let mut room = columns;
        let spans = line.into_iter().map(|(role, text)| {
            let text = cut(&text, room);
            room -= width(&text);
            Span::styled(text, look.style(role))
        });
        frame.render_widget(spans.collect::<Line<'_>>(), row);
    }
}

/// Columns and rows within the frame.
fn room(area: Rect) -> (usize, usize) {
    let inner = |side: u16| usize::from(side.saturating_sub(2));
    (inner(area.width), inner(area.height))
}

/// The lines of the state, for so many columns; none until it has come.
fn of(app: &App, session: &Session, columns: usize) -> Vec<Pieces> {
    let pane = session.playback.pane.as_ref();
    let Some((_, state)) = pane.and_then(|pane| pane.state.as_ref()) else {
        return Vec::new();
    };
    let t = match session.playback.t {
        Some(t) if session.playback.is_on() => t,
        _ => session.now(app.now),
    };
    lines::lines(&app.settings.look, state, t, columns)
}

/// How many lines the state has, and how many of them are on the screen at once; none where it is
/// not shown.
pub fn extent(app: &App) -> Option<(usize, usize)> {
    let session = app.session.as_deref()?;
    session.playback.pane.as_ref()?;
    let (columns, page) = room(layout::session(app, session).detail);
    Some((of(app, session, columns).len(), page))
}

/// The modes of playback as chips.
pub fn chips(look: &Look, session: &Session) -> Vec<Chip> {
    let mut chips = Vec::new();
    let playback = &session.playback;
    if let Some(seq) = playback.cursor {
        chips.push(Chip {
            role: Role::ChipWarn,
            text: cursor(look, playback, seq),
            action: Some(Action::TimeCursor),
        });
    }
    if let Some(paused) = playback.paused {
        let frames = session
            .vitals
            .as_deref()
            .map(|vitals| vitals.summary.frames);
        let new = frames.unwrap_or(0).saturating_sub(paused.0);
        let text = match new {
            0 => "PAUSED".to_owned(),
            new => format!("PAUSED, {} new frames", text::count(new)),
        };
        chips.push(Chip {
            role: Role::ChipWarn,
            text,
            action: Some(Action::Pause),
        });
    }
    chips
}

/// `⏪ AT #1187 12:04.318`
fn cursor(look: &Look, playback: &Playback, seq: Seq) -> String {
    let mut text = format!("{} AT #{}", look.glyph(Glyph::Back), seq.0);
    if let Some(t) = playback.t {
        text.push(' ');
        text.push_str(&text::since(t.0));
    }
    text
}
