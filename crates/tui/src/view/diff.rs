//! Two exchanges side by side.
//!
//! ```text
//!  ┌ tools/call search_docs ──────────────────────────────────────────────────────────────────┐
//!  │            #1181  ok  12 ms   412 B → 1.9 kB      │ #1187  tool-error  842 ms   412 B → 210 B │
//!  │ 2 of 4  ✗ 1 breaking  ~ 1 changed  · 2 noise                                            │
//!  │            request                                                                          │
//!  │ ~ changed  params.arguments                                                                 │
//!  │ ~ changed    q: "rust"                            │   q: "rust async"                       │
//!  │              … 3 unchanged                                                                  │
//!  │            response                                                                         │
//!  │ ✗ breaking   isError                              │   isError: true                         │
//!  ├─ result.isError   ✗ breaking: added ────────────────────────────────────────────────────────┤
//!  │                                                   │ true                                    │
//!  └────────────────────── ▼ 12 more rows, 1 breaking · e E walk · Space unfolds · Esc closes ─┘
//! ```
//!
//! Under 100 columns the two sides stand one below the other.

mod below;
mod foot;
mod head;
mod row;

pub(super) use foot::fitting as foot_of;
pub(super) use row::{columns, divider};

use crate::app::App;
use crate::app::diff::{Compared, Diff, DiffRow, Far, Stage};
use crate::theme::{Glyph, Look, Role};
use crate::view::comparison;
use crate::view::overlay::screen;
use crate::widget::{frame, highlight};
use mcpreel_replay::compare::{Class, Half};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{cut, escape, pad_end, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::widgets::Clear;

/// From this width on the sides stand side by side.
pub(super) const BESIDE: u16 = 100;

/// Columns of the sign and the word of a class.
pub(super) const WORD: usize = 11;

/// Where the parts of the screen are.
struct Places {
    heads: Rect,
    summary: Rect,
    body: Rect,
    /// Where the row under the cursor is named, and below that shown in full.
    below: Rect,
    beside: bool,
}

impl Places {
    fn of(inner: Rect) -> Self {
        let beside = inner.width + 2 >= BESIDE;
        let mut at = inner.y;
        let mut left = inner.height;
        let mut take = |wanted: u16| {
            let height = wanted.min(left);
            let rows = Rect {
                y: at,
                height,
                ..inner
            };
            at += height;
            left -= height;
            rows
        };
        let roomy = inner.height >= 8;
        let heads = take(if roomy { 2 - u16::from(beside) } else { 0 });
        let summary = take(u16::from(inner.height >= 3));
        let below = match inner.height {
            ..5 => 0,
            5..16 => 1,
            _ => (inner.height / 5).min(7),
        };
        let body = take(
            inner
                .height
                .saturating_sub(heads.height + summary.height + below),
        );
        Self {
            heads,
            summary,
            body,
            below: take(below),
            beside,
        }
    }
}

/// How many rows are on a screen of this size at least: one below the other, a difference takes
/// two lines.
pub fn rows((columns, rows): (u16, u16)) -> usize {
    let inner = Rect::new(1, 1, columns.saturating_sub(2), rows.saturating_sub(2));
    let places = Places::of(inner);
    let lines = usize::from(places.body.height);
    if places.beside { lines } else { lines / 2 }.max(1)
}

/// The row at this cell of the screen.
pub fn hit(app: &App, diff: &Diff, (x, y): (u16, u16)) -> Option<usize> {
    let compared = diff.compared()?;
    let places = Places::of(screen(app).inner(Margin::new(1, 1)));
    if !places.body.contains((x, y).into()) {
        return None;
    }
    let mut below = usize::from(y - places.body.y);
    for (at, row) in compared.rows.iter().enumerate().skip(diff.top) {
        match below.checked_sub(height(app, compared, *row, &places)) {
            Some(rest) => below = rest,
            None => return Some(at),
        }
    }
    None
}

/// The first row of the screen on which the last one stands at the bottom.
pub fn last_top(app: &App, diff: &Diff) -> usize {
    let places = Places::of(screen(app).inner(Margin::new(1, 1)));
    let rows = diff.compared().map_or(&[][..], |compared| &compared.rows);
    let mut room = usize::from(places.body.height);
    let mut top = rows.len();
    while let (Some(above), Some(compared)) = (top.checked_sub(1), diff.compared()) {
        let Some(left) = room.checked_sub(height(app, compared, rows[above], &places)) else {
            break;
        };
        (room, top) = (left, above);
    }
    top.min(rows.len().saturating_sub(1))
}

fn height(app: &App, compared: &Compared, row: DiffRow, places: &Places) -> usize {
    let look = &app.settings.look;
    row::lines(look, compared, row, places.body.width, places.beside).len()
}

/// Draws it over `area`, the whole screen.
pub fn draw(app: &App, diff: &Diff, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    frame.render_widget(Clear, area);
    let compared = match &diff.stage {
        Stage::Compared(compared) => compared,
        Stage::Comparing(far) => {
            return comparison::draw_comparing(look, ("Esc closes", &how_far(*far)), area, frame);
        }
    };
    let places = Places::of(area.inner(Margin::new(1, 1)));
    let room = usize::from(area.width.saturating_sub(4));
    let hidden = foot::hidden(look, diff, compared, &places);
    let foot = foot::text(look, hidden, room);
    frame::draw(look, &title(compared), &foot, true, area, frame);
    head::sides(look, compared, &places, frame);
    head::summary(look, diff, compared, places.summary, frame);
    body(look, diff, compared, &places, frame);
    below::draw(look, diff, compared, &places, frame);
}

fn how_far(far: Far) -> String {
    match far {
        Far::Asked => "comparing".to_owned(),
        Far::Looking(seq) => format!("looking for the call before, back to #{}", seq.0),
        Far::Comparing(half) => format!("comparing the {}s", word(half)),
    }
}

fn title(compared: &Compared) -> String {
    let name = |exchange: &Exchange| {
        let name = exchange.name.as_deref().unwrap_or_default();
        escape(format!("{} {name}", exchange.method).trim_end()).into_owned()
    };
    let (left, right) = (name(&compared.left), name(&compared.right));
    if left == right {
        return left;
    }
    format!("{left} | {right}")
}

fn body(look: &Look, diff: &Diff, compared: &Compared, places: &Places, frame: &mut Frame<'_>) {
    let mut areas = places.body.rows();
    for (at, row) in compared.rows.iter().enumerate().skip(diff.top) {
        let lines = row::lines(look, compared, *row, places.body.width, places.beside);
        for line in lines {
            let Some(area) = areas.next() else { return };
            frame.render_widget(line, area);
            if at == diff.at {
                highlight::draw(look.style(Role::Selected), area, frame);
            }
        }
    }
}

fn word(half: Half) -> &'static str {
    match half {
        Half::Request => "request",
        Half::Response => "response",
    }
}

pub(super) fn sign(look: &Look, class: Class) -> &'static str {
    look.glyph(match class {
        Class::Breaking => Glyph::Failed,
        Class::Changed => Glyph::Changed,
        Class::Added => Glyph::Added,
        Class::Order => Glyph::Order,
        Class::Latency => Glyph::Warning,
        Class::Noise => Glyph::Noise,
    })
}

pub(super) fn role(class: Class) -> Role {
    match class {
        Class::Breaking => Role::Bad,
        Class::Changed => Role::Warn,
        Class::Added => Role::Good,
        Class::Order | Class::Latency => Role::Event,
        Class::Noise => Role::Faint,
    }
}

/// `text` in exactly `columns` columns.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    debug_assert!(width(&text) <= columns);
    pad_end(&text, columns)
}

#[cfg(test)]
mod tests;
