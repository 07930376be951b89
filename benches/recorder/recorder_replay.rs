//! A recording played to the server again, beside a plain client that says the same to it.
//!
//! Both start the same server, [`plain_server`], and keep as many requests under way as there are
//! in the recording. The other client, [`plain_client`], is what people write who test a server by
//! a program of their own: a value for each message, a line for each value, a map of what is open.
//! It is spared what a replay is for: reading the recording, comparing, and putting the new session
//! on record; it does what no client can do without, so that the figure says how much longer one
//! waits who replays instead. Bytes that are pushed through a pipe and counted are no client, and
//! a server that answers without reading is none either: how fast those are stands in a row of its
//! own, without a limit.

use crate::Setup;
use crate::plain_client::{self, Client};
use crate::prepared::Prepared;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use crate::stats::median;
use crate::{machine, plain_server, traffic};
use anyhow::ensure;
use mcpreel_trace::clock::{Clock, Moment};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What is sent with each call, and comes back: call and answer have about 200 bytes each.
const TEXT: &str = "The quick brown fox jumps over the lazy dog, twice a day. The dog sleeps on, and dreams of foxes.";

/// Requests of the handshake.
const HANDSHAKE: usize = 1;

/// How fast a replay has to be, compared with a plain client.
const SHARE: f64 = 0.5;

/// What a replay may take, whatever the length of the recording.
const MEMORY_LIMIT_MIB: f64 = 64.0;

/// Compares a pipelined recording, and one of a request at a time.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let exchanges = setup.amount(100_000, 20_000);
    let mut rows = pace(setup, exchanges, 64)?;
    rows.push(bytes(setup, exchanges, 64)?);
    rows.extend(pace(setup, exchanges / 4, 1)?);
    Ok(rows)
}

/// `together` requests are under way at once.
fn pace(setup: &Setup, exchanges: usize, together: usize) -> anyhow::Result<Vec<Row>> {
    let calls = plain_client::calls(TEXT).take(exchanges);
    let recording = Prepared::exchanges(&setup.dir, together, calls)?.recording()?;
    let rounds = setup.amount(7, 3);
    let (mut plain, mut replayed, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(client(exchanges, together)?);
        let (seconds, mib) = replay(setup, &recording, exchanges)?;
        replayed.push(seconds);
        memory.push(mib);
    }
    std::fs::remove_file(&recording)?;
    let pairs = plain.iter().zip(&replayed);
    let shares: Vec<f64> = pairs.map(|(plain, replay)| plain / replay).collect();
    let speed = |seconds: &[f64]| per_second(exchanges, median(seconds));
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

fn per_second(count: usize, seconds: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "some hundred thousand")]
    let speed = count as f64 / seconds;
    format!("{speed:.0} /s")
}

/// Seconds that a plain client takes, from the start of the server to its end.
fn client(exchanges: usize, together: usize) -> anyhow::Result<f64> {
    let clock = Clock::start();
    let mut client = Client::start()?;
    for _ in 0..exchanges {
        if client.open() == together {
            client.receive()?;
        }
        client.call(TEXT)?;
    }
    while client.open() > 0 {
        client.receive()?;
    }
    client.close()?;
    Ok(clock.now().since(Moment(0)).as_secs_f64())
}

/// How fast bytes go through the pipes alone: `together` lines in one write, counted when they come
/// back.
fn bytes(setup: &Setup, exchanges: usize, together: usize) -> anyhow::Result<Row> {
    let calls = traffic::echo(traffic::SHORT).repeat(together);
    let clock = Clock::start();
    let mut session = Session::open(Arm::Direct, setup)?;
    let rounds = exchanges / together;
    for _ in 0..rounds {
        session.send(&calls)?;
        session.receive(calls.len())?;
    }
    session.close()?;
    let seconds = clock.now().since(Moment(0)).as_secs_f64();
    let what = format!("bytes of as many exchanges, {together} at once, neither made nor read");
    Ok(Row::remark(what, per_second(rounds * together, seconds)))
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
        .arg(plain_server::ARGUMENT)
        .stdout(Stdio::piped())
        .spawn()?;
    let peak = machine::peak_of(&mut replay)?;
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
