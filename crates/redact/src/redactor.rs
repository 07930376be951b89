//! The two passes: what is secret in a session is learned, then tokens stand in its place.

use super::find::Finder;
use super::known::Known;
use super::policy::{Policy, PolicyError, id};
use super::report::{Found, Hit, Place, Report};
use super::token;
use super::token::Mark;
use mcpreel_trace::event::{EventKind, ProcessContext, SelectionNote};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Edits, Node};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
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
        Self {
            policy,
            known: Known::default(),
            lines: Vec::new(),
            stream: StreamId::STDERR,
            found: Found::default(),
            nodes: Vec::new(),
        }
    }

    /// Takes in what is secret in a value that can be written as JSON: what cannot is in no file either.
    pub fn value(&mut self, value: &impl Serialize) {
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
        Redactor {
            policy: self.policy,
            known: self.known,
            nodes: self.nodes,
            found: self.found,
        }
    }
}

/// The replacement of a filter in which a part of a secret is left.
const UNTOLD: &str = "not told: a part of something secret is in it";

/// Puts tokens in place of what is secret.
#[derive(Debug)]
pub struct Redactor {
    policy: Arc<Policy>,
    known: Known,
    nodes: Vec<Node>,
    found: Found,
}

impl Redactor {
    pub fn resume(self) -> Learner {
        Learner {
            known: self.known,
            ..Learner::new(self.policy)
        }
    }

    /// A redactor for texts that were made of a session, as a report is: it replaces known values
    /// and what the user's own patterns find, and ignores shapes and names, which say little there.
    pub fn of_known(self) -> Result<Self, PolicyError> {
        let policy = Arc::new(self.policy.of_known()?);
        Ok(Self { policy, ..self })
    }

    /// The same for what was made of a redacted session: a number that still stands there is an id
    /// or a count, which are never replaced, even where the same number is a secret.
    pub fn of_known_words(self) -> Result<Self, PolicyError> {
        let mut redactor = self.of_known()?;
        redactor.known.forget_numbers();
        Ok(redactor)
    }

    pub fn mark(&self) -> Mark {
        self.known.numbers.mark()
    }

    /// Takes back tokens that were given since; whether there were some.
    pub fn back_to(&mut self, mark: Mark) -> bool {
        self.known.numbers.back_to(mark)
    }

    /// Values that are known to be secret.
    pub fn values(&self) -> usize {
        self.known.numbers.len()
    }

    /// Begins a report, with what this cannot do.
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        report.off.clone_from(&self.policy.switched_off);
        let beyond = self.known.beyond + self.known.numbers.beyond;
        (report.short, report.beyond) = (self.known.short, beyond);
        report
    }

    /// The bytes of a frame with tokens in place of what is secret in it; all others as they are.
    pub fn frame<'r>(&mut self, place: Place, raw: &'r [u8], report: &mut Report) -> Cow<'r, [u8]> {
        self.find(raw);
        if self.found.hits.is_empty() {
            return Cow::Borrowed(raw);
        }
        self.found.settle();
        let mut edits = Edits::default();
        for hit in &self.found.hits {
            let token = self.known.token(hit);
            let token = self.known.numbers.shown(token);
            super::report::put(&mut edits, hit, token);
            let rule = self.policy.rule(hit.rule);
            report.add(place, (&hit.path, &hit.key), rule, token);
        }
        Cow::Owned(edits.apply(raw).into_owned())
    }

    /// Redacts a text.
    pub fn text<'t>(&mut self, place: Place, text: &'t str, report: &mut Report) -> Cow<'t, str> {
        match self.frame(place, text.as_bytes(), report) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Redacts a filter; drops it as a whole where a part of a secret would be left.
    pub fn filter(&mut self, filter: &str, report: &mut Report) -> String {
        let said = self.text(Place::Filter, filter, report).into_owned();
        let is_hint =
            |piece| matches!(piece, token::Piece::Text(text) if self.known.is_hinted(text));
        if token::Pieces(&said).any(is_hint) {
            return UNTOLD.to_owned();
        }
        said
    }

    pub fn event(&mut self, place: Place, event: &EventKind, report: &mut Report) -> EventKind {
        self.value(place, event, report)
            .unwrap_or_else(|| EventKind::Warning {
                message: "an event that could not be redacted is left out".to_owned(),
            })
    }

    /// Redacts the context of the process. Ids stay: they hold nothing off the wire.
    pub fn context(&mut self, context: &ProcessContext, report: &mut Report) -> ProcessContext {
        let redacted: Option<ProcessContext> = self.value(Place::Start, context, report);
        // What is replaced in it was counted with the rest.
        let mut told = |query: String| self.filter(&query, &mut Report::default());
        let selection = context.selection.clone().map(|note| SelectionNote {
            query: note.query.map(&mut told),
            ..note
        });
        ProcessContext {
            selection,
            recording: context.recording.clone(),
            origin: context.origin.clone(),
            parent: context.parent.clone(),
            other_side: context.other_side.clone(),
            redaction: context.redaction.clone(),
            ..redacted.unwrap_or_default()
        }
    }

    /// Something that can be written as JSON, likewise; `None` where it cannot be read again.
    pub fn value<T: Serialize + DeserializeOwned + Clone>(
        &mut self,
        place: Place,
        value: &T,
        report: &mut Report,
    ) -> Option<T> {
        let json = serde_json::to_vec(value).ok()?;
        match self.frame(place, &json, report) {
            Cow::Borrowed(_) => Some(value.clone()),
            Cow::Owned(json) => serde_json::from_slice(&json).ok(),
        }
    }

    fn find(&mut self, raw: &[u8]) {
        self.found.clear();
        let finder = Finder {
            policy: &self.policy,
            known: Some(&self.known),
        };
        finder.frame(raw, &mut self.nodes, &mut self.found);
        // A line of a key that stands alone.
        if let Some((line, token)) = self.known.line_of_key(raw) {
            let start = raw.len() - raw.trim_ascii_start().len();
            let end = start + raw.trim_ascii().len();
            self.found.hits.push(Hit {
                token: Some(token),
                kind: token.kind,
                ..Hit::new(end - line.len()..end, id::PEM, line.into())
            });
        }
    }
}
