//! Every row that fits, one after the other.

use super::{Limit, Question, Scan, Way};
use crate::reader::{ReadError, Recording};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::Context;

const PAGE: usize = 200;

/// A step of a scan, nanoseconds: no read transaction is to hold up a recorder.
const STEP_NS: u64 = 20_000_000;

/// A step after which so many rows were found at most.
pub fn step(hits: usize) -> Limit {
    Limit {
        hits,
        nanos: STEP_NS,
        clock: Clock::start(),
    }
}

/// Gives every row of `recording` that fits to `show`, the oldest first.
pub fn each<E: From<ReadError>>(
    recording: &Recording,
    question: &Question,
    context: Context,
    show: &mut impl FnMut(Item) -> Result<(), E>,
) -> Result<(), E> {
    let mut scan = Scan::new(question, Way::Oldest, None, context);
    let limit = step(PAGE);
    loop {
        let step = scan.step(recording, &limit)?;
        let keys: Vec<_> = step.hits.iter().map(|hit| hit.key).collect();
        for item in recording.items(question.lens, &keys, question.until)? {
            show(item)?;
        }
        if step.done {
            return Ok(());
        }
    }
}
