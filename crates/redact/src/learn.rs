//! The first pass: what is secret in a session.

mod over;
mod ready;

use super::base;
use super::find::Finder;
use super::hit::Found;
use super::known::Known;
use super::pem::Lines;
use super::policy::{Policy, id};
use super::redactor::Redactor;
use super::token;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Node;
use over::Over;
use ready::Ready;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Streams whose lines may be those of a key; a session has three.
const MOST_STREAMS: usize = 64;

/// What is seen of some bytes before anything is learned of them.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    /// Whether something in them may be secret.
    may_have: bool,
    /// Whether a value may stand in them that is known from elsewhere, or is known later: something
    /// in them may be encoded.
    may_have_known: bool,
    /// Whether tokens may stand in them.
    has_tokens: bool,
}

impl Policy {
    /// Looks whether there may be something in these bytes.
    pub fn glance(&self, raw: &[u8]) -> Glance {
        let finder = Finder::new(self, None);
        let is_told = self.reads_all() || finder.may_be_noticed(raw);
        let mut runs = base::runs(raw).peekable();
        let is_coded = !is_told && runs.peek().is_some();
        Glance {
            may_have: is_told || finder.may_be_coded(raw, runs, 0),
            may_have_known: is_coded,
            has_tokens: token::may_be_in(raw),
        }
    }
}

/// Goes over a session and learns what is secret in it.
#[derive(Debug)]
pub struct Learner {
    policy: Arc<Policy>,
    known: Known,
    keys: BTreeMap<StreamId, Lines>,
    overs: BTreeMap<StreamId, Over>,
    found: Found,
    nodes: Vec<Node>,
    ready: Ready,
}

impl Learner {
    pub fn new(policy: Arc<Policy>) -> Self {
        Self::knowing(policy, Known::default())
    }

    pub(super) fn knowing(policy: Arc<Policy>, known: Known) -> Self {
        Self {
            policy,
            known,
            keys: BTreeMap::new(),
            overs: BTreeMap::new(),
            found: Found::default(),
            nodes: Vec::new(),
            ready: Ready::default(),
        }
    }

    /// To be called now and then between frames: what is known by now is looked for in those to
    /// come, if that is worth it. Returns how much that is; `None` where more is known.
    pub fn get_ready(&mut self) -> Option<u64> {
        self.ready.get(&mut self.known)
    }

    /// Takes in who asked for what, where.
    pub fn context(&mut self, context: &ProcessContext) {
        self.json(context);
    }

    pub fn event(&mut self, event: &EventKind) {
        self.json(event);
    }

    fn json(&mut self, value: &impl serde::Serialize) {
        // What cannot be written is in no file either.
        if let Ok(json) = serde_json::to_vec(value) {
            self.take(&json, self.policy.glance(&json));
        }
    }

    pub fn text(&mut self, text: &str) {
        self.take(text.as_bytes(), self.policy.glance(text.as_bytes()));
    }

    /// Takes in a frame. Whether there was something to be looked at: if not, nothing but a value
    /// that is known from elsewhere can be replaced in it.
    pub fn frame(&mut self, stream: StreamId, raw: &[u8]) -> bool {
        let glance = self.glance(raw);
        self.glanced(stream, raw, glance)
    }

    /// Looks whether there may be something in these bytes.
    pub fn glance(&self, raw: &[u8]) -> Glance {
        let glance = self.policy.glance(raw);
        Glance {
            may_have_known: glance.may_have_known || self.known.may_be_in(raw),
            ..glance
        }
    }

    /// The same of a frame that was glanced at before, which takes nearly all of the time: what is
    /// secret does not depend on what was learned meanwhile.
    pub fn glanced(&mut self, stream: StreamId, raw: &[u8], glance: Glance) -> bool {
        let looked = self.take(raw, glance);
        self.line(stream, raw);
        self.over(stream, (raw, glance.may_have));
        looked
    }

    /// Takes in what is secret in a line for a name on one before.
    fn over(&mut self, stream: StreamId, line: (&[u8], bool)) {
        if self.overs.len() >= MOST_STREAMS && !self.overs.contains_key(&stream) {
            return;
        }
        self.found.clear();
        let finder = Finder::new(&self.policy, None);
        let over = self.overs.entry(stream).or_default();
        over.push(&finder, line, &mut self.found);
        self.learn();
    }

    /// Takes in what may be a line of a private key.
    fn line(&mut self, stream: StreamId, raw: &[u8]) {
        if self.policy.without.contains(self.policy.rule(id::PEM)) {
            return;
        }
        let streams = self.keys.len();
        if let Some(lines) = self.keys.get_mut(&stream) {
            if let Some(key) = lines.push(raw) {
                self.known.learn_key(&key);
            }
        } else if streams < MOST_STREAMS {
            let mut lines = Lines::default();
            lines.push(raw);
            self.keys.insert(stream, lines);
        }
    }

    fn take(&mut self, raw: &[u8], glance: Glance) -> bool {
        if glance.has_tokens {
            self.known.numbers.take_out(raw);
        }
        self.found.clear();
        let finder = Finder::new(&self.policy, None);
        if !glance.may_have {
            return glance.may_have_known;
        }
        finder.read(raw, &mut self.nodes, &mut self.found);
        self.learn();
        true
    }

    fn learn(&mut self) {
        self.found.settle();
        for hit in &self.found.hits {
            self.known.learn_hit(hit);
        }
        for (value, kind) in &self.found.plain {
            if !self.policy.allow.contains(value) {
                self.known.learn_plain(value, *kind);
            }
        }
    }

    /// Nothing more comes, or nothing more for now.
    pub fn finish(mut self) -> Redactor {
        for lines in self.keys.values_mut() {
            if let Some(key) = lines.finish() {
                self.known.learn_key(&key);
            }
        }
        self.known.prepare();
        Redactor::knowing(self.policy, self.known)
    }
}
