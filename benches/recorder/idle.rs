//! What a recorder does while nothing happens.

use crate::Setup;
use crate::machine::context_switches;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use std::time::Duration;

/// Counts how often a thread of an idle recorder is put on a CPU.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let seconds = setup.amount(5, 2);
    let session = Session::open(Arm::Recorder, setup)?;
    session.wait_until_quiet()?;
    let before = context_switches(session.pid())?;
    std::thread::sleep(Duration::from_secs(seconds));
    let switches = context_switches(session.pid())? - before;
    session.close()?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "few, or the budget is missed anyway"
    )]
    let row = Row::at_most(
        format!("idle recorder, wake-ups in {seconds} s"),
        0.0,
        switches as f64,
        |n| format!("{n:.0}"),
    );
    Ok(vec![row])
}
