//! The rows of the list in time.
//!
//! ```text
//!                          ▁   ▂█▁            ▁      exchanges that began there
//!                       ▏00:00      ▏00:05      ▏00:10
//!    1 → initialize        █ 127 ms
//!   22 → climate_report         ██┃█┃████✗ 6.0 s
//!   42 → plan_trip                   ██◆▒▒▒▒▒██ 1.7 s
//!   50 → watch_storm                          ███…
//! ```
//!
//! A bar goes from request to response; hatched where the server waits for its client.

mod bar;
pub mod picture;

pub use picture::{Bar, Picture, Timeline, Window};

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::filter::{self, all_of, conditions};
use crate::panels::list;
use crate::theme::{Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::frame;
use crate::worker::job::Slot;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, cut_middle, duration, escape, pad_end, pad_start, width};
use picture::{About, Ask, Asked, Drawing};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};

/// The picture of a recording that grows is drawn anew at most so often, nanoseconds.
const EVERY_NS: u64 = 500_000_000;

/// The shortest range, nanoseconds: the recorder's clock says nothing finer.
const SHORTEST_NS: u64 = 10_000;

/// Columns of the number of a row.
const NUMBER: usize = 7;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = size(app, session).1;
    let state = &mut session.timeline;
    if state.wheel.is_some() && moved(action, 0, 1, 1).is_some() {
        back_to_cursor(state, page);
        // The row under it is read first.
        if !matches!(action, Action::Top | Action::Bottom) && !state.has_cursor() {
            return Some(vec![]);
        }
    }
    match action {
        Action::ZoomIn => zoom(state, false),
        Action::ZoomOut => zoom(state, true),
        Action::PanLeft => pan(state, false),
        Action::PanRight => pan(state, true),
        Action::FilterRange => return Some(filter_range(app, session)),
        Action::Open => return Some(open(session)),
        Action::Top => {
            state.cursor = Some(ItemKey::default());
            state.offset = 0;
        }
        Action::Bottom => {
            state.cursor = None;
            state.offset = page.saturating_sub(1);
        }
        action => {
            let picture = state.picture.as_deref()?;
            let (at, rows) = (state.cursor_row(), picture.rows.len());
            let to = moved(action, at, rows, page)?;
            match action {
                Action::Down if at == to && !picture.more.1 => pan(state, true),
                Action::Up if at == to && !picture.more.0 => pan(state, false),
                _ => put_cursor(state, to, page),
            }
        }
    }
    Some(vec![])
}

/// The screen follows the cursor again, scrolled as little as is needed from where the wheel has
/// left it.
fn back_to_cursor(state: &mut Timeline, page: usize) {
    let (top, at) = (state.top(page), state.cursor_row());
    state.offset = at - frame::showing(at, top, page);
    state.wheel = None;
}

/// Puts the cursor on the row `to` and scrolls as far as it takes to see it.
fn put_cursor(state: &mut Timeline, to: usize, page: usize) {
    let top = state.top(page);
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    state.cursor = picture.rows.get(to).map(|bar| bar.key);
    state.offset = to - frame::showing(to, top, page);
    state.wheel = None;
}

/// Filters to the range on the screen.
fn filter_range(app: &mut App, session: &mut Session) -> Effects {
    let Some(picture) = session.timeline.picture.as_deref() else {
        return vec![];
    };
    let query = narrowed(session.filter.in_force(), picture.window);
    filter::set(app, session, &query.to_string())
}

fn open(session: &mut Session) -> Effects {
    let state = &session.timeline;
    let picture = state.picture.as_deref();
    let under = picture.and_then(|picture| picture.rows.get(state.cursor_row()));
    let under = under.filter(|_| state.has_cursor()).map(|bar| bar.key);
    let Some(ItemKey { seq, .. }) = under.or(state.cursor) else {
        return vec![];
    };
    session.view = View::Exchanges;
    list::goto(session, seq)
}

