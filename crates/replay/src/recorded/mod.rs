//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! ```text
//!  both ── side ─▶ cards ─▶ align ─▶ pairs ─ side ─▶ messages ─▶ judge
//!                                    besides: notifications, ends ──┘
//! ```
//!
//! `bound`, `rounds`: what rules bind, and under which keys input is asked for, is the same on both
//! sides, though the server chose it anew.
//! Messages are read one exchange at a time. What is too long to be held is compared by its
//! outline, and by a digest that says whether all of it is the same.

mod besides;
mod bound;
mod held;
mod holding;
mod message;
mod original;
mod rounds;
mod side;

pub use bound::Bound;
pub use original::message;

use super::align::{self, Card, Pair};
use super::compare::Class;
use super::judge::{Judge, Missing};
use super::rules::Side;
use held::Held;
use holding::Holding;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::message::Direction;
use side::{One, WHOLE};
use std::collections::HashSet;

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

    /// So many more exchanges are known, of which nothing is compared yet.
    fn has_read(&mut self, exchanges: usize) {
        let _ = exchanges;
    }

    /// This was compared, in the order of the left side.
    fn compared(&mut self, paired: &Paired<'_>) {
        let _ = paired;
    }
}

impl<F: FnMut(usize, usize)> Witness for F {
    fn goes_on(&mut self, done: usize, of: usize) -> bool {
        self(done, of);
        true
    }
}

/// Compares two recordings, the left one being the one to go by, as long as `witness` wants it to
/// go on. Returns what rules bind, and what `judge` knew beforehand: by that two exchanges of theirs
/// can be looked at again.
pub fn recordings(
    [left, right]: [&Recording; 2],
    wanted: &Wanted,
    judge: &mut Judge,
    witness: &mut dyn Witness,
) -> Result<Bound, ReadError> {
    let summaries = [left.summary()?, right.summary()?];
    let mut bound = Bound::by(judge);
    let one = One::new([left, right], Side::Left, &summaries[0]);
    let other = One::new([right, left], Side::Right, &summaries[1]);
    let mut cards = [one.cards(judge, witness)?, other.cards(judge, witness)?];
    if !witness.reads_on() {
        return Ok(bound);
    }
    if let Wanted::Part(part) = wanted {
        cards[0].retain(|(id, _)| part.contains(id));
    }
    let found = (&mut *judge, &mut bound);
    if !pairs([one, other], &cards, wanted, found, witness)? {
        return Ok(bound);
    }
    if matches!(wanted, Wanted::All) {
        besides::notifications([one, other], judge, witness)?;
        besides::ends(&summaries, judge);
    }
    besides::too_many(&summaries, judge);
    besides::nothing(&summaries, wanted, judge);
    Ok(bound)
}

