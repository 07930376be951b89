//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! ```text
//!  recording ─▶ Units ─▶ ddmin ─ a set of them, with all that it needs ─▶ a replay without the rest
//!                          ▲                                                 │
//!                          └─────────────── fails, or not ◀──────────────────┘
//! ```
//!
//! A [`Unit`] stays or goes as a whole: a request with its cancel, the rounds of its chain and what
//! the client tells the server while it answers; a notification. A unit may need others, without
//! which it means nothing: whoever gives a handle back needs the call that it came from. The
//! handshake is in no unit, it always stays. Nor are answers of the client: they go out where the
//! server asks.
//!
//! [`ddmin`] is Zeller's and Hildebrandt's delta debugging: it tries without ever smaller pieces
//! until no single unit can be left out. A unit is left out together with those that need it.

use crate::bind::Trail;
use crate::player::script::{Part, Script, Step, What};
use compact_str::CompactString;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value, parse_into};
use mcpreel_wire::message::{Body, Message};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Frames whose links are read at once.
const PAGE: u64 = 1000;

/// Messages of the client that stay or go together.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    pub frames: Vec<Seq>,
    /// Units without which it means nothing.
    pub needs: BTreeSet<usize>,
}

/// A session in units, in the order of their first frames.
#[derive(Clone, Debug, Default)]
pub struct Units {
    all: Vec<Unit>,
    of_frame: HashMap<Seq, usize>,
    handshake: usize,
}

impl Units {
    pub fn of(recording: &Recording) -> Result<Self, ReadError> {
        let mut cutting = Cutting::default();
        let mut script = Script::new(recording, None);
        let mut within = HashMap::new();
        let mut read = Seq(0);
        while let Some(step) = script.next_step()? {
            // The recording says what notifications belong to.
            if step.head.seq > read {
                let last = Seq(step.head.seq.0 + PAGE);
                let links = recording.links(read, last)?;
                within = links
                    .into_iter()
                    .filter_map(|link| Some((link.frame, link.within?)))
                    .collect();
                read = last;
            }
            cutting.step(&step, within.get(&step.head.seq).copied());
        }
        Ok(cutting.units)
    }

    pub fn all(&self) -> &[Unit] {
        &self.all
    }

    /// The number of messages of the handshake.
    pub fn handshake(&self) -> usize {
        self.handshake
    }

    /// `units` with all that they need, in order.
    pub fn closed(&self, units: &[usize]) -> Vec<usize> {
        closed(&self.all, units)
    }

    /// Whether a frame of the client belongs to a unit that is not in `kept`, which is in order.
    pub fn leaves_out(&self, kept: &[usize], seq: Seq) -> bool {
        let unit = self.of_frame.get(&seq);
        unit.is_some_and(|unit| kept.binary_search(unit).is_err())
    }
}

#[derive(Default)]
struct Cutting {
    units: Units,
    /// Whose exchanges of either side are.
    of_exchange: HashMap<ExchangeId, usize>,
    /// The same by the frames of their requests.
    of_request: HashMap<Seq, usize>,
    /// Which requests the answers to come are to.
    methods: HashMap<ExchangeId, CompactString>,
    of_cancel: HashMap<Seq, usize>,
    trail: Trail,
}

impl Cutting {
    fn step(&mut self, step: &Step, within: Option<Seq>) {
        let raw = step.raw.as_deref().unwrap_or_default();
        if step.is_from_server() {
            let mut nodes = Vec::new();
            let root = parse_into(raw, &mut nodes).ok();
            for part in &step.parts {
                self.told(part, root.map(|root| message(root, part)), within);
            }
        } else if step.is_from_client() {
            match step.single() {
                // They go out where the server asks.
                Some(What::Answers(_)) => {}
                Some(what) if is_handshake(what) => self.units.handshake += 1,
                _ => {
                    let unit = self.unit_of(step, within);
                    self.add(unit, step, raw);
                }
            }
        }
    }

    /// The unit that a frame of the client belongs to; one after all that are there: a new one.
    fn unit_of(&self, step: &Step, within: Option<Seq>) -> usize {
        let known = step.parts.iter().find_map(|part| match &part.what {
            What::Asks(exchange) => self.chained(exchange),
            What::Answers(id) => self.of_exchange.get(id).copied(),
            What::Tells(_) | What::Other => None,
        });
        let told = || self.of_cancel.get(&step.head.seq).copied();
        let around = || self.of_request.get(&within?).copied();
        known
            .or_else(told)
            .or_else(around)
            .unwrap_or(self.units.all.len())
    }

    /// The unit of the rounds before a retry.
    fn chained(&self, exchange: &Exchange) -> Option<usize> {
        let first = exchange.chain.filter(|_| exchange.is_retry())?;
        self.of_exchange.get(&first).copied()
    }

