//! What the recorder costs, side by side with a relay of two `cat` around the same server.
//!
//! ```text
//! cargo bench --bench recorder [-- [--quick] [LINE]...]
//! ```
//!
//! Prints a Markdown table, one row per budget. Both arms run in the same minute on the same
//! machine, in alternate blocks, so that what disturbs one disturbs the other; the middle of the
//! blocks counts. [`LINES`] names the rows, one file each. The server is this executable itself,
//! started with [`peer::ARGUMENT`].

mod big_message;
mod end;
mod flood;
mod idle;
mod indexing;
mod machine;
mod memory;
mod peer;
mod prepared;
mod round_trip;
mod session;
mod size;
mod start;
mod stats;
mod table;
mod traffic;

use anyhow::{Context, bail};
use std::io::Write;
use std::path::PathBuf;
use table::Row;

/// Measures one line of the table.
type Line = fn(&Setup) -> anyhow::Result<Vec<Row>>;

/// The lines that can be picked by name.
const LINES: [(&str, Line); 9] = [
    ("round-trip", round_trip::measure),
    ("flood", flood::measure),
    ("big-message", big_message::measure),
    ("start", start::measure),
    ("end", end::measure),
    ("memory", memory::measure),
    ("idle", idle::measure),
    ("indexing", indexing::measure),
    ("size", size::measure),
];

/// How to measure.
struct Setup {
    /// Fewer and shorter rounds: figures that show a blunder, and no more.
    quick: bool,
    /// A folder for recordings, on a real disk.
    dir: PathBuf,
}

impl Setup {
    /// `full`, or `quick` where that was asked for.
    fn amount<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Removes the recordings that were made so far.
    fn clean(&self) -> anyhow::Result<()> {
        for file in std::fs::read_dir(&self.dir)? {
            std::fs::remove_file(file?.path())?;
        }
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == peer::ARGUMENT) {
        return peer::serve();
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
    let dir = tempfile::Builder::new()
        .prefix("recorder-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let setup = Setup {
        quick: options.iter().any(|option| option == "--quick"),
        dir: dir.path().to_owned(),
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
