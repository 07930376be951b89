//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! Exchanges are paired by what they ask for: first those that ask for the same, in the order in
//! which they occur; then those that ask for the same but for what two runs never share; then those
//! of the same method and tool, prompt or resource. What is left only one side has.
//!
//! Messages are read one exchange at a time. What the server chose anew, and rules bind, is the same
//! on both sides ([`Bound`]).

use super::Class;
use super::align::{Matching as Pairing, Pair};
use super::bound::Bound;
use super::diff_report::{self, Remark, Trouble};
use super::exchanges::{Judge, Missing};
use super::key::{Digest, Digesting, Key};
use super::noise;
use super::side::{Held, Holding, MAX_EXCHANGES, One, WHOLE};
use crate::rules::Side;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::plural;
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

impl Wanted {
    fn has(&self, ids: [Option<ExchangeId>; 2]) -> bool {
        let Self::Only(sides) = self else { return true };
        let mut ids = ids.into_iter().zip(sides);
        ids.any(|(id, side)| id.is_some_and(|id| side.contains(&id)))
    }
}

/// Two exchanges that stand for each other, or one that only one side has.
#[derive(Clone, Copy, Debug)]
pub struct Paired<'e> {
    pub sides: [Option<&'e Exchange>; 2],
    /// The worst that was found by then: of lists it is known when all their pages are there.
    pub class: Option<Class>,
}

/// Hears how a comparison goes, and may stop it.
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

    /// These were compared, in the order of the left side.
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

/// What an exchange is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Card {
    /// Which way the request went, and its method.
    call: Digest,
    name: Digest,
    key: Key,
}

impl Card {
    pub(super) fn new(direction: Direction, method: &str, name: Option<&str>, key: Key) -> Self {
        // The name of a call about a task is the task's id, which is made up anew every time.
        let name = name.filter(|_| !method.starts_with("tasks/"));
        let mut call = Digesting::default();
        call.push(direction.as_str().as_bytes());
        call.push(method.as_bytes());
        let shape = noise::shape(name.unwrap_or_default());
        Self {
            call: call.finish(),
            name: Digest::of(shape.as_bytes()),
            key,
        }
    }
}

/// The exchanges of both sides, in the order of their requests.
type Cards = [Vec<(ExchangeId, Card)>; 2];

/// What two cards must have in common to be a pair.
type KeyOf = fn(&Card) -> (Digest, Digest);

fn aligned([left, right]: &Cards) -> Vec<Pair> {
    let ways: [KeyOf; 3] = [
        |card| (card.call, card.key.exact),
        |card| (card.call, card.key.normalised),
        |card| (card.call, card.name),
    ];
    let mut pairing = Pairing::new(left.len(), right.len());
    for way in ways {
        pairing.pass(|at| way(&left[at].1), |at| way(&right[at].1));
    }
    pairing.interleaved()
}

fn ids(pair: Pair, cards: &Cards) -> [Option<ExchangeId>; 2] {
    let [left, right] = pair.places();
    [
        left.map(|at| cards[0][at].0),
        right.map(|at| cards[1][at].0),
    ]
}

/// Compares two recordings, the left one being the reference, as long as `witness` goes on. Returns
/// what is bound: with it two of their exchanges can be looked at again.
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
        for way in [Direction::ClientToServer, Direction::ServerToClient] {
            let left = one.notices(way, judge, witness)?;
            let right = other.notices(way, judge, witness)?;
            judge.notices(&left, &right);
        }
        ends(&summaries, judge);
    }
    too_many(&summaries, judge);
    nothing(&summaries, wanted, judge);
    Ok(bound)
}

/// Compares exchange beside exchange; `false` if `witness` stopped it.
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

