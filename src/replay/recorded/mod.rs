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
}

/// Compares two recordings, the left one being the one to go by; `done` hears how many exchanges
/// of how many are compared.
pub fn recordings(
    [left, right]: [&Recording; 2],
    wanted: &Wanted,
    judge: &mut Judge,
    done: &mut dyn FnMut(usize, usize),
) -> Result<(), ReadError> {
    let summaries = [left.summary()?, right.summary()?];
    let one = One::new(left, Side::Left, &summaries[0]);
    let other = One::new(right, Side::Right, &summaries[1]);
    let cards = [one.cards(judge)?, other.cards(judge)?];
    let pairs = aligned(&cards);
    let all = pairs.len();
    for (at, pair) in pairs.into_iter().enumerate() {
        done(at, all);
        let ids = ids(pair, &cards);
        if !wanted.has(ids) {
            judge.unwanted();
            continue;
        }
        match ids {
            [Some(left), Some(right)] => both([(one, left), (other, right)], judge)?,
            [Some(left), None] => only_left(one.held(left)?.as_ref(), judge),
            [None, Some(right)] => only_right(other.held(right)?.as_ref(), judge),
            [None, None] => {}
        }
    }
    if matches!(wanted, Wanted::All) {
        besides::notifications([one, other], judge)?;
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
    both([(one, left.1), (other, right.1)], judge)
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
    judge.both(&left.occurrence(), &right.occurrence());
    Ok(())
}

fn only_left(held: Option<&Held>, judge: &mut Judge) {
    if let Some(held) = held {
        let why = match held.direction() {
            Direction::ClientToServer => Missing::Removed,
            Direction::ServerToClient => Missing::NeverAsked,
        };
        judge.missing(&held.occurrence(), why);
    }
}

fn only_right(held: Option<&Held>, judge: &mut Judge) {
    if let Some(held) = held {
        judge.more(&held.occurrence());
    }
}
