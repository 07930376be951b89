//! The most memory that the recorder and its indexer take, the pages of the program's file aside.

use crate::Setup;
use crate::machine::{indexer_of, memory_of_files, peak_memory};
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use crate::traffic::Order;

const RECORDER_LIMIT_MIB: f64 = 6.0;
const INDEXER_LIMIT_MIB: f64 = 32.0;

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
    let long_line = format!("one line of {} MB", long / 1_000_000);
    let mut rows = Vec::new();
    for (what, order) in [
        ("flood of lines of 0.5 to 64 KB", &mixed),
        ("flood of lines of 1 KB", &small),
        (&long_line, &Order::Large { bytes: long }),
    ] {
        let [recorder, indexer] = peaks_mib(setup, order)?;
        let row = |who, limit, [own, files]: [f64; 2]| {
            let show = |mib| format!("{mib:.1} MiB");
            let row = Row::at_most(format!("memory of the {who}, {what}"), limit, own, show);
            row.and(format!("and {files:.1} MiB of files"))
        };
        rows.push(row("recorder", RECORDER_LIMIT_MIB, recorder));
        rows.push(row("indexer", INDEXER_LIMIT_MIB, indexer));
    }
    Ok(rows)
}

/// The peaks of recorder and indexer, and how much they have of files.
fn peaks_mib(setup: &Setup, order: &Order) -> anyhow::Result<[[f64; 2]; 2]> {
    let mut session = Session::open(Arm::Recorder, setup)?;
    session.obey(order)?;
    session.wait_until_quiet()?;
    let indexer = indexer_of(session.pid())?;
    let memory_of = |pid| -> anyhow::Result<[u64; 2]> {
        let files = memory_of_files(pid)?;
        Ok([peak_memory(pid)?.saturating_sub(files), files])
    };
    let bytes = [memory_of(session.pid())?, memory_of(indexer)?];
    session.close()?;
    setup.clean()?;
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    Ok(bytes.map(|both| both.map(|bytes| bytes as f64 / f64::from(1 << 20))))
}
