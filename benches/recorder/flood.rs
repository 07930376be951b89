//! A flood of notifications, as fast as the server can write.

use crate::Setup;
use crate::machine::Pinned;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::{Row, times_cat};
use crate::stats::median;
use crate::traffic::Order;
use mcpreel_trace::clock::Clock;

/// Bytes of a notification.
const SIZE: usize = 1024;
const PINNED_LIMIT: f64 = 0.75;
const FREE_LIMIT: f64 = 0.5;

/// Compares floods on one CPU and on all.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let pinned = Pinned::to_one_cpu()?;
    let one_by_one = compare(setup, 1)?;
    let together = compare(setup, 64)?;
    drop(pinned);
    let free = compare(setup, 1)?;
    let what = "flood of 1 KB notifications";
    let row = |what, limit, (ratio, note): (f64, String)| {
        Row::at_least(what, limit, ratio, times_cat).and(note)
    };
    let (ratio, note) = together;
    Ok(vec![
        row(format!("{what}, one CPU"), PINNED_LIMIT, one_by_one),
        row(format!("{what}, all CPUs"), FREE_LIMIT, free),
        Row::remark(
            format!("{what}, 64 in one write, one CPU"),
            times_cat(ratio),
        )
        .and(note),
    ])
}

/// The throughput through the recorder over that through `cat`, and both in words.
fn compare(setup: &Setup, together: usize) -> anyhow::Result<(f64, String)> {
    let (rounds, lines) = setup.amount((5, 300_000), (2, 60_000));
    let order = Order::Flood {
        lines,
        sizes: vec![SIZE],
        together,
    };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.push(megabytes_per_second(Arm::Cat, setup, &order)?);
        with.push(megabytes_per_second(Arm::Recorder, setup, &order)?);
    }
    let ratios: Vec<f64> = without.iter().zip(&with).map(|(a, b)| b / a).collect();
    let absolute = format!("{:.0} of {:.0} MB/s", median(&with), median(&without));
    Ok((median(&ratios), absolute))
}

fn megabytes_per_second(arm: Arm, setup: &Setup, order: &Order) -> anyhow::Result<f64> {
    let mut session = Session::open(arm, setup)?;
    let clock = Clock::start();
    session.obey(order)?;
    let seconds = clock
        .now()
        .since(mcpreel_trace::clock::Moment(0))
        .as_secs_f64();
    session.close()?;
    setup.clean()?;
    #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
    Ok(order.response_bytes() as f64 / 1e6 / seconds)
}
