//! Drawing the filter: its line, and while it is typed the message under its place and what may
//! come next, over the panes.
//!
//! ```text
//!  filter ✗ metod:tools/call▏                               still is:failed, 13 of 38 shown
//!           └ there is no field `metod`; did you mean `method`?
//!             method:   method of the request or notification
//!  filter ✓ method:tools/call▏                       scanning 61 % · 12 hits · Ctrl-C stops
//! ```
//!
//! What is good, unfinished or bad differs in its sign.

use super::Filter;
use crate::app::{App, Session};
use crate::layout::{self, screen};
use crate::panels::prompt::{Prompt, typed};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::spans::{self, Spans};
use mcpreel_wire::text::{count, cut, escape, pad_end, plural, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// Candidates that are shown at once.
const CANDIDATES: usize = 8;

/// The widest candidate that is shown in full.
const WIDEST: usize = 40;

/// The column where the text of the filter begins, and the rows below its bar while it is typed:
/// the first has the message, if there is one.
fn placed(app: &App, session: &Session) -> (usize, Vec<Rect>) {
    let screen = screen(app.size);
    let bar = layout::session(app, session).filter;
    let label = label(&session.filter, &app.settings.look, bar.width.into());
    let below = Rect {
        y: bar.bottom(),
        height: screen.bottom().saturating_sub(bar.bottom() + 1),
        ..screen
    };
    let x = usize::from(bar.x) + spans::width(&label);
    (x, below.rows().collect())
}

/// The candidate at this cell while the filter is typed; `Some(None)` for something else that
/// belongs to the filter.
pub fn hit(app: &App, session: &Session, at: Position) -> Option<Option<usize>> {
    let bar = layout::session(app, session).filter;
    let (_, rows) = placed(app, session);
    let message = session.filter.error.as_ref().and(rows.first());
    if bar.contains(at) || message.is_some_and(|row| row.contains(at)) {
        return Some(None);
    }
    let candidates = candidates(app, session);
    let hit = candidates.iter().find(|(.., place)| place.contains(at));
    let hit = hit.map(|(candidate, ..)| *candidate);
    frame_of(&candidates).contains(at).then_some(hit)
}

pub fn draw_popup(app: &App, session: &Session, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let filter = &session.filter;
    let (x, rows) = placed(app, session);
    if let Some(row) = rows.first() {
        draw_message(look, filter, x, *row, frame);
    }
    let candidates = candidates(app, session);
    let area = frame_of(&candidates);
    frame.render_widget(Clear, area);
    frame::draw(look, "", "", true, area, frame);
    for (at, text, place) in candidates {
        let is_chosen = filter.popup.at == Some(at);
        let role = if is_chosen {
            Role::Selected
        } else {
            Role::Popup
        };
        frame.render_widget(Line::styled(text, look.style(role)), place);
    }
}

/// The frame around the candidates.
fn frame_of(candidates: &[Candidate]) -> Rect {
    let places = candidates.iter().map(|(.., place)| *place);
    let inner = places.reduce(Rect::union).unwrap_or_default();
    if inner.is_empty() {
        return inner;
    }
    inner.outer(Margin::new(1, 1))
}

fn draw_message(look: &Look, filter: &Filter, x: usize, row: Rect, frame: &mut Frame<'_>) {
    let Some(error) = &filter.error else { return };
    let before = filter.text.get(..error.at.start).unwrap_or_default();
    let message = format!("{} {}", look.glyph(Glyph::Child), escape(&error.message));
    let columns = usize::from(row.width);
    // The whole message is worth more than its exact place.
    let place = x + width(&escape(before));
    let place = place.min(columns.saturating_sub(width(&message) + 1));
    let role = if error.may_be_unfinished(&filter.text) {
        Role::Open
    } else {
        Role::Bad
    };
    let line = cut(&format!("{}{message}", " ".repeat(place)), columns);
    frame.render_widget(Clear, row);
    frame.render_widget(Line::styled(pad_end(&line, columns), look.style(role)), row);
}

/// A candidate on the screen: which, as a line, and where.
type Candidate = (usize, String, Rect);

fn candidates(app: &App, session: &Session) -> Vec<Candidate> {
    let (x, rows) = placed(app, session);
    let x = u16::try_from(x).unwrap_or(0);
    let message = usize::from(session.filter.error.is_some());
    // Within a frame.
    let room = rows.len().saturating_sub(message + 2).min(CANDIDATES);
    let places = rows.into_iter().skip(message + 1).take(room);
    let popup = &session.filter.popup;
    let all = &popup.candidates;
    let first = frame::showing_of(all.len(), popup.at.unwrap_or(0), 0, places.len());
    let shown = &all[first..all.len().min(first + places.len())];
    let wide = shown.iter().map(|(text, _)| width(&escape(text)));
    let wide = wide.max().unwrap_or(0).min(WIDEST);
    let line = |(text, help): &(String, String)| {
        let text = pad_end(&cut(&escape(text), wide), wide);
        format!(" {text}  {} ", escape(help))
    };
    let mut lines: Vec<_> = shown.iter().map(line).collect();
    let below = all.len() - first - shown.len();
    if let Some(last) = lines.last_mut().filter(|_| below > 0) {
        let more = app.settings.look.glyph(Glyph::More);
        *last = format!("{last} {more} {below} more ");
    }
    let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let lines = lines.into_iter().zip(places).enumerate();
    let on_screen = lines.map(|(nth, (line, row))| {
        let room = widest.min(usize::from(row.width.saturating_sub(x + 1)));
        let place = Rect {
            x: row.x + x,
            width: u16::try_from(room).unwrap_or(0),
            ..row
        };
        (first + nth, pad_end(&cut(&line, room), room), place)
    });
    on_screen.collect()
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if area.is_empty() {
        return;
    }
    let (look, filter) = (&app.settings.look, &session.filter);
    let columns = usize::from(area.width);
    let counts = cut(&counts(session, look, columns / 2), columns / 2);
    let mut line = label(filter, look, columns);
    let used = spans::width(&line);
    let room = columns.saturating_sub(used + width(&counts) + 3);
    match app.top::<Prompt>() {
        Some(prompt) if app.edits_filter() => {
            let (text, caret) = typed(&prompt.input, room);
            let x = area.x + u16::try_from(used + caret).unwrap_or(0);
            frame.set_cursor_position(Position::new(x.min(area.right() - 1), area.y));
            line.push((Role::Text, pad_end(&text, room)));
        }
        _ => {
            let text = cut(&escape(&filter.text), room);
            let left = room - width(&text);
            let wrong = filter.error.as_ref().map_or_else(String::new, |error| {
                cut(&format!("  {}", escape(&error.message)), left)
            });
            let role = if filter.off { Role::Faint } else { Role::Text };
            let blank = " ".repeat(left - width(&wrong));
            line.extend([(role, text), (Role::Bad, wrong), (Role::Text, blank)]);
        }
    }
    line.push((Role::Faint, format!("  {counts} ")));
    frame.render_widget(spans::line(line, *look), area);
}

fn label(filter: &Filter, look: &Look, columns: usize) -> Spans {
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
        (Role::Prompt, word.to_owned()),
        (role, format!("{} ", look.glyph(glyph))),
    ]
}

