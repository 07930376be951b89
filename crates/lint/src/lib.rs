//! What is wrong. Pure.
//!
//! ```text
//!  frame ─▶ Correlator ─▶ Session ─▶ Known ─▶ families of rules ─▶ findings
//!            └────────────────── Analysis ──────────────────┘
//! ```
//!
//! * [`mod@rule`], [`finding`], [`section`]: what a rule and a finding are, and where it is written;
//! * [`family`]: rules that share what they remember; [`catalogue`] has every rule by its id;
//! * [`seen`], [`known`], [`asked`]: what rules are shown; [`remembered`], [`once`]: what they may
//!   keep;
//! * the families, a folder each: [`framing`] (lines and text), [`rpc`] (JSON-RPC shape and ids),
//!   [`pairing`] (requests and responses), [`lifecycle`] and [`modern`] (the two eras),
//!   [`capability`] (what was declared), [`shape`] and [`content`] (params and results), [`flow`]
//!   (progress, cancellation, pages), [`tools`], [`errors`], [`process`]. A new family is a module
//!   that implements [`Family`] and an entry in [`families`];
//! * [`part`]: what is not said of a part of a session;
//! * `digest`: what tells values apart that are not kept; `few`: the first few findings of a rule;
//! * [`bounds`]: how many findings are kept;
//! * [`analysis`]: all that is derived from a recording in one pass, for whoever stores it;
//! * [`page`]: every rule in words, for people to read;
//! * [`cause`]: why a session went wrong, in one sentence, from what is known of a recording;
//! * [`quote`], [`trail`]: text off the wire and paths of members, safe to be shown in a finding.
//!
//! Every rule has cases under `tests/rules`: where it fires, and where it nearly does.
//!
//! Whether a rule applies, and how bad a finding is where that depends on the revision, is decided
//! here for all of them: in frames, on stderr, at events, when time has passed and at the end.

pub mod analysis;
pub mod asked;
pub mod bounds;
pub mod capability;
pub mod cause;
pub mod content;
mod digest;
pub mod errors;
pub mod family;
mod few;
pub mod finding;
pub mod flow;
pub mod framing;
pub mod known;
pub mod lifecycle;
pub mod modern;
pub mod once;
pub mod page;
pub mod pairing;
pub mod part;
pub mod process;
pub mod quote;
pub mod remembered;
pub mod rpc;
pub mod rule;
pub mod section;
pub mod seen;
pub mod shape;
pub mod tools;
pub mod trail;

pub use analysis::{Analysis, Derived};
pub use asked::Asked;
pub use bounds::Bounds;
pub use family::{Context, Family};
pub use finding::{Finding, Findings};
pub use known::{Handshake, Known};
pub use once::Once;
pub use remembered::Remembered;
pub use rule::{Revisions, Rule, Severity};
pub use section::Section;
pub use seen::{Part, Seen};

use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::mcp::Revision;
use std::sync::LazyLock;

/// The families of rules, each with fresh state.
pub fn families() -> Vec<Box<dyn Family + Send>> {
    vec![
        Box::new(framing::Framing::default()),
        Box::new(rpc::Rpc::default()),
        Box::new(pairing::Pairing::default()),
        Box::new(lifecycle::Lifecycle::default()),
        Box::new(modern::Modern::default()),
        Box::new(capability::Capability::default()),
        Box::new(shape::Shape::default()),
        Box::new(content::Content::default()),
        Box::new(flow::Flow::default()),
        Box::new(tools::Tools::default()),
        Box::new(errors::Errors::default()),
        Box::new(process::Process::default()),
        Box::new(bounds::Limits),
    ]
}

/// Every rule of every family, in the order of the families.
pub fn catalogue() -> &'static [&'static Rule] {
    static CATALOGUE: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let families = families();
        let rules = families.iter().flat_map(|family| family.rules());
        rules.copied().collect()
    });
    &CATALOGUE
}

pub fn rule(id: &str) -> Option<&'static Rule> {
    catalogue().iter().copied().find(|rule| rule.id == id)
}

/// Applies all families of rules to one recording, in the order of its frames and events.
pub struct Linter {
    families: Vec<Box<dyn Family + Send>>,
    found: Findings,
    misframed: framing::Misframed,
    bounds: Bounds,
}

impl Default for Linter {
    fn default() -> Self {
        Self::new()
    }
}

impl Linter {
    /// A linter for the start of a recording.
    pub fn new() -> Self {
        Self {
            families: families(),
            found: Findings::default(),
            misframed: framing::Misframed::default(),
            bounds: Bounds::default(),
        }
    }

    /// Looks at the next frame of a protocol stream.
    pub fn frame(&mut self, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
        let context = seen.context();
        for family in &mut self.families {
            family.passed(&context, &mut self.found);
        }
        self.settle(|finding| context.revision(finding), findings);
        for family in &mut self.families {
            family.frame(seen, &mut self.found);
        }
        let mut found = self.found.take();
        self.misframed.apply(seen, &mut found);
        let of_frame = |finding: &Finding| finding.revision.unwrap_or_else(|| seen.revision());
        self.bounds.settle(found, of_frame, findings);
    }

    /// Looks at the next line on stderr.
    pub fn stderr(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        context: &Context<'_>,
        findings: &mut Vec<Finding>,
    ) {
        for family in &mut self.families {
            family.passed(context, &mut self.found);
            family.stderr(head, raw, context, &mut self.found);
        }
        self.settle(|finding| context.revision(finding), findings);
    }

    pub fn event(&mut self, event: &Event, context: &Context<'_>, findings: &mut Vec<Finding>) {
        if let EventKind::Start(process) = &event.kind {
            self.bounds.part.clone_from(&process.selection);
        }
        for family in &mut self.families {
            family.passed(context, &mut self.found);
            family.event(event, context, &mut self.found);
        }
        self.settle(|finding| context.revision(finding), findings);
    }

    /// The recording is over; `observations` are those of the correlator's own end.
    pub fn finish(
        &mut self,
        observations: &[Observation],
        context: &Context<'_>,
        findings: &mut Vec<Finding>,
    ) {
        for family in &mut self.families {
            family.passed(context, &mut self.found);
            family.finish(observations, context, &mut self.found);
        }
        self.settle(|finding| context.revision(finding), findings);
        let held = self.misframed.finish();
        self.bounds
            .settle(held, |finding| context.revision(finding), findings);
        self.bounds.finish(findings);
    }

    /// Hands over what was found at the moment: whatever finds it, only here it is decided whether
    /// its rule applies.
    fn settle(&mut self, revision: impl Fn(&Finding) -> Revision, findings: &mut Vec<Finding>) {
        if !self.found.is_empty() {
            self.bounds.settle(self.found.take(), revision, findings);
        }
    }
}

#[cfg(test)]
mod tests;
