//! The first pass: what is secret in a session.

use super::find::Finder;
use super::known::Known;
use super::pem::Lines;
use super::policy::{Noticed, Policy, id};
use super::redactor::Redactor;
use super::report::Found;
use super::text;
use super::token;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Streams whose lines may be those of a key; a session has three.
const MOST_STREAMS: usize = 64;

/// Goes over a session and learns what is secret in it.
#[derive(Debug)]
pub struct Learner {
    policy: Arc<Policy>,
    known: Known,
    /// The lines of each stream that may go on: of a key, and below a name.
    streams: BTreeMap<StreamId, (Lines, Over)>,
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
            streams: BTreeMap::new(),
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
        let may_have = self.take(raw);
        if self.streams.len() >= MOST_STREAMS && !self.streams.contains_key(&stream) {
            return;
        }
        let (key, over) = self.streams.entry(stream).or_default();
        self.found.clear();
        over.push(&finder(&self.policy), (raw, may_have), &mut self.found);
        let is_off = self.policy.without.contains(self.policy.rule(id::PEM));
        let key = (!is_off).then(|| key.push(raw)).flatten();
        self.learn();
        if let Some(key) = key {
            self.known.learn_key(&key);
        }
    }

    /// Takes in what is secret in these bytes; whether there may be something.
    fn take(&mut self, raw: &[u8]) -> bool {
        if token::may_be_in(raw) {
            self.known.numbers.take_out(raw);
        }
        self.found.clear();
        let may_have = finder(&self.policy).frame(raw, &mut self.nodes, &mut self.found);
        self.learn();
        may_have
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

    /// Ends the learning, for good or for now.
    pub fn finish(mut self) -> Redactor {
        for (key, _) in self.streams.values_mut() {
            if let Some(key) = key.finish() {
                self.known.learn_key(&key);
            }
        }
        self.known.prepare();
        Redactor::knowing(self.policy, self.known)
    }
}

fn finder(policy: &Policy) -> Finder<'_> {
    Finder {
        policy,
        known: None,
    }
}

// A name at the end of a line whose value stands on the next ones, each of which is a frame.
//
// ```text
//  frame 7   api_keys:        - name: API_KEY     set-cookie: [     form-data; name="password"
//  frame 8     - this           value: this         'sid=this',
//  frame 9     - and this                          ]                 this
// ```

/// Bytes of all lines; nobody writes more for a person to read.
const LONGEST: usize = 2048;

/// Lines below a name: to look at all of them with each new one takes their square.
const MOST: usize = 16;

/// The header of a part of a form, up to the name of its field.
const FORM: &[u8] = b"form-data; name=\"";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Until {
    /// A line in which nothing more is found.
    #[default]
    Miss,
    /// The bracket that is open is closed.
    Closed,
    Found,
}

/// The lines from one that ends with a name on.
#[derive(Debug, Default)]
struct Over {
    text: Vec<u8>,
    until: Until,
    lines: usize,
    hits: usize,
}

impl Over {
    /// Takes the next line of the stream, of which `may_have` says whether there may be something
    /// in it. Adds to `found` what is secret in it because of those before, besides what is in those.
    pub fn push(
        &mut self,
        finder: &Finder<'_>,
        (line, may_have): (&[u8], bool),
        found: &mut Found,
    ) {
        let is_one = line.len() < LONGEST && !is_json(line);
        let goes_on = !self.text.is_empty()
            && is_one
            && self.lines < MOST
            && self.text.len() + line.len() < LONGEST;
        if goes_on && self.goes_on_with(finder, line, found) {
            return;
        }
        *self = Self::default();
        if is_one
            && may_have
            && let Some(until) = until(finder, line)
        {
            self.text.extend_from_slice(line);
            self.until = until;
            let mut own = Found::default();
            finder.text(Noticed::unknown(line), 0, &mut own);
            self.hits = own.hits.len();
        }
    }

    /// Takes a line in; whether the next one may belong to the name as well.
    fn goes_on_with(&mut self, finder: &Finder<'_>, line: &[u8], found: &mut Found) -> bool {
        self.text.extend_from_slice(line);
        self.lines += 1;
        if self.until == Until::Closed && is_open(&self.text) {
            return true;
        }
        let mark = found.hits.len();
        finder.text(Noticed::unknown(&self.text), 0, found);
        let hits = found.hits.len() - mark;
        let is_more = hits > self.hits;
        self.hits = hits.max(self.hits);
        match self.until {
            Until::Miss => is_more || line.trim_ascii().is_empty(),
            Until::Closed => false,
            Until::Found => !is_more,
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// How far the value of a name in a line stands below it, if that may be.
fn until(finder: &Finder<'_>, line: &[u8]) -> Option<Until> {
    let line = line.trim_ascii_end();
    let named = line.strip_suffix(b"\"").unwrap_or(line);
    match line.last()? {
        b':' | b'=' | b'|' | b'>' | b'-' => Some(Until::Miss),
        b'[' | b'(' | b'{' => Some(Until::Closed),
        _ if memchr::memmem::find(line, FORM).is_some() => Some(Until::Found),
        _ => text::ends_with_member_name(finder.policy, named).then_some(Until::Miss),
    }
}

/// Whether a bracket is not closed.
fn is_open(text: &[u8]) -> bool {
    let count = |those: &[u8]| text.iter().filter(|byte| those.contains(byte)).count();
    count(b"[({") > count(b"])}")
}
