//! How fast a long recording leaves: bytes of its messages per second, how often as fast as the
//! plainest exporter that somebody would write, and what it takes of memory.

use crate::plain_exporter;
use crate::prepared::{Kind, Prepared};
use crate::recorder_table::Row;
use crate::{Setup, machine};
use anyhow::ensure;
use mcpreel_trace::clock::{Clock, Moment};
use std::path::Path;
use std::process::{Command, Stdio};

/// Megabytes per second, as they are and redacted.
const RAW_SPEED: f64 = 60.0;
const REDACTED_SPEED: f64 = 30.0;

/// What an export may take, whatever the length of the recording.
const MEMORY_LIMIT_MIB: f64 = 64.0;

const SIZE: usize = 1024;

/// Formats, and what else is asked for.
const EXPORTS: [(&str, &[&str]); 6] = [
    ("jsonl", &[]),
    ("markdown", &[]),
    ("html", &[]),
    ("otlp", &["--with-bodies"]),
    ("perfetto", &[]),
    ("recording", &[]),
];

/// Secrets that there are, and where.
const SECRETS: [(Kind, &str); 3] = [
    (Kind::Secrets, "secrets in one of 1000"),
    (Kind::Logs, "secrets in logs and on stderr, one of 1000"),
    (Kind::Greeting, "secrets in what the server says of itself"),
];

/// Exports calls and answers, a million frames, in every format: raw, without secrets of which
/// there are none, and without those that there are.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let frames = setup.amount(1_000_000, 50_000);
    let mut rows = Vec::new();
    let kinds = [(Kind::Searches, "redacted")].into_iter().chain(SECRETS);
    for (kind, what) in kinds {
        let recording = Prepared::write(&setup.dir, kind, SIZE, frames)?.recording()?;
        let mut peer = None;
        for (format, options) in EXPORTS {
            let raw = [options, &["--raw"]].concat();
            let mut ways: Vec<(&[&str], &str)> = vec![(options, what)];
            if matches!(kind, Kind::Searches) {
                ways.insert(0, (&raw, "raw"));
            }
            for (options, what) in ways {
                let what = called(frames, (format, options), what);
                if what.contains(&setup.rows) {
                    let plain = match peer {
                        Some(plain) => plain,
                        None => *peer.insert(plainly(setup, &recording, frames)?),
                    };
                    let of = (&*recording, frames, plain);
                    rows.extend(export_as(setup, of, (format, options), &what)?);
                }
            }
        }
        std::fs::remove_file(&recording)?;
    }
    Ok(rows)
}

/// What the row of one of them is called.
fn called(frames: usize, (format, options): (&str, &[&str]), what: &str) -> String {
    let with = options.iter().find(|option| **option != "--raw");
    let with = with.map(|option| format!(" {option}"));
    let with = with.unwrap_or_default();
    format!("export of {frames} frames: {format}{with}, {what}")
}

/// Megabytes of such a recording in so many seconds.
fn megabytes(frames: usize, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
    let bytes = (frames * SIZE) as f64;
    bytes / 1e6 / seconds
}

/// Megabytes per second of the plainest exporter.
fn plainly(setup: &Setup, recording: &Path, frames: usize) -> anyhow::Result<f64> {
    let to = setup.dir.join("plain");
    let clock = Clock::start();
    plain_exporter::export(recording, &to)?;
    let seconds = clock.now().since(Moment(0)).as_secs_f64();
    std::fs::remove_file(&to)?;
    Ok(megabytes(frames, seconds))
}

/// One of them, whose row is called `what`: the figures of its speed and of its memory.
fn export_as(
    setup: &Setup,
    (recording, frames, plain): (&Path, usize, f64),
    (format, options): (&str, &[&str]),
    what: &str,
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
    let (speed, peak) = (megabytes(frames, seconds), peak as f64 / f64::from(1 << 20));
    let budget = if options.contains(&"--raw") {
        RAW_SPEED
    } else {
        REDACTED_SPEED
    };
    let times = format!("{:.1} × a plain exporter", speed / plain);
    let shown = |speed| format!("{speed:.0} MB/s");
    let memory = |mib| format!("{mib:.1} MiB");
    Ok([
        Row::at_least(what, budget, speed, shown).and(times),
        Row::at_most(format!("{what}, memory"), MEMORY_LIMIT_MIB, peak, memory),
    ])
}
