//! Texts that lie on top, and messages to the user.

use crate::action::{Action, Context};
use crate::app::{App, Handlers, Overlay, Session};
use crate::effect::Effects;
use crate::theme::{Glyph, Role};
use crate::widget::cursor::moved;
use crate::widget::frame;
use mcpreel_wire::text::{width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line as Spans, Span};
use ratatui::widgets::Clear;

// A text that is read.

/// A narrower column is harder to read than none.
const MIN_COLUMN: usize = 16;

/// A text that lies over everything and can be scrolled.
#[derive(Debug)]
pub struct Text {
    pub title: String,
    pub lines: Vec<Line>,
    pub top: usize,
}

/// A line of it: pieces, each in the style of its role.
pub type Line = Vec<(Role, String)>;

impl Text {
    /// The lines, none wider than `columns`: longer ones go on below, under the last piece.
    pub fn wrapped(&self, columns: usize) -> Vec<Line> {
        self.lines
            .iter()
            .flat_map(|line| wrapped(line, columns))
            .collect()
    }

    pub fn plain(title: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        let line = |line| vec![(Role::Text, line)];
        Self {
            title: title.into(),
            lines: lines.into_iter().map(line).collect(),
            top: 0,
        }
    }
}

/// A line, none wider than `columns`: what is longer goes on below, under the last piece.
pub fn wrapped(line: &Line, columns: usize) -> Vec<Line> {
    let wide: usize = line.iter().map(|(_, text)| width(text)).sum();
    let Some(((role, last), before)) = line.split_last().filter(|_| wide > columns) else {
        return vec![line.clone()];
    };
    let used: usize = before.iter().map(|(_, text)| width(text)).sum();
    // Where the pieces before leave no room, everything is one text.
    if used + MIN_COLUMN > columns {
        let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
        let lines = wrap(&whole, columns).into_iter();
        return lines.map(|line| vec![(*role, line)]).collect();
    }
    let mut lines = wrap(last, columns - used).into_iter();
    let mut first = before.to_vec();
    first.push((*role, lines.next().unwrap_or_default()));
    let below = lines.map(|line| vec![(*role, format!("{}{line}", " ".repeat(used)))]);
    [first].into_iter().chain(below).collect()
}

impl Overlay for Text {
    fn context(&self) -> Context {
        Context::Text
    }

    fn handlers(&self) -> Handlers {
        Handlers {
            perform: |viewer, action| perform(&mut viewer.app, action),
            click: |viewer, cell, _| click(&mut viewer.app, cell),
            wheel: |viewer, by| wheel(&mut viewer.app, by),
            ..Handlers::NONE
        }
    }

    fn draw(&self, app: &App, _: Option<&Session>, area: Rect, frame: &mut Frame<'_>) {
        draw(app, self, area, frame);
    }
}

fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    if !area(app.size).contains(cell.into()) {
        app.overlays.pop();
    }
    vec![]
}

/// The wheel was turned by so many rows.
fn wheel(app: &mut App, by: isize) -> Effects {
    let (columns, page) = room(app);
    if let Some(text) = app.top_mut::<Text>() {
        let rows = text.wrapped(columns).len();
        text.top = frame::turned(text.top, by, rows, page);
    }
    vec![]
}

fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let (columns, page) = room(app);
    let Some(text) = app.top_mut::<Text>() else {
        return None;
    };
    let tops = text.wrapped(columns).len().saturating_sub(page) + 1;
    text.top = moved(action, text.top, tops, page)?;
    Some(vec![])
}

/// Columns of a text, and how many of its lines are on the screen at once.
fn room(app: &App) -> (usize, usize) {
    let area = area(app.size);
    let inner = |side: u16| usize::from(side.saturating_sub(2));
    (inner(area.width), inner(area.height))
}

/// A margin where there is room for one.
fn area((columns, rows): (u16, u16)) -> Rect {
    let (x, y) = (u16::from(columns >= 60) * 3, u16::from(rows >= 16));
    Rect::new(x, y, columns - 2 * x, rows - 2 * y)
}

fn draw(app: &App, text: &Text, whole: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let area = area(app.size).intersection(whole);
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
        frame.render_widget(spans.collect::<Spans<'_>>(), row);
    }
}
