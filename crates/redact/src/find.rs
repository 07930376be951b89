//! Looking for what is to be replaced: a frame by its layers.
//!
//! ```text
//!  bytes ─▶ is there anything that may be one? ─ no ─▶ nothing (nearly always)
//!              └ yes ─▶ JSON ─▶ strings and names ─┐    ┌─▶ shapes, names, URLs, keys, known values
//!                       text ──────────────────────┴─▶ text
//!                                                        └─▶ percent-encoded, base64: again
//! ```

use super::encodings::{self, Layer};
use super::json::{self, Strings, Under};
use super::known::Known;
use super::names::Class;
use super::policy::{Policy, id};
use super::report::Found;
use super::text::{self, Codes, Passed};
use super::token::Kind;
use super::value::Placement;
use mcpreel_wire::json::{Node, parse_into};
use std::ops::Range;

/// How many codes may lie within each other: JSON in a string in base64 in a string.
const MOST_LAYERS: usize = 5;

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
    policy: &'p Policy,
    known: Option<&'p Known>,
    /// Whether what is looked at is no text: then nothing is a name or a URL.
    is_binary: bool,
}

impl<'p> Finder<'p> {
    pub fn new(policy: &'p Policy, known: Option<&'p Known>) -> Self {
        Self {
            policy,
            known,
            is_binary: false,
        }
    }

    fn of_reading(&self, reading: &[u8]) -> Self {
        Self {
            is_binary: !encodings::is_text(reading),
            ..*self
        }
    }

    pub fn frame(&self, raw: &[u8], nodes: &mut Vec<Node>, found: &mut Found) {
        if self.may_have(raw, 0) {
            self.read(raw, nodes, found);
        }
    }

    /// Finds all there is in a frame, without asking first whether there may be anything.
    pub fn read(&self, raw: &[u8], nodes: &mut Vec<Node>, found: &mut Found) {
        let first = raw.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[' | b'"'))
            && let Ok(root) = parse_into(raw, nodes)
        {
            json::message(
                self.policy,
                &InJson {
                    finder: self,
                    depth: 0,
                },
                root,
                found,
            );
        } else {
            // What is no JSON as a whole, or nests too deeply, may be made of it.
            self.text(raw, 0, found);
        }
        if nodes.capacity() > MOST_NODES / 64 {
            *nodes = Vec::new();
        }
    }

    /// Whether a line ends with a name that is what another one says: `name: API_KEY`.
    pub fn ends_with_member_name(&self, line: &[u8]) -> bool {
        text::ends_with_member_name(self.policy, line)
    }

    /// Whether there may be something. Says yes too often, never no where there is something.
    pub fn may_have(&self, raw: &[u8], depth: usize) -> bool {
        self.policy.reads_all()
            || self.known.is_some_and(|known| known.may_be_in(raw))
            || self.may_be_noticed(raw)
            || self.may_be_coded(raw, encodings::runs(raw), depth)
    }

    /// Whether something may be told by a text.
    pub fn may_be_noticed(&self, raw: &[u8]) -> bool {
        text::may_be_noticed(self.policy, raw, self.is_binary)
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
                shapes.any(|shape| text::shape(self.policy, raw, shape, run.start).is_some())
                    || encodings::readings(&raw[run])
                        .any(|reading| self.of_reading(&reading).may_have(&reading, depth + 1))
            })
    }

    /// Finds all there is in a text, of which some may be JSON.
    fn string(&self, text: &[u8], depth: usize, found: &mut Found) {
        if !self.document(text, depth, Under::Nothing, found) {
            self.text(text, depth, found);
        }
    }

    /// Finds all there is in an object or a list that is told as a text; whether it is one.
    fn document(&self, text: &[u8], depth: usize, under: Under, found: &mut Found) -> bool {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if depth >= MOST_LAYERS || !matches!(first, Some(b'{' | b'[')) {
            return false;
        }
        let mut nodes = Vec::new();
        let Ok(root) = parse_into(text, &mut nodes) else {
            return false;
        };
        let strings = InJson {
            finder: self,
            depth,
        };
        json::nested(self.policy, &strings, root, under, found);
        true
    }

    /// Finds all there is in a text, and in what is coded in it.
    pub fn text(&self, text: &[u8], depth: usize, found: &mut Found) {
        let mark = found.hits.len();
        if let Some(known) = self.known {
            known.find(text, found);
        }
        let codes = text::scan(self.policy, text, self.is_binary, found);
        if depth < MOST_LAYERS {
            self.coded(text, depth, codes, found);
        }
        found.spare(mark, text);
    }

    /// Looks into what is percent-encoded, escaped, coloured or base64.
    fn coded(&self, text: &[u8], depth: usize, codes: Codes, found: &mut Found) {
        let percent = codes
            .has_percent
            .then(|| Layer::unpercented(text))
            .flatten();
        let styles = codes.has_styles.then(|| Layer::unstyled(text)).flatten();
        let escapes = codes.has_escapes.then(|| Layer::unescaped(text));
        for layer in [percent, styles, escapes].into_iter().flatten() {
            let mark = found.hits.len();
            self.text(&layer.text, depth + 1, found);
            found.place(text, &layer, mark);
        }
        if let Some(known) = self.known.filter(|_| !codes.has_escapes)
            && memchr::memchr(b'\\', text).is_some()
            && known.may_be_in(text)
        {
            // Signs of a known value may be escaped where nothing else is: a quote, a backslash.
            let (layer, mark) = (Layer::unescaped(text), found.hits.len());
            known.find(&layer.text, found);
            found.place(text, &layer, mark);
        }
        for run in encodings::runs(text) {
            let (mark, mut passed) = (found.hits.len(), Passed::default());
            for shape in self.policy.at_run(text[run.start]) {
                text::shaped(self.policy, text, shape, run.start, &mut passed, found);
            }
            if found.hits.len() == mark {
                self.run(text, run, depth, found);
            }
        }
    }

    /// Looks into a run of base64. If there is something in it, all of it is replaced: what is
    /// coded cannot be mended from outside.
    fn run(&self, text: &[u8], run: Range<usize>, depth: usize, found: &mut Found) {
        for reading in encodings::readings(&text[run.clone()]) {
            let finder = self.of_reading(&reading);
            if !finder.may_have(&reading, depth + 1) {
                continue;
            }
            let mut inside = Found::default();
            finder.string(&reading, depth + 1, &mut inside);
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
            found.plain.append(&mut inside.plain);
            found
                .plain
                .extend(inside.hits.into_iter().map(|hit| (hit.value, hit.kind)));
            return;
        }
    }
}

