//! What the viewer takes: time to the screen, memory.
//!
//! ```text
//! cargo bench --bench viewer [-- [--quick] [LINE]...]
//! ```
//!
//! Prints a Markdown table, one row per budget. [`LINES`] names the rows, one file each. What is
//! looked at is made by [`generate`] at the first call and kept in `target`.

mod generate;
mod keys;
mod live;
mod long_message;
mod search;
mod select;
mod start;
#[expect(
    dead_code,
    reason = "shared with tests and benches that use other parts"
)]
mod support;
mod viewer;

use anyhow::{Context, bail};
use std::io::Write;
use std::path::Path;
use support::machine;
use support::table::{self, Row};

/// Measures one line of the table.
type Line = fn(&Setup) -> anyhow::Result<Vec<Row>>;

/// The lines that can be picked by name.
const LINES: [(&str, Line); 9] = [
    ("recordings", recordings),
    ("first-paint", start::first_paint),
    ("memory", start::memory),
    ("keys", keys::measure),
    ("filter", search::filter),
    ("select", select::measure),
    ("search", search::text),
    ("long-message", long_message::measure),
    ("live", live::measure),
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
    let (options, names): (Vec<_>, Vec<_>) = arguments
        .into_iter()
        .partition(|word| word.starts_with("--"));
    // Cargo adds `--bench`.
    if let Some(unknown) = options
        .iter()
        .find(|o| !["--quick", "--bench"].contains(&&***o))
    {
        bail!("unknown option {unknown}; there is --quick");
    }
    let setup = Setup {
        quick: options.iter().any(|option| option == "--quick"),
    };
    let lines = pick(&names)?;
    let load_before = machine::load();
    let mut rows = Vec::new();
    for (name, measure) in lines {
        writeln!(std::io::stderr(), "measuring {name}")?;
        rows.extend(measure(&setup).with_context(|| format!("could not measure {name}"))?);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", machine::describe(&load_before))?;
    table::print(&mut out, &rows)?;
    Ok(())
}

/// The lines with these names; all of them where none is named.
fn pick(names: &[String]) -> anyhow::Result<Vec<(&'static str, Line)>> {
    if names.is_empty() {
        return Ok(LINES.to_vec());
    }
    let find = |name: &String| {
        let known = || LINES.map(|(name, _)| name).join(", ");
        let line = LINES.into_iter().find(|(line, _)| line == name);
        line.with_context(|| format!("no line is called {name}; there are {}", known()))
    };
    names.iter().map(find).collect()
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
