//! Two recordings, call beside call.
//!
//! ```text
//!  ┌ 7f3a weather-server 1.2 | c04d weather-server 1.3, replay ───────────────────────────────┐
//!  │ 2 of 3  ✗ 1 breaking  ~ 2 changed  29 the same                                           │
//!  │            what the server offers                                                        │
//!  │ ✗ breaking tool search: input narrowed: `limit`: is required now                         │
//!  │            call by call                                                                  │
//!  │              … 12 the same                                                               │
//!  │ ✗ breaking #23 tools/call search  ok 842 ms         │ #25  tool-error 12 ms              │
//!  ├─ tools/call search  ✗ breaking: result.isError ──────────────────────────────────────────┤
//!  │ ✗ breaking result.isError  was false  is true                                            │
//!  └──────────── ▼ 12 more rows · Enter opens both · e E walk · Space unfolds · Esc closes ───┘
//! ```
//!
//! Under 100 columns the two sides of a call share their part of the line.

mod below;
mod row;

use super::diff::{BESIDE, WORD, foot_of, role, sign};
use crate::app::App;
use crate::app::comparison::{Compared, Comparison, Far, Stage};
use crate::theme::{Glyph, Look, Role};
use crate::view::overlay::screen;
use crate::widget::{frame, highlight, spans};
use mcpreel_replay::compare::Class;
use mcpreel_wire::text::{count, plural};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// Where the parts of the screen are.
struct Places {
    summary: Rect,
    body: Rect,
    /// Where the row under the cursor is told in full.
    below: Rect,
    beside: bool,
}

impl Places {
    fn of(inner: Rect) -> Self {
        let below = match inner.height {
            ..6 => 0,
            6..14 => 2,
            height => (height / 4).min(10),
        };
        let summary = u16::from(inner.height >= 3);
        let body = inner.height.saturating_sub(summary + below);
        let part = |from: u16, height: u16| Rect {
            y: inner.y + from,
            height,
            ..inner
        };
        Self {
            summary: part(0, summary),
            body: part(summary, body),
            below: part(summary + body, below),
            beside: inner.width + 2 >= BESIDE,
        }
    }
}

/// How many rows are on a screen of this size.
pub fn rows((columns, rows): (u16, u16)) -> usize {
    let inner = Rect::new(1, 1, columns.saturating_sub(2), rows.saturating_sub(2));
    usize::from(Places::of(inner).body.height).max(1)
}

/// The row at this cell of the screen.
pub fn hit(app: &App, comparison: &Comparison, (x, y): (u16, u16)) -> Option<usize> {
    let compared = comparison.compared()?;
    let body = Places::of(screen(app).inner(Margin::new(1, 1))).body;
    if !body.contains((x, y).into()) {
        return None;
    }
    let row = comparison.top + usize::from(y - body.y);
    (row < compared.rows.len()).then_some(row)
}

/// Draws it over `area`, the whole screen.
pub fn draw(app: &App, comparison: &Comparison, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    frame.render_widget(Clear, area);
    let compared = match &comparison.stage {
        Stage::Compared(compared) => compared,
        Stage::Comparing(far) => {
            return draw_comparing(look, ("Esc or Ctrl-C stops", &how_far(*far)), area, frame);
        }
    };
    let places = Places::of(area.inner(Margin::new(1, 1)));
    let foot = foot(look, comparison, compared, &places);
    frame::draw(look, &title(compared), &foot, true, area, frame);
    let line = spans::cut(
        summary(look, comparison, compared),
        usize::from(places.summary.width),
    );
    frame.render_widget(spans::line(line, *look), places.summary);
    let rows = compared.rows.iter().enumerate().skip(comparison.top);
    for ((at, row), area) in rows.zip(places.body.rows()) {
        let line = row::line(look, compared, *row, places.body.width, places.beside);
        frame.render_widget(line, area);
        if at == comparison.at {
            highlight::draw(look.style(Role::Selected), area, frame);
        }
    }
    below::draw(look, comparison, compared, places.below, frame);
}

/// Draws a comparison that is not there yet: how it is left, and how far it is.
pub fn draw_comparing(look: &Look, (foot, far): (&str, &str), area: Rect, frame: &mut Frame<'_>) {
    let inner = frame::draw(look, "comparing", foot, true, area, frame);
    let text = format!(" {far}{}", look.glyph(Glyph::Ellipsis));
    frame.render_widget(Line::styled(text, look.style(Role::Faint)), inner);
}

fn how_far(far: Far) -> String {
    let exchanges = |number: usize| plural(number as u64, "exchange");
    match far {
        Far::Asked => "comparing".to_owned(),
        Far::Read(read) => format!("{} read", exchanges(read)),
        Far::Compared(done, of) => format!("{} of {} compared", count(done as u64), exchanges(of)),
    }
}

fn title(compared: &Compared) -> String {
    let [left, right] = compared
        .sides
        .each_ref()
        .map(|side| format!("{} {}", side.short, side.title));
    format!("{left} | {right}")
}

/// How much there is of each class, and which one the cursor is on.
fn summary(look: &Look, comparison: &Comparison, compared: &Compared) -> spans::Spans {
    let mut line = vec![(Role::Text, " ".to_owned())];
    let changes = &compared.changes;
    let passed = changes.partition_point(|at| *at <= comparison.at);
    if let Some(why) = &compared.not_made {
        let text = format!("{} {why}  ", look.glyph(Glyph::Warning));
        line.push((Role::Warn, text));
    } else if changes.is_empty() {
        let text = format!("{} nothing differs  ", look.glyph(Glyph::Ok));
        line.push((Role::Good, text));
    } else {
        let text = format!("{passed} of {}  ", changes.len());
        line.push((Role::Faint, text));
    }
    for class in Class::ALL {
        let found = compared.counts.of[class as usize];
        if found > 0 {
            let found = count(found);
            let text = format!("{} {found} {}  ", sign(look, class), class.as_str());
            line.push((role(class), text));
        }
    }
    let same = count(compared.counts.same);
    line.push((Role::Text, format!("{same} the same  ")));
    if compared.counts.not_tried > 0 {
        let warning = look.glyph(Glyph::Warning);
        let not_tried = count(compared.counts.not_tried);
        let text = format!("{warning} {not_tried} not tried  ");
        line.push((Role::Warn, text));
    }
    if compared.left_out > 0 {
        let text = format!("{} not reached  ", count(compared.left_out));
        line.push((Role::Faint, text));
    }
    if let Some((_, last)) = line.last_mut() {
        last.truncate(last.trim_end().len());
    }
    line
}

/// What is below the screen, and of the keys what there is room for.
fn foot(look: &Look, comparison: &Comparison, compared: &Compared, places: &Places) -> String {
    let page = usize::from(places.body.height);
    let below = compared.rows.len().saturating_sub(comparison.top + page);
    let below = match below {
        0 => None,
        below => Some(format!("{} {below} more", look.glyph(Glyph::More))),
    };
    let fold = if comparison.unfolded {
        "Space folds"
    } else {
        "Space unfolds"
    };
    let (both, there) = ("Enter opens both", "h l go there");
    let ways: [&[&str]; 5] = [
        &[both, there, "e E walk", fold, "Esc closes"],
        &[both, "e E walk", fold, "Esc closes"],
        &["Enter both", fold, "Esc closes"],
        &["Enter both", "Esc closes"],
        &["Esc closes"],
    ];
    let room = usize::from(places.body.width).saturating_sub(2);
    foot_of(look, below, &ways, room)
}

#[cfg(test)]
mod tests;
