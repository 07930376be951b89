//! Rules about what was declared, who may send what, and in which revision.
//!
//! * `declared`: capabilities that were used without having been declared;
//! * `method`: the side and the revision that a method belongs to;
//! * `updated`: updates of resources, and who has subscribed to them;
//! * `unrelated`: requests of a server that no call of its client needs;
//! * `list_changed`: changes that the client did not look at.

mod declared;
mod list_changed;
mod method;
mod rules;
mod unrelated;
mod updated;

pub(super) use declared::missing_mode;
pub(super) use updated::is_within;

use super::family::{Context, Family};
use super::finding::Findings;
use super::rule::Rule;
use super::seen::Seen;
use mcpreel_trace::correlator::Observation;
use mcpreel_wire::message::Body;

#[derive(Debug, Default)]
pub struct Capability {
    declared: declared::Declarations,
    methods: method::Methods,
    updated: updated::Subscriptions,
    unrelated: unrelated::Unrelated,
    lists: list_changed::Lists,
}

impl Family for Capability {
    fn name(&self) -> &'static str {
        "capability"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &rules::SERVER,
            &rules::CLIENT,
            &rules::SUB,
            &rules::LIST_CHANGED,
            &rules::LOGGING,
            &rules::UPDATED,
            &rules::DIRECTION,
            &rules::NOT_IN_VERSION,
            &rules::UNKNOWN,
            &rules::UNRELATED,
            &rules::IGNORED,
        ];
        RULES
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.lists.passed(context.now, findings);
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            match &part.message.body {
                Body::Request(_) => {
                    self.methods.sent(&part, findings);
                    self.declared.request(&part, findings);
                    self.updated.request(&part);
                    self.unrelated.request(&part, findings);
                    self.lists.request(&part);
                }
                Body::Notification(_) => {
                    self.methods.sent(&part, findings);
                    self.declared.notification(&part, findings);
                    self.updated.notification(&part, findings);
                    self.unrelated.notification(&part);
                    self.lists.notification(&part);
                }
                Body::Response(_) => {
                    self.declared.response(&part);
                    self.updated.response(&part);
                }
                Body::Invalid => {}
            }
        }
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>, findings: &mut Findings) {
        self.lists.finish(context.now, findings);
    }
}
