//! What is wrong. Pure.
//!
//! ```text
//!  frame ─▶ Correlator ─▶ Session ─▶ Linter ─▶ findings
//!            └──────────── Analysis ───────────┘
//! ```
//!
//! * [`mod@rule`]: what a rule, a finding and a family of rules are;
//! * [`catalogue`]: every rule by its id;
//! * families: [`framing`] (lines), [`rpc`] (JSON-RPC shape and ids), [`pairing`] (requests and
//!   responses, progress, cancellation). A new family is a module that implements
//!   [`rule::Family`] and an entry in [`families`];
//! * [`analysis`]: all that is derived from a recording in one pass, for whoever stores it;
//! * [`quote`]: text off the wire, safe to be shown in a finding.

pub mod analysis;
pub mod framing;
pub mod pairing;
pub mod quote;
pub mod rpc;
pub mod rule;

pub use analysis::{Analysis, Derived};
pub use rule::{Family, Finding, Findings, Rule, Seen, Severity};

use crate::trace::correlator::Observation;
use crate::trace::event::Event;
use crate::trace::session::Session;

/// The families of rules, each with fresh state.
#[must_use]
pub fn families() -> Vec<Box<dyn Family + Send>> {
    vec![
        Box::new(framing::Framing),
        Box::new(rpc::Rpc::default()),
        Box::new(pairing::Pairing),
    ]
}

/// Every rule of every family.
#[must_use]
pub fn catalogue() -> Vec<&'static Rule> {
    families()
        .iter()
        .flat_map(|family| family.rules().iter().copied())
        .collect()
}

/// The rule with this id.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    catalogue().into_iter().find(|rule| rule.id == id)
}

/// Applies all families of rules to one recording, in the order of its frames and events.
pub struct Linter {
    families: Vec<Box<dyn Family + Send>>,
}

impl Default for Linter {
    fn default() -> Self {
        Self::new()
    }
}

impl Linter {
    /// A linter for the start of a recording.
    #[must_use]
    pub fn new() -> Self {
        Self {
            families: families(),
        }
    }

    /// Looks at the next frame of a protocol stream; frames of others are not looked at.
    pub fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        if seen.head.stream.messages().is_none() {
            return;
        }
        for family in &mut self.families {
            family.frame(seen, findings);
        }
    }

    /// Looks at the next event.
    pub fn event(&mut self, event: &Event, session: &Session, findings: &mut Findings) {
        for family in &mut self.families {
            family.event(event, session, findings);
        }
    }

    /// The recording is over; `observations` are those of the correlator's own end.
    pub fn finish(
        &mut self,
        observations: &[Observation],
        session: &Session,
        findings: &mut Findings,
    ) {
        for family in &mut self.families {
            family.finish(observations, session, findings);
        }
    }
}

#[cfg(test)]
mod tests;
