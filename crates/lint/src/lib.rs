//! Finds faults in a session and explains them. Pure.
//!
//! ```text
//!  frame, event ─▶ Analysis ─▶ SessionFacts ─▶ families of rules ─▶ findings
//!                  (trace)    └────────────── Linter ──────────────┘
//! ```
//!
//! * [`mod@rule`], [`finding`], [`section`]: what a rule and a finding are, how many are kept, and where
//!   the rule is written; [`catalogue`] has every rule, [`rule::markdown`] their page;
//! * [`context`], [`session_facts`]: what rules are shown;
//! * the families: [`framing`] (lines and text), [`rpc`] (JSON-RPC), [`pairing`] (requests and
//!   responses), [`lifecycle`] and [`modern`] (the two eras), [`capability`] (what was declared),
//!   [`shape`] and [`features`] (params and results), [`flow`] (progress, cancellation, pages),
//!   [`tools`], [`errors`], [`process`], [`http`] (heads, statuses and streams). A new family is a module that implements [`Family`] and an
//!   entry in [`families`];
//! * [`cause`]: why a session went wrong, in one sentence; [`authorization`]: how far a client came that
//!   logs in;
//! * [`quote`]: text off the wire, safe to be shown.
//!
//! Every rule has cases under `tests/trace/rules`: where it fires, and where it nearly does. Whether
//! a rule applies to a revision, and how severe a finding is there, the [`Linter`] decides for all.

#[macro_use]
pub mod rule;

pub mod authorization;
pub mod capability;
pub mod cause;
pub mod context;
pub mod errors;
pub mod features;
pub mod finding;
pub mod flow;
pub mod framing;
pub mod http;
pub mod lifecycle;
pub mod modern;
pub mod pairing;
pub mod process;
pub mod quote;
pub mod rpc;
pub mod section;
pub mod session_facts;
pub mod shape;
pub mod tools;

pub use context::{Context, Family, FrameContext, Part};
pub use finding::{Bounds, Finding, Findings, Once};
pub use rule::{Revisions, Rule, Severity};
pub use section::Section;
pub use session_facts::{Handshake, ListRequest, OpenRequest, SessionFacts};

use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::FrameHead;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Content;
use std::sync::LazyLock;

/// A family of rules: its name, its rules, and how its state begins.
pub struct RuleFamily {
    pub name: &'static str,
    pub rules: Vec<&'static Rule>,
    new: fn() -> Box<dyn Family + Send>,
}

fn family<F: Family + Default + Send + 'static>(
    name: &'static str,
    rules: &[&[&'static Rule]],
) -> RuleFamily {
    let rules = rules.concat();
    let new = || -> Box<dyn Family + Send> { Box::new(F::default()) };
    RuleFamily { name, rules, new }
}

/// The families of rules, in the order in which they look at a message.
pub fn families() -> &'static [RuleFamily] {
    static FAMILIES: LazyLock<[RuleFamily; 14]> = LazyLock::new(|| {
        [
            family::<framing::Framing>("framing", &[framing::RULES]),
            family::<rpc::Rpc>("JSON-RPC", &[rpc::RULES]),
            family::<pairing::Pairing>("pairing", &[pairing::RULES]),
            family::<lifecycle::Lifecycle>("lifecycle", &[lifecycle::RULES]),
            family::<modern::Modern>("modern", modern::RULE_LISTS),
            family::<capability::Capability>("capability", &[capability::RULES]),
            family::<shape::Shape>("shape", &[shape::RULES]),
            family::<features::Features>("features", &[features::RULES]),
            family::<flow::Flow>("flow", &[flow::RULES]),
            family::<tools::Tools>("tools", &[tools::RULES]),
            family::<errors::Errors>("errors", &[errors::RULES]),
            family::<process::Process>("process", process::RULE_LISTS),
            family::<http::Http>("HTTP", &[http::RULES]),
            family::<finding::Limits>("limits", &[finding::RULES]),
        ]
    });
    &*FAMILIES
}

/// Every rule of every family, in the order of the families.
pub fn catalogue() -> &'static [&'static Rule] {
    static CATALOGUE: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let families = families().iter();
        families.flat_map(|family| family.rules.clone()).collect()
    });
    &CATALOGUE
}

pub fn rule(id: &str) -> Option<&'static Rule> {
    catalogue().iter().copied().find(|rule| rule.id == id)
}

/// Applies all families of rules to one recording, in the order of its frames and events: an
/// [`Analysis`] takes each in first.
pub struct Linter {
    known: SessionFacts,
    families: Vec<Box<dyn Family + Send>>,
    misframed: framing::Misframed,
    bounds: Bounds,
    /// Whether lines of stderr stand on stdout.
    stderr_in_stdout: bool,
    findings: Vec<Finding>,
    /// The exchange of HTTP that carries the next frame.
    carried_by: Option<Box<HttpExchange>>,
}