/// Something was drawn.
fn drawn(_: &mut App, session: &mut Session, picture: Box<Picture>) -> Effects {
    let state = &mut session.timeline;
    state.picture = Some(picture);
    if let Some(asked) = &mut state.asked {
        asked.is_answered = true;
    }
    vec![]
}

/// Asks for what the screen lacks: another picture, more rows near the cursor, or from time to
/// time what was recorded since.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    let size = size(app, session);
    let now = app.now.ui_ns;
    let vitals = session.vitals.as_deref();
    let Some(vitals) = vitals.filter(|_| session.view == View::Timeline) else {
        return vec![];
    };
    let frames = vitals.summary.frames;
    let state = &mut session.timeline;
    let about = About {
        query: session.filter.in_force().clone(),
        window: state.window,
        size,
    };
    if state.asked.is_none() && !session.list.follows() {
        state.cursor = session.list.selected();
    }
    let anchor = state.anchor();
    let mut is_same = false;
    if let Some(asked) = &state.asked {
        is_same = asked.about == about;
        let lacks_rows = asked.anchor != anchor && nears_end(state, size.1);
        let is_complete = state
            .picture
            .as_deref()
            .is_some_and(|picture| !picture.is_partial());
        let is_old =
            asked.frames != frames && is_complete && now.saturating_sub(asked.at_ns) >= EVERY_NS;
        if is_same && !(asked.is_answered && (lacks_rows || is_old)) {
            return vec![];
        }
    }
    let ask = Ask {
        query: about.query.clone(),
        window: about.window,
        columns: size.0,
        anchor,
        rows: size.1.max(10) * 2,
        is_whole: is_same,
    };
    state.asked = Some(Asked {
        at_ns: now,
        frames,
        about,
        anchor,
        is_answered: false,
    });
    vec![app.questions.ask(Slot::Timeline, Drawing::new(ask), drawn)]
}

/// Whether the cursor, or where the wheel has gone, is where more rows are needed than there are.
fn nears_end(state: &Timeline, page: usize) -> bool {
    let Some(picture) = state.picture.as_deref() else {
        return false;
    };
    let (at, page) = match state.wheel {
        Some(_) => (state.top(page), 2 * page),
        None => (state.cursor_row(), page),
    };
    (picture.more.0 && at < page) || (picture.more.1 && at + page >= picture.rows.len())
}

