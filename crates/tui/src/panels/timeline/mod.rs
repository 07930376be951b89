//! The rows of the list in time.
//!
//! ```text
//!                          ▁   ▂█▁            ▁      exchanges that started there
//!                       ▏00:00      ▏00:05      ▏00:10
//!    1 → initialize        █ 127 ms
//!   22 → climate_report         ██┃█┃████✗ 6.0 s
//!   42 → plan_trip                   ██◆▒▒▒▒▒██ 1.7 s
//!   50 → watch_storm                          ███…
//! ```
//!
//! A bar goes from request to response; hatched where the server waits for its client.

mod bar;
pub mod timeline_data;

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::panels::filter::{self, narrowed};
use crate::panels::list;
use crate::theme::{Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::widget::spans::{self, Spans};
use crate::worker::errand::Place;
use crate::worker::job::{Slot, Source};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, cut_middle, duration, escape, pad_end, pad_start, width};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;
use timeline_data::Ask;
pub use timeline_data::{Bar, Picture, Timeline, Window};

/// The shortest range, nanoseconds: the recorder's clock says nothing finer.
const SHORTEST_NS: u64 = 10_000;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = size(app, session).1;
    let state = &mut session.timeline;
    match action {
        Action::ZoomIn => zoom(state, false),
        Action::ZoomOut => zoom(state, true),
        Action::PanLeft => pan(state, false),
        Action::PanRight => pan(state, true),
        Action::FilterRange => return filter_range(app, session),
        Action::Open => return open(session),
        Action::Top => state.cursor = Some(ItemKey::default()),
        Action::Bottom => state.cursor = None,
        action => {
            let (at, picture) = (state.cursor_row(), state.picture.as_deref()?);
            let to = moved(action, at, picture.rows.len(), page)?;
            match action {
                Action::Down if at == to && !picture.more.1 => pan(state, true),
                Action::Up if at == to && !picture.more.0 => pan(state, false),
                _ => state.put(to, state.top(page), page),
            }
        }
    }
    Some(vec![])
}

/// Filters to the range on the screen.
fn filter_range(app: &mut App, session: &mut Session) -> Option<Effects> {
    let window = session.timeline.picture.as_deref()?.window;
    let query = within_range(session.filter.in_force(), window);
    Some(filter::set(app, session, &query.to_string()))
}

/// The filter with this range in place of the one that it had.
fn within_range(query: &Query, window: Window) -> Query {
    let number = |ns| i64::try_from(ns).unwrap_or(i64::MAX);
    let time = Subject::Field(Field::Time);
    let range = Expr::Compare {
        subject: time.clone(),
        op: Op::Contains,
        value: Value::Range(number(window.from)..=number(window.to)),
    };
    let is_range = |expr: &Expr| matches!(expr, Expr::Compare { subject, .. } if *subject == time);
    let others = match query.expr.clone() {
        Some(Expr::And(mut all)) => {
            all.retain(|expr| !is_range(expr));
            all
        }
        expr => expr.into_iter().filter(|expr| !is_range(expr)).collect(),
    };
    narrowed(&Query::default(), others.into_iter().chain([range]))
}

fn open(session: &mut Session) -> Option<Effects> {
    let key = session.timeline.key(session.timeline.cursor_row())?;
    Some(list::goto(session, key.seq))
}

/// Asks for what the screen lacks: another picture, more rows near those on the screen, or from
/// time to time what was recorded since.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let counts = session.counts(View::Timeline)?;
    let size = size(app, session);
    let state = &mut session.timeline;
    if state.asked.what.is_none() && !session.list.follows() {
        state.cursor = session.list.selected();
    }
    let mut ask = Ask {
        query: session.filter.in_force().clone(),
        window: state.window,
        size,
        anchor: state.cursor,
    };
    // Rows around another cursor are read as soon as the screen comes near the end of those that
    // are there.
    let has_rows = state.asked.answered_ns.is_none() || !lacks_rows(state, size.1);
    if let Some(before) = state.asked.what.as_ref().filter(|_| has_rows) {
        let same = Ask {
            anchor: before.anchor,
            ..ask.clone()
        };
        if same == *before {
            ask = same;
        }
    }
    (state.asked).renew(ask.clone(), counts, app.now.ui_ns)?;
    let read = move |source: &Source<'_>, place: &Place<'_>| {
        let tell = |picture| {
            place.tell(|viewer| {
                viewer.in_session(|_, session| drawn(session, picture));
            });
        };
        timeline_data::read(source, &ask, &tell)
    };
    Some(app.questions.read(Slot::Timeline, session, read, counted))
}

