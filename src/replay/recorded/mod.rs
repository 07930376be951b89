//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! ```text
//!  both ── side ─▶ cards ─▶ align ─▶ pairs ─ side ─▶ messages ─▶ judge
//!                                    besides: notifications, ends ──┘
//! ```
//!
//! Messages are read one exchange at a time. What is too long to be held is compared by its
//! outline, and by a digest that says whether all of it is the same.

mod besides;
mod side;

use super::align::{self, Card, Pair};
use super::compare::Class;
use super::judge::{Judge, Missing};
use super::rules::Side;
use crate::protocol::message::Direction;
use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::{Exchange, ExchangeId};
use side::{Held, One, WHOLE};
use std::collections::HashSet;

/// Which exchanges are compared.
#[derive(Clone, Debug, Default)]
pub enum Wanted {
    /// All of them, and what came besides.
    #[default]
    All,
    /// Those of which one side or the other is among these.
    Only([HashSet<ExchangeId>; 2]),
    /// All of the right side and these of the left one, as if it had no others: what was replayed.
    Part(HashSet<ExchangeId>),
}

/// Two exchanges that stand for each other, or one that only one side has.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'e> {
    /// The exchanges.
    pub sides: [Option<&'e Exchange>; 2],
    /// The worst that was found, as far as it is known by then: of lists it is known when all pages
    /// of them are there.
    pub class: Option<Class>,
}

/// Whoever hears how a comparison goes.
pub trait Witness {
    /// So many exchanges of so many are compared. Whether to go on.
    fn goes_on(&mut self, done: usize, of: usize) -> bool;

    /// Both recordings are read, before the first exchanges are compared and after the last ones.
    /// Whether to go on.
    fn reads_on(&mut self) -> bool {
        true
    }

    /// This was compared, in the order of the left side.
    fn compared(&mut self, paired: &Paired<'_>) {
        let _ = paired;
    }
}

/// Only how far it is.
impl<F: FnMut(usize, usize)> Witness for F {
    fn goes_on(&mut self, done: usize, of: usize) -> bool {
        self(done, of);
        true
    }
}

/// Compares two recordings, the left one being the one to go by, as long as `witness` wants it to
/// go on.
pub fn recordings(
    [left, right]: [&Recording; 2],
    wanted: &Wanted,
    judge: &mut Judge,
    witness: &mut dyn Witness,
) -> Result<(), ReadError> {
    let summaries = [left.summary()?, right.summary()?];
    let one = One::new(left, Side::Left, &summaries[0]);
    let other = One::new(right, Side::Right, &summaries[1]);
    let mut cards = [one.cards(judge, witness)?, other.cards(judge, witness)?];
    if !witness.reads_on() {
        return Ok(());
    }
    if let Wanted::Part(part) = wanted {
        cards[0].retain(|(id, _)| part.contains(id));
    }
    let pairs = aligned(&cards);
    let all = pairs.len();
    for (at, pair) in pairs.into_iter().enumerate() {
        if !witness.goes_on(at, all) {
            return Ok(());
        }
        let ids = ids(pair, &cards);
        if !wanted.has(ids) {
            judge.unwanted();
            continue;
        }
        match ids {
            [Some(left), Some(right)] => both([(one, left), (other, right)], judge, witness)?,
            [Some(left), None] => only_left(one.held(left)?.as_ref(), judge, witness),
            [None, Some(right)] => only_right(other.held(right)?.as_ref(), judge, witness),
            [None, None] => {}
        }
    }
    if matches!(wanted, Wanted::All) {
        besides::notifications([one, other], judge, witness)?;
        besides::ends(&summaries, judge);
    }
    besides::too_many(&summaries, judge);
    besides::nothing(&summaries, wanted, judge);
    Ok(())
}

/// Compares two exchanges.
pub fn exchanges(
    left: (&Recording, ExchangeId),
    right: (&Recording, ExchangeId),
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let one = One::new(left.0, Side::Left, &left.0.summary()?);
    let other = One::new(right.0, Side::Right, &right.0.summary()?);
    both(
        [(one, left.1), (other, right.1)],
        judge,
        &mut |_: usize, _: usize| {},
    )
}

/// What the exchanges of both sides are known by.
type Cards = [Vec<(ExchangeId, Card)>; 2];

fn aligned(cards: &Cards) -> Vec<Pair> {
    let [left, right] = cards
        .each_ref()
        .map(|side| side.iter().map(|(_, card)| *card).collect::<Vec<_>>());
    align::align(&left, &right)
}

fn ids(pair: Pair, [left, right]: &Cards) -> [Option<ExchangeId>; 2] {
    match pair {
        Pair::Both(l, r) => [Some(left[l].0), Some(right[r].0)],
        Pair::Left(l) => [Some(left[l].0), None],
        Pair::Right(r) => [None, Some(right[r].0)],
    }
}

impl Wanted {
    fn has(&self, ids: [Option<ExchangeId>; 2]) -> bool {
        let Self::Only(sides) = self else { return true };
        let mut ids = ids.into_iter().zip(sides);
        ids.any(|(id, side)| id.is_some_and(|id| side.contains(&id)))
    }
}

fn both(
    [(one, left), (other, right)]: [(One<'_>, ExchangeId); 2],
    judge: &mut Judge,
    witness: &mut dyn Witness,
) -> Result<(), ReadError> {
    let (Some(left), Some(right)) = (one.exchange(left)?, other.exchange(right)?) else {
        return Ok(());
    };
    let longest = |size: fn(&Exchange) -> u64| size(&left).max(size(&right));
    let whole = [
        longest(|one| one.request_size),
        longest(|one| one.response_size),
    ]
    .map(|size| size <= WHOLE);
    let (left, right) = (one.read(left, whole)?, other.read(right, whole)?);
    let class = judge.both(&left.occurrence(), &right.occurrence());
    witness.compared(&Paired {
        sides: [Some(left.exchange()), Some(right.exchange())],
        class,
    });
    Ok(())
}

fn only_left(held: Option<&Held>, judge: &mut Judge, witness: &mut dyn Witness) {
    if let Some(held) = held {
        let why = match held.direction() {
            Direction::ClientToServer => Missing::Removed,
            Direction::ServerToClient => Missing::NeverAsked,
        };
        judge.missing(&held.occurrence(), why);
        witness.compared(&Paired {
            sides: [Some(held.exchange()), None],
            class: Some(Class::Changed),
        });
    }
}

fn only_right(held: Option<&Held>, judge: &mut Judge, witness: &mut dyn Witness) {
    if let Some(held) = held {
        judge.more(&held.occurrence());
        witness.compared(&Paired {
            sides: [None, Some(held.exchange())],
            class: Some(Class::Added),
        });
    }
}
