//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! Exchanges are paired by what they ask for: first those that ask for the same, in the order in
//! which they occur; then those that ask for the same but for what two runs never share; then those
//! of the same method and tool, prompt or resource. What is left only one side has.
//!
//! Messages are read one exchange at a time. What the server chose anew, and rules bind, is the same
//! on both sides ([`Bound`]).

use super::Class;
use super::align::{Matching as Pairing, Pair as Places};
use super::bound::Bound;
use super::diff_report::{self, Missing, Remark, Trouble};
use super::judge::Judge;
use super::key::Digest;
use super::side::{Card, Held, Holding, MAX_EXCHANGES, One, fill_redacted, read};
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::frame::Seq;
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

/// Two recordings that were compared.
#[derive(Debug, Default)]
pub struct Compared {
    /// Exchanges that were compared or that only one side has, in the order of the left side.
    pub pairs: Vec<Pair>,
    /// What is bound: with it two of their exchanges can be looked at again.
    pub bound: Bound,
}

/// Two exchanges that stand for each other, or one that only one side has.
#[derive(Clone, Debug)]
pub struct Pair {
    pub method: CompactString,
    /// Tool, prompt or resource. Not escaped.
    pub name: Option<CompactString>,
    pub sides: [Option<PairSide>; 2],
    /// The worst that was found; what differs between lists is among the offers of the report.
    pub class: Option<Class>,
}

/// How an exchange went on one side.
#[derive(Clone, Copy, Debug)]
pub struct PairSide {
    pub request: (Seq, u32),
    pub status: Status,
    pub latency_ns: Option<u64>,
}

/// What two cards must have in common to be a pair.
type KeyOf = fn(&Card) -> (Digest, Digest, bool);

fn aligned([left, right]: &[Vec<Card>; 2]) -> Vec<Places> {
    let ways: [KeyOf; 3] = [
        |card| (card.call, card.key.exact, card.is_at_work),
        |card| (card.call, card.key.normalised, card.is_at_work),
        |card| (card.call, card.name, false),
    ];
    let mut pairing = Pairing::new(left.len(), right.len());
    for way in ways {
        pairing.pass(|at| way(&left[at]), |at| way(&right[at]));
    }
    pairing.interleaved()
}

fn ids([left, right]: Places, cards: &[Vec<Card>; 2]) -> [Option<ExchangeId>; 2] {
    [
        left.map(|at| cards[0][at].id),
        right.map(|at| cards[1][at].id),
    ]
}

/// Compares two recordings, the left one being the reference, as long as `goes_on` says so; `None`
/// if it did not. It is told how many exchanges are compared, of how many; while they are read
/// first, none of those that are known.
pub fn recordings(
    [left, right]: [&Recording; 2],
    wanted: &Wanted,
    judge: &mut Judge,
    goes_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Option<Compared>, ReadError> {
    let summaries = [left.summary()?, right.summary()?];
    let sides = [
        One::new(left, Side::Left, &summaries[0], right),
        One::new(right, Side::Right, &summaries[1], left),
    ];
    let ours = sides[0].cards(judge, &mut |known| goes_on(0, known))?;
    let theirs = sides[1].cards(judge, &mut |known| goes_on(0, ours.len() + known))?;
    let mut cards = [ours, theirs];
    if let Wanted::Part(part) = wanted {
        cards[0].retain(|card| part.contains(&card.id));
    }
    let mut compared = Compared {
        pairs: Vec::new(),
        bound: Bound::by(judge),
    };
    let recordings = [left, right];
    let mut holding = Holding::of(&recordings);
    let all = aligned(&cards);
    for (at, places) in all.iter().enumerate() {
        if !goes_on(at, all.len()) {
            return Ok(None);
        }
        let ids = ids(*places, &cards);
        if !wanted.has(ids) {
            judge.unwanted();
            learn(sides, ids, &mut compared.bound)?;
            continue;
        }
        holding.next()?;
        let mut held = read(sides, ids)?;
        holding.read(held.iter().flatten().map(Held::bytes).sum());
        compared
            .pairs
            .extend(judged(&mut held, &mut compared.bound, judge));
    }
    if matches!(wanted, Wanted::All) {
        for way in [Direction::ClientToServer, Direction::ServerToClient] {
            let goes_on = &mut || goes_on(all.len(), all.len());
            let left = sides[0].notices(way, judge, goes_on)?;
            let right = sides[1].notices(way, judge, goes_on)?;
            judge.notices(&left, &right);
        }
        ends(&summaries, judge);
    }
    too_many(&summaries, judge);
    nothing(&summaries, wanted, judge);
    Ok(Some(compared))
}

/// Learns what is bound in the answers of exchanges that are not to be compared themselves.
fn learn(
    sides: [One<'_>; 2],
    ids: [Option<ExchangeId>; 2],
    bound: &mut Bound,
) -> Result<(), ReadError> {
    if let [Some(left), Some(_)] = ids
        && let Some(exchange) = sides[0].recording.exchange(left)?
        && bound.wants(&exchange)
        && let [Some(left), Some(right)] = read(sides, ids)?
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
    let sides = [
        One::new(left.0, Side::Left, &left.0.summary()?, right.0),
        One::new(right.0, Side::Right, &right.0.summary()?, left.0),
    ];
    let mut bound = Bound::by(judge);
    let is_retry = left.0.exchange(left.1)?.is_some_and(|left| left.is_retry());
    if is_retry || judge.rules().binds().next().is_some() {
        let before = |at: usize, end: ExchangeId| {
            let mut cards = sides[at].cards(judge, &mut |_| true)?;
            cards.retain(|card| card.id < end);
            Ok::<_, ReadError>(cards)
        };
        let cards = [before(0, left.1)?, before(1, right.1)?];
        for places in aligned(&cards) {
            learn(sides, ids(places, &cards), &mut bound)?;
        }
    }
    let mut held = read(sides, [Some(left.1), Some(right.1)])?;
    judged(&mut held, &mut bound, judge);
    // Two exchanges are no session in which every rule could have been of use.
    for (rule, _) in judge.rules().binds() {
        judge.rules().fired(rule);
    }
    Ok(())
}

/// Compares what both sides have, or counts what only one has.
fn judged(held: &mut [Option<Held>; 2], bound: &mut Bound, judge: &mut Judge) -> Option<Pair> {
    if let [Some(left), Some(right)] = held {
        for (left, right) in [
            (&mut left.request, &mut right.request),
            (&mut left.response, &mut right.response),
        ] {
            if let (Some(left), Some(right)) = (left, right) {
                judge.redacted(fill_redacted(left, right));
            }
        }
        bound.apply(left, right, judge);
    }
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
        [None, None] => None,
    };
    let exchange = &held[0].as_ref().or(held[1].as_ref())?.exchange;
    let side = |held: &Held| PairSide {
        request: held.exchange.request,
        status: held.exchange.status,
        latency_ns: held.exchange.latency_ns(),
    };
    Some(Pair {
        method: exchange.method.clone(),
        name: exchange.name.clone(),
        sides: held.each_ref().map(|held| held.as_ref().map(side)),
        class,
    })
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
    let text = format!("the server {}; then it {}", ended(is), ended(was));
    remark(judge, class, &text);
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
