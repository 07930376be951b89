//! The bar of one exchange, and the axis of time with labels at round times.

use super::timeline_data::{Bar, Window};
use crate::theme::{Glyph, Look, Role};
use crate::widget::spans::Spans;
use mcpreel_share::phrases;
use mcpreel_store::exchanges::Meanwhile;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, pad_end, pad_start, since, width};

/// The bar of an exchange, and its latency where there is room.
pub(super) fn cells(look: &Look, bar: &Bar, window: Window, columns: usize, now: Moment) -> Spans {
    let end = ended(bar, now);
    let column = |at| clamped(window, at, columns);
    let from = column(bar.exchange.t_request);
    let to = column(end.unwrap_or(Moment(window.to))).max(from);
    let mut cells = vec![(" ", Role::Text); columns];
    let mut put = |from: usize, to: usize, glyph, role| {
        if let Some(cells) = cells.get_mut(from..=to) {
            cells.fill((look.glyph(glyph), role));
        }
    };
    let (glyph, role) = match bar.exchange.direction {
        Direction::ServerToClient => (Glyph::Hatched, Role::FromServer),
        Direction::ClientToServer => (Glyph::Bar, role(&bar.exchange)),
    };
    put(from, to, glyph, role);
    let Meanwhile { asked, progress } = &bar.meanwhile;
    for (asked, answered) in asked {
        let answered = answered.unwrap_or(Moment(window.to));
        if answered.0 >= window.from && asked.0 <= window.to {
            let (from, to) = (column(*asked).max(from), column(answered).min(to));
            put(from, to, Glyph::Hatched, Role::FromServer);
        }
        if let Some(at) = window.column(*asked, columns) {
            put(at, at, Glyph::Diamond, Role::FromServer);
        }
    }
    for at in progress.iter().filter_map(|at| window.column(*at, columns)) {
        put(at, at, Glyph::Tick, role);
    }
    let ends_here = end.is_none_or(|end| window.column(end, columns).is_some());
    let sign = sign(&bar.exchange, end.is_some()).filter(|_| ends_here);
    if let Some((glyph, role)) = sign {
        put(to, to, glyph, role);
    }
    let time = time(&bar.exchange, end.unwrap_or(now), now);
    beside(&cells, (from, to), &time)
}

/// The sign at the end of the bar, if that is not the last cell of the bar.
fn sign(exchange: &Exchange, has_ended: bool) -> Option<(Glyph, Role)> {
    match exchange.status {
        _ if !has_ended => Some((Glyph::Running, Role::Open)),
        _ if exchange.has_failed() => Some((Glyph::Failed, Role::Bad)),
        Status::Cancelled | Status::UserCancelled => Some((Glyph::Times, Role::Warn)),
        Status::GivenUp | Status::AfterEof => Some((Glyph::Warning, Role::Warn)),
        _ => None,
    }
}

/// The text beside the bar, which ends at `end`: the latency, where that is known.
fn time(exchange: &Exchange, end: Moment, now: Moment) -> String {
    if let Status::GivenUp | Status::AfterEof = exchange.status {
        return exchange.status.as_str().to_owned();
    }
    let took = phrases::took(exchange, now);
    took.unwrap_or_else(|| duration(end.ns_since(exchange.t_request)))
}

/// The cells, with the time after the bar, or before it.
fn beside(cells: &[(&str, Role)], (from, to): (usize, usize), time: &str) -> Spans {
    let wide = width(time) + 1;
    let cells = cells.iter().map(|(text, role)| (*role, (*text).to_owned()));
    let mut spans: Spans = cells.collect();
    if to + 1 + wide <= spans.len() {
        spans.truncate(to + 1);
        spans.push((Role::Faint, format!(" {time}")));
    } else if from >= wide {
        let before = pad_start(&format!("{time} "), from);
        spans.splice(..from, [(Role::Faint, before)]);
    }
    spans
}

/// When nothing more was waited for, if that is so.
fn ended(bar: &Bar, now: Moment) -> Option<Moment> {
    let exchange = &bar.exchange;
    match exchange.status {
        Status::Open | Status::Listening => None,
        Status::Cancelled | Status::UserCancelled if exchange.response.is_none() => {
            exchange.t_cancelled.or(exchange.t_response_last)
        }
        // What was never answered was waited for until its stream broke, or until the end.
        Status::Lost | Status::Unanswered => exchange.t_response_last.or(Some(now)),
        // How long it was open nobody knows.
        Status::GivenUp | Status::AfterEof => Some(exchange.t_request),
        _ => exchange.t_response_last,
    }
}

/// The column of a moment, or the first or last one if it lies outside.
fn clamped(window: Window, at: Moment, columns: usize) -> usize {
    let at = Moment(at.0.clamp(window.from, window.to));
    window.column(at, columns).unwrap_or(0)
}

fn role(exchange: &Exchange) -> Role {
    match exchange.status {
        Status::Open | Status::Listening => Role::Open,
        _ if exchange.has_failed() => Role::Bad,
        Status::Cancelled
        | Status::UserCancelled
        | Status::Late
        | Status::GivenUp
        | Status::AfterEof => Role::Warn,
        _ => Role::Good,
    }
}

/// Columns from one label of the axis to the next, at least.
const LABELS: usize = 14;

pub(super) fn axis(look: &Look, window: Window, columns: usize) -> String {
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
    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 24 * 3600 * SECOND;
    let labels = (columns / LABELS).max(1) as u64;
    let least = (span / labels).max(1);
    let short = (0..10).flat_map(|decade| [1, 2, 5].map(|times| times * 10_u64.pow(decade)));
    let minutes = [1, 2, 5, 10, 15, 30, 60, 120, 360, 720].map(|minutes| minutes * 60 * SECOND);
    let long = [10 * SECOND, 30 * SECOND].into_iter().chain(minutes);
    let found = short.chain(long).find(|step| *step >= least);
    found.unwrap_or_else(|| least.div_ceil(DAY) * DAY)
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::item::ItemKey;

    const S: u64 = 1_000_000_000;

    fn drawn(bar: &Bar, columns: usize) -> String {
        let window = Window {
            from: 0,
            to: 10 * S,
        };
        let cells = cells(&Look::default(), bar, window, columns, Moment(10 * S));
        cells.into_iter().map(|(_, text)| text).collect()
    }

    fn bar(from: u64, to: Option<u64>, status: Status) -> Bar {
        Bar {
            key: ItemKey::default(),
            exchange: Box::new(Exchange {
                t_request: Moment(from * S),
                t_response: to.map(|to| Moment(to * S)),
                t_response_last: to.map(|to| Moment(to * S)),
                status,
                ..Exchange::begun(
                    mcpreel_wire::message::Direction::ClientToServer,
                    mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                    "tools/call",
                )
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
            "         >2.0 s ███…"
        );
        assert_eq!(drawn(&bar(2, None, Status::GivenUp), 20), "    ⚠ given-up");
        let mut cancelled = bar(2, None, Status::Cancelled);
        cancelled.exchange.t_cancelled = Some(Moment(4 * S));
        assert!(drawn(&cancelled, 20).ends_with(" >2.0 s"));
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
