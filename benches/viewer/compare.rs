//! Two recordings beside each other.

use crate::support::machine::peak_memory;
use crate::support::recorder_table::Row;
use crate::support::stats::{largest, quantile};
use crate::support::terminal::Terminal;
use crate::viewer::{self, ms, show_ms};
use crate::{Setup, generate};
use anyhow::Context as _;
use std::time::Duration;

/// A comparison that takes longer is none.
const LONGEST: Duration = Duration::from_mins(5);

const P95_MS: f64 = 16.0;
const MEMORY_MB: f64 = 100.0;

/// Keys that walk, page, jump to either end and unfold.
const KEYS: [&str; 10] = ["j", "e", "j", "\u{4}", "E", "G", "k", "g", "\u{1b}[6~", "k"];

/// From the key to the comparison, the keys meanwhile and afterwards, and what it takes.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let folder = generate::pair(setup.frames())?;
    let mut terminal = viewer::folder(&folder)?;
    terminal.wait_for("2 recordings");
    viewer::wait_until_calm(&terminal);
    terminal.press("g j");
    let asked = terminal.press("d");
    // What it takes to see that a key did something while it compares: the help comes and goes.
    let mut early = Vec::new();
    while early.len() < 40 && !terminal.text().contains("e E walk") {
        // Progress changes the screen as well. An Esc that finds no help would end the comparison.
        let has_help = |screen: &vt100::Screen| screen.contents().contains("┌ keys ");
        let opened = viewer::press_until(&mut terminal, "?", has_help).context("no help came")?;
        let closed = viewer::press_until(&mut terminal, "\u{1b}", |it| !has_help(it));
        early.extend([Some(opened), closed].into_iter().flatten().map(ms));
    }
    let is_there = |screen: &vt100::Screen| screen.contents().contains("e E walk");
    let shown = terminal.wait_at_most(LONGEST, is_there);
    let shown = shown.with_context(|| format!("it was not shown:\n{}", terminal.text()))?;
    let mut took = Vec::new();
    for round in 0..setup.amount(12, 5) {
        if round % 4 == 2 {
            terminal.press(" ");
            viewer::wait_until_calm(&terminal);
        }
        for key in KEYS {
            took.extend(viewer::press(&mut terminal, key).map(ms));
        }
    }
    let mb = memory(&terminal)?;
    // A key right behind Esc would be another key.
    viewer::press_until(&mut terminal, "\u{1b}", |screen| !is_there(screen)).context("it stays")?;
    viewer::quit(terminal);
    let frames = setup.frames();
    Ok(vec![
        Row::remark(
            format!("a comparison of two recordings of {frames} frames is shown"),
            format!("after {:.1} s", shown.since(asked).as_secs_f64()),
        ),
        Row::at_most(
            "key to screen, p95, while it compares",
            P95_MS,
            quantile(&early, 0.95),
            show_ms,
        )
        .and(format!("{} keys", early.len())),
        Row::at_most(
            "key to screen, p95, in the comparison",
            P95_MS,
            quantile(&took, 0.95),
            show_ms,
        )
        .and(format!("at worst {}", show_ms(largest(&took)))),
        Row::at_most("memory with the comparison", MEMORY_MB, mb, |mb| {
            format!("{mb:.0} MB")
        }),
    ])
}

fn memory(terminal: &Terminal) -> anyhow::Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let mb = peak_memory(terminal.pid())? as f64 / 1e6;
    Ok(mb)
}
