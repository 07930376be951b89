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

use crate::protocol::message::Direction;
use crate::text::{count, cut, cut_middle, duration, escape, pad_end, pad_start, since, width};
use crate::trace::clock::Moment;
use crate::trace::exchange::Status;
use crate::tui::app::{App, Focus, Session, View};
use crate::tui::layout;
use crate::tui::theme::{Glyph, Look, Role};
use crate::tui::widget::{self, bars};
use crate::tui::worker::timeline::{Bar, Picture, Window};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Columns of the number of a row.
const NUMBER: usize = 7;

/// Columns from one label of the axis to the next, at least.
const LABELS: usize = 14;

/// Where the parts are.
struct Parts {
    /// Density and axis; empty where there is no room.
    head: Rect,
    rows: Rect,
    /// Columns of what stands before the bars.
    label: usize,
    /// Columns of the bars.
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
#[must_use]
pub fn size(app: &App) -> (usize, usize) {
    placed(app).map_or((0, 1), |parts| {
        (parts.columns, usize::from(parts.rows.height))
    })
}

/// The row at this cell of the screen, counted from the first of the picture.
#[must_use]
pub fn hit(app: &App, (x, y): (u16, u16)) -> Option<usize> {
    let (parts, session) = (placed(app)?, app.session.as_deref()?);
    let state = &session.timeline;
    let top = state.top(usize::from(parts.rows.height));
    let row = top + usize::from(y.saturating_sub(parts.rows.y));
    let rows = state.picture.as_deref()?.rows.len();
    (parts.rows.contains((x, y).into()) && row < rows).then_some(row)
}

/// Draws it.
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
        let text = match picture.looking || picture.percent < 100 {
            true => "looking for exchanges",
            false => "no exchange in this range",
        };
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), parts.rows);
        return;
    }
    let (top, cursor) = (
        state.top(usize::from(parts.rows.height)),
        state.cursor_row(),
    );
    let now = match session.until() {
        Some(_) => Moment(picture.end_ns),
        None => session.now(app.now).max(Moment(picture.end_ns)),
    };
    for ((at, bar), area) in picture
        .rows
        .iter()
        .enumerate()
        .skip(top)
        .zip(parts.rows.rows())
    {
        let selected = (at == cursor).then_some(match focus {
            true => Role::Selected,
            false => Role::SelectedElsewhere,
        });
        let line = row(look, bar, picture.window, &parts, selected, now);
        frame.render_widget(line, area);
    }
}

/// What the signs mean.
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
        let title = cut(&format!("{} at most", count(most)), parts.label);
        lines.push(Line::from(vec![
            Span::styled(pad_start(&title, parts.label), look.style(Role::Faint)),
            Span::raw(" "),
            Span::styled(cut(&density, parts.columns), look.style(Role::Notification)),
        ]));
    }
    let axis = axis(look, picture.window, parts.columns);
    lines.push(Line::styled(
        format!("{before}{axis}"),
        look.style(Role::Faint),
    ));
    for (line, area) in lines.into_iter().zip(parts.head.rows()) {
        frame.render_widget(line, area);
    }
}

/// Labels at round times.
fn axis(look: &Look, window: Window, columns: usize) -> String {
    let mark = look.glyph(Glyph::Cursor);
    let step = step(window.span(), columns);
    let mut line = String::new();
    let mut at = window.from.div_ceil(step) * step;
    while let Some(column) = window.column(Moment(at), columns) {
        let label = format!("{mark}{}", label(at, step));
        if column >= width(&line) && column + width(&label) <= columns {
            line = pad_end(&line, column);
            line.push_str(&label);
        }
        at = at.saturating_add(step);
    }
    line
}

/// The shortest round time that is at least as long as [`LABELS`] columns.
fn step(span: u64, columns: usize) -> u64 {
    const MINUTE: u64 = 60_000_000_000;
    let labels = (columns / LABELS).max(1) as u64;
    let least = (span / labels).max(1);
    let mut decade = 1_u64;
    while decade < MINUTE {
        for times in [1, 2, 5] {
            let step = decade.saturating_mul(times);
            if step >= least && step < MINUTE {
                return step;
            }
        }
        decade = decade.saturating_mul(10);
        if decade == 10_000_000_000 {
            break;
        }
    }
    let longer = [10, 30].map(|seconds| seconds * 1_000_000_000);
    let minutes = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map(|minutes| minutes * MINUTE);
    let mut steps = longer.into_iter().chain(minutes);
    let found = steps.find(|step| *step >= least);
    found.unwrap_or_else(|| least.div_ceil(1440 * MINUTE) * 1440 * MINUTE)
}

