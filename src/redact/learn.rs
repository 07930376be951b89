//! The first pass: what is secret in a session.

use super::base;
use super::find::Finder;
use super::hit::Found;
use super::known::Known;
use super::pem::Lines;
use super::policy::{Policy, id};
use super::redactor::Redactor;
use crate::protocol::json::Node;
use crate::trace::event::{EventKind, ProcessContext};
use crate::trace::frame::StreamId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Streams whose lines may be those of a key; a session has three.
const MOST_STREAMS: usize = 64;

/// Goes over a session and learns what is secret in it.
#[derive(Debug)]
pub struct Learner {
    policy: Arc<Policy>,
    known: Known,
    keys: BTreeMap<StreamId, Lines>,
    found: Found,
    nodes: Vec<Node>,
}

impl Learner {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self::knowing(policy, Known::default())
    }

    pub(super) fn knowing(policy: Arc<Policy>, known: Known) -> Self {
        Self {
            policy,
            known,
            keys: BTreeMap::new(),
            found: Found::default(),
            nodes: Vec::new(),
        }
    }

    /// Takes in who asked for what, where.
    pub fn context(&mut self, context: &ProcessContext) {
        self.json(context);
    }

    /// Takes in what happened.
    pub fn event(&mut self, event: &EventKind) {
        self.json(event);
    }

    fn json(&mut self, value: &impl serde::Serialize) {
        // What cannot be written is in no file either.
        if let Ok(json) = serde_json::to_vec(value) {
            self.take(&json);
        }
    }

    /// Takes in what a person wrote.
    pub fn text(&mut self, text: &str) {
        self.take(text.as_bytes());
    }

    /// Takes in a frame. Whether there was something to be looked at: if not, nothing but a value
    /// that is known from elsewhere can be replaced in it.
    pub fn frame(&mut self, stream: StreamId, raw: &[u8]) -> bool {
        let looked = self.take(raw);
        self.line(stream, raw);
        looked
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

    fn take(&mut self, raw: &[u8]) -> bool {
        self.known.take_out(raw);
        self.found.clear();
        let finder = Finder::new(&self.policy, None);
        if !finder.may_have(raw, 0) {
            return base::runs(raw).next().is_some();
        }
        finder.read(raw, &mut self.nodes, &mut self.found);
        self.found.settle();
        for hit in &self.found.hits {
            self.known.learn(&hit.value, hit.kind);
        }
        for (value, kind) in &self.found.plain {
            if !self.policy.allow.contains(value) {
                self.known.learn_plain(value, *kind);
            }
        }
        true
    }

    /// Nothing more comes, or nothing more for now.
    #[must_use]
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
