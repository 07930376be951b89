//! What the viewer takes: time to the screen, memory.
//!
//! ```text
//! cargo bench --bench viewer [-- [--quick] [LINE]...]
//! ```
//!
//! Prints a Markdown table, one row per budget. [`LINES`] names the rows, one file each. What is
//! looked at is made by [`generate`] at the first call and kept in `target`.

mod compare;
mod generate;
mod keys;
mod live;
mod long_message;
mod select;
#[expect(
    dead_code,
    reason = "shared with tests and benches that use other parts"
)]
mod support;
mod viewer;
mod viewer_search;
mod viewer_start;

use std::path::Path;
use support::recorder_lines::{Line, Wanted};
use support::recorder_table::Row;

/// The lines that can be picked by name.
const LINES: [(&str, Line<Setup>); 10] = [
    ("recordings", recordings),
    ("first-paint", viewer_start::first_paint),
    ("memory", viewer_start::memory),
    ("keys", keys::measure),
    ("filter", viewer_search::filter),
    ("select", select::measure),
    ("search", viewer_search::text),
    ("long-message", long_message::measure),
    ("live", live::measure),
    ("compare", compare::measure),
];

/// How to measure.
struct Setup {
    /// Fewer and shorter rounds: figures that show a blunder, and no more.
    quick: bool,
}

impl Setup {
    /// `full`, or `quick` where that was asked for.
    fn amount<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Frames of the long recording.
    fn frames(&self) -> u64 {
        self.amount(1_000_000, 50_000)
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == live::ARGUMENT) {
        return live::serve(&arguments[1..]);
    }
    let wanted = Wanted::read(arguments)?;
    let setup = Setup {
        quick: wanted.quick,
    };
    wanted.measure(&LINES, &setup)
}

/// What the other lines look at, and how large it is.
fn recordings(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let row = |what: String, path: &Path| -> anyhow::Result<Row> {
        let bytes = std::fs::metadata(path)?.len();
        Ok(Row::remark(what, format!("{} MB", bytes / 1_000_000)))
    };
    let frames = setup.frames();
    Ok(vec![
        row(
            format!("a recording of {frames} frames"),
            &generate::frames(frames)?,
        )?,
        row(
            "one with a message of 20 MB".into(),
            &generate::long_message(20_000_000)?,
        )?,
        row(
            "one with a message of 100 MB".into(),
            &generate::long_message(100_000_000)?,
        )?,
    ])
}
