//! A recording played to the server again, beside a plain client that says the same to it.
//!
//! Both have so many requests under way at once as the recording has; what the plain client is
//! spared is reading the recording, pairing, comparing, and putting the new session on record.

use crate::Setup;
use crate::prepared::Prepared;
use crate::session::{Arm, Session};
use crate::stats::median;
use crate::table::Row;
use crate::{machine, peer, traffic};
use anyhow::ensure;
use mcpreel::trace::clock::{Clock, Moment};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes of a call and of its answer.
const SIZE: usize = 200;

/// Requests of the handshake.
const HANDSHAKE: usize = 1;

/// How fast a replay has to be, compared with a plain client.
const SHARE: f64 = 0.5;

/// What a replay may take, whatever the length of the recording.
const MEMORY_LIMIT_MIB: f64 = 64.0;

/// Compares a pipelined recording, and one of a request at a time.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    // So many that none are left over where 64 are under way at once.
    let exchanges = setup.amount(100_032, 20_032);
    let mut rows = pace(setup, exchanges, 64)?;
    rows.extend(pace(setup, exchanges / 4, 1)?);
    Ok(rows)
}

/// `together` requests are under way at once.
fn pace(setup: &Setup, exchanges: usize, together: usize) -> anyhow::Result<Vec<Row>> {
    let recording = Prepared::exchanges(&setup.dir, SIZE, exchanges, together)?.recording()?;
    let rounds = setup.amount(7, 3);
    let (mut plain, mut replayed, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(client(setup, exchanges, together)?);
        let (seconds, mib) = replay(setup, &recording, exchanges)?;
        replayed.push(seconds);
        memory.push(mib);
    }
    std::fs::remove_file(&recording)?;
    let pairs = plain.iter().zip(&replayed);
    let shares: Vec<f64> = pairs.map(|(plain, replay)| plain / replay).collect();
    #[expect(clippy::cast_precision_loss, reason = "some hundred thousand")]
    let count = exchanges as f64;
    let speed = |seconds: &[f64]| format!("{:.0} /s", count / median(seconds));
    let what = format!("replay of {exchanges} exchanges, {together} at once");
    let share = |share| format!("{share:.2} × a plain client");
    let note = format!("{} against {}", speed(&replayed), speed(&plain));
    let show = |mib| format!("{mib:.1} MiB");
    Ok(vec![
        Row::at_least(what.clone(), SHARE, median(&shares), share).and(note),
        Row::at_most(
            format!("{what}, memory"),
            MEMORY_LIMIT_MIB,
            median(&memory),
            show,
        ),
    ])
}

/// Seconds from the start of the server to its end.
fn client(setup: &Setup, exchanges: usize, together: usize) -> anyhow::Result<f64> {
    let mut calls = traffic::echo(SIZE).repeat(together);
    let clock = Clock::start();
    let mut session = Session::open(Arm::Direct, setup)?;
    let mut id = traffic::FIRST_ID;
    for _ in 0..exchanges / together {
        for call in calls.chunks_mut(SIZE) {
            traffic::set_id(call, id);
            id += 1;
        }
        session.send(&calls)?;
        session.receive(together * SIZE)?;
    }
    session.close()?;
    Ok(clock.now().since(Moment(0)).as_secs_f64())
}

/// Seconds that the command takes, and the memory.
fn replay(setup: &Setup, recording: &Path, exchanges: usize) -> anyhow::Result<(f64, f64)> {
    let dir = setup.dir.join("replayed");
    let clock = Clock::start();
    let mut replay = Command::new(env!("CARGO_BIN_EXE_mcpreel"))
        .arg("replay")
        .arg("--dir")
        .arg(&dir)
        .args(["--allow-side-effects", "--format", "json"])
        .arg(recording)
        .arg("--")
        .arg(std::env::current_exe()?)
        .arg(peer::ARGUMENT)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut peak = 0;
    while replay.try_wait()?.is_none() {
        peak = machine::peak_memory(replay.id()).unwrap_or(0).max(peak);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let seconds = clock.now().since(Moment(0)).as_secs_f64();
    let output = replay.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{said}");
    let done: Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    let answered = done["answered"]
        .as_u64()
        .and_then(|count| usize::try_from(count).ok());
    ensure!(answered == Some(exchanges + HANDSHAKE), "{said}");
    std::fs::remove_dir_all(&dir)?;
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    Ok((seconds, peak as f64 / f64::from(1 << 20)))
}
