//! What was found.

use super::rule::{Rule, Severity};
use crate::trace::exchange::ExchangeId;
use crate::trace::frame::Seq;

/// Other frames that a finding names. Without a limit a finding about a flood would name each of
/// its frames.
const RELATED: usize = 8;

/// Something wrong or remarkable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// How bad it is here.
    pub severity: Severity,
    /// The frame that it points at.
    pub frame: Option<Seq>,
    /// The exchange that it is about.
    pub exchange: Option<ExchangeId>,
    /// Where in the message: the path of members from its top, `params.arguments.q` or
    /// `result.tools[3].inputSchema`. Text off the wire in it is escaped.
    pub path: Option<Box<str>>,
    /// Other frames that it is about, a few at most.
    pub related: Vec<Seq>,
    /// One line that says what was found; text off the wire in it is escaped.
    pub detail: String,
}

/// Where findings are collected.
pub type Findings = Vec<Finding>;

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

    /// The same finding, at a place of the message.
    #[must_use]
    pub fn path(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same finding, about another frame as well.
    #[must_use]
    pub fn and(mut self, frame: Seq) -> Self {
        if self.related.len() < RELATED {
            self.related.push(frame);
        }
        self
    }
}
