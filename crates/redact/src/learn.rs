//! The first pass: what is secret in a session.

use super::find::Finder;
use super::known::Known;
use super::policy::Policy;
use super::redactor::Redactor;
use super::report::Found;
use super::token;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Node;
use std::sync::Arc;

/// Bytes of lines that are read together; those of a key may be more.
const BLOCK: usize = 8 * 1024;
const KEY: usize = 64 * 1024;

/// Goes over a session and learns what is secret in it.
#[derive(Debug)]
pub struct Learner {
    policy: Arc<Policy>,
    known: Known,
    /// Lines of text in a row, which are read together: a value may stand below its name.
    lines: Vec<u8>,
    stream: StreamId,
    found: Found,
    nodes: Vec<Node>,
}

impl Learner {
    pub fn new(policy: Arc<Policy>) -> Self {
        Self::knowing(policy, Known::default())
    }

    pub(super) fn knowing(policy: Arc<Policy>, known: Known) -> Self {
        Self {
            policy,
            known,
            lines: Vec::new(),
            stream: StreamId::STDERR,
            found: Found::default(),
            nodes: Vec::new(),
        }
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
            self.take(&json);
        }
    }

    pub fn text(&mut self, text: &str) {
        self.take(text.as_bytes());
    }

    pub fn frame(&mut self, stream: StreamId, raw: &[u8]) {
        let is_json = matches!(raw.trim_ascii(), [b'{', .., b'}'] | [b'[', .., b']']);
        let is_key = || memchr::memmem::find(&self.lines, b"PRIVATE KEY").is_some();
        let has_room = self.lines.len() < BLOCK || self.lines.len() < KEY && is_key();
        if is_json || stream != self.stream || !has_room {
            self.take_lines();
        }
        if is_json || raw.len() > BLOCK {
            self.take(raw);
        } else {
            self.stream = stream;
            self.lines.extend_from_slice(raw);
        }
    }

    fn take_lines(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        self.take(&lines);
    }

    /// Takes in what is secret in these bytes.
    fn take(&mut self, raw: &[u8]) {
        if token::may_be_in(raw) {
            self.known.numbers.take_out(raw);
        }
        self.found.clear();
        let finder = Finder {
            policy: &self.policy,
            known: None,
        };
        finder.frame(raw, &mut self.nodes, &mut self.found);
        self.learn();
    }

    fn learn(&mut self) {
        self.found.settle();
        for hit in &self.found.hits {
            self.known.learn_hit(hit);
        }
        for key in &self.found.keys {
            self.known.learn_key(key);
        }
        for (value, kind) in &self.found.plain {
            if !self.policy.allow.contains(value) {
                self.known.learn_plain(value, *kind);
            }
        }
    }

    /// Ends the learning, for good or for now.
    pub fn finish(mut self) -> Redactor {
        self.take_lines();
        self.known.prepare();
        Redactor::knowing(self.policy, self.known)
    }
}
