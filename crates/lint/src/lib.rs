//! What is wrong with a session. Pure.
//!
//! ```text
//!  frame, event ─▶ Analysis ─▶ SessionFacts ─▶ families of rules ─▶ findings
//!                  (trace)    └────────────── Linter ──────────────┘
//! ```
//!
//! * [`mod@rule`], [`finding`], [`section`]: what a rule and a finding are, and where the rule is
//!   written; [`catalogue`] has every rule;
//! * [`context`], [`session_facts`]: what rules are shown; [`limits`]: how many findings are kept;
//! * the families: [`framing`] (lines and text), [`rpc`] (JSON-RPC), [`pairing`] (requests and
//!   responses), [`lifecycle`] and [`modern`] (the two eras), [`capability`] (what was declared),
//!   [`shape`] and [`content`] (params and results), [`flow`] (progress, cancellation, pages),
//!   [`tools`], [`errors`], [`process`]. A new family is a module that implements [`Family`] and an
//!   entry in [`families`];
//! * [`page`]: every rule in words, for people to read;
//! * [`cause`]: why a session went wrong, in one sentence;
//! * [`quote`]: text off the wire, safe to be shown.
//!
//! Every rule has cases under `tests/trace/rules`: where it fires, and where it nearly does. Whether
//! a rule applies to a revision, and how severe a finding is there, the [`Linter`] decides for all.

#[macro_use]
pub mod rule;

pub mod capability;
pub mod cause;
pub mod content;
pub mod context;
pub mod errors;
pub mod finding;
pub mod flow;
pub mod framing;
pub mod lifecycle;
pub mod limits;
pub mod modern;
pub mod page;
pub mod pairing;
pub mod process;
pub mod quote;
pub mod rpc;
pub mod section;
pub mod session_facts;
pub mod shape;
pub mod tools;

pub use context::{Context, Family};
pub use context::{FrameContext, Part};
pub use finding::{Finding, Findings};
pub use limits::Bounds;
pub use limits::Once;
pub use rule::{Revisions, Rule, Severity};
pub use section::Section;
pub use session_facts::OpenRequest;
pub use session_facts::{Handshake, SessionFacts};

use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::Content;
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
        Box::new(limits::Limits),
    ]
}

/// Every rule of every family, in the order of the families.
pub fn catalogue() -> &'static [&'static Rule] {
    static CATALOGUE: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let families = families();
        families.iter().flat_map(|family| family.rules()).collect()
    });
    &CATALOGUE
}

pub fn rule(id: &str) -> Option<&'static Rule> {
    catalogue().iter().copied().find(|rule| rule.id == id)
}

/// Applies all families of rules to one recording, in the order of its frames and events: an
/// [`Analysis`] takes each in first.
#[derive(Default)]
pub struct Linter {
    known: SessionFacts,
    rules: Rules,
}

/// The families, and what they found.
struct Rules {
    families: Vec<Box<dyn Family + Send>>,
    /// Findings of the moment, before it is decided which of them are told.
    found: Findings,
    misframed: framing::Misframed,
    bounds: Bounds,
    findings: Vec<Finding>,
}

impl Linter {
    /// Looks at the frame that `analysis` took in last. `raw` is the whole frame or, of a very long
    /// one, at least the beginning; `root` is its JSON value, where all of it was read.
    pub fn frame(
        &mut self,
        analysis: &Analysis,
        head: &FrameHead,
        raw: &[u8],
        content: &Content,
        root: Option<Value<'_>>,
    ) {
        if head.stream.messages().is_none() {
            let now = moment(analysis, &self.known);
            self.rules.at(&now, |family, found| {
                family.stderr(head, raw, &now, found);
            });
            return;
        }
        let messages = analysis.latest_messages();
        for (message, record) in content.messages.iter().zip(messages) {
            self.known.learn(head, message, record);
        }
        self.rules.frame(&FrameContext {
            head,
            raw,
            content,
            root,
            messages,
            observations: analysis.observations(),
            session: analysis.session(),
            known: &self.known,
            correlator: analysis.correlator(),
        });
        for (message, record) in content.messages.iter().zip(messages) {
            self.known.forget(message, record);
        }
    }

    /// Looks at the event that `analysis` took in last.
    pub fn event(&mut self, analysis: &Analysis, event: &Event) {
        if let EventKind::Start(process) = &event.kind {
            self.rules.bounds.part.clone_from(&process.selection);
        }
        let context = moment(analysis, &self.known);
        self.rules.at(&context, |family, found| {
            family.event(event, &context, found);
        });
    }

    /// The recording is over, and `analysis` has finished.
    pub fn finish(&mut self, analysis: &Analysis) {
        let context = moment(analysis, &self.known);
        let rules = &mut self.rules;
        rules.at(&context, |family, found| {
            family.finish(analysis.ended(), &context, found);
        });
        let held = rules.misframed.finish();
        let revision = |finding: &Finding| context.revision(finding);
        rules.bounds.settle(held, revision, &mut rules.findings);
        rules.bounds.finish(&mut rules.findings);
    }

    /// Findings since the last call.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.rules.findings)
    }

    /// About how many bytes [`Self::take`] would hand over.
    pub fn pending_bytes(&self) -> usize {
        // A detail is one line, what is quoted in it is cut.
        self.rules.findings.len() * 2 * size_of::<Finding>()
    }
}

fn moment<'a>(analysis: &'a Analysis, known: &'a SessionFacts) -> Context<'a> {
    Context {
        now: analysis.now(),
        session: analysis.session(),
        known,
        correlator: analysis.correlator(),
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            families: families(),
            found: Findings::default(),
            misframed: framing::Misframed::default(),
            bounds: Bounds::default(),
            findings: Vec::new(),
        }
    }
}

impl Rules {
    /// Lets each family look at the next frame of a protocol stream.
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let context = seen.context();
        for family in &mut self.families {
            family.passed(&context, &mut self.found);
        }
        self.settle(|finding| context.revision(finding));
        for family in &mut self.families {
            family.frame(seen, &mut self.found);
        }
        let mut found = self.found.take();
        self.misframed.apply(seen, &mut found);
        let of_frame = |finding: &Finding| finding.revision.unwrap_or_else(|| seen.revision());
        self.bounds.settle(found, of_frame, &mut self.findings);
    }

    /// Lets each family look at what has come at the moment of `context`.
    fn at(&mut self, context: &Context<'_>, mut look: impl FnMut(&mut dyn Family, &mut Findings)) {
        for family in &mut self.families {
            family.passed(context, &mut self.found);
            look(family.as_mut(), &mut self.found);
        }
        self.settle(|finding| context.revision(finding));
    }

    /// Tells what was found at the moment. Only here it is decided whether a rule applies.
    fn settle(&mut self, revision: impl Fn(&Finding) -> Revision) {
        if !self.found.is_empty() {
            let found = self.found.take();
            self.bounds.settle(found, revision, &mut self.findings);
        }
    }
}

#[cfg(test)]
mod lint_tests;