/// Compares exchange beside exchange. Whether `witness` heard of all of them.
fn pairs(
    [one, other]: [One<'_>; 2],
    cards: &Cards,
    wanted: &Wanted,
    (judge, bound): (&mut Judge, &mut Bound),
    witness: &mut dyn Witness,
) -> Result<bool, ReadError> {
    let pairs = aligned(cards);
    let all = pairs.len();
    let recordings = [one.recording(), other.recording()];
    let mut holding = Holding::of(&recordings);
    for (at, pair) in pairs.into_iter().enumerate() {
        if !witness.goes_on(at, all) {
            return Ok(false);
        }
        let ids = ids(pair, cards);
        if !wanted.has(ids) {
            judge.unwanted();
            learn([one, other], ids, bound)?;
            continue;
        }
        holding.next()?;
        let mut held = match ids {
            [Some(left), Some(right)] => held_both([(one, left), (other, right)])?,
            [left, right] => [one.held(left)?, other.held(right)?],
        };
        holding.read(held.iter().flatten().map(Held::bytes).sum());
        if let [Some(left), Some(right)] = &mut held {
            bound.apply(left, right, judge);
        }
        judged(&held, judge, witness);
    }
    Ok(true)
}

/// What others bind to the answers of exchanges that are not to be compared themselves.
fn learn(
    [one, other]: [One<'_>; 2],
    ids: [Option<ExchangeId>; 2],
    bound: &mut Bound,
) -> Result<(), ReadError> {
    let [Some(left), Some(right)] = ids else {
        return Ok(());
    };
    let Some(exchange) = one.exchange(left)? else {
        return Ok(());
    };
    if bound.wants(&exchange)
        && let [Some(left), Some(right)] = held_both([(one, left), (other, right)])?
    {
        bound.pair([&left, &right]);
    }
    Ok(())
}

/// What rules bind in the answers before these two exchanges, in the sessions that they are of.
fn learn_before(
    [one, other]: [One<'_>; 2],
    ends: [ExchangeId; 2],
    judge: &Judge,
    bound: &mut Bound,
) -> Result<(), ReadError> {
    let nobody = &mut |_: usize, _: usize| {};
    let mut cards = [one.cards(judge, nobody)?, other.cards(judge, nobody)?];
    for (side, end) in cards.iter_mut().zip(ends) {
        side.retain(|(id, _)| *id < end);
    }
    for pair in aligned(&cards) {
        learn([one, other], ids(pair, &cards), bound)?;
    }
    Ok(())
}

/// Compares two exchanges, knowing what rules bind in what was answered before them.
pub fn exchanges(
    left: (&Recording, ExchangeId),
    right: (&Recording, ExchangeId),
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let one = One::new([left.0, right.0], Side::Left, &left.0.summary()?);
    let other = One::new([right.0, left.0], Side::Right, &right.0.summary()?);
    let mut bound = Bound::by(judge);
    let is_retry = one.exchange(left.1)?.is_some_and(|left| left.is_retry());
    if is_retry || judge.rules().binds().next().is_some() {
        learn_before([one, other], [left.1, right.1], judge, &mut bound)?;
    }
    let mut held = held_both([(one, left.1), (other, right.1)])?;
    if let [Some(left), Some(right)] = &mut held {
        bound.apply(left, right, judge);
    }
    judged(&held, judge, &mut |_: usize, _: usize| {});
    // Two alone are no session in which all that rules are about could be said.
    for (rule, _) in judge.rules().binds() {
        judge.rules().fired(rule);
    }
    Ok(())
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

/// Reads two exchanges; both or none, and both as a whole where the longer one can be read so.
fn held_both(
    [(one, left), (other, right)]: [(One<'_>, ExchangeId); 2],
) -> Result<[Option<Held>; 2], ReadError> {
    let (Some(left), Some(right)) = (one.exchange(left)?, other.exchange(right)?) else {
        return Ok([None, None]);
    };
    let longest = |size: fn(&Exchange) -> u64| size(&left).max(size(&right));
    let whole = [
        longest(|one| one.request_size),
        longest(|one| one.response_size),
    ]
    .map(|size| size <= WHOLE);
    let held = [
        one.read(left.clone(), Some(&right), whole)?,
        other.read(right, Some(&left), whole)?,
    ];
    Ok(held.map(Some))
}

/// Judges what both sides have, or one of them.
fn judged(held: &[Option<Held>; 2], judge: &mut Judge, witness: &mut dyn Witness) {
    judge.redacted(held.iter().flatten().map(Held::redacted).sum());
    let class = match held {
        [Some(left), Some(right)] => judge.both(&left.occurrence(), &right.occurrence()),
        [Some(left), None] => {
            let why = match left.direction() {
                Direction::ClientToServer => Missing::Removed,
                Direction::ServerToClient => Missing::NeverAsked,
            };
            judge.missing(&left.occurrence(), why)
        }
        [None, Some(right)] => Some(judge.more(&right.occurrence())),
        [None, None] => return,
    };
    witness.compared(&Paired {
        sides: held
            .each_ref()
            .map(|side| side.as_ref().map(Held::exchange)),
        class,
    });
}
