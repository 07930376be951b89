//! From the start of the process until it listens.

use crate::Setup;
use crate::support::recorder_table::Row;
use crate::support::stats::{median, quantile};
use crate::way::{connect, free_address, proxy};
use mcpreel_trace::clock::{Clock, Moment};

/// How long until the first connection.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let mut samples = Vec::new();
    for _ in 0..setup.amount(50, 10) {
        let (address, behind) = (free_address()?, free_address()?);
        let clock = Clock::start();
        let mut child = proxy(&behind, &address, setup)?;
        connect(&address)?;
        samples.push(clock.now().since(Moment(0)).as_secs_f64() * 1e3);
        child.kill()?;
        child.wait()?;
    }
    let show = |ms| format!("{ms:.1} ms");
    let note = format!("at p90 {:.1} ms", quantile(&samples, 0.9));
    Ok(vec![
        Row::at_most("start to listening", 20.0, median(&samples), show).and(note),
    ])
}
