//! From a key to the screen.

use crate::support::recorder_table::Row;
use crate::support::stats::{largest, quantile};
use crate::viewer::{self, ms, show_ms};
use crate::{Setup, generate};

const P95_MS: f64 = 16.0;
const NEVER_OVER_MS: f64 = 100.0;

/// Keys that move, page, jump to either end, and go to the detail and back.
const KEYS: [&str; 14] = [
    "k",
    "k",
    "\u{15}",
    "k",
    "\u{1b}[5~",
    "j",
    "\u{4}",
    "g",
    "j",
    "G",
    "k",
    "\r",
    "j",
    "\u{1b}",
];

/// One key at a time, each after the picture of the one before.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let mut terminal = viewer::open(&path, None)?;
    terminal.wait_for(viewer::ROW);
    let mut early = Vec::new();
    // While the rows are still being found.
    for _ in 0..6 {
        early.extend(viewer::press(&mut terminal, "k").map(ms));
    }
    viewer::wait_until_calm(&terminal);
    let mut took = Vec::new();
    for _ in 0..setup.amount(40, 5) {
        for key in KEYS {
            took.extend(viewer::press(&mut terminal, key).map(ms));
        }
    }
    viewer::quit(terminal);
    let frames = setup.frames();
    let worst = largest(&took).max(largest(&early));
    Ok(vec![
        Row::at_most(
            format!("key to screen, p95, {frames} frames"),
            P95_MS,
            quantile(&took, 0.95),
            show_ms,
        )
        .and(format!("median {}", show_ms(quantile(&took, 0.5)))),
        Row::at_most("key to screen, at worst", NEVER_OVER_MS, worst, show_ms).and(format!(
            "{} while rows are still found",
            show_ms(largest(&early))
        )),
    ])
}
