//! What will go away: each feature is told once, where it is first used.

use super::input_request::input_requests;
use crate::finding::Findings;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;

pub(super) static FEATURE: Rule = Rule::note(
    "deprecated-feature",
    "a feature that a later revision may remove",
)
.why("It works today, but revisions from July 2027 on may be without it.")
.fix("Plan for its replacement: paths as tool params instead of roots, a model's own interface instead of sampling, stderr or OpenTelemetry instead of log messages.")
.of(section::DEPRECATED)
.only(Revisions::MODERN);

#[derive(Debug, Default)]
pub(super) struct Deprecated(Vec<&'static str>);

impl Deprecated {
    fn tell(
        &mut self,
        part: &Part<'_>,
        feature: &'static str,
        path: &str,
        findings: &mut Findings,
    ) {
        if !self.0.contains(&feature) {
            self.0.push(feature);
            findings.push(part.at(&FEATURE, feature).path(path));
        }
    }

    /// A request of the client by the modern revision.
    pub(super) fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let meta = part.param("_meta");
        if meta.is_some_and(|meta| meta.get(keys::LOG_LEVEL).is_some()) {
            let path = super::path(&["params", "_meta", keys::LOG_LEVEL]);
            self.tell(part, "logging", &path, findings);
        }
    }

    pub(super) fn notification(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let is_log = part.method() == Some("notifications/message");
        if is_log && part.seen.known.is_modern() {
            self.tell(part, "logging", "method", findings);
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>, findings: &mut Findings) {
        for (path, request) in input_requests(result) {
            let is = |method: &str| request.get("method").is_some_and(|it| it.is_str(method));
            if is("roots/list") {
                self.tell(part, "roots", &path, findings);
            }
            if is("sampling/createMessage") {
                self.tell(part, "sampling", &path, findings);
                let context = request
                    .get("params")
                    .and_then(|it| it.get("includeContext"));
                if context.is_some_and(|it| it.is_str("thisServer") || it.is_str("allServers")) {
                    self.tell(part, "includeContext", &path, findings);
                }
            }
        }
    }
}
