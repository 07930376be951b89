//! Messages of many megabytes.

use crate::support::recorder_table::Row;
use crate::support::stats::{largest, median};
use crate::viewer::{self, ms, show_ms};
use crate::{Setup, generate};

const OPEN_MS: f64 = 200.0;
const STALL_MS: f64 = 200.0;

/// The frame before the call whose answer is long.
const BEFORE: u64 = generate::AROUND;

/// A word of the long answer.
const WORD: &str = "structuredContent";

/// Into the message and through it, as tree, text and numbers, and away from it and back.
const KEYS: [&str; 13] = [
    "\r", "j", "j", "G", "g", "r", "r", "r", "j", "\u{1b}", "k", "j", "k",
];

/// From the key that selects it to its first page; and how long any other key takes meanwhile.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for megabytes in [20, 100] {
        let path = generate::long_message(megabytes * 1_000_000)?;
        let (mut opened, mut keys) = (Vec::new(), Vec::new());
        for _ in 0..setup.amount(5, 2) {
            let mut terminal = viewer::open(&path, Some(BEFORE))?;
            terminal.wait_for(viewer::ROW);
            viewer::wait_until_calm(&terminal);
            // The last row but one: the end of the session follows it.
            let pressed = terminal.press("Gk");
            let shown = terminal.wait_for(WORD);
            opened.push(ms(shown.since(pressed)));
            for key in KEYS {
                keys.extend(viewer::press(&mut terminal, key).map(ms));
            }
            viewer::quit(terminal);
        }
        let what = format!("opening a message of {megabytes} MB");
        rows.push(match megabytes {
            20 => Row::at_most(what, OPEN_MS, median(&opened), show_ms),
            _ => Row::remark(what, show_ms(median(&opened))),
        });
        let what = format!("keys in a message of {megabytes} MB, at worst");
        rows.push(Row::at_most(what, STALL_MS, largest(&keys), show_ms));
    }
    Ok(rows)
}
