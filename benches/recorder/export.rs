//! How fast a long recording leaves: bytes of its messages per second, and what it takes of memory.

use crate::prepared::{Kind, Prepared};
use crate::table::Row;
use crate::{Setup, machine};
use anyhow::ensure;
use mcpreel::trace::clock::{Clock, Moment};
use std::path::Path;
use std::process::{Command, Stdio};

/// Megabytes per second.
const SPEED: f64 = 100.0;

/// What an export may take, whatever the length of the recording.
const MEMORY_LIMIT_MIB: f64 = 64.0;

const SIZE: usize = 1024;

/// Formats, and what else is asked for.
const EXPORTS: [(&str, &[&str]); 9] = [
    ("jsonl", &[]),
    ("jsonl", &["--raw"]),
    ("text", &["--raw"]),
    ("csv", &["--raw"]),
    ("markdown", &["--raw"]),
    ("html", &["--raw"]),
    ("otlp", &["--raw", "--with-bodies"]),
    ("perfetto", &["--raw"]),
    ("recording", &["--raw"]),
];

/// Exports calls and answers, a million frames, in every format.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let frames = setup.amount(1_000_000, 50_000);
    let recording = Prepared::write(&setup.dir, Kind::Searches, SIZE, frames)?.recording()?;
    let mut rows = Vec::new();
    for (format, options) in EXPORTS {
        rows.extend(export(setup, &recording, frames, format, options)?);
    }
    std::fs::remove_file(&recording)?;
    Ok(rows)
}

fn export(
    setup: &Setup,
    recording: &Path,
    frames: usize,
    format: &str,
    options: &[&str],
) -> anyhow::Result<[Row; 2]> {
    let to = setup.dir.join("exported");
    let clock = Clock::start();
    let mut export = Command::new(env!("CARGO_BIN_EXE_mcpreel"))
        .arg("export")
        .arg(recording)
        .args(["--format", format, "-o"])
        .arg(&to)
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let peak = machine::peak_of(&mut export)?;
    let seconds = clock.now().since(Moment(0)).as_secs_f64();
    ensure!(export.wait()?.success(), "the export as {format} failed");
    std::fs::remove_file(&to)?;
    #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
    let (bytes, peak) = ((frames * SIZE) as f64, peak as f64 / f64::from(1 << 20));
    let what = format!("export of {frames} frames: {format} {}", options.join(" "));
    let what = what.trim_end().to_owned();
    let speed = |speed| format!("{speed:.0} MB/s");
    let memory = |mib| format!("{mib:.1} MiB");
    Ok([
        Row::at_least(what.clone(), SPEED, bytes / 1e6 / seconds, speed),
        Row::at_most(format!("{what}, memory"), MEMORY_LIMIT_MIB, peak, memory),
    ])
}
