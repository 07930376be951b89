//! What lies over the panes while the filter is typed: the message under its place, and what may
//! come next.
//!
//! ```text
//!  filter ✗ metod:tools/call▏
//!           └ there is no field `metod`; did you mean `method`?
//!           │ method:   method of the request or notification │
//! ```

use super::label;
use crate::app::prompt::Prompt;
use crate::app::{App, Session};
use crate::layout;
use crate::theme::{Glyph, Look, Role};
use crate::view::overlay::{Hit, screen};
use crate::widget::scroll;
use mcpreel_trace::query::{ErrorKind, QueryError};
use mcpreel_wire::text::{cut, escape, pad_end, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// Candidates that are shown at once.
const CANDIDATES: usize = 8;

struct Places {
    /// The column where the text of the filter begins.
    x: usize,
    bar: Rect,
    /// What is wrong with it; empty where nothing is.
    message: Rect,
    candidates: Rect,
}

fn placed(app: &App, session: &Session, area: Rect) -> Places {
    let bar = layout::session(app, session).filter;
    let label = label(&session.filter, &app.settings.look, usize::from(area.width));
    let below = |y: u16, most: u16| Rect {
        y,
        height: area.bottom().saturating_sub(y + 1).min(most),
        ..area
    };
    let message = below(bar.bottom(), u16::from(session.filter.error.is_some()));
    let most = u16::try_from(CANDIDATES).unwrap_or(u16::MAX);
    Places {
        x: label.iter().map(|span| width(&span.content)).sum(),
        bar,
        message,
        candidates: below(bar.bottom() + message.height, most),
    }
}

/// The first candidate that is on the screen, and how many are at once.
pub fn rows(app: &App, session: &Session) -> (usize, usize) {
    let page = usize::from(placed(app, session, screen(app)).candidates.height);
    let popup = &session.filter.popup;
    let at = popup.at.unwrap_or(0);
    let first = scroll::top(popup.wheel, popup.candidates.len(), at, page);
    (first, page)
}

/// What is at this cell of the screen, while the filter is typed.
pub fn hit(app: &App, session: &Session, (x, y): (u16, u16)) -> Hit {
    let places = placed(app, session, screen(app));
    if places.bar.contains((x, y).into()) || places.message.contains((x, y).into()) {
        return Hit::Inside;
    }
    let mut shown = lines(app, session, &places).into_iter();
    let found = shown.find(|line| line.place.contains((x, y).into()));
    found.map_or(Hit::Outside, |line| Hit::Entry(line.at))
}

pub fn draw(app: &App, prompt: &Prompt, area: Rect, frame: &mut Frame<'_>) {
    let Some(session) = app.session.as_deref() else {
        return;
    };
    let look = &app.settings.look;
    let places = placed(app, session, area);
    if let Some(error) = &session.filter.error {
        draw_message(prompt, error, places.x, look, places.message, frame);
    }
    for line in lines(app, session, &places) {
        let role = if session.filter.popup.at == Some(line.at) {
            Role::Selected
        } else {
            Role::Header
        };
        frame.render_widget(Clear, line.place);
        frame.render_widget(Line::styled(line.text, look.style(role)), line.place);
    }
}

fn draw_message(
    prompt: &Prompt,
    error: &QueryError,
    x: usize,
    look: &Look,
    row: Rect,
    frame: &mut Frame<'_>,
) {
    let before = prompt
        .input
        .value()
        .get(..error.at.start)
        .unwrap_or_default();
    let text = format!("{} {}", look.glyph(Glyph::Child), escape(&error.message));
    let columns = usize::from(row.width);
    // The whole message is worth more than its exact place.
    let place = x + width(&escape(before));
    let place = place.min(columns.saturating_sub(width(&text) + 1));
    let role = match error.kind {
        ErrorKind::Incomplete => Role::Open,
        ErrorKind::Invalid => Role::Bad,
    };
    let text = cut(&text, columns.saturating_sub(place));
    let line = format!("{}{text}", " ".repeat(place));
    frame.render_widget(Clear, row);
    frame.render_widget(Line::styled(pad_end(&line, columns), look.style(role)), row);
}

struct Shown {
    at: usize,
    text: String,
    place: Rect,
}

fn lines(app: &App, session: &Session, places: &Places) -> Vec<Shown> {
    let look = &app.settings.look;
    let popup = &session.filter.popup;
    let (first, page) = rows(app, session);
    let shown = popup.candidates.iter().enumerate().skip(first);
    let shown: Vec<_> = shown.take(page).collect();
    let wide = shown.iter().map(|(_, (text, _))| width(&escape(text)));
    let wide = wide.max().unwrap_or(0).min(40);
    let help = shown.iter().map(|(_, (_, help))| width(&escape(help)));
    let help = help.max().unwrap_or(0);
    let more = popup.candidates.len().saturating_sub(first + shown.len());
    let last = shown.last().map(|(at, _)| *at);
    let line = |((at, (text, meaning)), row): ((usize, &(String, String)), Rect)| {
        let room = usize::from(row.width).saturating_sub(places.x + wide + 4);
        let mut meaning = escape(meaning).into_owned();
        if more > 0 && Some(at) == last {
            meaning = format!("{meaning}  {} {more} more", look.glyph(Glyph::More));
        }
        let help = help.max(width(&meaning)).min(room);
        let text = format!(
            " {}  {} ",
            pad_end(&cut(&escape(text), wide), wide),
            pad_end(&cut(&meaning, help), help)
        );
        let text = cut(&text, usize::from(row.width).saturating_sub(places.x));
        let place = Rect {
            x: row.x + u16::try_from(places.x).unwrap_or(0).min(row.width),
            width: u16::try_from(width(&text)).unwrap_or(0),
            ..row
        };
        let place = place.intersection(row);
        Shown { at, text, place }
    };
    shown
        .into_iter()
        .zip(places.candidates.rows())
        .map(line)
        .collect()
}
