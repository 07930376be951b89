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
mod row;

use crate::replay::compare::{Class, Half, Limits};
use crate::text::{self, cut, escape, pad_end, width};
use crate::trace::exchange::Exchange;
use crate::tui::app::App;
use crate::tui::app::diff::{Compared, Diff, DiffRow, Stage};
use crate::tui::theme::{Glyph, Look, Role};
use crate::tui::view::overlay::screen;
use crate::tui::widget::{frame, spans};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// From this width on the sides stand side by side.
const BESIDE: u16 = 100;

/// Columns of the sign and the word of a class.
const WORD: usize = 11;

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
#[must_use]
pub fn rows((columns, rows): (u16, u16)) -> usize {
    let inner = Rect::new(1, 1, columns.saturating_sub(2), rows.saturating_sub(2));
    let places = Places::of(inner);
    let lines = usize::from(places.body.height);
    if places.beside { lines } else { lines / 2 }.max(1)
}

/// The row at this cell of the screen.
#[must_use]
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
#[must_use]
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

/// Lines of a row.
fn height(app: &App, compared: &Compared, row: DiffRow, places: &Places) -> usize {
    let look = &app.settings.look;
    row::lines(look, compared, row, places.body.width, places.beside).len()
}

/// Draws it over `area`, the whole screen.
pub fn draw(app: &App, diff: &Diff, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    frame.render_widget(Clear, area);
    let Stage::Compared(compared) = &diff.stage else {
        let inner = frame::draw(look, "comparing", "Esc closes", true, area, frame);
        let text = format!(" comparing{}", look.glyph(Glyph::Ellipsis));
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), inner);
        return;
    };
    let places = Places::of(area.inner(Margin::new(1, 1)));
    let room = usize::from(area.width.saturating_sub(4));
    let hidden = foot::hidden(look, diff, compared, &places);
    let foot = foot::text(look, hidden, room);
    frame::draw(look, &title(compared), &foot, true, area, frame);
    heads(look, compared, &places, frame);
    summary(look, diff, compared, places.summary, frame);
    body(look, diff, compared, &places, frame);
    below::draw(look, diff, compared, &places, frame);
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

/// `#1187  tool-error  842 ms  412 B → 210 B`
fn head(look: &Look, exchange: &Exchange) -> String {
    let mut parts = vec![
        format!("#{}", exchange.request.0.0),
        exchange.status.as_str().to_owned(),
    ];
    parts.extend(exchange.latency_ns().map(text::duration));
    let arrow = look.glyph(Glyph::ToServer);
    let answer = exchange.response.map(|_| exchange.response_size);
    let answer = answer.map_or_else(|| "no answer".to_owned(), text::size);
    parts.push(format!(
        "{} {arrow} {answer}",
        text::size(exchange.request_size)
    ));
    parts.join("  ")
}

fn heads(look: &Look, compared: &Compared, places: &Places, frame: &mut Frame<'_>) {
    let style = look.style(Role::Strong);
    let [left, right] = [&compared.left, &compared.right].map(|one| head(look, one));
    if places.beside {
        let (a, b) = row::columns(places.heads.width);
        let line = format!(
            "{}{}{}{}",
            " ".repeat(WORD),
            pad_end(&cut(&left, a), a),
            row::divider(look),
            cut(&right, b)
        );
        frame.render_widget(Line::styled(line, style), places.heads);
        return;
    }
    let room = usize::from(places.heads.width).saturating_sub(2);
    for ((sign, text), area) in [("-", left), ("+", right)]
        .into_iter()
        .zip(places.heads.rows())
    {
        let line = format!("{sign} {}", cut(&text, room));
        frame.render_widget(Line::styled(line, style), area);
    }
}

/// How many differences of each class there are, which one the cursor is on, and what was not
/// looked at.
fn summary(look: &Look, diff: &Diff, compared: &Compared, area: Rect, frame: &mut Frame<'_>) {
    let mut spans = vec![(Role::Text, " ".to_owned())];
    let passed = compared.changes.iter().filter(|at| **at <= diff.at).count();
    if compared.changes.is_empty() {
        let text = format!("{} nothing differs  ", look.glyph(Glyph::Ok));
        spans.push((Role::Good, text));
    } else {
        let text = format!("{passed} of {}  ", compared.changes.len());
        spans.push((Role::Faint, text));
    }
    for class in Class::ALL {
        let count = compared.count(class);
        if count > 0 {
            let text = format!("{} {count} {}  ", sign(look, class), class.as_str());
            spans.push((role(class), text));
        }
    }
    for half in [Half::Request, Half::Response] {
        let part = compared.part(half);
        for remark in remarks(part.comparison.limits, part.outline) {
            let text = format!("{} {}: {remark}  ", look.glyph(Glyph::Warning), word(half));
            spans.push((Role::Warn, text));
        }
    }
    if let Some((_, last)) = spans.last_mut() {
        last.truncate(last.trim_end().len());
    }
    let spans = spans::cut(spans, usize::from(area.width));
    frame.render_widget(spans::line(spans, *look), area);
}

fn remarks(limits: Limits, outline: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if outline {
        remarks.push("too long, only its outline is compared".to_owned());
    }
    if limits.as_bytes {
        remarks.push("no JSON on one side, compared as bytes".to_owned());
    }
    if limits.not_compared > 0 {
        let values = text::plural(limits.not_compared, "value");
        remarks.push(format!("{values} not compared, there was too much"));
    }
    if limits.coarse > 0 {
        remarks.push("long lists compared place by place".to_owned());
    }
    remarks
}

fn body(look: &Look, diff: &Diff, compared: &Compared, places: &Places, frame: &mut Frame<'_>) {
    let mut areas = places.body.rows();
    for (at, row) in compared.rows.iter().enumerate().skip(diff.top) {
        let lines = row::lines(look, compared, *row, places.body.width, places.beside);
        for line in lines {
            let Some(area) = areas.next() else { return };
            frame.render_widget(line, area);
            if at == diff.at {
                let style = look.style(Role::Selected);
                frame.buffer_mut().set_style(area, style);
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

fn sign(look: &Look, class: Class) -> &'static str {
    look.glyph(match class {
        Class::Breaking => Glyph::Failed,
        Class::Changed => Glyph::Changed,
        Class::Added => Glyph::Added,
        Class::Order => Glyph::Order,
        Class::Latency => Glyph::Warning,
        Class::Noise => Glyph::Noise,
    })
}

fn role(class: Class) -> Role {
    match class {
        Class::Breaking => Role::Bad,
        Class::Changed => Role::Warn,
        Class::Added => Role::Good,
        Class::Order | Class::Latency => Role::Event,
        Class::Noise => Role::Faint,
    }
}

/// `text` in exactly `columns` columns.
fn fitted(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    debug_assert!(width(&text) <= columns);
    pad_end(&text, columns)
}

#[cfg(test)]
mod tests;
