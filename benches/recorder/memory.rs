//! The most memory that the recorder takes, the indexing included.

use crate::Setup;
use crate::machine::{peak_memory, wait_until_quiet};
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use crate::traffic::Order;

const FLOOD_LIMIT_MIB: f64 = 16.0;
const LONG_LINE_LIMIT_MIB: f64 = 32.0;

/// Peaks in a flood of lines of many sizes, and with a very long line.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (cycles, long) = setup.amount((1_600, 100_000_000), (400, 20_000_000));
    let sizes: Vec<usize> = vec![1024, 65_536, 2048, 32_768, 4096, 512, 16_384, 1024];
    let mixed = Order::Flood {
        lines: cycles * sizes.len(),
        sizes,
        together: 1,
    };
    let small = Order::Flood {
        lines: cycles * 100,
        sizes: vec![1024],
        together: 1,
    };
    let show = |mib| format!("{mib:.1} MiB");
    let flood = |what: &str, order| -> anyhow::Result<Row> {
        Ok(Row::at_most(
            what,
            FLOOD_LIMIT_MIB,
            peak_mib(setup, order)?,
            show,
        ))
    };
    let long_line = peak_mib(setup, &Order::Large { bytes: long })?;
    let what = format!("memory, one line of {} MB", long / 1_000_000);
    Ok(vec![
        flood("memory, flood of lines of 0.5 to 64 KB", &mixed)?,
        flood("memory, flood of lines of 1 KB", &small)?,
        Row::at_most(what, LONG_LINE_LIMIT_MIB, long_line, show),
    ])
}

fn peak_mib(setup: &Setup, order: &Order) -> anyhow::Result<f64> {
    let mut session = Session::open(Arm::Recorder, setup)?;
    session.obey(order)?;
    wait_until_quiet(session.pid())?;
    let bytes = peak_memory(session.pid())?;
    session.close()?;
    setup.clean()?;
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    Ok(bytes as f64 / f64::from(1 << 20))
}