/// The strings of a document.
struct InJson<'f, 'p> {
    finder: &'f Finder<'p>,
    /// In how many codes the document stands.
    depth: usize,
}

impl Strings for InJson<'_, '_> {
    fn string(&self, text: &[u8], under: Under, found: &mut Found) {
        let policy = self.finder.policy;
        let is_held = matches!(under, Under::Named(_) | Under::Within(_));
        if is_held && self.finder.document(text, self.depth + 1, under, found) {
            return;
        }
        let mark = found.hits.len();
        match under {
            Under::Ruled => found.add(policy, text, 0..text.len(), (id::PATH, Kind::Secret)),
            Under::Named(Class::Pair) if !encodings::is_pair(text.trim_ascii()) => {
                pair(policy, text, 0..text.len(), found);
            }
            Under::Named(class) | Under::Within(class) => {
                text::add(policy, text, 0..text.len(), class, Placement::Whole, found);
            }
            Under::Word => word(policy, text, found),
            Under::Nothing => {}
        }
        let is_part = matches!(
            under,
            Under::Named(Class::Header | Class::Pair) | Under::Word
        );
        if found.hits.len() == mark || is_part {
            self.finder.string(text, self.depth + 1, found);
        }
    }

    fn is_known(&self, number: &[u8]) -> bool {
        self.finder
            .known
            .is_some_and(|known| known.numbers.has(number))
    }
}

/// Finds the value of a word of a command, `--password=…` or `DB_PASSWORD=…`: all that follows.
fn word(policy: &Policy, text: &[u8], found: &mut Found) {
    let sign = memchr::memchr(b'=', &text[..text.len().min(super::names::LONGEST)]);
    let Some(sign) = sign.filter(|_| memchr::memchr(b'\n', text).is_none()) else {
        return;
    };
    let name = super::extent::lossy(text, &(0..sign));
    let is_name = name.bytes().all(super::ruleset::is_of_name)
        && (name.starts_with('-') || !name.contains(|letter: char| letter.is_ascii_lowercase()));
    let value = match &text[sign + 1..] {
        [first @ (b'"' | b'\''), .., last] if first == last => sign + 2..text.len() - 1,
        _ => sign + 1..text.len(),
    };
    match policy.class(&name).filter(|_| is_name) {
        Some(Class::Pair) => pair(policy, text, value, found),
        Some(class) => text::add(policy, text, value, class, Placement::Whole, found),
        None => {}
    }
}

/// Finds the secret of `user:password`, or of a scheme with what it needs.
fn pair(policy: &Policy, text: &[u8], span: Range<usize>, found: &mut Found) {
    let said = &text[span.clone()];
    let of_user = |byte: &u8| super::ruleset::is_of_name(*byte) || matches!(byte, b'.' | b'@');
    let colon = memchr::memchr(b':', said).filter(|colon| said[..*colon].iter().all(of_user));
    let colon = colon.filter(|colon| colon + 1 < said.len() && !said[*colon..].starts_with(b"://"));
    let (span, class) = match colon {
        Some(colon) => (span.start + colon + 1..span.end, Class::Password),
        None => (span, Class::Pair),
    };
    text::add(policy, text, span, class, Placement::Whole, found);
}
