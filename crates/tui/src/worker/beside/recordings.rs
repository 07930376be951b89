//! Two recordings, exchange beside exchange.

mod telling;

use super::{Answer, Which, Work};
use crate::app::comparison::{Compared, Counts, Far, Occurrence, Pair, Side};
use crate::worker::replay::Only;
use mcpreel_replay::judge::{self, Judge};
use mcpreel_replay::recorded::{self, Bound, Paired, Wanted, Witness};
use mcpreel_replay::report::{self, Call, Report};
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::{recording, sentence};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::escape;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use telling::{not_made, tell_of_accounts, tell_of_lists, tell_of_replay, tell_of_whole};

/// How often it is told how far it is, nanoseconds.
const TOLD_NS: u64 = 100_000_000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Exchanges that are compared at most; more are not looked at.
const MOST: usize = 100_000;

/// What a replay said that was made just now.
#[derive(Debug)]
pub struct Replayed {
    pub report: Report,
    /// Nothing after this frame was replayed.
    pub until: Seq,
    pub only: Option<Only>,
    /// Values that the server had chosen, and what was sent in their place.
    pub bound: Vec<(Box<str>, Box<str>)>,
    /// The frame of the request that it was made for.
    pub shows: Option<Seq>,
}

/// Compares them as `mcpreel diff` does, with the rules beside the left one.
pub(super) fn compare(
    work: &mut Work<'_>,
    generation: u64,
    left: &Which,
    right: &Path,
    replayed: Option<&Replayed>,
) -> Result<(), String> {
    let both = [work.open(left)?, work.open(&Which::File(right.to_owned()))?];
    let [left, right] = &both;
    let sides = [side(left)?, side(right)?];
    let mut besides = HashSet::new();
    let wanted = match replayed {
        Some(replayed) => {
            let part = part(left, replayed, &mut besides);
            Wanted::Part(part.map_err(|error| sentence(&error))?)
        }
        None => Wanted::All,
    };
    let options = judge::Options {
        pairs: replayed.map_or_else(Vec::new, |replayed| replayed.bound.clone()),
        ..judge::Options::default()
    };
    let Some(found) = find(work, generation, &both, &wanted, options)? else {
        return Ok(());
    };
    let mut compared = Compared {
        sides,
        report: found.report,
        calls: found.calls,
        pairs: found.pairs,
        bound: Arc::new(found.bound),
        said: Vec::new(),
        left_out: 0,
        not_made: None,
        counts: Counts::default(),
        rows: Vec::new(),
        changes: Vec::new(),
    };
    tell_of_lists(&mut compared);
    tell_of_accounts(&mut compared);
    match replayed {
        Some(replayed) => {
            tell_of_replay(&mut compared, &replayed.report, &besides);
            compared.not_made = not_made(&compared, replayed);
        }
        None => tell_of_whole(&mut compared.said, &compared.report),
    }
    compared.fold(false);
    work.tell(Answer::Compared(generation, Box::new(compared)));
    Ok(())
}

struct Found {
    report: Report,
    calls: Vec<Call>,
    pairs: Vec<Pair>,
    bound: Bound,
}

/// Goes through both; `None` where nobody waits for it any more.
fn find(
    work: &mut Work<'_>,
    generation: u64,
    [left, right]: &[Recording; 2],
    wanted: &Wanted,
    options: judge::Options,
) -> Result<Option<Found>, String> {
    let (rules, _) = files::read(&[], left.path()).map_err(|error| sentence(&error))?;
    let mut judge = Judge::new(rules, options);
    let mut collecting = Collecting {
        pairs: Vec::new(),
        calls: Vec::new(),
        known: HashMap::new(),
        is_overtaken: work.is_overtaken,
        is_stopped: false,
        clock: work.clock,
        told_ns: work.clock.now().0,
        read: 0,
        tell: &mut |far| (work.tell)(super::Any::Beside(Answer::Comparing(generation, far))),
    };
    let done = recorded::recordings([left, right], wanted, &mut judge, &mut collecting);
    let bound = done.map_err(|error| sentence(&error))?;
    let (calls, pairs) = (collecting.calls, collecting.pairs);
    Ok((!collecting.is_stopped).then(|| Found {
        report: judge.finish(),
        calls,
        pairs,
        bound,
    }))
}

