//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! Exchanges are paired by what they ask for: first those that ask for the same, in the order in
//! which they occur; then those that ask for the same but for what two runs never share; then those
//! of the same method and tool, prompt or resource. What is left only one side has.
//!
//! Messages are read one exchange at a time. What the server chose anew, and rules bind, is the same
//! on both sides ([`Bound`]).

use super::align::Pair as Places;
use super::diff_report::{Outcome, Trouble};
use super::judge::Judge;
use super::side::{Digests, MAX_EXCHANGES, MAX_READ, OneSide, ReadExchange, fill_redacted, read};
use super::{Class, Half, align, key, noise};
use crate::bind::{About, Binder, Round};
use crate::rewrite::Rewrites;
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::plural;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A choice of the exchanges that are compared.
#[derive(Clone, Debug, Default)]
pub enum Wanted {
    /// All of them, and what came besides.
    #[default]
    All,
    /// Pairs with one exchange or the other among these.
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
    /// The values that are bound, for another look at two of the exchanges.
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

/// One side of a pair.
#[derive(Clone, Copy, Debug)]
pub struct PairSide {
    pub request: (Seq, u32),
    pub status: Status,
    pub latency_ns: Option<u64>,
}

/// Pairs exchanges: those that ask for the same; that ask for the same but for what two runs never
/// share; that are of the same method and tool, prompt or resource.
fn aligned([left, right]: &[Vec<Digests>; 2]) -> Vec<Places> {
    let key = |nth: usize| move |one: &Digests| one.keys[nth];
    align::by_key([left, right], &[&key(0), &key(1), &key(2)])
}

fn ids([left, right]: Places, digests: &[Vec<Digests>; 2]) -> [Option<ExchangeId>; 2] {
    [
        left.map(|at| digests[0][at].id),
        right.map(|at| digests[1][at].id),
    ]
}

/// Compares two recordings, the left one being the reference, as long as `goes_on` says so; `None`
/// if it did not. It is told how many exchanges are compared, of how many; while they are read
/// first, none of those that are known.
pub fn recordings(
    both: [&Recording; 2],
    wanted: &Wanted,
    judge: &mut Judge,
    goes_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Option<Compared>, ReadError> {
    let summaries = [both[0].summary()?, both[1].summary()?];
    let sides = OneSide::both(both, &summaries);
    let ours = sides[0].digests(judge, &mut |known| goes_on(0, known))?;
    let theirs = sides[1].digests(judge, &mut |known| goes_on(0, ours.len() + known))?;
    let mut digests = [ours, theirs];
    if let Wanted::Part(part) = wanted {
        digests[0].retain(|one| part.contains(&one.id));
    }
    let mut compared = Compared {
        pairs: Vec::new(),
        bound: Bound::by(judge),
    };
    let all = aligned(&digests);
    let mut held_files = Vec::new();
    for (at, places) in all.iter().enumerate() {
        if !goes_on(at, all.len()) {
            return Ok(None);
        }
        if at % MAX_READ == 0 {
            held_files.clear();
            held_files.extend([both[0].hold()?, both[1].hold()?]);
        }
        let ids = ids(*places, &digests);
        let mut held = read(sides, ids)?;
        if wanted.has(ids) {
            let pair = judged(&mut held, &mut compared.bound, judge);
            compared.pairs.extend(pair);
        } else {
            judge.unwanted();
            compared.bound.learn(&held);
        }
    }
    drop(held_files);
    if matches!(wanted, Wanted::All) {
        compare_notices(sides, judge, &mut || goes_on(all.len(), all.len()))?;
        let ends = summaries.each_ref().map(|one| one.session.phase.end());
        if let [Some(was), Some(is)] = ends {
            judge.ends(was, is);
        }
    }
    too_many(&summaries, judge);
    nothing(&summaries, wanted, judge);
    Ok(Some(compared))
}

/// Compares two exchanges, knowing what is bound in the answers before them.
pub fn exchanges(
    left: (&Recording, ExchangeId),
    right: (&Recording, ExchangeId),
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let sides = OneSide::both([left.0, right.0], &[left.0.summary()?, right.0.summary()?]);
    let mut bound = Bound::by(judge);
    let is_retry = left.0.exchange(left.1)?.is_some_and(|left| left.is_retry());
    if is_retry || !judge.rules().binds.is_empty() {
        let before = |at: usize, end: ExchangeId| {
            let mut digests = sides[at].digests(judge, &mut |_| true)?;
            digests.retain(|one| one.id < end);
            Ok::<_, ReadError>(digests)
        };
        let digests = [before(0, left.1)?, before(1, right.1)?];
        for places in aligned(&digests) {
            bound.learn(&read(sides, ids(places, &digests))?);
        }
    }
    let mut held = read(sides, [Some(left.1), Some(right.1)])?;
    judged(&mut held, &mut bound, judge);
    Ok(())
}

/// Compares what both sides have, or counts what only one has.
fn judged(
    held: &mut [Option<ReadExchange>; 2],
    bound: &mut Bound,
    judge: &mut Judge,
) -> Option<Pair> {
    if let [Some(left), Some(right)] = held {
        for (left, right) in [
            (&mut left.request, &mut right.request),
            (&mut left.response, &mut right.response),
        ] {
            if let (Some(left), Some(right)) = (left, right) {
                judge.ledger.report.redacted += fill_redacted(left, right);
            }
        }
        bound.apply(left, right);
    }
    let class = match held {
        [Some(left), Some(right)] => judge.compare(&left.occurrence(), &right.occurrence()),
        [Some(left), None] => {
            let why = match left.exchange.direction {
                Direction::ClientToServer => Outcome::Removed,
                Direction::ServerToClient => Outcome::NeverAsked,
            };
            judge.missing(&left.occurrence(), why)
        }
        [None, Some(right)] => Some(judge.extra(&right.occurrence(), right.exchange.direction)),
        [None, None] => None,
    };
    let exchange = &held[0].as_ref().or(held[1].as_ref())?.exchange;
    let side = |held: &ReadExchange| PairSide {
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

/// Remarks on exchanges beyond the limit: what was not compared is no success.
fn too_many(summaries: &[Summary; 2], judge: &mut Judge) {
    let most = MAX_EXCHANGES as u64;
    let [left, right] = summaries
        .each_ref()
        .map(|one| one.exchanges.saturating_sub(most));
    if left + right > 0 {
        let exchanges = plural(left + right, "exchange");
        let text = format!("{exchanges} not compared: only the first {most} of a recording are");
        judge.remark(Class::Changed, [None; 2], "", &text);
    }
}

/// Says why nothing was compared, where nothing was.
fn nothing(summaries: &[Summary; 2], wanted: &Wanted, judge: &mut Judge) {
    if judge.ledger.report.compared > 0 {
        return;
    }
    let why = match (summaries.each_ref().map(|one| one.exchanges), wanted) {
        ([0, 0], _) => "neither recording has a request",
        ([0, _], _) => "the left recording has no request",
        ([_, 0], _) => "the right recording has no request",
        (_, Wanted::Only(sides)) if sides.iter().all(HashSet::is_empty) => {
            "the filter fits no request"
        }
        _ => "no request of one recording stands for any of the other",
    };
    judge.trouble(Trouble::Unreadable, why.into());
}

/// Notifications that are told apart; more are counted as not compared.
const MAX_KINDS: usize = 10_000;

/// Notifications that are read at once.
const PAGE: u32 = 1000;

/// Notifications that are not compared: how many come, and when, depends on time.
const PASSED_OVER: [&str; 3] = [
    "notifications/progress",
    "notifications/cancelled",
    "notifications/message",
];

/// Compares the notifications of two recordings by method and name, as long as `goes_on` says so.
fn compare_notices(
    sides: [OneSide<'_>; 2],
    judge: &mut Judge,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), ReadError> {
    // The first of each kind on both sides, and how many there are.
    let mut kinds: BTreeMap<_, [(Option<Seq>, u64); 2]> = BTreeMap::new();
    for (side, one) in sides.into_iter().enumerate() {
        let mut after = (Seq(0), 0);
        loop {
            let page = one.recording.notices(after, Seq(u64::MAX), PAGE)?;
            let Some(last) = page.last().filter(|_| goes_on()) else {
                break;
            };
            after = (last.seq, last.part);
            for notice in page {
                let method = notice.method.clone().unwrap_or_default();
                let is_passed_over = PASSED_OVER.contains(&methods::canonical(&method));
                if notice.kind != MessageKind::Notification || is_passed_over {
                    continue;
                }
                let (about, redacted) = one.notice_name(&notice)?;
                judge.ledger.report.redacted += redacted;
                let about = noise::shape(&about).into_owned();
                let kind = (notice.direction.as_str(), method, about);
                if kinds.len() == MAX_KINDS && !kinds.contains_key(&kind) {
                    judge.ledger.report.left_out.values += 1;
                    continue;
                }
                let (first, times) = &mut kinds.entry(kind).or_default()[side];
                first.get_or_insert(notice.seq);
                *times += 1;
            }
        }
    }
    let remarks = kinds.into_iter().filter_map(|((_, method, _), sides)| {
        let [(left, then), (right, now)] = sides;
        let text = match (then, now) {
            _ if then == now => return None,
            (_, 0) => format!("came {}, and does no more", often(then)),
            (0, _) => format!("comes {}, and did not before", often(now)),
            _ => format!("came {}, was {}", often(now), often(then)),
        };
        let class = if now < then {
            Class::Changed
        } else {
            Class::Added
        };
        Some((class, [left, right], method, text))
    });
    let mut remarks: Vec<_> = remarks.collect();
    remarks.sort_by_key(|(class, seqs, ..)| (*class, *seqs));
    for (class, seqs, method, text) in remarks {
        judge.remark(class, seqs, &method, &text);
    }
    Ok(())
}

fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => plural(times, "time"),
    }
}

/// Rounds of input that are remembered. The keys of later ones are compared as they are.
const MOST: usize = 65_536;

/// Values that the server chose anew, in two recordings: what rules bind, and the keys under which it
/// asks for input. The left side is compared as if it had said the values of the right one, in
/// requests and in answers, as a replay sends and expects them.
#[derive(Debug, Default)]
pub struct Bound {
    binder: Binder,
    /// The rounds of input of the left side, each as the right one has it: by their chains, in
    /// their order.
    rounds: BTreeMap<(ExchangeId, ExchangeId), Round>,
    /// Paths of the left side that stand for others on the right.
    rewrites: Rewrites,
}

impl Bound {
    /// The pairs that `judge` knows beforehand; its rules say where more are found.
    pub(super) fn by(judge: &Judge) -> Self {
        let mut binder = Binder::default();
        binder.binds.clone_from(&judge.rules().binds);
        for (then, now) in &judge.options().pairs {
            binder.stands_for(then, now);
        }
        Self {
            binder,
            rounds: BTreeMap::new(),
            rewrites: judge.options().rewrites.clone(),
        }
    }

    /// Finds the pairs in the answers of two exchanges that stand for each other, and makes the
    /// left one say what it would say on the right side.
    pub(super) fn apply(&mut self, left: &mut ReadExchange, right: &ReadExchange) {
        let exchange = &left.exchange;
        let request = left
            .request
            .take()
            .map(|then| self.as_now(exchange, Half::Request, &then).into_owned());
        self.pair([left, right]);
        let response = left.response.take().map(|then| {
            self.as_now(&left.exchange, Half::Response, &then)
                .into_owned()
        });
        (left.request, left.response) = (request, response);
    }

    /// A half of an exchange of the left side with the values of the right side; borrowed where
    /// nothing changes.
    pub fn as_now<'t>(&self, exchange: &Exchange, half: Half, then: &'t [u8]) -> Cow<'t, [u8]> {
        let bound = self.binder.as_now(About::of(exchange), half, then);
        match self.with_live_keys(exchange, half, &bound) {
            Some(renamed) => Cow::Owned(renamed),
            None => bound,
        }
    }

    /// A request or answer of an input round, under the keys of the right side.
    fn with_live_keys(&self, left: &Exchange, half: Half, then: &[u8]) -> Option<Vec<u8>> {
        let (chain, id) = (left.chain?, left.id);
        let mut before = self.rounds.range((chain, chain)..(chain, id));
        let document = Document::parse(then).ok()?;
        let root = document.root();
        let renamed = match half {
            Half::Request => {
                let responses = root.get("params")?.get("inputResponses");
                before.next_back()?.1.as_now(responses, then)
            }
            Half::Response => {
                let asked = root.get("result")?.get("inputRequests");
                self.rounds.get(&(chain, id))?.as_now(asked, then)
            }
        };
        Some(renamed.into_owned())
    }

    /// Learns from an exchange that is not to be compared itself.
    pub(super) fn learn(&mut self, held: &[Option<ReadExchange>; 2]) {
        if let [Some(left), Some(right)] = held {
            self.pair([left, right]);
        }
    }

    /// Finds the pairs in the answers of two exchanges, if a rule binds any or they ask for input.
    fn pair(&mut self, [left, right]: [&ReadExchange; 2]) {
        let exchange = &left.exchange;
        let asks = exchange.status == Status::InputRequired;
        if !asks && !self.binder.binds_from(About::of(exchange)) {
            return;
        }
        let answers = [left, right].map(|held| held.response.as_ref());
        let [Some(then), Some(now)] = answers.map(|answer| Document::parse(answer?).ok()) else {
            return;
        };
        let (then, now) = (then.root(), now.root());
        self.binder
            .learn_ruled(About::of(exchange), then, Some(now));
        if let (Some(chain), Some(then), Some(now)) =
            (exchange.chain, then.get("result"), now.get("result"))
            && self.rounds.len() < MOST
        {
            let left = |asked: Value<'_>| key::words(asked, Side::Left, &self.rewrites, None);
            let right = |asked: Value<'_>| key::words(asked, Side::Right, &self.rewrites, None);
            let round = Round::new(then, now, [&left, &right]);
            self.rounds.insert((chain, exchange.id), round);
        }
    }
}
