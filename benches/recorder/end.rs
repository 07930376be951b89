//! From the server's end to ours.

use crate::Setup;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use crate::stats::{largest, median};
use crate::traffic::{self, Order};

const IDLE_LIMIT_MS: f64 = 20.0;
const BACKLOG_LIMIT_MS: f64 = 250.0;

/// How much later than without a recorder the host sees the end.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (rounds, floods, lines) = setup.amount((30, 6, 300_000), (10, 2, 100_000));
    let order = Order::Flood {
        lines,
        sizes: vec![1024],
        together: 64,
    };
    let direct = each(rounds, || quiet_end_ms(Arm::Direct, setup))?;
    let quiet = each(rounds, || quiet_end_ms(Arm::Recorder, setup))?;
    let direct_flooded = each(floods, || flooded_end_ms(Arm::Direct, setup, &order))?;
    let flooded = each(floods, || flooded_end_ms(Arm::Recorder, setup, &order))?;
    let show = |ms| format!("{ms:.0} ms");
    let row = |what, limit, with: &[f64], without: &[f64]| {
        let over = |ms: f64| ms - median(without);
        let note = format!("at most {:.0} ms", over(largest(with)));
        Row::at_most(what, limit, over(median(with)), show).and(note)
    };
    Ok(vec![
        row(
            "end: later than the server, nothing to index",
            IDLE_LIMIT_MS,
            &quiet,
            &direct,
        ),
        row(
            "end: later than the server, a flood to index",
            BACKLOG_LIMIT_MS,
            &flooded,
            &direct_flooded,
        ),
    ])
}

fn each(rounds: usize, one: impl Fn() -> anyhow::Result<f64>) -> anyhow::Result<Vec<f64>> {
    (0..rounds).map(|_| one()).collect()
}

fn quiet_end_ms(arm: Arm, setup: &Setup) -> anyhow::Result<f64> {
    let mut session = Session::open(arm, setup)?;
    for _ in 0..20 {
        session.send(&traffic::echo(traffic::SHORT))?;
        session.receive(traffic::SHORT)?;
    }
    session.wait_until_quiet()?;
    Ok(session.close()?.as_secs_f64() * 1e3)
}

fn flooded_end_ms(arm: Arm, setup: &Setup, order: &Order) -> anyhow::Result<f64> {
    let mut session = Session::open(arm, setup)?;
    session.obey(order)?;
    let ms = session.close()?.as_secs_f64() * 1e3;
    setup.clean()?;
    Ok(ms)
}