/// The whole picture is there.
fn counted(app: &mut App, session: &mut Session, picture: Box<Picture>) -> Effects {
    session.timeline.asked.answered_ns = Some(app.now.ui_ns);
    drawn(session, picture)
}

fn drawn(session: &mut Session, mut picture: Box<Picture>) -> Effects {
    let state = &mut session.timeline;
    // Until it is counted anew, the density of the same range stays.
    let before = state.picture.take();
    let before = before.filter(|one| one.window == picture.window);
    if let Some(before) = before.filter(|_| picture.density.is_empty()) {
        picture.density = before.density;
    }
    state.picture = Some(picture);
    vec![]
}

/// Whether less than half a screen of rows is left above or below the screen.
fn lacks_rows(state: &Timeline, page: usize) -> bool {
    let (top, near) = (state.top(page), page / 2);
    let is_near = |picture: &Picture| {
        (picture.more.0 && top < near)
            || (picture.more.1 && top + page + near >= picture.rows.len())
    };
    state.picture.as_deref().is_some_and(is_near)
}

/// A click selects a row. Returns whether one is there.
pub fn click(app: &App, session: &mut Session, cell: (u16, u16)) -> bool {
    let area = parts(layout::session(app, session).main).rows;
    let page = usize::from(area.height);
    let state = &mut session.timeline;
    let row = state.top(page) + usize::from(cell.1.saturating_sub(area.y));
    let is_row = area.contains(cell.into()) && state.key(row).is_some();
    if is_row {
        state.put(row, state.top(page), page);
    }
    is_row
}

/// Scrolls. The cursor stays on its row as long as that is on the screen.
pub fn wheel(app: &App, session: &mut Session, by: isize) {
    let page = size(app, session).1;
    let state = &mut session.timeline;
    let rows = state.picture.as_deref().map_or(0, |one| one.rows.len());
    let top = frame::turned(state.top(page), by, rows, page);
    let last = (top + page).saturating_sub(1).max(top);
    state.put(state.cursor_row().clamp(top, last), top, page);
}

/// Halves or doubles the range. What the cursor is on stays where it is on the screen.
fn zoom(state: &mut Timeline, out: bool) {
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let window = state.window.unwrap_or(picture.window);
    let bar = picture.rows.get(state.cursor_row());
    let middle = window.from + window.span() / 2;
    let at = bar.map_or(middle, |bar| bar.exchange.t_request.0);
    let at = at.clamp(window.from, window.to);
    let span = [window.span() / 2, window.span().saturating_mul(2)][usize::from(out)];
    let span = span.max(SHORTEST_NS);
    let before = u128::from(at - window.from) * u128::from(span) / u128::from(window.span());
    let from = at.saturating_sub(u64::try_from(before).unwrap_or(0));
    state.window = within(from, span, picture.end_ns);
}

/// Shows what was half a screen earlier or later.
fn pan(state: &mut Timeline, later: bool) {
    let (Some(picture), Some(window)) = (state.picture.as_deref(), state.window) else {
        return;
    };
    let half = (window.span() / 2).cast_signed();
    let by = if later { half } else { -half };
    let from = window.from.saturating_add_signed(by);
    state.window = within(from, window.span(), picture.end_ns);
}

/// A range of this length as near to `from` as the recording has it; none if it has no more.
fn within(from: u64, span: u64, end: u64) -> Option<Window> {
    if span >= end {
        return None;
    }
    let from = from.min(end - span);
    let to = from + span;
    Some(Window { from, to })
}

struct Parts {
    /// Density and axis; empty where there is no room.
    head: Rect,
    rows: Rect,
    /// Columns of what stands before the bars.
    label: usize,
    columns: usize,
}

