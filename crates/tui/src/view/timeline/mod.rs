//! The same rows in time.
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

mod axis;
mod bar;

use crate::app::{App, Focus, Session, View};
use crate::layout;
use crate::theme::{Glyph, Look, Role};
use crate::widget::{self, bars};
use crate::worker::timeline::{Bar, Picture, Window};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, cut, cut_middle, duration, escape, pad_end, pad_start, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Columns of the number of a row.
const NUMBER: usize = 7;

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

fn placed(app: &App) -> Option<Parts> {
    let session = app.session.as_deref()?;
    let main = layout::session(app, session).main;
    let shown = session.view == View::Timeline && main.width > 2 && main.height > 2;
    let (width, height) = (main.width.max(2) - 2, main.height.max(2) - 2);
    let inner = Rect::new(main.x + 1, main.y + 1, width, height);
    shown.then(|| parts(inner))
}

/// Columns of the bars, and rows on the screen.
pub fn size(app: &App) -> (usize, usize) {
    placed(app).map_or((0, 1), |parts| {
        (parts.columns, usize::from(parts.rows.height))
    })
}

/// The row at this cell of the screen, counted from the first of the picture.
pub fn hit(app: &App, (x, y): (u16, u16)) -> Option<usize> {
    let (parts, session) = (placed(app)?, app.session.as_deref()?);
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
    let inner = widget::frame::draw(look, &title(look), &foot, focus, area, frame);
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let parts = parts(inner);
    draw_head(look, picture, &parts, frame);
    if picture.rows.is_empty() {
        let text = if picture.looking || picture.percent < 100 {
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
        let density = bars::density(look, &picture.density);
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
    let axis = axis::axis(look, picture.window, parts.columns);
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