    fn add(&mut self, unit: usize, step: &Step, raw: &[u8]) {
        if unit == self.units.all.len() {
            self.units.all.push(Unit::default());
        }
        self.units.all[unit].frames.push(step.head.seq);
        self.units.of_frame.insert(step.head.seq, unit);
        let document = Document::parse(raw).ok();
        for part in &step.parts {
            let mut method = CompactString::default();
            match &part.what {
                What::Asks(exchange) => {
                    method.clone_from(&exchange.method);
                    // In a batch a retry may stand beside what belongs to another unit.
                    let before = self.chained(exchange).filter(|before| *before != unit);
                    self.units.all[unit].needs.extend(before);
                    self.asks(unit, exchange);
                }
                What::Tells(message) => method = method_of(message).into(),
                What::Answers(_) | What::Other => {}
            }
            if let Some(document) = &document {
                let message = message(document.root(), part);
                let needs = self.trail.says(message, &method, unit);
                self.units.all[unit].needs.extend(needs);
            }
        }
    }

    fn asks(&mut self, unit: usize, exchange: &Exchange) {
        self.of_exchange.insert(exchange.id, unit);
        self.of_request.insert(exchange.request.0, unit);
        if let Some(seq) = exchange.cancelled {
            self.of_cancel.insert(seq, unit);
        }
        self.methods.insert(exchange.id, exchange.method.clone());
    }

    fn told(&mut self, part: &Part, message: Option<Value<'_>>, within: Option<Seq>) {
        let (unit, method) = match &part.what {
            What::Answers(id) => {
                let method = self.methods.remove(id).unwrap_or_default();
                (self.of_exchange.get(id).copied(), method)
            }
            What::Asks(exchange) => {
                let parent = exchange.parent;
                let unit = parent.and_then(|id| self.of_exchange.get(&id).copied());
                if let Some(unit) = unit {
                    self.of_exchange.insert(exchange.id, unit);
                    self.of_request.insert(exchange.request.0, unit);
                }
                (unit, exchange.method.clone())
            }
            What::Tells(message) => {
                let around = within.and_then(|seq| self.of_request.get(&seq).copied());
                (around, method_of(message).into())
            }
            What::Other => return,
        };
        if let Some(message) = message {
            self.trail.told(message, &method, unit);
        }
    }
}

/// Whether no legacy server answers anything without it.
fn is_handshake(what: &What) -> bool {
    match what {
        What::Asks(exchange) => &*exchange.method == "initialize",
        What::Tells(message) => method_of(message) == "notifications/initialized",
        What::Answers(_) | What::Other => false,
    }
}

/// The message of a frame that a part is.
fn message<'d>(root: Value<'d>, part: &Part) -> Value<'d> {
    root.index(part.part as usize)
        .filter(|_| !root.is_object())
        .unwrap_or(root)
}

fn method_of(message: &Message) -> &str {
    match &message.body {
        Body::Notification(notification) => &notification.method,
        _ => "",
    }
}

/// Whether the failure shows with a set of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fails,
    Passes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The units that are needed, in order, with all that they need. None can be left out, unless
    /// the search was stopped.
    pub units: Vec<usize>,
    pub tried: usize,
    /// Whether the search came to its end; otherwise more may be left out.
    pub complete: bool,
}

/// The fewest of `units` with which `fails` still says that they fail; all of them together are known
/// to. `fails` is asked about each set once; `None` stops the search, with the smallest set that is
/// known to fail.
pub fn ddmin(units: &[Unit], fails: impl FnMut(&[usize]) -> Option<Verdict>) -> Minimal {
    let mut search = Search {
        fails,
        known: HashMap::new(),
        all: units,
        units: (0..units.len()).collect(),
    };
    let complete = search.run().is_some();
    Minimal {
        units: search.units,
        tried: search.known.len(),
        complete,
    }
}

struct Search<'u, F> {
    fails: F,
    all: &'u [Unit],
    known: HashMap<Vec<usize>, Verdict>,
    /// The smallest set that is known to fail.
    units: Vec<usize>,
}