/// The exchanges that were to be replayed, and what the server asked within them; and, noted in
/// `besides`, what it asked elsewhere, which it may ask in a part of the session as well.
fn part(
    left: &Recording,
    replayed: &Replayed,
    besides: &mut HashSet<Seq>,
) -> Result<HashSet<ExchangeId>, ReadError> {
    let mut part = HashSet::new();
    let mut after = ExchangeId(0);
    loop {
        let page = left.light_exchanges(after, None, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(part);
        };
        after = last.id;
        for exchange in &page {
            if part.len() == MOST {
                return Ok(part);
            }
            let is_reached = exchange.request.0 <= replayed.until;
            let is_needed = replayed.only.as_ref().is_none_or(|only| {
                let parent = exchange.parent;
                only.needs(exchange) || parent.is_some_and(|parent| part.contains(&parent))
            });
            if is_reached && is_needed {
                part.insert(exchange.id);
            } else if exchange.direction == Direction::ServerToClient {
                part.insert(exchange.id);
                besides.insert(exchange.request.0);
            }
        }
    }
}

fn side(recording: &Recording) -> Result<Side, String> {
    let summary = recording.summary().map_err(|error| sentence(&error))?;
    let short = summary.id.get(..4).unwrap_or(&summary.id);
    Ok(Side {
        path: recording.path().to_owned(),
        short: escape(short).into_owned(),
        title: title(&summary),
    })
}

fn title(summary: &Summary) -> String {
    let title = recording::title_of(summary);
    match &*summary.origin {
        "live" => title,
        origin => format!("{title}, {}", escape(origin)),
    }
}

/// Takes the pairs in as they are compared.
struct Collecting<'w> {
    pairs: Vec<Pair>,
    calls: Vec<Call>,
    known: HashMap<Call, usize>,
    is_overtaken: &'w dyn Fn() -> bool,
    is_stopped: bool,
    clock: Clock,
    told_ns: u64,
    /// Exchanges that are known, of both sides.
    read: usize,
    tell: &'w mut dyn FnMut(Far),
}

impl Collecting<'_> {
    /// Tells how far it is, from time to time: whether it did.
    fn tells(&mut self, far: Far) -> bool {
        let now = self.clock.now().0;
        let is_time = now.saturating_sub(self.told_ns) >= TOLD_NS;
        if is_time {
            self.told_ns = now;
            (self.tell)(far);
        }
        is_time
    }
}

impl Witness for Collecting<'_> {
    fn goes_on(&mut self, done: usize, of: usize) -> bool {
        if self.tells(Far::Compared(done, of)) {
            self.is_stopped = (self.is_overtaken)();
        }
        !self.is_stopped
    }

    fn has_read(&mut self, exchanges: usize) {
        self.read += exchanges;
        self.tells(Far::Read(self.read));
    }

    fn reads_on(&mut self) -> bool {
        self.is_stopped |= (self.is_overtaken)();
        !self.is_stopped
    }

    fn compared(&mut self, paired: &Paired<'_>) {
        let [left, right] = paired.sides;
        let Some(one) = left.or(right) else { return };
        let call = (
            report::name(&one.method),
            one.name.as_deref().map(report::name),
        );
        let calls = &mut self.calls;
        let call = *self.known.entry(call).or_insert_with_key(|call| {
            calls.push(call.clone());
            calls.len() - 1
        });
        self.pairs.push(Pair {
            sides: paired.sides.map(|side| side.map(occurrence)),
            call,
            class: paired.class,
            is_listed: false,
            account: None,
            said: None,
        });
    }
}

fn occurrence(exchange: &Exchange) -> Occurrence {
    Occurrence {
        request: exchange.request,
        status: exchange.status,
        latency_ns: exchange.latency_ns(),
    }
}
