//! What the proxy costs, side by side with a plain relay of the same bytes that records nothing, and calls
//! beside a reverse proxy, and mitmdump where it is on the `PATH`.
//!
//! ```text
//! cargo bench --bench network [-- [--quick] [LINE]...]
//! ```
//!
//! Prints a Markdown table, one row per budget. All arms run in the same minute on the same
//! machine, in alternate blocks; the middle of the blocks counts. [`LINES`] names the rows. Server
//! and relay are this executable itself, started with [`peers::SERVE`], [`peers::RELAY`] or
//! [`peers::REVERSE_PROXY`].

mod calls;
mod idle_streams;
mod peers;
mod start;
mod streams;
#[expect(dead_code, reason = "shared with benches that use other parts of them")]
mod support;
mod way;

use std::path::PathBuf;
use support::recorder_lines::{Line, Wanted};

/// The lines that can be picked by name.
const LINES: [(&str, Line<Setup>); 8] = [
    ("round-trip", calls::round_trip),
    ("connections", calls::connections),
    ("mitmdump", calls::beside_mitmdump),
    ("big-body", calls::big_body),
    ("events", streams::rate),
    ("delay", streams::delay),
    ("idle", idle_streams::measure),
    ("start", start::measure),
];

/// How to measure.
struct Setup {
    /// Fewer and shorter rounds: figures that show a blunder, and no more.
    quick: bool,
    /// A folder for recordings.
    dir: PathBuf,
}

impl Setup {
    /// `full`, or `quick` where that was asked for.
    fn amount<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [peers::SERVE] => return peers::serve(),
        [peers::RELAY, server] => return peers::relay(server),
        [peers::REVERSE_PROXY, server] => return peers::reverse_proxy(server),
        _ => {}
    }
    let wanted = Wanted::read(arguments)?;
    let dir = tempfile::Builder::new()
        .prefix("network-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let setup = Setup {
        quick: wanted.quick,
        dir: dir.path().to_owned(),
    };
    wanted.measure(&LINES, &setup)
}