fn parts(pane: Rect) -> Parts {
    let inner = pane.inner(Margin::new(1, 1));
    let head = Constraint::Length(if inner.height < 6 { 0 } else { 2 });
    let [head, rows] = Layout::vertical([head, Constraint::Fill(1)]).areas(inner);
    let wide = usize::from(inner.width);
    let label = match wide {
        ..50 => wide / 3,
        50..90 => 22,
        90..140 => 32,
        _ => 42,
    };
    Parts {
        head,
        rows,
        label,
        columns: wide.saturating_sub(label + 1),
    }
}

/// Columns of the bars, and rows on the screen.
pub fn size(app: &App, session: &Session) -> (usize, usize) {
    let parts = parts(layout::session(app, session).main);
    (parts.columns, usize::from(parts.rows.height))
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let has_keys = session.focus == Focus::Main;
    let state = &session.timeline;
    let now = session.now(app.now);
    let picture = state.picture.as_deref();
    let picture = picture.map(|picture| (picture, window_until(state, picture, now)));
    let foot = picture.map_or_else(|| "reading".to_owned(), |(it, window)| foot(it, window));
    let title = title(look, usize::from(area.width.saturating_sub(4)));
    frame::draw(look, &title, &foot, has_keys, area, frame);
    let Some((picture, window)) = picture else {
        return;
    };
    let parts = parts(area);
    draw_head(look, picture, window, &parts, frame);
    if picture.rows.is_empty() {
        let line = Line::styled("no exchange in this range", look.style(Role::Faint));
        return frame.render_widget(line, parts.rows);
    }
    let top = state.top(usize::from(parts.rows.height));
    let cursor = state.cursor_row();
    let now = now.max(Moment(picture.end_ns));
    let last = picture.rows.last().map(|last| number(last).len());
    let rows = picture.rows.iter().enumerate().skip(top);
    for ((at, bar), area) in rows.zip(parts.rows.rows()) {
        let number = pad_start(&number(bar), last.unwrap_or(0));
        let line = row(look, (bar, number), window, &parts, now);
        frame.render_widget(spans::line(line, *look), area);
        if cursor == at {
            spans::draw(look.style(Role::selected(has_keys)), area, frame);
        }
    }
}

/// The signs, as many as there is room for.
fn title(look: &Look, room: usize) -> String {
    let signs = [
        (&[Glyph::Bar][..], "call"),
        (&[Glyph::Failed], "failed"),
        (&[Glyph::Tick], "progress"),
        (&[Glyph::Diamond, Glyph::Hatched], "asks the client"),
    ];
    let mut title = "Timeline ".to_owned();
    for (glyphs, word) in signs {
        let glyphs: String = glyphs.iter().map(|glyph| look.glyph(*glyph)).collect();
        let sign = format!("  {glyphs} {word}");
        if width(&title) + width(&sign) > room {
            break;
        }
        title.push_str(&sign);
    }
    title
}

/// The range that is shown: while calls wait in a live session its end is now.
fn window_until(state: &Timeline, picture: &Picture, now: Moment) -> Window {
    let is_whole = state.window.is_none();
    let to = picture.window.to.max(if is_whole { now.0 } else { 0 });
    Window {
        to,
        ..picture.window
    }
}

/// The density of one range in the columns of another that holds it.
fn squeezed(density: &[u64], (of, within): (Window, Window)) -> Vec<u64> {
    let columns = density.len();
    let mut squeezed = vec![0; columns];
    for (at, number) in density.iter().enumerate() {
        let begins = u128::from(of.span()) * at as u128 / columns as u128;
        let begins = Moment(of.from + u64::try_from(begins).unwrap_or(0));
        if let Some(column) = within.column(begins, columns) {
            squeezed[column] += number;
        }
    }
    squeezed
}

fn foot(picture: &Picture, window: Window) -> String {
    let began: u64 = picture.density.iter().sum();
    let span = duration(window.span());
    format!("{} started in {span}", count(began))
}

