//! How fast the indexer drains a spool.

use crate::Setup;
use crate::machine::Pinned;
use crate::prepared::{Kind, Prepared};
use crate::recorder_table::Row;
use crate::stats::median;

const LIMIT: f64 = 80_000.0;
const SIZE: usize = 1024;

/// Frames per second on one CPU, with all that is derived from them.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let pinned = Pinned::to_one_cpu()?;
    let notifications = frames_per_second(setup, Kind::Notifications)?;
    let calls = frames_per_second(setup, Kind::Calls)?;
    let searches = frames_per_second(setup, Kind::Searches)?;
    drop(pinned);
    let show = |n| format!("{:.0},000 frames/s", n / 1000.0);
    let row = |what: &str, (speed, on_cpu): (f64, f64)| {
        let what = format!("indexing, {what}, one CPU");
        Row::at_least(what, LIMIT, speed, show).and(format!("{} of CPU time", show(on_cpu)))
    };
    Ok(vec![
        row("1 KB notifications", notifications),
        row("1 KB calls and answers", calls),
        row("1 KB calls and answers, checked by schemas", searches),
    ])
}

/// Frames per second, and per second of CPU time.
fn frames_per_second(setup: &Setup, kind: Kind) -> anyhow::Result<(f64, f64)> {
    let (rounds, frames) = setup.amount((5, 150_000), (2, 40_000));
    let (mut speeds, mut on_cpu) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let indexed = Prepared::write(&setup.dir, kind, SIZE, frames)?.index()?;
        #[expect(clippy::cast_precision_loss, reason = "some hundred thousand frames")]
        let count = indexed.frames as f64;
        speeds.push(count / indexed.took.as_secs_f64());
        on_cpu.push(count / indexed.cpu.as_secs_f64());
    }
    Ok((median(&speeds), median(&on_cpu)))
}