/// Learns what is bound in the answers of exchanges that are not to be compared themselves.
fn learn(
    [one, other]: [One<'_>; 2],
    ids: [Option<ExchangeId>; 2],
    bound: &mut Bound,
) -> Result<(), ReadError> {
    if let [Some(left), Some(right)] = ids
        && let Some(exchange) = one.exchange(left)?
        && bound.wants(&exchange)
        && let [Some(left), Some(right)] = held_both([(one, left), (other, right)])?
    {
        bound.pair([&left, &right]);
    }
    Ok(())
}

/// Compares two exchanges, knowing what is bound in the answers before them.
pub fn exchanges(
    left: (&Recording, ExchangeId),
    right: (&Recording, ExchangeId),
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let nobody = &mut |_: usize, _: usize| {};
    let one = One::new([left.0, right.0], Side::Left, &left.0.summary()?);
    let other = One::new([right.0, left.0], Side::Right, &right.0.summary()?);
    let mut bound = Bound::by(judge);
    let is_retry = one.exchange(left.1)?.is_some_and(|left| left.is_retry());
    if is_retry || judge.rules().binds().next().is_some() {
        let mut cards = [one.cards(judge, nobody)?, other.cards(judge, nobody)?];
        for (side, end) in cards.iter_mut().zip([left.1, right.1]) {
            side.retain(|(id, _)| *id < end);
        }
        for pair in aligned(&cards) {
            learn([one, other], ids(pair, &cards), &mut bound)?;
        }
    }
    let mut held = held_both([(one, left.1), (other, right.1)])?;
    if let [Some(left), Some(right)] = &mut held {
        bound.apply(left, right, judge);
    }
    judged(&held, judge, nobody);
    // Two exchanges are no session in which every rule could have been of use.
    for (rule, _) in judge.rules().binds() {
        judge.rules().fired(rule);
    }
    Ok(())
}

/// Reads two exchanges; both or none, and both as a whole where the longer one can be read so.
fn held_both(
    [(one, left), (other, right)]: [(One<'_>, ExchangeId); 2],
) -> Result<[Option<Held>; 2], ReadError> {
    let (Some(left), Some(right)) = (one.exchange(left)?, other.exchange(right)?) else {
        return Ok([None, None]);
    };
    let longest = |size: fn(&Exchange) -> u64| size(&left).max(size(&right));
    let request = longest(|one| one.request_size);
    let response = longest(|one| one.response_size);
    let whole = [request, response].map(|size| size <= WHOLE);
    let held = [
        one.read(left.clone(), Some(&right), whole)?,
        other.read(right, Some(&left), whole)?,
    ];
    Ok(held.map(Some))
}

/// Compares what both sides have, or counts what only one has.
fn judged(held: &[Option<Held>; 2], judge: &mut Judge, witness: &mut dyn Witness) {
    judge.redacted(held.iter().flatten().map(|held| held.redacted).sum());
    let class = match held {
        [Some(left), Some(right)] => judge.both(&left.occurrence(), &right.occurrence()),
        [Some(left), None] => {
            let why = match left.exchange.direction {
                Direction::ClientToServer => Missing::Removed,
                Direction::ServerToClient => Missing::NeverAsked,
            };
            judge.missing(&left.occurrence(), why)
        }
        [None, Some(right)] => Some(judge.more(&right.occurrence())),
        [None, None] => return,
    };
    let sides = held.each_ref();
    witness.compared(&Paired {
        sides: sides.map(|side| side.as_ref().map(|held| &held.exchange)),
        class,
    });
}

/// How the sessions ended: a server that goes down where it did not is worse than any answer.
fn ends(summaries: &[Summary; 2], judge: &mut Judge) {
    let [Some(was), Some(is)] = [0, 1].map(|at| summaries[at].session.phase.end()) else {
        return;
    };
    if was == is || [was, is].contains(&&End::Unknown) {
        return;
    }
    let is_clean = |end: &End| matches!(end, End::Exited { code: 0 });
    let class = match (is_clean(was), is_clean(is)) {
        (true, false) => Class::Breaking,
        _ => Class::Changed,
    };
    let before = ended(was);
    let before = before.strip_prefix("was ").unwrap_or(&before);
    remark(
        judge,
        class,
        &format!("the server {}, was: {before}", ended(is)),
    );
}

fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {signal}"),
        End::NotStarted { .. } => "could not be started".to_owned(),
        End::Unknown => "ended somehow".to_owned(),
    }
}

/// What was not compared is no success.
fn too_many(summaries: &[Summary; 2], judge: &mut Judge) {
    let most = MAX_EXCHANGES as u64;
    let beyond = summaries
        .iter()
        .map(|one| one.exchanges.saturating_sub(most));
    let beyond: u64 = beyond.sum();
    if beyond > 0 {
        let exchanges = plural(beyond, "exchange");
        let text = format!("{exchanges} not compared: only the first {most} of a recording are");
        remark(judge, Class::Changed, &text);
    }
}

fn remark(judge: &mut Judge, class: Class, text: &str) {
    judge.remark(Remark {
        left: None,
        right: None,
        method: Box::default(),
        name: None,
        class,
        text: diff_report::name(text),
        trouble: None,
    });
}

/// Says why nothing was compared, where nothing was.
fn nothing(summaries: &[Summary; 2], wanted: &Wanted, judge: &mut Judge) {
    if judge.compared() > 0 {
        return;
    }
    let why = match (summaries.each_ref().map(|one| one.exchanges == 0), wanted) {
        ([true, true], _) => "neither recording has a request",
        ([true, false], _) => "the left recording has no request",
        ([false, true], _) => "the right recording has no request",
        (_, Wanted::Only(sides)) if sides.iter().all(HashSet::is_empty) => {
            "the filter fits no request"
        }
        _ => "no request of one recording stands for any of the other",
    };
    judge.trouble(Trouble::Unreadable, why.into());
}

#[cfg(test)]
mod recordings_tests;