/// The number of rows, in `room` columns if that can be: while the text is no filter, the rows are
/// those of the filter before, `still is:failed, 13 of 38 shown`.
fn counts(session: &Session, look: &Look, room: usize) -> String {
    let found = found(session, look);
    let filter = &session.filter;
    if filter.error.is_none() || filter.off {
        return found;
    }
    let query = match filter.query.to_string() {
        all if all.is_empty() => "all".to_owned(),
        query => query,
    };
    let left = room.saturating_sub(width("still , ") + width(&found));
    format!("still {}, {found}", cut(&escape(&query), left))
}

/// `37 of 1 204 shown`, or how far the scan is.
fn found(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let shown = list.until.map(|_| list.len() as u64);
    let (scan, hits) = (&list.scan, shown.unwrap_or(list.index.items()));
    let is_on = session.filter.is_on();
    let noun = if is_on { "hit" } else { "row" };
    let dot = look.glyph(Glyph::Dot);
    let (some, percent) = (plural(hits, noun), scan.percent);
    match scan.total {
        _ if !scan.is_answered => "scanning".to_owned(),
        _ if scan.stopped => format!("partial: {some} in the newest {percent} %"),
        _ if !scan.done => format!("scanning {percent} % {dot} {some} {dot} Ctrl-C stops"),
        Some(total) if is_on => format!("{} of {} shown", count(hits), count(total.max(hits))),
        _ => plural(hits, "row"),
    }
}
