//! Drawing: a pure function of the state and the area.
//!
//! One file per panel; each has `draw(&App, …, Rect, &mut Frame)`. Nothing here asks, changes or
//! remembers anything.

use super::app::{App, Overlay, Session, View, Viewer};
use super::layout;
use super::layout::LEAST;
use super::panels::prompt::{Prompt, Purpose};
use super::panels::text::Text;
use super::panels::{
    compare, findings, library, menu, palette, replay, state, stats, story, timeline,
};
use super::theme::{Glyph, Role};
use super::widget::frame;
use crate::panels::{detail, filter, footer, header, list};
use mcpreel_wire::text::{escape, width};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use tui_input::Input;

pub fn draw(viewer: &Viewer, frame: &mut Frame<'_>) {
    let (app, session) = (&viewer.app, viewer.session.as_deref());
    let (columns, rows) = app.size;
    let area = Rect::new(0, 0, columns, rows).intersection(frame.area());
    if columns < LEAST.0 || rows < LEAST.1 {
        return too_small(app, area, frame);
    }
    match session {
        Some(session) => draw_session(app, session, frame),
        None => library::draw(app, frame),
    }
    for overlay in &app.overlays {
        draw_on_top(app, session, overlay, area, frame);
    }
    if app.settings.look.ascii {
        spell_out(frame.buffer_mut());
    }
}

/// Signs that stand in words of ours (`12 ms · 3 open`, `µs`, what was cut) as ASCII. Whatever
/// else is no ASCII came over the wire and is shown as it is.
fn spell_out(screen: &mut Buffer) {
    const SIGNS: [(&str, &str); 6] = [
        ("⚠", "!"),
        ("·", "-"),
        ("…", "~"),
        ("µ", "u"),
        ("→", ">"),
        ("×", "x"),
    ];
    for cell in &mut screen.content {
        let sign = SIGNS.iter().find(|(sign, _)| *sign == cell.symbol());
        if let Some((_, ascii)) = sign {
            cell.set_symbol(ascii);
        }
    }
}

fn draw_session(app: &App, session: &Session, frame: &mut Frame<'_>) {
    let places = layout::session(app, session);
    header::draw(app, session, places.header, frame);
    story::draw(app, session, places.why, frame);
    filter::filter_draw::draw(app, session, places.filter, frame);
    if !places.main.is_empty() {
        match session.view {
            View::Exchanges => list::list_draw::draw(app, session, places.main, frame),
            View::Timeline => timeline::draw(app, session, places.main, frame),
            View::Stats => stats::draw(app, session, places.main, frame),
            View::Findings => findings::draw(app, session, places.main, frame),
        }
    }
    if !places.detail.is_empty() {
        match session.playback.pane {
            Some(_) => state::draw(app, session, places.detail, frame),
            None => detail::draw::draw(app, session, places.detail, frame),
        }
    }
    footer::draw(app, Some(session), places.footer, frame);
}

/// `too small (18×2), needs 20×3`, as much of it as fits.
fn too_small(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let (columns, rows) = app.size;
    let times = app.settings.look.glyph(super::theme::Glyph::Times);
    let text = format!(
        "too small ({columns}{times}{rows}), needs {}{times}{}",
        LEAST.0, LEAST.1
    );
    let style = app.settings.look.style(Role::Text);
    let mut left = text.as_str();
    for row in area.rows() {
        let at = left.char_indices().nth(usize::from(row.width));
        let (line, rest) = left.split_at(at.map_or(left.len(), |(at, _)| at));
        frame.render_widget(Line::styled(line, style), row);
        left = rest;
    }
}

// What lies on top: texts, menus, prompts, the palette.
//
// ```text
//  search ▸ quota▏                                                Enter searches · Esc leaves
// ```

/// Draws it over `area`, the whole screen.
fn draw_on_top(
    app: &App,
    session: Option<&Session>,
    overlay: &Overlay,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    match overlay {
        Overlay::Text(text) => draw_text(app, text, area, frame),
        Overlay::Menu(menu) => menu::draw(app, menu, area, frame),
        Overlay::Prompt(prompt) if prompt.purpose == Purpose::Filter => {
            if let Some(session) = session {
                filter::filter_draw::draw_popup(app, session, prompt, area, frame);
            }
        }
        Overlay::Prompt(prompt) => draw_prompt(app, prompt, area, frame),
        Overlay::Palette(palette) => palette::draw(app, palette, area, frame),
        Overlay::Comparison(one) => compare::draw(app, one, area, frame),
        Overlay::Edit(editor) => replay::editor::draw(app, editor, frame),
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

/// The part of an overlay at a cell of the screen.
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
    let (text, caret) = typed(&prompt.input, room);
    let gap = columns.saturating_sub(used + width(&text) + width(hint));
    let line = Line::from(vec![
        Span::styled(label, look.style(Role::Prompt)),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(hint, look.style(Role::Faint)),
    ]);
    frame.render_widget(line, row);
    let caret = (used + caret).min(columns.saturating_sub(1));
    let x = row.x + u16::try_from(caret).unwrap_or(0);
    frame.set_cursor_position(Position::new(x, row.y));
}

/// The part of what is typed that is seen in `room` columns, and the column of the caret in it.
pub fn typed(input: &Input, room: usize) -> (String, usize) {
    let scroll = input.visual_scroll(room.saturating_sub(1));
    let mut text = input.value();
    let mut skipped = 0;
    while skipped < scroll
        && let Some(letter) = text.chars().next()
    {
        let (head, tail) = text.split_at(letter.len_utf8());
        skipped += width(head);
        text = tail;
    }
    let end = (1..=text.len()).filter(|end| text.is_char_boundary(*end));
    let end = end.take_while(|end| width(&text[..*end]) <= room).last();
    let seen = escape(&text[..end.unwrap_or(0)]).into_owned();
    (seen, input.visual_cursor().saturating_sub(scroll))
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