impl Default for Linter {
    fn default() -> Self {
        Self {
            known: SessionFacts::default(),
            families: families().iter().map(|family| (family.new)()).collect(),
            misframed: framing::Misframed::default(),
            bounds: Bounds::default(),
            stderr_in_stdout: false,
            findings: Vec::new(),
            carried_by: None,
        }
    }
}

impl Linter {
    /// The exchange of HTTP that carries the frames that come.
    pub fn carried_by(&mut self, http: &HttpExchange) {
        self.carried_by = Some(Box::new(http.clone()));
    }

    /// Looks at an exchange of HTTP whose response has begun.
    pub fn http(&mut self, analysis: &Analysis, http: &HttpExchange) {
        self.at(analysis, |family, now| family.http(http, now));
    }

    /// Looks at an exchange of HTTP whose response is over, after `analysis` has.
    pub fn http_over(&mut self, analysis: &Analysis, http: &HttpExchange) {
        let observed = analysis.observations();
        if !observed.is_empty() || !http.broken_chunks.is_empty() {
            self.at(analysis, |family, now| {
                family.http_over(http, observed, now);
            });
        }
    }

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
            self.at(analysis, |family, now| family.stderr(head, raw, now));
            return;
        }
        let messages = analysis.latest_messages();
        let values = context::values(content, root);
        for ((message, record), value) in content.messages.iter().zip(messages).zip(values) {
            self.known.learn(head, message, record, value);
        }
        let found = Findings::default();
        let now = Context {
            now: head.t_last,
            session: analysis.session(),
            known: &self.known,
            correlator: analysis.correlator(),
            findings: &found,
        };
        let seen = FrameContext {
            head,
            raw,
            content,
            root,
            messages,
            observations: analysis.observations(),
            http: self.carried_by.as_deref(),
            context: now,
        };
        for family in &mut self.families {
            family.passed(&now);
        }
        let revision = |finding: &Finding| now.revision(finding);
        self.bounds
            .settle(found.take(), revision, &mut self.findings);
        let parts: Vec<_> = seen.parts().collect();
        for family in &mut self.families {
            family.frame(&seen);
            for part in &parts {
                family.part(part);
            }
        }
        let mut found = found.take();
        if self.stderr_in_stdout && framing::may_be_of_stderr(&seen) {
            found.clear();
        }
        self.misframed.apply(&seen, &mut found);
        let revision = |finding: &Finding| finding.revision.unwrap_or_else(|| seen.revision());
        self.bounds.settle(found, revision, &mut self.findings);
        for (message, record) in content.messages.iter().zip(messages) {
            self.known.forget(message, record);
        }
    }

    /// Looks at the event that `analysis` took in last.
    pub fn event(&mut self, analysis: &Analysis, event: &Event) {
        if let EventKind::Start(process) = &event.kind {
            self.bounds.part.clone_from(&process.selection);
            self.bounds.excuse(process);
            self.stderr_in_stdout = process.stderr_in_stdout;
        }
        self.at(analysis, |family, now| family.event(event, now));
    }

    /// The recording is over, and `analysis` has finished.
    pub fn finish(&mut self, analysis: &Analysis) {
        self.at(analysis, |family, now| family.finish(analysis.ended(), now));
        let held = self.misframed.finish();
        let revision = |finding: &Finding| finding.revision.unwrap_or_else(|| self.known.legacy());
        self.bounds.settle(held, revision, &mut self.findings);
        self.bounds.finish(&mut self.findings);
    }

    /// Findings since the last call.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// About how many bytes [`Self::take`] would hand over.
    pub fn pending_bytes(&self) -> usize {
        // A detail is one line, and quotes in it are cut.
        self.findings.len() * 2 * size_of::<Finding>()
    }

    /// Lets each family look at something other than a frame of messages.
    fn at(&mut self, analysis: &Analysis, mut look: impl FnMut(&mut dyn Family, &Context<'_>)) {
        let found = Findings::default();
        let context = Context {
            now: analysis.now(),
            session: analysis.session(),
            known: &self.known,
            correlator: analysis.correlator(),
            findings: &found,
        };
        for family in &mut self.families {
            family.passed(&context);
            look(family.as_mut(), &context);
        }
        let revision = |finding: &Finding| context.revision(finding);
        self.bounds
            .settle(found.take(), revision, &mut self.findings);
    }
}

#[cfg(test)]
mod lint_tests;
