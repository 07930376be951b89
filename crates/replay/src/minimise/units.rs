//! A session in units that stay or go together.

use super::ddmin::closed;
use crate::bind::Trail;
use crate::player::script::{Part, Script, Step, What};
use compact_str::CompactString;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value, parse_into};
use mcpreel_wire::message::{Body, Message};
use std::collections::{BTreeSet, HashMap};

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
            // What notifications belong to is what the recording says.
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

    /// Messages of the handshake, which are in none of them.
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

/// Frames whose links are read at once.
const PAGE: u64 = 1000;

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
