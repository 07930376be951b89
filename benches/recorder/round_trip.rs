//! The round trip of a short call, everything on one CPU.

use crate::machine::Pinned;
use crate::recorder_session::{Arm, Session};
use crate::recorder_table::{Row, times_cat};
use crate::stats::{median, quantile};
use crate::{Setup, traffic};
use mcpreel_trace::clock::Clock;

/// Bytes of a call and of its answer.
const SIZE: usize = 200;
const P50_LIMIT: f64 = 1.15;
const P99_LIMIT: f64 = 1.4;

/// Microseconds at p50 and p99 of one block.
struct Block {
    p50: f64,
    p99: f64,
}

/// Compares blocks of calls through `cat` and through the recorder.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (blocks, calls) = setup.amount((24, 2_500), (8, 1_000));
    let pinned = Pinned::to_one_cpu()?;
    let mut cat = Session::open(Arm::Cat, setup)?;
    let mut recorder = Session::open(Arm::Recorder, setup)?;
    let mut caller = Caller::new();
    for session in [&mut cat, &mut recorder] {
        caller.block(session, calls)?;
    }
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..blocks {
        // What the indexer has left to do must not disturb the other arm.
        recorder.wait_until_quiet()?;
        without.push(caller.block(&mut cat, calls)?);
        with.push(caller.block(&mut recorder, calls)?);
    }
    cat.close()?;
    recorder.close()?;
    drop(pinned);
    let compare = |pick: fn(&Block) -> f64| {
        let pairs = without.iter().zip(&with);
        let ratios: Vec<f64> = pairs.map(|(a, b)| pick(b) / pick(a)).collect();
        let us = |blocks: &[Block]| median(&blocks.iter().map(pick).collect::<Vec<_>>());
        let absolute = format!("{:.1} against {:.1} µs", us(&with), us(&without));
        (median(&ratios), absolute)
    };
    let (p50, p50_us) = compare(|block| block.p50);
    let (p99, p99_us) = compare(|block| block.p99);
    let what = format!("round trip of a {SIZE}-byte call, one CPU");
    Ok(vec![
        Row::at_most(format!("{what}, p50"), P50_LIMIT, p50, times_cat).and(p50_us),
        Row::at_most(format!("{what}, p99"), P99_LIMIT, p99, times_cat).and(p99_us),
    ])
}

/// Makes calls with ids that rise.
struct Caller {
    call: Vec<u8>,
    next_id: u64,
    clock: Clock,
}

impl Caller {
    fn new() -> Self {
        Self {
            call: traffic::echo(SIZE),
            next_id: traffic::FIRST_ID,
            clock: Clock::start(),
        }
    }

    fn block(&mut self, session: &mut Session, calls: usize) -> anyhow::Result<Block> {
        let mut samples = Vec::with_capacity(calls);
        for _ in 0..calls {
            self.next_id += 1;
            traffic::set_id(&mut self.call, self.next_id);
            let began = self.clock.now();
            session.send(&self.call)?;
            session.receive(SIZE)?;
            samples.push(self.clock.now().since(began).as_secs_f64() * 1e6);
        }
        Ok(Block {
            p50: median(&samples),
            p99: quantile(&samples, 0.99),
        })
    }
}
