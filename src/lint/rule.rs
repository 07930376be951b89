//! What a rule, a finding and a family of rules are.

use crate::protocol::message::Content;
use crate::trace::correlator::{MessageRecord, Observation};
use crate::trace::event::Event;
use crate::trace::exchange::ExchangeId;
use crate::trace::frame::{FrameHead, Seq};
use crate::trace::session::Session;
use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Breaks a SHOULD, or is very likely a mistake.
    Warning,
    /// Breaks a MUST or the wire format.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity that [`Self::as_str`] writes so.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Note, Self::Warning, Self::Error]
            .into_iter()
            .find(|severity| severity.as_str() == word)
    }
}

/// A rule: what can be found, how bad that is unless the revision says otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its permanent name, for example `frame-not-json`.
    pub id: &'static str,
    /// How bad its findings are, if nothing else is said.
    pub severity: Severity,
    /// One line that explains it.
    pub summary: &'static str,
    /// Whether it is found only when the recording is over, in frames of long before.
    pub at_end: bool,
}

impl Rule {
    /// A rule whose findings are errors.
    #[must_use]
    pub const fn error(id: &'static str, summary: &'static str) -> Self {
        Self {
            id,
            severity: Severity::Error,
            summary,
            at_end: false,
        }
    }

    /// A rule whose findings are warnings.
    #[must_use]
    pub const fn warning(id: &'static str, summary: &'static str) -> Self {
        Self {
            id,
            severity: Severity::Warning,
            summary,
            at_end: false,
        }
    }

    /// A rule whose findings are notes.
    #[must_use]
    pub const fn note(id: &'static str, summary: &'static str) -> Self {
        Self {
            id,
            severity: Severity::Note,
            summary,
            at_end: false,
        }
    }

    /// The same rule, whose findings are made only when the recording is over.
    #[must_use]
    pub const fn at_end(mut self) -> Self {
        self.at_end = true;
        self
    }

    /// A finding of this rule in a frame.
    #[must_use]
    pub fn at(&self, frame: Seq, detail: impl Into<String>) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            frame: Some(frame),
            exchange: None,
            detail: detail.into(),
        }
    }
}

/// Something wrong or remarkable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of its rule.
    pub rule: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// The frame that it points at.
    pub frame: Option<Seq>,
    /// The exchange that it is about.
    pub exchange: Option<ExchangeId>,
    /// One line that says what was found; text off the wire in it is escaped.
    pub detail: String,
}

impl Finding {
    /// The same finding, about an exchange.
    #[must_use]
    pub fn about(mut self, exchange: Option<ExchangeId>) -> Self {
        self.exchange = exchange;
        self
    }

    /// The same finding with another severity.
    #[must_use]
    pub fn as_bad_as(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// Where findings are collected.
pub type Findings = Vec<Finding>;

/// A frame with all that is known about it when rules look at it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Where it stands.
    pub head: &'a FrameHead,
    /// Its bytes, terminator included; of a very long frame at least the beginning.
    pub raw: &'a [u8],
    /// What it holds.
    pub content: &'a Content,
    /// Its messages, with their exchanges.
    pub messages: &'a [MessageRecord],
    /// What pairing noticed in it.
    pub observations: &'a [Observation],
    /// The session up to and including it.
    pub session: &'a Session,
}

/// Rules that share what they have to remember. Frames and events come in order; what a family
/// remembers must not grow with the length of the recording.
pub trait Family {
    /// The rules that its findings name.
    fn rules(&self) -> &'static [&'static Rule];

    /// Looks at the next frame of a protocol stream.
    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let _ = (seen, findings);
    }

    /// Looks at the next event.
    fn event(&mut self, event: &Event, session: &Session, findings: &mut Findings) {
        let _ = (event, session, findings);
    }

    /// The recording is over.
    fn finish(&mut self, end: &[Observation], session: &Session, findings: &mut Findings) {
        let _ = (end, session, findings);
    }
}
