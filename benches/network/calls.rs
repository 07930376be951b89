//! Calls over connections that are kept alive.

use crate::Setup;
use crate::peers;
use crate::support::recorder_table::Row;
use crate::support::stats::{median, quantile};
use crate::way::{Arm, Connection, Way};
use anyhow::Context as _;
use mcpreel_trace::clock::{Clock, Moment};
use std::io::{self, Write as _};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Writes a ratio to the relay.
pub fn times_relay(ratio: f64) -> String {
    format!("{ratio:.2} × relay")
}

/// Ratios of pairs of blocks, and both middles.
pub fn compare(relay: &[f64], proxy: &[f64], unit: &str) -> (f64, String) {
    let ratios: Vec<f64> = relay.iter().zip(proxy).map(|(a, b)| b / a).collect();
    let absolute = format!("{:.1} against {:.1} {unit}", median(proxy), median(relay));
    (median(&ratios), absolute)
}

/// Bytes of an answer.
const SHORT: usize = 200;
const LARGE: usize = 5_000_000;

/// A short call and its answer, one connection.
pub fn round_trip(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (blocks, calls) = setup.amount((24, 2_000), (6, 500));
    let relay = Way::open(Arm::Relay, setup)?;
    let reverse = Way::open(Arm::ReverseProxy, setup)?;
    let proxy = Way::open(Arm::Proxy, setup)?;
    let mut connections = [relay.connect()?, reverse.connect()?, proxy.connect()?];
    for connection in &mut connections {
        microseconds(connection, SHORT, calls)?;
    }
    let mut blocks_of: [[Vec<f64>; 2]; 3] = Default::default();
    for _ in 0..blocks {
        proxy.wait_until_quiet()?;
        for (connection, [p50, p99]) in connections.iter_mut().zip(&mut blocks_of) {
            let samples = microseconds(connection, SHORT, calls)?;
            p50.push(median(&samples));
            p99.push(quantile(&samples, 0.99));
        }
    }
    let [
        [relay_p50, relay_p99],
        [reverse_p50, _],
        [proxy_p50, proxy_p99],
    ] = blocks_of;
    let (p50, p50_us) = compare(&relay_p50, &proxy_p50, "µs");
    let (beside, beside_us) = compare(&reverse_p50, &proxy_p50, "µs");
    let (p99, p99_us) = compare(&relay_p99, &proxy_p99, "µs");
    let what = format!("POST of a {SHORT}-byte call, one connection");
    Ok(vec![
        Row::at_most(format!("{what}, p50"), 1.25, p50, times_relay).and(p50_us),
        Row::at_most(format!("{what}, p99"), 1.5, p99, times_relay).and(p99_us),
        Row::at_most(format!("{what}, p50"), 1.0, beside, |ratio| {
            format!("{ratio:.2} × a reverse proxy of hyper")
        })
        .and(beside_us),
    ])
}

/// An answer of 5 MB.
pub fn big_body(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let rounds = setup.amount(25, 5);
    let relay = Way::open(Arm::Relay, setup)?;
    let proxy = Way::open(Arm::Proxy, setup)?;
    let (mut by_relay, mut by_proxy) = (relay.connect()?, proxy.connect()?);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.extend(microseconds(&mut by_relay, LARGE, 1)?);
        with.extend(microseconds(&mut by_proxy, LARGE, 1)?);
        proxy.wait_until_quiet()?;
    }
    let (ratio, us) = compare(&without, &with, "µs");
    let what = "a body of 5 MB";
    Ok(vec![Row::at_most(what, 1.3, ratio, times_relay).and(us)])
}

/// How long each of these calls takes.
fn microseconds(
    connection: &mut Connection,
    bytes: usize,
    calls: usize,
) -> anyhow::Result<Vec<f64>> {
    let (call, answer) = (connection.call(bytes), peers::response(bytes).len());
    let mut samples = Vec::with_capacity(calls);
    for _ in 0..calls {
        let clock = Clock::start();
        connection.send(&call)?;
        connection.receive(answer)?;
        samples.push(clock.now().since(Moment(0)).as_secs_f64() * 1e6);
    }
    Ok(samples)
}

/// Requests per second over 64 connections at once.
pub fn connections(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    const CONNECTIONS: usize = 64;
    let blocks = setup.amount(8, 3);
    let relay = Way::open(Arm::Relay, setup)?;
    let proxy = Way::open(Arm::Proxy, setup)?;
    let open = |way: &Way| -> anyhow::Result<Vec<Connection>> {
        (0..CONNECTIONS).map(|_| way.connect()).collect()
    };
    let (mut by_relay, mut by_proxy) = (open(&relay)?, open(&proxy)?);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..blocks {
        without.push(per_second(&mut by_relay)?);
        with.push(per_second(&mut by_proxy)?);
        proxy.wait_until_quiet()?;
    }
    let (ratio, rate) = compare(&without, &with, "requests/s");
    let what = format!("{CONNECTIONS} connections");
    Ok(vec![
        Row::at_least(what, 0.75, ratio, times_relay).and(rate),
    ])
}

/// Requests per second over one connection, beside mitmdump where that is installed.
pub fn beside_mitmdump(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    if Command::new("mitmdump").arg("--version").output().is_err() {
        let mut stderr = io::stderr();
        writeln!(stderr, "mitmdump is not on the PATH, and is left out")?;
        return Ok(Vec::new());
    }
    let other = Way::open(Arm::Mitmdump, setup)?;
    let proxy = Way::open(Arm::Proxy, setup)?;
    let (mut by_other, mut by_proxy) = ([other.connect()?], [proxy.connect()?]);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..setup.amount(5, 2) {
        theirs.push(per_second(&mut by_other)?);
        ours.push(per_second(&mut by_proxy)?);
        proxy.wait_until_quiet()?;
    }
    let (ratio, rate) = compare(&theirs, &ours, "requests/s");
    let what = "calls one after the other";
    let times = |ratio| format!("{ratio:.1} × mitmdump");
    Ok(vec![Row::at_least(what, 10.0, ratio, times).and(rate)])
}

fn per_second(connections: &mut [Connection]) -> anyhow::Result<f64> {
    const TIME: Duration = Duration::from_secs(2);
    let clock = Clock::start();
    let calls = |connection: &mut Connection| -> anyhow::Result<f64> {
        let mut calls = 0.0;
        while clock.now().since(Moment(0)) < TIME {
            microseconds(connection, SHORT, 1)?;
            calls += 1.0;
        }
        Ok(calls)
    };
    let calls = thread::scope(|scope| {
        let callers: Vec<_> = connections
            .iter_mut()
            .map(|connection| scope.spawn(|| calls(connection)))
            .collect();
        let counts = callers
            .into_iter()
            .map(|caller| caller.join().ok().context("a caller panicked")?);
        counts.sum::<anyhow::Result<f64>>()
    })?;
    Ok(calls / clock.now().since(Moment(0)).as_secs_f64())
}
