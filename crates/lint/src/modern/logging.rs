//! Log messages: whether somebody wants them, and from which level on. The level is that of
//! `logging/setLevel` in the legacy era, and of the request itself in the modern one.

use crate::finding::{Finding, Findings};
use crate::quote;
use crate::remembered::Remembered;
use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::levels::LEVELS;
use mcpreel_wire::message::{Body, Era, Subject};

pub(super) static NOT_REQUESTED: Rule = Rule::error(
    "log-not-requested",
    "a log message although no open request asks for any",
)
.why("Modern clients say with each request whether they want its log messages, and drop those that they did not ask for.")
.fix("Let the server log to the client only while it works on a request with a log level, and to stderr otherwise.")
.of(section::LOGGING)
.only(Revisions::MODERN)
.milder_where(
    Severity::Warning,
    "the last request that asked for some was answered less than a second before",
);

pub(super) static BELOW_LEVEL: Rule = Rule::warning(
    "log-below-level",
    "a log message below the level that was asked for",
)
.why("The client has asked for less, and may be slowed down by messages that it throws away.")
.fix("Let the server compare the level of a message with the one that was asked for before it sends it.")
.of(section::LOGGING);

/// Requests with a level that are remembered. Beyond it nothing is said about log messages.
const OPEN: usize = 1024;

/// Messages of a request may come a little after its answer, this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

/// What the client wants to be told.
#[derive(Debug)]
pub(super) struct Levels {
    /// Of the handshake's session, once the server has agreed to it.
    set: Option<usize>,
    /// Open requests with a level of their own, or that set one.
    open: Remembered<ExchangeId, usize>,
    /// When the last of them was answered.
    last: Option<Moment>,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            set: None,
            open: Remembered::new(OPEN),
            last: None,
        }
    }
}

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

impl Levels {
    /// A request of the client, of any era.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let level = match part.era() {
            Era::Legacy if part.method() == Some("logging/setLevel") => part.param("level"),
            Era::Legacy => return,
            // What was read by its outline only may ask for everything.
            Era::Modern if part.value.is_none() => {
                self.open.insert(exchange, 0);
                return;
            }
            Era::Modern => part
                .param("_meta")
                .and_then(|meta| meta.get(keys::LOG_LEVEL)),
        };
        if let Some(level) = level {
            let level = level.as_str().and_then(|level| rank(&level));
            self.open.insert(exchange, level.unwrap_or(0));
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>) {
        let asked = part.exchange().and_then(|id| self.open.remove(&id));
        let Some(level) = asked else {
            return;
        };
        match part.era() {
            Era::Legacy if part.result().is_some() => self.set = Some(level),
            Era::Legacy => {}
            Era::Modern => self.last = Some(part.seen.head.t_last),
        }
    }

    /// A notification of the server: it may be a log message.
    pub(super) fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let Subject::Log { level, .. } = &notification.subject else {
            return;
        };
        if self.open.has_forgotten() {
            return;
        }
        let is_modern = part.seen.known.is_modern();
        let wanted = self.open.iter().map(|(_, level)| *level).min();
        let wanted = match (is_modern, wanted) {
            (true, None) => return findings.push(self.unwanted(part)),
            (true, wanted) => wanted,
            (false, pending) => self.set.map(|set| set.min(pending.unwrap_or(set))),
        };
        let Some(level) = level.as_deref() else {
            return;
        };
        if let (Some(rank), Some(wanted)) = (rank(level), wanted)
            && rank < wanted
        {
            let detail = format!("{level}, asked for {} and above", LEVELS[wanted]);
            findings.push(part.at(&BELOW_LEVEL, detail).path("params.level"));
        }
    }

    fn unwanted(&self, part: &Part<'_>) -> Finding {
        let since_ns = self
            .last
            .map(|t| part.seen.head.t_last.0.saturating_sub(t.0));
        let severity = match since_ns {
            Some(ns) if ns < GRACE_NS => Severity::Warning,
            _ => Severity::Error,
        };
        let finding = part.at(&NOT_REQUESTED, quote::text(&part.line()));
        finding.as_bad_as(severity)
    }
}
