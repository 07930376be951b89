//! How long it takes until something is to be seen, and how much memory it takes to see it all.

use crate::support::machine::peak_memory;
use crate::support::recorder_table::Row;
use crate::support::stats::{largest, median};
use crate::viewer::{self, ms, show_ms};
use crate::{Setup, generate};

const FIRST_PAINT_MS: f64 = 100.0;
const MEMORY_MB: f64 = 100.0;

/// From the start of the program to the first rows.
pub fn first_paint(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let mut took = Vec::new();
    for _ in 0..setup.amount(15, 4) {
        let terminal = viewer::open(&path, None)?;
        let shown = terminal.wait_for(viewer::ROW);
        took.push(ms(shown.since(viewer::START)));
        viewer::quit(terminal);
    }
    let what = format!("first paint, {} frames", setup.frames());
    let row = Row::at_most(what, FIRST_PAINT_MS, median(&took), show_ms);
    Ok(vec![
        row.and(format!("at worst {}", show_ms(largest(&took)))),
    ])
}

/// The most that it takes with all rows known, after paging through them, and how much ten
/// thousand keys add.
pub fn memory(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let mut terminal = viewer::open(&path, None)?;
    terminal.wait_for(viewer::ROW);
    viewer::wait_until_calm(&terminal);
    for keys in ["g", "G", "w", "g", "G", "w", "2", "3", "4", "1"] {
        terminal.press(keys);
        viewer::wait_until_calm(&terminal);
    }
    let mb = |terminal: &crate::support::terminal::Terminal| -> anyhow::Result<f64> {
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        let mb = peak_memory(terminal.pid())? as f64 / 1e6;
        Ok(mb)
    };
    let before = mb(&terminal)?;
    // As a keyboard repeats: faster than anybody reads, in the order in which caches fill.
    for _ in 0..setup.amount(200, 20) {
        terminal.press(&"k".repeat(50));
        viewer::wait_until_calm_briefly(&terminal);
    }
    let after = mb(&terminal)?;
    viewer::quit(terminal);
    let show = |mb| format!("{mb:.0} MB");
    let what = format!("memory, {} frames, every view", setup.frames());
    Ok(vec![
        Row::at_most(what, MEMORY_MB, before, show),
        Row::remark(
            "what a key held down adds to it",
            format!("{:.1} MB", after - before),
        ),
    ])
}