impl<F: FnMut(&[usize]) -> Option<Verdict>> Search<'_, F> {
    fn run(&mut self) -> Option<()> {
        // Often nothing is needed but what is always there.
        if self.smaller(Vec::new())? {
            return Some(());
        }
        let mut pieces = 2;
        while self.units.len() > 1 {
            pieces = self.round(pieces.min(self.units.len()))?;
            if pieces > self.units.len() {
                break;
            }
        }
        Some(())
    }

    /// Tries each of so many pieces alone, then all but each. Returns how many pieces to try next;
    /// more than there are units: none can be left out.
    fn round(&mut self, pieces: usize) -> Option<usize> {
        let cuts = cuts(self.units.len(), pieces);
        for piece in &cuts {
            if self.smaller(closed(self.all, &self.units[piece.clone()]))? {
                return Some(2);
            }
        }
        for piece in &cuts {
            if self.smaller(self.without(piece))? {
                return Some((pieces - 1).max(2));
            }
        }
        Some(if pieces == self.units.len() {
            pieces + 1
        } else {
            (pieces * 2).min(self.units.len())
        })
    }

    /// The units that need none of a piece of them.
    fn without(&self, piece: &Range<usize>) -> Vec<usize> {
        let mut gone: BTreeSet<usize> = self.units[piece.clone()].iter().copied().collect();
        let mut kept = self.units.clone();
        loop {
            let before = kept.len();
            kept.retain(|unit| {
                let goes = gone.contains(unit) || !self.all[*unit].needs.is_disjoint(&gone);
                if goes {
                    gone.insert(*unit);
                }
                !goes
            });
            // Most of what is needed comes before who needs it.
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// Whether `set`, which is less than the smallest that is known, fails; then it is that.
    fn smaller(&mut self, set: Vec<usize>) -> Option<bool> {
        if set.len() >= self.units.len() {
            return Some(false);
        }
        let verdict = match self.known.get(&set) {
            Some(verdict) => *verdict,
            None => (self.fails)(&set)?,
        };
        self.known.insert(set.clone(), verdict);
        let fails = verdict == Verdict::Fails;
        if fails {
            self.units = set;
        }
        Some(fails)
    }
}

/// `units` with all that they need, in order.
fn closed(all: &[Unit], units: &[usize]) -> Vec<usize> {
    let mut closed: BTreeSet<_> = units.iter().copied().collect();
    let mut open = units.to_vec();
    while let Some(unit) = open.pop() {
        let needs = all[unit].needs.iter().copied();
        open.extend(needs.filter(|needed| closed.insert(*needed)));
    }
    closed.into_iter().collect()
}

/// `length` in so many pieces, of nearly the same length.
fn cuts(length: usize, pieces: usize) -> Vec<Range<usize>> {
    let at = |piece: usize| piece * length / pieces;
    (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn independent(count: usize) -> Vec<Unit> {
        vec![Unit::default(); count]
    }

    /// A failure that shows where all of `needed` are there.
    fn needing(needed: &[usize]) -> impl FnMut(&[usize]) -> Option<Verdict> + use<> {
        let needed = needed.to_vec();
        move |set| {
            let all = needed.iter().all(|unit| set.contains(unit));
            Some(if all { Verdict::Fails } else { Verdict::Passes })
        }
    }

    #[test]
    fn what_is_not_needed_goes() {
        for (count, needed) in [
            (1, &[][..]),
            (1, &[0]),
            (8, &[3]),
            (8, &[0, 7]),
            (100, &[1, 50, 51]),
            (3, &[0, 1, 2]),
        ] {
            let minimal = ddmin(&independent(count), needing(needed));
            assert_eq!(minimal.units, needed, "{count} units");
            assert!(minimal.complete);
        }
    }

    #[test]
    fn a_stopped_search_has_the_smallest_set_that_was_seen_to_fail() {
        let mut left = 4;
        let mut needed = needing(&[9]);
        let minimal = ddmin(&independent(64), |set| {
            left -= 1;
            (left > 0).then(|| needed(set)).flatten()
        });
        assert!(!minimal.complete);
        assert_eq!(minimal.units, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn no_set_is_tried_twice() {
        let mut seen = std::collections::HashSet::new();
        let mut needed = needing(&[2, 5, 11]);
        let minimal = ddmin(&independent(12), |set| {
            assert!(seen.insert(set.to_vec()), "{set:?} again");
            needed(set)
        });
        assert_eq!(minimal.tried, seen.len());
    }

    /// Once the reader was kept for the sake of the handle that it reads.
    #[test]
    fn who_uses_something_goes_though_it_has_to_be_made() {
        let (open, read, search) = (3, 4, 9);
        let mut units = independent(12);
        units[read].needs.insert(open);
        let mut seen = std::collections::HashSet::new();
        let mut needed = needing(&[open, search]);
        let minimal = ddmin(&units, |set| {
            assert!(!set.contains(&read) || set.contains(&open), "{set:?}");
            assert!(seen.insert(set.to_vec()), "{set:?} again");
            needed(set)
        });
        assert_eq!(minimal.units, [open, search]);
        // Who fails itself needs what it uses.
        let minimal = ddmin(&units, needing(&[read]));
        assert_eq!(minimal.units, [open, read]);
    }

    proptest! {
        #[test]
        fn no_single_unit_of_what_is_left_can_be_left_out(
            count in 1_usize..40,
            seeds in prop::collection::vec(prop::collection::btree_set(0_usize..40, 1..5), 1..4),
        ) {
            // Fails where all of any one of several sets are there: not monotone in pieces.
            let inside = |unit: &usize| *unit < count;
            let sets: Vec<Vec<usize>> =
                seeds.iter().map(|set| set.iter().copied().filter(inside).collect()).collect();
            let fails = |set: &[usize]| sets.iter().any(|all| all.iter().all(|unit| set.contains(unit)));
            let verdict = |set: &[usize]| Some(if fails(set) { Verdict::Fails } else { Verdict::Passes });
            prop_assume!(fails(&(0..count).collect::<Vec<_>>()));
            let minimal = ddmin(&independent(count), verdict);
            prop_assert!(fails(&minimal.units));
            for leave in 0..minimal.units.len() {
                let mut rest = minimal.units.clone();
                rest.remove(leave);
                prop_assert!(!fails(&rest), "{:?} without {leave}", minimal.units);
            }
        }
    }
}