/// A click on a cell of the screen: selects the row there.
pub fn click(app: &mut App, session: &mut Session, (x, y): (u16, u16)) -> Effects {
    let page = size(app, session).1;
    let row = hit(app, session, (x, y));
    if let Some(row) = row {
        put_cursor(&mut session.timeline, row, page);
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor, which stays on its row
/// also when it had been riding on the last one.
pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let page = size(app, session).1;
    let state = &mut session.timeline;
    let Some(picture) = state.picture.as_deref() else {
        return vec![];
    };
    let top = state.top(page);
    let to = frame::turned(top, by, picture.rows.len(), page);
    if to == top {
        return vec![];
    }
    let key = |row: usize| picture.rows.get(row).map(|bar| bar.key);
    let (first, under) = (key(to), key(state.cursor_row()));
    state.wheel = first;
    state.cursor = state.cursor.or(under);
    vec![]
}

/// Halves or doubles the range. What the cursor is on stays where it is on the screen.
fn zoom(state: &mut Timeline, out: bool) {
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let window = state.window.unwrap_or(picture.window);
    let bar = picture.rows.get(state.cursor_row());
    let bar = bar.filter(|_| state.has_cursor());
    let middle = window.from + window.span() / 2;
    let at = bar.map_or(middle, |bar| bar.exchange.t_request.0);
    let at = at.clamp(window.from, window.to);
    let span = if out {
        window.span().saturating_mul(2)
    } else {
        (window.span() / 2).max(SHORTEST_NS)
    };
    let before = u128::from(at - window.from) * u128::from(span) / u128::from(window.span());
    let from = at.saturating_sub(u64::try_from(before).unwrap_or(0));
    state.window = within(from, span, picture.end_ns);
}

/// Shows what was half a screen earlier or later.
fn pan(state: &mut Timeline, later: bool) {
    let (Some(picture), Some(window)) = (state.picture.as_deref(), state.window) else {
        return;
    };
    let half = window.span() / 2;
    let from = if later {
        window.from.saturating_add(half)
    } else {
        window.from.saturating_sub(half)
    };
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

/// The filter with this range in place of the one that it had.
fn narrowed(query: &Query, window: Window) -> Query {
    let number = |ns| i64::try_from(ns).unwrap_or(i64::MAX);
    let range = Expr::Compare {
        subject: Subject::Field(Field::Time),
        op: Op::Contains,
        value: Value::Range(number(window.from)..=number(window.to)),
    };
    let is_range = |expr: &Expr| {
        matches!(
            expr,
            Expr::Compare {
                subject: Subject::Field(Field::Time),
                ..
            }
        )
    };
    let mut all = conditions(query);
    all.retain(|expr| !is_range(expr));
    all.push(range);
    all_of(all)
}

struct Parts {
    /// Density and axis; empty where there is no room.
    head: Rect,
    rows: Rect,
    /// Columns of what stands before the bars.
    label: usize,
    columns: usize,
}

fn parts(inner: Rect) -> Parts {
    let lines = match inner.height {
        ..4 => 0,
        4..7 => 1,
        _ => 2,
    };
    let wide = usize::from(inner.width);
    let label = match wide {
        ..50 => wide / 3,
        50..90 => 22,
        90..140 => 32,
        _ => 42,
    };
    Parts {
        head: Rect {
            height: lines,
            ..inner
        },
        rows: Rect {
            y: inner.y + lines,
            height: inner.height - lines,
            ..inner
        },
        label,
        columns: wide.saturating_sub(label + 1),
    }
}

fn placed(app: &App, session: &Session) -> Option<Parts> {
    let main = layout::session(app, session).main;
    (session.view == View::Timeline).then(|| parts(main.inner(Margin::new(1, 1))))
}

/// Columns of the bars, and rows on the screen.
pub fn size(app: &App, session: &Session) -> (usize, usize) {
    placed(app, session).map_or((0, 1), |parts| {
        (parts.columns, usize::from(parts.rows.height))
    })
}

/// The row at this cell of the screen, counted from the first of the picture.
pub fn hit(app: &App, session: &Session, (x, y): (u16, u16)) -> Option<usize> {
    let parts = placed(app, session)?;
    let state = &session.timeline;
    let top = state.top(usize::from(parts.rows.height));
    let row = top + usize::from(y.saturating_sub(parts.rows.y));
    let rows = state.picture.as_deref()?.rows.len();
    (parts.rows.contains((x, y).into()) && row < rows).then_some(row)
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.timeline;
    let foot = state
        .picture
        .as_deref()
        .map_or_else(|| "reading".to_owned(), foot);
    let inner = frame::draw(look, &title(look), &foot, focus, area, frame);
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let parts = parts(inner);
    draw_head(look, picture, &parts, frame);
    if picture.rows.is_empty() {
        let text = if picture.is_partial() {
            "looking for exchanges"
        } else {
            "no exchange in this range"
        };
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), parts.rows);
        return;
    }
    draw_rows(app, session, picture, &parts, frame);
}

fn draw_rows(
    app: &App,
    session: &Session,
    picture: &Picture,
    parts: &Parts,
    frame: &mut Frame<'_>,
) {
    let state = &session.timeline;
    let top = state.top(usize::from(parts.rows.height));
    let cursor = state.has_cursor().then(|| state.cursor_row());
    let role = match session.focus {
        Focus::Main => Role::Selected,
        Focus::Detail => Role::SelectedElsewhere,
    };
    let now = session.now(app.now).max(Moment(picture.end_ns));
    let rows = picture.rows.iter().enumerate().skip(top);
    for ((at, bar), area) in rows.zip(parts.rows.rows()) {
        let selected = (cursor == Some(at)).then_some(role);
        let look = &app.settings.look;
        frame.render_widget(row(look, bar, picture.window, parts, selected, now), area);
    }
}

