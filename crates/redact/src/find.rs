//! Looking for what is to be replaced: a frame by its layers.
//!
//! ```text
//!  bytes ─▶ is there anything that may be one? ─ no ─▶ nothing (nearly always)
//!              └ yes ─▶ JSON ─▶ strings and names ─┐    ┌─▶ shapes, names, URLs, keys, known values
//!                       text ──────────────────────┴─▶ text
//!                                                        └─▶ percent-encoded, base64: again
//! ```
//!
//! One pass over a frame notices whether something may be secret; hardly any is gone through.

use super::encodings::{self, Code, Layer};
use super::json;
use super::known::Known;
use super::policy::Policy;
use super::report::Found;
use super::text;
use mcpreel_wire::json::{Node, parse_into};
use std::ops::Range;

/// How many codes may lie within each other: JSON in a string in base64 in a string.
pub(super) const MOST_LAYERS: usize = 5;

/// A message with more values is not read: it would take some hundred times its size.
const MOST_NODES: usize = 8 * 1024 * 1024;

/// Whether a frame can be looked through: not if it has so many values that reading it would take
/// some hundred times its size in memory.
pub fn is_readable(raw: &[u8]) -> bool {
    let values = || memchr::memchr3_iter(b',', b':', b'[', raw).count();
    raw.len() < MOST_NODES || values() < MOST_NODES
}

/// Looks for what a policy says is secret, and for what is known to be.
#[derive(Clone, Copy)]
pub(super) struct Finder<'p> {
    pub policy: &'p Policy,
    pub known: Option<&'p Known>,
}

impl Finder<'_> {
    /// Finds all there is in a frame.
    pub fn frame(&self, raw: &[u8], nodes: &mut Vec<Node>, found: &mut Found) {
        if self.may_have(raw, 0) && !self.document((raw, nodes), 0, found) {
            // What is no JSON as a whole, or nests too deeply, may be made of it.
            self.text(raw, 0, found);
        }
        if nodes.capacity() > MOST_NODES / 64 {
            *nodes = Vec::new();
        }
    }

    /// Whether there may be something. Says yes too often, never no where there is something.
    pub fn may_have(&self, raw: &[u8], depth: usize) -> bool {
        let mut odd = 0;
        let mut is_likely = |sign| text::is_likely(self.policy, raw, &sign, &mut odd);
        self.policy.reads_all()
            || self.known.is_some_and(|known| known.may_be_in(raw))
            || self.policy.signs(raw).any(&mut is_likely)
            || depth < MOST_LAYERS
                && encodings::runs(raw).any(|run| {
                    let mut readings = encodings::readings(&raw[run]);
                    readings.any(|reading| self.may_have(&reading, depth + 1))
                })
    }

    /// Finds all there is in a text, of which all or some may be JSON.
    pub fn string(&self, text: &[u8], depth: usize, found: &mut Found) {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        let is_json = depth < MOST_LAYERS
            && matches!(first, Some(b'{' | b'['))
            && self.document((text, &mut Vec::new()), depth, found);
        if !is_json {
            self.text(text, depth, found);
        }
    }

    fn document(
        &self,
        (text, nodes): (&[u8], &mut Vec<Node>),
        depth: usize,
        found: &mut Found,
    ) -> bool {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        let root = matches!(first, Some(b'{' | b'[' | b'"')).then(|| parse_into(text, nodes));
        let Some(Ok(root)) = root else { return false };
        json::walk((self, depth), root, found);
        true
    }

    /// Finds all there is in a text, and in what is coded in it.
    pub fn text(&self, text: &[u8], depth: usize, found: &mut Found) {
        let mark = found.hits.len();
        if let Some(known) = self.known {
            known.find(text, found);
        }
        let codes = text::scan(self.policy, text, found);
        if depth < MOST_LAYERS {
            self.coded(text, depth, &codes, found);
        }
        found.spare(mark, text);
    }

    /// Looks into what stands in a code, or is base64.
    fn coded(&self, text: &[u8], depth: usize, codes: &[Code], found: &mut Found) {
        for code in codes {
            if let Some(layer) = Layer::of(*code, text) {
                let mark = found.hits.len();
                self.text(&layer.text, depth + 1, found);
                found.place(text, &layer, mark);
            }
        }
        // Signs of a known value may be escaped where nothing else is: a quote, a backslash.
        if let Some(known) = self.known
            && !codes.contains(&Code::Escape)
            && known.may_be_in(text)
            && let Some(layer) = Layer::of(Code::Escape, text)
        {
            let mark = found.hits.len();
            known.find(&layer.text, found);
            found.place(text, &layer, mark);
        }
        for run in encodings::runs(text) {
            self.run(text, run, depth, found);
        }
    }

    /// Looks into a run of base64. If there is something in it, all of it is replaced: what is
    /// coded cannot be mended from outside.
    fn run(&self, text: &[u8], run: Range<usize>, depth: usize, found: &mut Found) {
        for reading in encodings::readings(&text[run.clone()]) {
            let mut inside = Found::default();
            if self.may_have(&reading, depth + 1) {
                self.string(&reading, depth + 1, &mut inside);
            }
            inside.settle();
            let Some(first) = inside.hits.first() else {
                continue;
            };
            let plain = first.plain.as_ref().unwrap_or(&first.value).clone();
            let mark = found.hits.len();
            found.add(self.policy, text, run, (first.rule, first.kind));
            for hit in &mut found.hits[mark..] {
                hit.plain = Some(plain.clone());
            }
            let hits = inside.hits.into_iter().map(|hit| (hit.value, hit.kind));
            found.plain.extend(inside.plain.into_iter().chain(hits));
            return;
        }
    }
}
