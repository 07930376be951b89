//! Looking for what is to be replaced.
//!
//! ```text
//!  bytes ─▶ is there anything that may be one? ─ no ─▶ nothing (nearly always)
//!              └ yes ─▶ JSON ─▶ strings and names ─┐    ┌─▶ shapes, names, URLs, keys, known values
//!                       text ──────────────────────┴─▶ text
//!                                                        └─▶ percent-encoded, base64: again
//! ```

use super::encodings::percent;
use super::json::{self, Under};
use super::known::Known;
use super::named;
use super::policy::{Notice, Policy};
use super::prose;
use super::report::Found;
use super::rules::is_of_name;
use super::value;
use mcpreel_wire::json::{Node, parse_into};
use std::ops::Range;

/// How many codes may lie within each other: JSON in a string in base64 in a string.
pub(super) const MOST_LAYERS: usize = 5;

/// A message with more values is not read: it would take some hundred times its size.
pub(super) const MOST_NODES: usize = 8 * 1024 * 1024;

/// Bytes of a URL that may stand before its host.
const USER: usize = 1024;

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
    /// Whether what is looked at is no text: then nothing is a name or a URL.
    pub is_binary: bool,
}

impl<'p> Finder<'p> {
    /// Looks for what `policy` and `known` say.
    pub fn new(policy: &'p Policy, known: Option<&'p Known>) -> Self {
        Self {
            policy,
            known,
            is_binary: false,
        }
    }

    /// For what was read of some base64.
    pub fn of_reading(&self, reading: &[u8]) -> Self {
        Self {
            is_binary: !super::encodings::is_text(reading),
            ..*self
        }
    }

    pub fn frame(&self, raw: &[u8], nodes: &mut Vec<Node>, found: &mut Found) {
        if self.may_have(raw, 0) {
            self.read(raw, nodes, found);
        }
    }

    /// The same, without asking first whether there may be anything.
    pub fn read(&self, raw: &[u8], nodes: &mut Vec<Node>, found: &mut Found) {
        let first = raw.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[' | b'"'))
            && let Ok(root) = parse_into(raw, nodes)
        {
            json::message(self, raw, root, found);
        } else {
            // What is no JSON as a whole, or nests too deeply, may be made of it.
            self.text(raw, 0, found);
        }
        if nodes.capacity() > MOST_NODES / 64 {
            *nodes = Vec::new();
        }
    }

    /// Finds all there is in a text, of which some may be JSON.
    pub fn string(&self, text: &[u8], depth: usize, found: &mut Found) {
        if !self.document(text, depth, Under::Nothing, found) {
            self.text(text, depth, found);
        }
    }

    /// Finds all there is in an object or a list that is told as a text; whether it is one.
    pub fn document(&self, text: &[u8], depth: usize, under: Under, found: &mut Found) -> bool {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if depth >= MOST_LAYERS || !matches!(first, Some(b'{' | b'[')) {
            return false;
        }
        let mut nodes = Vec::new();
        let root = parse_into(text, &mut nodes);
        root.map(|root| json::nested(self, (text, root), depth, under, found))
            .is_ok()
    }

    /// Whether there may be something. Says yes too often, never no where there is something.
    pub fn may_have(&self, raw: &[u8], depth: usize) -> bool {
        self.policy.reads_all()
            || self.known.is_some_and(|known| known.may_be_in(raw))
            || self.may_be_noticed(raw)
            || self.may_be_coded(raw, super::encodings::runs(raw), depth)
    }

    /// Whether something may be told by a text.
    pub fn may_be_noticed(&self, raw: &[u8]) -> bool {
        self.policy.noticed.in_order(raw).any(|notice| {
            let (start, end) = (notice.start(), notice.end());
            match self.policy.notices[notice.pattern().as_usize()] {
                Notice::Shape(shape) => self.shape(raw, shape, start).is_some(),
                Notice::Name => !self.is_binary && self.may_be_name(raw, end),
                Notice::Url => !self.is_binary && may_have_user(&raw[end..]),
                Notice::Percent => !self.is_binary && percent(&raw[start..]).is_some(),
                Notice::Escape | Notice::Style => !self.is_binary,
                Notice::Grant => memchr::memmem::find(raw, b"\"code").is_some(),
                Notice::Pem => true,
            }
        })
    }

    /// Whether something may be in what these runs of base64 say.
    pub fn may_be_coded(
        &self,
        raw: &[u8],
        mut runs: impl Iterator<Item = Range<usize>>,
        depth: usize,
    ) -> bool {
        depth < MOST_LAYERS
            && runs.any(|run| {
                let mut shapes = self.policy.at_run(raw[run.start]);
                shapes.any(|shape| self.shape(raw, shape, run.start).is_some())
                    || super::encodings::readings(&raw[run])
                        .any(|reading| self.of_reading(&reading).may_have(&reading, depth + 1))
            })
    }

    /// Whether a word that ends at `end` is a name that says something, with a value.
    fn may_be_name(&self, raw: &[u8], end: usize) -> bool {
        let Some(name) = named::name_at(raw, end) else {
            return false;
        };
        let after = &raw[name.end..];
        let before = name.start.checked_sub(1).map(|before| raw[before]);
        let rest = after.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        let is_beside = matches!(
            after.first(),
            Some(b'"' | b'\\' | b'\'' | b'`' | b'>' | b'\n')
        ) || matches!(rest, Some(b':' | b'='))
            || before == Some(b'-')
            || raw[name.clone()].starts_with(b"-");
        let is_near = matches!(
            after.first(),
            Some(b' ' | b'\t' | b'*' | b'|' | b',' | b'[' | b'?' | b'!')
        );
        if !is_beside && !is_near {
            return false;
        }
        named::called(self, raw, name).is_some_and(|(name, class)| {
            is_beside || value::may_be_beside(raw, &name) || prose::may_be(raw, &name, class)
        })
    }
}

/// Whether a user may stand in front of the host.
fn may_have_user(after: &[u8]) -> bool {
    let near = &after[..after.len().min(USER)];
    let end = near
        .iter()
        .position(|byte| matches!(byte, b'"' | b' ' | b'\n'));
    memchr::memchr(b'@', &near[..end.unwrap_or(near.len())]).is_some()
}

/// The bytes of a name that ends before `end`: where it begins, no further back than `most`.
pub(super) fn begin_of_name(text: &[u8], end: usize, most: usize) -> usize {
    let before = text[..end].iter().rev().take(most);
    end - before
        .take_while(|byte| is_of_name(**byte) || **byte == b'.')
        .count()
}
