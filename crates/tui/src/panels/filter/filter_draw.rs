//! Drawing the filter: its line, and while it is typed the message under its place and what may
//! come next, over the panes.
//!
//! ```text
//!  filter ✗ metod:tools/call▏
//!           └ there is no field `metod`; did you mean `method`?
//!           │ method:   method of the request or notification │
//! ```
//!
//! ```text
//!  filter ✓ method:tools/call latency>200ms                                   37 of 1 204 shown
//!  filter ✓ method:tools/call▏                       scanning 61 % · 12 hits · Ctrl-C stops
//!  filter ✗ metod:tools/call▏                               still is:failed, 13 of 38 shown
//! ```
//!
//! What is good, unfinished or bad differs in its sign; the message stands beside it, and under its
//! place while the filter is typed.

use super::Filter;
use crate::app::{App, Session};
use crate::layout;
use crate::layout::{Hit, screen};
use crate::panels::prompt::{self, Prompt};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use mcpreel_trace::query::QueryError;
use mcpreel_wire::text::{count, cut, escape, pad_end, plural, width};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
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
pub fn candidates(app: &App, session: &Session) -> (usize, usize) {
    let page = usize::from(placed(app, session, screen(app)).candidates.height);
    let popup = &session.filter.popup;
    let at = popup.at.unwrap_or(0);
    let first = frame::top(popup.wheel, popup.candidates.len(), at, page);
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

pub fn draw_popup(
    app: &App,
    session: &Session,
    prompt: &Prompt,
    area: Rect,
    frame: &mut Frame<'_>,
) {
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
    let role = if error.may_be_unfinished(prompt.input.value()) {
        Role::Open
    } else {
        Role::Bad
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
    let (first, page) = candidates(app, session);
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

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if area.is_empty() {
        return;
    }
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let counts = cut(&counts(session, look, columns / 2), columns / 2);
    let edited = app.edits_filter();
    let label = label(&session.filter, look, columns);
    let used: usize = label.iter().map(|span| width(&span.content)).sum();
    let room = columns.saturating_sub(used + width(&counts) + 3);
    let mut spans = label;
    if edited {
        let (text, caret) = typed(app, room);
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
        Some(error) if error.may_be_unfinished(&filter.text) => (Glyph::Running, Role::Open),
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
    let query = match filter.query.to_string() {
        all if all.is_empty() => "all".to_owned(),
        query => query,
    };
    let left = room.saturating_sub(width("still , ") + width(&counts));
    format!("still {}, {counts}", cut(&escape(&query), left))
}

/// The part of what is typed that there is room for, and the column of the caret in it.
fn typed(app: &App, room: usize) -> (String, usize) {
    let Some(prompt) = app.top::<Prompt>() else {
        return (String::new(), 0);
    };
    prompt::typed(&prompt.input, room)
}

/// `37 of 1 204 shown`, or how far the scan is.
fn found(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let shown = list.until.map(|_| list.len() as u64);
    let (scan, hits) = (&list.scan, shown.unwrap_or(list.index.items()));
    let noun = if session.filter.is_on() { "hit" } else { "row" };
    let dot = if look.ascii { "-" } else { "·" };
    if !scan.is_answered {
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
