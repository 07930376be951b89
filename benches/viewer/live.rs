//! A session that is recorded while somebody looks.

use crate::Setup;
use crate::support::recorder_table::Row;
use crate::support::stats::{largest, quantile};
use crate::viewer::{self, ms, show_ms};
use anyhow::Context;
use mcpreel_trace::clock::wall_clock_ns;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TO_SCREEN_MS: f64 = 150.0;

/// The argument that makes this executable the server.
pub const ARGUMENT: &str = "--serve";

/// What stands before the moment at which a message was sent.
const STAMP: &str = "sent-at-";

/// Digits of a moment: nanoseconds since 1970.
const DIGITS: usize = 19;

const PER_SECOND: u64 = 5000;

/// How old the newest message on the screen is when it is drawn, one at a time and in a flood.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let seconds = setup.amount(10, 2);
    let single = ages(5, seconds)?;
    let flood = ages(PER_SECOND, seconds)?;
    let row = |what: &str, ages: &[f64]| {
        let row = Row::at_most(what, TO_SCREEN_MS, quantile(ages, 0.95), show_ms);
        row.and(format!("at worst {}", show_ms(largest(ages))))
    };
    Ok(vec![
        row("arrival to screen, 5 frames/s, p95", &single),
        row("arrival to screen, 5,000 frames/s, p95", &flood),
    ])
}

/// The ages of the newest message, each time that another one is drawn, milliseconds.
fn ages(per_second: u64, seconds: u64) -> anyhow::Result<Vec<f64>> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (mut recorder, reel) = record(dir.path(), per_second, seconds)?;
    let terminal = viewer::open(&reel, None)?;
    terminal.wait_for(STAMP);
    let mut newest = 0;
    let mut ages = Vec::new();
    let clock = terminal.clock();
    let began = clock.now();
    // The first moments belong to opening, the last ones to the end of the session.
    let settled = Duration::from_millis(500);
    let length = Duration::from_secs(seconds).saturating_sub(2 * settled);
    while clock.now().since(began) < length {
        let newer = |screen: &vt100::Screen| stamp(screen) > newest;
        let Some(shown) = terminal.wait_at_most(Duration::from_secs(2), newer) else {
            // The session is over, or the viewer is so late that nothing else needs to be said.
            ages.push(ms(Duration::from_nanos(
                wall_clock_ns().saturating_sub(newest),
            )));
            break;
        };
        newest = terminal.look(stamp);
        let at = clock.wall_ns() + shown.0;
        if shown.since(began) > settled {
            ages.push(ms(Duration::from_nanos(at.saturating_sub(newest))));
        }
    }
    viewer::quit(terminal);
    drop(recorder.stdin.take());
    recorder.wait()?;
    Ok(ages)
}

/// The newest moment on the screen.
fn stamp(screen: &vt100::Screen) -> u64 {
    let contents = screen.contents();
    let moments = contents.split(STAMP).skip(1);
    let moments = moments.filter_map(|rest| rest.get(..DIGITS)?.parse().ok());
    moments.max().unwrap_or(0)
}

/// A recorder around the server that is this executable.
fn record(dir: &Path, per_second: u64, seconds: u64) -> anyhow::Result<(Child, PathBuf)> {
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_mcpreel"))
        .arg("run")
        .arg("--dir")
        .arg(dir)
        .arg("--")
        .arg(std::env::current_exe()?)
        .args([ARGUMENT, &per_second.to_string(), &seconds.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut output = BufReader::new(recorder.stdout.take().context("piped")?);
    let mut first = String::new();
    output.read_line(&mut first)?;
    // A host reads everything.
    std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
    Ok((recorder, wait_for_reel(dir)?))
}

/// The recording in `dir`: it is made beside the session, a moment after its first bytes.
fn wait_for_reel(dir: &Path) -> anyhow::Result<PathBuf> {
    for _ in 0..1000 {
        let files = std::fs::read_dir(dir)?.flatten().map(|file| file.path());
        let mut reels = files.filter(|path| path.extension().is_some_and(|e| e == "reel"));
        if let Some(reel) = reels.next() {
            return Ok(reel);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    anyhow::bail!("nothing is recorded")
}

/// The server: log messages and lines on stderr in turn, so that they are not shown as runs, at a
/// steady rate, each with the moment at which it was sent.
pub fn serve(arguments: &[String]) -> anyhow::Result<()> {
    let number = |at: usize| -> anyhow::Result<u64> {
        Ok(arguments.get(at).context("rate and seconds")?.parse()?)
    };
    let (per_second, seconds) = (number(0)?, number(1)?);
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    let began = wall_clock_ns();
    for nth in 0..per_second * (seconds + 4) {
        let due = began + nth * 1_000_000_000 / per_second;
        while wall_clock_ns() < due {
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(wall_clock_ns())));
        }
        let stamp = wall_clock_ns();
        if nth % 2 == 0 {
            writeln!(err, "{STAMP}{stamp}")?;
            continue;
        }
        writeln!(
            out,
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{STAMP}{stamp}"}}}}"#
        )?;
        out.flush()?;
    }
    Ok(())
}
