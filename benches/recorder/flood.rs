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
/// Beside a relay that does nothing but keep a copy: whatever pages of memory cost, both pay it.
const COPY_LIMIT: f64 = 0.9;

/// Compares floods on one CPU and on all.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let pinned = Pinned::to_one_cpu()?;
    let one_by_one = compare(setup, 1)?;
    let together = compare(setup, 64)?;
    drop(pinned);
    let free = compare(setup, 1)?;
    let what = "flood of 1 KB notifications";
    let row = |what, limit, flood: &Flood| {
        Row::at_least(what, limit, flood.to_cat, times_cat).and(&flood.words)
    };
    let times_copy = |ratio| format!("{ratio:.2} × a plain copy");
    Ok(vec![
        row(format!("{what}, one CPU"), PINNED_LIMIT, &one_by_one),
        Row::at_least(
            "the same, beside a relay that keeps a plain copy",
            COPY_LIMIT,
            one_by_one.to_copy,
            times_copy,
        ),
        row(format!("{what}, all CPUs"), FREE_LIMIT, &free),
        Row::remark(
            format!("{what}, 64 in one write, one CPU"),
            times_cat(together.to_cat),
        )
        .and(&together.words),
    ])
}

/// The throughput through the recorder.
struct Flood {
    /// Over that through `cat`.
    to_cat: f64,
    /// Over that through a relay that keeps a copy.
    to_copy: f64,
    words: String,
}

fn compare(setup: &Setup, together: usize) -> anyhow::Result<Flood> {
    let (rounds, lines) = setup.amount((5, 300_000), (2, 60_000));
    let order = Order::Flood {
        lines,
        sizes: vec![SIZE],
        together,
    };
    let (mut cat, mut copy, mut recorder) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        cat.push(megabytes_per_second(Arm::Cat, setup, &order)?);
        copy.push(megabytes_per_second(Arm::Copy, setup, &order)?);
        recorder.push(megabytes_per_second(Arm::Recorder, setup, &order)?);
    }
    let over = |peer: &[f64]| {
        let ratios: Vec<f64> = peer.iter().zip(&recorder).map(|(a, b)| b / a).collect();
        median(&ratios)
    };
    Ok(Flood {
        to_cat: over(&cat),
        to_copy: over(&copy),
        words: format!(
            "{:.0} of {:.0} MB/s; a plain copy {:.0}",
            median(&recorder),
            median(&cat),
            median(&copy)
        ),
    })
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
