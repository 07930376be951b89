//! What the recorder costs, side by side with a relay of two `cat` around the same server.
//!
//! ```text
//! cargo bench --bench recorder [-- [--quick] [--rows=TEXT] [LINE]...]
//! ```
//!
//! Prints a Markdown table, one row per budget. Both arms run in the same minute on the same
//! machine, in alternate blocks, so that what disturbs one disturbs the other; the middle of the
//! blocks counts. [`LINES`] names the rows, one file each. The server is this executable itself,
//! started with [`peer::ARGUMENT`], or with [`plain_server::ARGUMENT`]. `BENCH_DIR=FOLDER` records
//! elsewhere than among the build's files, such as in memory.

mod big_message;
mod end;
mod flood;
mod idle;
mod indexing;
mod machine;
mod memory;
mod peer;
mod plain_client;
mod plain_exporter;
mod plain_server;
mod prepared;
mod recorder_export;
mod recorder_lines;
mod recorder_replay;
mod recorder_session;
mod recorder_table;
mod round_trip;
mod size;
mod start;
mod stats;
mod traffic;

use recorder_lines::{Line, Wanted};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

/// The lines that can be picked by name.
const LINES: [(&str, Line<Setup>); 11] = [
    ("round-trip", round_trip::measure),
    ("flood", flood::measure),
    ("big-message", big_message::measure),
    ("start", start::measure),
    ("end", end::measure),
    ("memory", memory::measure),
    ("idle", idle::measure),
    ("indexing", indexing::measure),
    ("size", size::measure),
    ("replay", recorder_replay::measure),
    ("export", recorder_export::measure),
];

/// How to measure.
struct Setup {
    /// Fewer and shorter rounds: figures that show a blunder, and no more.
    quick: bool,
    /// A part of what the exports are called that are measured.
    rows: String,
    /// A folder for recordings: on the disk of the build, or where `BENCH_DIR` says.
    dir: PathBuf,
}

impl Setup {
    /// `full`, or `quick` where that was asked for.
    fn amount<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Removes what a session left, once the indexer, which outlives its recorder, is done with it:
    /// what is measured next shall not run beside it.
    fn clean(&self) -> anyhow::Result<()> {
        let mut files = self.files()?;
        while files
            .iter()
            .any(|file| file.extension().is_some_and(|it| it == "spool"))
        {
            std::thread::sleep(Duration::from_millis(10));
            files = self.files()?;
        }
        for file in files {
            match std::fs::remove_file(file) {
                // The log of a recording that has just become one plain file.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(&self.dir)?;
        Ok(entries
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?)
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(peer::ARGUMENT) => return peer::serve(),
        Some(peer::COPY) => return peer::copy(&arguments[1]),
        Some(plain_server::ARGUMENT) => return plain_server::serve(),
        _ => {}
    }
    let wanted = Wanted::read(arguments)?;
    let parent = std::env::var_os("BENCH_DIR").map(PathBuf::from);
    let parent = parent.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let dir = tempfile::Builder::new()
        .prefix("recorder-")
        .tempdir_in(parent)?;
    let setup = Setup {
        quick: wanted.quick,
        rows: wanted.rows.clone(),
        dir: dir.path().to_owned(),
    };
    wanted.measure(&LINES, &setup)
}