fn draw_head(look: &Look, picture: &Picture, window: Window, parts: &Parts, frame: &mut Frame<'_>) {
    let density = squeezed(&picture.density, (picture.window, window));
    let most = density.iter().max().copied().unwrap_or(0);
    let density = frame::density(look, &density);
    let title = format!("started, at most {}", count(most));
    let title = pad_start(&cut(&title, parts.label), parts.label);
    let axis = bar::axis(look, window, parts.columns);
    let density = vec![
        (Role::Faint, format!("{title} ")),
        (Role::Notification, density),
    ];
    let axis = format!("{} {axis}", " ".repeat(parts.label));
    let lines = [density, vec![(Role::Faint, axis)]];
    spans::draw_lines(look, lines, parts.head, frame);
}

fn number(bar: &Bar) -> String {
    format!("#{}", bar.key.seq.0)
}

/// The label of a row and its bar.
fn row(
    look: &Look,
    (of, number): (&Bar, String),
    window: Window,
    parts: &Parts,
    now: Moment,
) -> Spans {
    let exchange = &of.exchange;
    let arrow = look.glyph(exchange.direction.into());
    let what = exchange.name.as_deref().filter(|name| !name.is_empty());
    let what = escape(what.unwrap_or(&exchange.method)).into_owned();
    let number = match parts.label {
        ..20 => String::new(),
        _ => number + " ",
    };
    let used = width(&number) + width(arrow) + 1;
    let cut_what = if what.contains("://") {
        cut_middle
    } else {
        cut
    };
    let what = cut_what(&what, parts.label.saturating_sub(used));
    let text = pad_end(&format!("{number}{arrow} {what}"), parts.label);
    let role = match exchange.direction {
        Direction::ServerToClient => Role::FromServer,
        Direction::ClientToServer => Role::Text,
    };
    let mut spans = vec![(role, text), (Role::Text, " ".to_owned())];
    spans.extend(bar::cells(look, of, window, parts.columns, now));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from: u64, to: u64) -> Window {
        Window { from, to }
    }

    #[test]
    fn a_range_stays_within_the_recording() {
        assert_eq!(within(90, 50, 100), Some(window(50, 100)));
        assert_eq!(within(0, 50, 100), Some(window(0, 50)));
        assert_eq!(within(10, 100, 100), None);
    }

    #[test]
    fn while_calls_wait_the_whole_range_ends_now() {
        let picture = Picture {
            window: window(0, 100),
            density: vec![1, 0, 2, 0],
            ..Picture::default()
        };
        let mut state = Timeline::default();
        let until = window_until(&state, &picture, Moment(200));
        assert_eq!(until, window(0, 200));
        let density = squeezed(&picture.density, (picture.window, until));
        assert_eq!(density, [1, 2, 0, 0]);
        state.window = Some(window(0, 100));
        assert_eq!(window_until(&state, &picture, Moment(200)), picture.window);
        let same = squeezed(&picture.density, (picture.window, picture.window));
        assert_eq!(same, picture.density);
    }

    #[test]
    fn zooming_in_and_out_again_comes_back_to_the_whole() {
        let mut state = Timeline {
            picture: Some(Box::new(Picture {
                window: window(0, 1_000_000_000),
                end_ns: 1_000_000_000,
                ..Picture::default()
            })),
            ..Timeline::default()
        };
        zoom(&mut state, false);
        assert_eq!(state.window, Some(window(250_000_000, 750_000_000)));
        pan(&mut state, true);
        assert_eq!(state.window, Some(window(500_000_000, 1_000_000_000)));
        pan(&mut state, true);
        assert_eq!(state.window, Some(window(500_000_000, 1_000_000_000)));
        zoom(&mut state, true);
        assert_eq!(state.window, None);
    }

    #[test]
    fn the_range_takes_the_place_of_the_one_before_in_a_filter_that_reads_back() {
        let query = Query::parse("method:tools/call time:1s..2s").unwrap();
        let query = within_range(&query, window(1_500_000_001, 3_000_000_000));
        let text = query.to_string();
        assert_eq!(text.matches("time").count(), 1, "{text}");
        assert_eq!(Query::parse(&text).as_ref(), Ok(&query), "{text}");
        let text = within_range(&Query::default(), window(0, 60_000_000_000)).to_string();
        assert!(Query::parse(&text).is_ok(), "{text}");
    }
}
