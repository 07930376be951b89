//! The axis of time, with labels at round times.

use crate::theme::{Glyph, Look};
use crate::worker::timeline::Window;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::text::{pad_end, since, width};

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

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

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
