//! One large message, as a picture or a whole file in an answer.

use crate::Setup;
use crate::machine::Pinned;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::{Row, times_cat};
use crate::stats::median;
use crate::traffic::Order;
use mcpreel_trace::clock::Clock;

const SIZE: usize = 5_000_000;
const LIMIT: f64 = 1.15;

/// Compares the time from the call to the last byte of its answer.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (ratio, note) = compare(setup)?;
    let pinned = Pinned::to_one_cpu()?;
    let (on_one, on_one_note) = compare(setup)?;
    drop(pinned);
    Ok(vec![
        Row::at_most("one message of 5 MB", LIMIT, ratio, times_cat).and(note),
        Row::remark("one message of 5 MB, one CPU", times_cat(on_one)).and(on_one_note),
    ])
}

fn compare(setup: &Setup) -> anyhow::Result<(f64, String)> {
    let rounds = setup.amount(25, 5);
    let mut cat = Session::open(Arm::Cat, setup)?;
    let mut recorder = Session::open(Arm::Recorder, setup)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        without.push(milliseconds(&mut cat)?);
        with.push(milliseconds(&mut recorder)?);
        recorder.wait_until_quiet()?;
    }
    cat.close()?;
    recorder.close()?;
    setup.clean()?;
    let ratios: Vec<f64> = without.iter().zip(&with).map(|(a, b)| b / a).collect();
    let absolute = format!("{:.2} against {:.2} ms", median(&with), median(&without));
    Ok((median(&ratios), absolute))
}

fn milliseconds(session: &mut Session) -> anyhow::Result<f64> {
    let clock = Clock::start();
    session.obey(&Order::Large { bytes: SIZE })?;
    Ok(clock
        .now()
        .since(mcpreel_trace::clock::Moment(0))
        .as_secs_f64()
        * 1e3)
}