fn title(look: &Look) -> String {
    format!(
        "Timeline   {} open  {} waits for the client  {} asks the client  {} progress  {} failed",
        look.glyph(Glyph::Bar),
        look.glyph(Glyph::Hatched),
        look.glyph(Glyph::Diamond),
        look.glyph(Glyph::Tick),
        look.glyph(Glyph::Failed),
    )
}

fn foot(picture: &Picture) -> String {
    let began: u64 = picture.density.iter().sum();
    let so_far = match picture.percent {
        100 if !picture.looking => String::new(),
        100 => ", looking for longer ones".to_owned(),
        percent => format!(" so far, {percent} %"),
    };
    let span = duration(picture.window.span());
    format!("{} began in {span}{so_far}", count(began))
}

fn draw_head(look: &Look, picture: &Picture, parts: &Parts, frame: &mut Frame<'_>) {
    let before = " ".repeat(parts.label + 1);
    let mut lines = Vec::new();
    if parts.head.height > 1 {
        let density = frame::density(look, &picture.density);
        let most = picture.density.iter().max().copied().unwrap_or(0);
        let at_most = look.glyph(Glyph::AtMost);
        let title = format!("{at_most} {} began per column", count(most));
        let title = cut(&title, parts.label);
        lines.push(Line::from(vec![
            Span::styled(pad_start(&title, parts.label), look.style(Role::Faint)),
            Span::raw(" "),
            Span::styled(cut(&density, parts.columns), look.style(Role::Notification)),
        ]));
    }
    let axis = bar::axis(look, picture.window, parts.columns);
    lines.push(Line::styled(
        format!("{before}{axis}"),
        look.style(Role::Faint),
    ));
    for (line, area) in lines.into_iter().zip(parts.head.rows()) {
        frame.render_widget(line, area);
    }
}

fn row(
    look: &Look,
    of: &Bar,
    window: Window,
    parts: &Parts,
    selected: Option<Role>,
    now: Moment,
) -> Line<'static> {
    let exchange = &of.exchange;
    let arrow = look.glyph(match exchange.direction {
        Direction::ClientToServer => Glyph::ToServer,
        Direction::ServerToClient => Glyph::ToClient,
    });
    let what = exchange.name.as_deref().filter(|name| !name.is_empty());
    let what = escape(what.unwrap_or(&exchange.method)).into_owned();
    let number = match parts.label {
        ..20 => String::new(),
        _ => pad_start(&format!("#{}", of.key.seq.0), NUMBER) + " ",
    };
    let room = parts
        .label
        .saturating_sub(width(&number) + width(arrow) + 1);
    let what = if what.contains("://") {
        cut_middle(&what, room)
    } else {
        cut(&what, room)
    };
    let text = pad_end(&format!("{number}{arrow} {what}"), parts.label);
    let role = match exchange.direction {
        Direction::ServerToClient => Role::FromServer,
        Direction::ClientToServer => Role::Text,
    };
    let style = look.style(selected.unwrap_or(role));
    let mut spans = vec![Span::styled(text, style), Span::raw(" ")];
    spans.extend(bar::cells(look, of, window, parts.columns, now));
    Line::from(spans)
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
        let query = narrowed(&query, window(1_500_000_001, 3_000_000_000));
        let text = query.to_string();
        assert_eq!(text.matches("time").count(), 1, "{text}");
        assert_eq!(Query::parse(&text).as_ref(), Ok(&query), "{text}");
        let text = narrowed(&Query::default(), window(0, 60_000_000_000)).to_string();
        assert!(Query::parse(&text).is_ok(), "{text}");
    }
}
