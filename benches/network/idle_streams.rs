//! A thousand streams on which nothing happens.

use crate::Setup;
use crate::support::machine::{context_switches, indexer_of, memory_of_files, peak_memory};
use crate::support::recorder_table::Row;
use crate::way::{Arm, Way};
use std::time::Duration;

const STREAMS: usize = 1_000;
/// So that the server is silent for as long as this takes.
const LONG_US: u64 = 3_600_000_000;

/// The memory of the proxy and of its indexer, and how often they wake up.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let seconds = setup.amount(30, 2);
    let way = Way::open(Arm::Proxy, setup)?;
    let mut streams = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        let mut stream = way.connect()?;
        stream.open_stream(2, LONG_US)?;
        streams.push(stream);
    }
    way.wait_until_quiet()?;
    let indexer = indexer_of(way.pid())?;
    let switches = || anyhow::Ok(context_switches(way.pid())? + context_switches(indexer)?);
    let before = switches()?;
    std::thread::sleep(Duration::from_secs(seconds));
    let switches = switches()? - before;
    let memory = |pid| -> anyhow::Result<f64> {
        let own = peak_memory(pid)?.saturating_sub(memory_of_files(pid)?);
        #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
        Ok(own as f64 / f64::from(1 << 20))
    };
    let (proxy, indexer) = (memory(way.pid())?, memory(indexer)?);
    let what = format!("{STREAMS} idle streams, memory of the proxy and its indexer");
    let mib = |mib| format!("{mib:.1} MiB");
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let switches = switches as f64;
    Ok(vec![
        Row::at_most(what, 48.0, proxy + indexer, mib).and(format!("its indexer {indexer:.1} MiB")),
        Row::at_most(
            format!("{STREAMS} idle streams, wake-ups in {seconds} s"),
            0.0,
            switches,
            |n| format!("{n:.0}"),
        ),
    ])
}
