//! From the start of the process to the server's first answer.

use crate::Setup;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::Row;
use crate::stats::{median, quantile};
use mcpreel_trace::clock::{Clock, Moment};

const LIMIT_MS: f64 = 3.0;

/// How much later the first answer comes than without a recorder.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let rounds = setup.amount(100, 20);
    let (mut direct, mut recorded) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        direct.push(first_answer_ms(Arm::Direct, setup)?);
        recorded.push(first_answer_ms(Arm::Recorder, setup)?);
    }
    setup.clean()?;
    let later = median(&recorded) - median(&direct);
    let at_p90 = quantile(&recorded, 0.9) - quantile(&direct, 0.9);
    let note = format!(
        "{:.1} against {:.1} ms; at p90 {at_p90:.1} ms later",
        median(&recorded),
        median(&direct)
    );
    let show = |ms| format!("{ms:.1} ms");
    let what = "start: first answer, later than without a recorder";
    Ok(vec![Row::at_most(what, LIMIT_MS, later, show).and(note)])
}

fn first_answer_ms(arm: Arm, setup: &Setup) -> anyhow::Result<f64> {
    let clock = Clock::start();
    let mut session = Session::start(arm, setup)?;
    session.initialize()?;
    let ms = clock.now().since(Moment(0)).as_secs_f64() * 1e3;
    session.close()?;
    Ok(ms)
}