/// A time as exact as the step from one label to the next.
fn label(at: u64, step: u64) -> String {
    let text = since(at);
    if step >= 1_000_000_000 {
        return text.split('.').next().unwrap_or_default().to_owned();
    }
    if step >= 1_000_000 {
        return text;
    }
    format!("{text}{:03}", at / 1000 % 1000)
}

fn row(
    look: &Look,
    bar: &Bar,
    window: Window,
    parts: &Parts,
    selected: Option<Role>,
    now: Moment,
) -> Line<'static> {
    let exchange = &bar.exchange;
    let arrow = look.glyph(match exchange.direction {
        Direction::ClientToServer => Glyph::ToServer,
        Direction::ServerToClient => Glyph::ToClient,
    });
    let what = exchange.name.as_deref().filter(|name| !name.is_empty());
    let what = escape(what.unwrap_or(&exchange.method)).into_owned();
    let number = match parts.label {
        ..20 => String::new(),
        _ => pad_start(&format!("#{}", bar.key.seq.0), NUMBER) + " ",
    };
    let room = parts
        .label
        .saturating_sub(width(&number) + width(arrow) + 1);
    let what = match what.contains("://") {
        true => cut_middle(&what, room),
        false => cut(&what, room),
    };
    let text = pad_end(&format!("{number}{arrow} {what}"), parts.label);
    let role = match exchange.direction {
        Direction::ServerToClient => Role::FromServer,
        Direction::ClientToServer => Role::Text,
    };
    let style = look.style(selected.unwrap_or(role));
    let mut spans = vec![Span::styled(text, style), Span::raw(" ")];
    spans.extend(cells(look, bar, window, parts.columns, now));
    Line::from(spans)
}

/// The bar of an exchange, and its latency where there is room.
fn cells(
    look: &Look,
    bar: &Bar,
    window: Window,
    columns: usize,
    now: Moment,
) -> Vec<Span<'static>> {
    let exchange = &bar.exchange;
    let end = ended(bar, now);
    let from = clamped(window, exchange.t_request, columns);
    let to = clamped(window, end.unwrap_or(Moment(window.to)), columns).max(from);
    let mut cells = vec![(" ", Role::Text); columns];
    let own = exchange.direction == Direction::ServerToClient;
    let (glyph, role) = match own {
        true => (Glyph::Hatched, Role::FromServer),
        false => (Glyph::Bar, role(exchange.status)),
    };
    let mut put = |column: usize, glyph: Glyph, role: Role| {
        if let Some(cell) = cells.get_mut(column) {
            *cell = (look.glyph(glyph), role);
        }
    };
    (from..=to).for_each(|column| put(column, glyph, role));
    for (asked, answered) in &bar.meanwhile.asked {
        let (first, last) = (
            clamped(window, *asked, columns),
            clamped(window, answered.unwrap_or(Moment(window.to)), columns),
        );
        (first.max(from)..=last.min(to)).for_each(|at| put(at, Glyph::Hatched, Role::FromServer));
    }
    for at in bar
        .meanwhile
        .progress
        .iter()
        .filter_map(|at| window.column(*at, columns))
    {
        put(at, Glyph::Tick, role);
    }
    for at in bar
        .meanwhile
        .asked
        .iter()
        .filter_map(|(at, _)| window.column(*at, columns))
    {
        put(at, Glyph::Diamond, Role::FromServer);
    }
    let ends_here = end.is_none_or(|end| window.column(end, columns).is_some());
    match (end, exchange.status) {
        (None, _) => put(to, Glyph::Running, Role::Open),
        (_, status) if ends_here && status.is_failure() => put(to, Glyph::Failed, Role::Bad),
        (_, Status::Cancelled) if ends_here => put(to, Glyph::Times, Role::Warn),
        _ => {}
    }
    let time = duration(
        end.unwrap_or(now)
            .since(exchange.t_request)
            .as_nanos()
            .try_into()
            .unwrap_or(u64::MAX),
    );
    beside(look, &cells, (from, to), &time)
}

