//! What lies on top: texts, menus, prompts, the palette.
//!
//! ```text
//!  search ▸ quota▏                                                Enter searches · Esc leaves
//! ```

use crate::app::text::Text;
use crate::app::{App, Overlay};
use crate::panels::{compare, filter, menu, palette, replay};
use crate::theme::{Glyph, Role};
use crate::update::prompt::{Prompt, Purpose};
use crate::widget::frame;
use mcpreel_wire::text::width;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

/// Draws it over `area`, the whole screen.
pub fn draw(app: &App, overlay: &Overlay, area: Rect, frame: &mut Frame<'_>) {
    match overlay {
        Overlay::Text(text) => draw_text(app, text, area, frame),
        Overlay::Menu(menu) => menu::draw(app, menu, area, frame),
        Overlay::Prompt(prompt) if prompt.purpose == Purpose::Filter => {
            filter::draw::draw_popup(app, prompt, area, frame);
        }
        Overlay::Prompt(prompt) => draw_prompt(app, prompt, area, frame),
        Overlay::Palette(palette) => palette::draw(app, palette, area, frame),
        Overlay::Comparison(one) => compare::draw(app, one, area, frame),
        Overlay::Edit(editor) => replay::draw(app, editor, frame),
    }
}

/// Columns of a text, and how many of its lines are on the screen at once.
pub fn text_room(app: &App) -> (usize, usize) {
    let area = text_area(app.size);
    let inner = |side: u16| usize::from(side.saturating_sub(2));
    (inner(area.width), inner(area.height))
}

/// A margin where there is room for one.
fn text_area((columns, rows): (u16, u16)) -> Rect {
    let (x, y) = (u16::from(columns >= 60) * 3, u16::from(rows >= 16));
    Rect::new(x, y, columns - 2 * x, rows - 2 * y)
}

fn draw_text(app: &App, text: &Text, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let area = text_area(app.size).intersection(area);
    frame.render_widget(Clear, area);
    let rows = usize::from(area.height.saturating_sub(2));
    let lines = text.wrapped(usize::from(area.width.saturating_sub(2)));
    let below = lines.len().saturating_sub(text.top + rows);
    let foot = match below {
        0 => "Esc closes".to_owned(),
        below => format!("{below} more lines {} Esc closes", look.glyph(Glyph::More)),
    };
    let inner = frame::draw(look, &text.title, &foot, true, area, frame);
    for (line, row) in lines.iter().skip(text.top).zip(inner.rows()) {
        let spans = line
            .iter()
            .map(|(role, text)| Span::styled(text.as_str(), look.style(*role)));
        frame.render_widget(spans.collect::<Line<'_>>(), row);
    }
}

/// What is at a cell of the screen, of something that lies on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Entry(usize),
    /// Something else that belongs to it.
    Inside,
    Outside,
}

/// Whether this cell of the screen belongs to a text that lies on top.
pub fn is_on_text(app: &App, (x, y): (u16, u16)) -> bool {
    text_area(app.size).contains((x, y).into())
}

pub fn screen(app: &App) -> Rect {
    Rect::new(0, 0, app.size.0, app.size.1)
}

/// The last row of the screen, while a line is typed.
fn draw_prompt(app: &App, prompt: &Prompt, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let row = Rect {
        y: area.bottom().saturating_sub(1),
        height: 1,
        ..area
    };
    frame.render_widget(Clear, row);
    let (label, hint) = words(prompt.purpose);
    let label = format!(" {label} {} ", look.glyph(Glyph::Prompt));
    let used = width(&label);
    let columns = usize::from(row.width);
    let hint_room = columns.saturating_sub(used + 20);
    let hint = if width(hint) <= hint_room { hint } else { "" };
    let room = columns.saturating_sub(used + width(hint) + 1).max(1);
    let scroll = prompt.input.visual_scroll(room.saturating_sub(1));
    let text = visible(prompt.input.value(), scroll, room);
    let gap = columns.saturating_sub(used + width(&text) + width(hint));
    let line = Line::from(vec![
        Span::styled(label, look.style(Role::Prompt)),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(hint, look.style(Role::Faint)),
    ]);
    frame.render_widget(line, row);
    let caret = used + prompt.input.visual_cursor().saturating_sub(scroll);
    let x = row.x + u16::try_from(caret.min(columns.saturating_sub(1))).unwrap_or(0);
    frame.set_cursor_position(Position::new(x, row.y));
}

/// The part of a line that is typed which begins at the column `scroll`.
pub fn visible(text: &str, scroll: usize, columns: usize) -> String {
    let mut skipped = 0;
    let mut rest = text.chars();
    while skipped < scroll {
        let Some(letter) = rest.next() else { break };
        skipped += width(letter.encode_utf8(&mut [0; 4]));
    }
    let mut kept = String::new();
    for letter in rest {
        if width(&kept) + width(letter.encode_utf8(&mut [0; 4])) > columns {
            break;
        }
        kept.push(letter);
    }
    mcpreel_wire::text::escape(&kept).into_owned()
}

fn words(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Filter => ("filter", ""),
        Purpose::Search => (
            "search",
            "Enter searches, Ctrl-R regular expression, Esc leaves",
        ),
        Purpose::Note => ("note", "Enter keeps it, empty removes it, Esc leaves"),
        Purpose::RecordingNote => ("note on the recording", "Enter keeps it, empty removes it"),
        Purpose::ExportFile => ("file", "Enter keeps it, empty proposes one, Esc leaves"),
        Purpose::Narrow => ("show only", "Enter keeps it, Esc shows all"),
    }
}

/// An area of this size in the middle, as far as there is room.
pub fn centered(area: Rect, columns: usize, rows: usize) -> Rect {
    let width = u16::try_from(columns).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(rows).unwrap_or(u16::MAX).min(area.height);
    Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    )
}