/// The cells, with the time after the bar, or before it.
fn beside(
    look: &Look,
    cells: &[(&'static str, Role)],
    (from, to): (usize, usize),
    time: &str,
) -> Vec<Span<'static>> {
    let wide = width(time) + 1;
    let span = |&(text, role): &(&'static str, Role)| Span::styled(text, look.style(role));
    let faint = |text: String| Span::styled(text, look.style(Role::Faint));
    if to + 1 + wide <= cells.len() {
        let mut spans: Vec<_> = cells[..=to].iter().map(span).collect();
        spans.push(faint(format!(" {time}")));
        return spans;
    }
    if from >= wide {
        let mut spans = vec![faint(pad_start(&format!("{time} "), from))];
        spans.extend(cells[from..].iter().map(span));
        return spans;
    }
    cells.iter().map(span).collect()
}

/// When nothing more was waited for, if that is so.
fn ended(bar: &Bar, now: Moment) -> Option<Moment> {
    let exchange = &bar.exchange;
    match exchange.status {
        Status::Open | Status::Listening => None,
        Status::Cancelled => bar.meanwhile.cancelled.or(exchange.t_response_last),
        // What was never answered was waited for until the end.
        Status::Lost | Status::Unanswered => exchange.t_response_last.or(Some(now)),
        _ => exchange.t_response_last,
    }
}

/// The column of a moment, or the first or last one if it lies outside.
fn clamped(window: Window, at: Moment, columns: usize) -> usize {
    let at = Moment(at.0.clamp(window.from, window.to));
    window.column(at, columns).unwrap_or(0)
}

fn role(status: Status) -> Role {
    match status {
        Status::Open | Status::Listening => Role::Open,
        Status::Cancelled | Status::Late => Role::Warn,
        status if status.is_failure() => Role::Bad,
        _ => Role::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::figures::Meanwhile;
    use crate::trace::exchange::Exchange;
    use crate::trace::item::ItemKey;

    const S: u64 = 1_000_000_000;

    fn drawn(bar: &Bar, columns: usize) -> String {
        let window = Window {
            from: 0,
            to: 10 * S,
        };
        let cells = cells(&Look::default(), bar, window, columns, Moment(10 * S));
        cells.iter().map(|span| &*span.content).collect()
    }

    fn bar(from: u64, to: Option<u64>, status: Status) -> Bar {
        Bar {
            key: ItemKey::default(),
            exchange: Box::new(Exchange {
                t_request: Moment(from * S),
                t_response: to.map(|to| Moment(to * S)),
                t_response_last: to.map(|to| Moment(to * S)),
                status,
                ..Exchange::bare()
            }),
            meanwhile: Meanwhile::default(),
        }
    }

    #[test]
    fn a_bar_says_how_it_ended_and_where_the_client_was_asked() {
        assert_eq!(drawn(&bar(2, Some(4), Status::Ok), 20), "    █████ 2.0 s");
        assert_eq!(
            drawn(&bar(2, Some(4), Status::Error), 20),
            "    ████✗ 2.0 s"
        );
        assert_eq!(
            drawn(&bar(8, None, Status::Open), 20),
            "          2.0 s ███…"
        );
        let mut asks = bar(0, Some(9), Status::Ok);
        asks.meanwhile.asked = vec![(Moment(3 * S), Some(Moment(6 * S)))];
        asks.meanwhile.progress = vec![Moment(S), Moment(99 * S)];
        assert_eq!(drawn(&asks, 10), "█┃█◆▒▒▒███");
    }

    #[test]
    fn labels_of_the_axis_are_round_and_do_not_touch() {
        let look = Look::default();
        let window = |from, to| Window { from, to };
        let line = axis(&look, window(0, 12 * S), 60);
        assert_eq!(line.matches('▏').count(), 3, "{line}");
        assert!(
            line.starts_with("▏00:00 ") && line.contains("▏00:05 "),
            "{line}"
        );
        let fine = axis(&look, window(1_000_000, 3_000_000), 60);
        assert!(fine.contains("00:00.001500"), "{fine}");
        let week = axis(&look, window(0, 7 * 24 * 3600 * S), 60);
        assert!(week.contains('▏') && width(&week) <= 60, "{week}");
    }
}
