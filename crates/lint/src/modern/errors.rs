//! What the errors of the modern era must carry, and the method that every server must have.

use super::code;
use crate::finding::Findings;
use crate::quote;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;

pub(super) static VERSION_SHAPE: Rule = Rule::error(
    "modern-version-error-shape",
    "an unsupported version is refused without saying which are supported",
)
.why("The client has to choose another version from that list, and without it can only give up.")
.fix("Let the server give `data` with `supported`, a list of versions, and `requested`, the one that was asked for.")
.of(section::VERSIONING)
.only(Revisions::MODERN);

pub(super) static CAPABILITY_SHAPE: Rule = Rule::error(
    "modern-capability-error-shape",
    "a missing capability is refused without saying which",
)
.why("The client cannot tell what it would have to declare for the request to work.")
.fix("Let the server give `data` with `requiredCapabilities`, an object like the client's capabilities.")
.of(section::META)
.only(Revisions::MODERN);

pub(super) static DISCOVER_MISSING: Rule = Rule::error(
    "modern-discover-missing",
    "a modern server does not know `server/discover`",
)
.why("Clients of both eras ask this first, and take a server that refuses it for a legacy one.")
.fix("Let the server implement `server/discover`.")
.of(section::DISCOVERY)
.only(Revisions::MODERN);

/// Whether the server is modern, and whether it has refused to say so.
#[derive(Debug, Default)]
pub(super) struct Errors {
    served: Option<Seq>,
    refused: Option<Seq>,
    is_told: bool,
}

impl Errors {
    pub(super) fn answered(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(error) = part.error() else {
            return;
        };
        match code(error) {
            Some(-32022) => version_shape(part, error, findings),
            Some(-32021) => capability_shape(part, error, findings),
            Some(-32601) if part.method() == Some("server/discover") => {
                self.refused = Some(part.seen.head.seq);
                self.discover(part, self.served, findings);
            }
            _ => {}
        }
    }

    /// A modern request was served by a server that knows that era.
    pub(super) fn served(&mut self, part: &Part<'_>, findings: &mut Findings) {
        if part.method() != Some("server/discover") {
            self.served = Some(part.seen.head.seq);
            self.discover(part, self.refused, findings);
        }
    }

    fn discover(&mut self, part: &Part<'_>, other: Option<Seq>, findings: &mut Findings) {
        if let Some(other) = other
            && !std::mem::replace(&mut self.is_told, true)
        {
            let detail = "refused with -32601, while another modern request is served";
            findings.push(part.at(&DISCOVER_MISSING, detail).and(other));
        }
    }
}

fn version_shape(part: &Part<'_>, error: Value<'_>, findings: &mut Findings) {
    let member = |name: &str| error.get("data").and_then(|data| data.get(name));
    let is_list = |value: Value<'_>| {
        let mut all = value.elements();
        value.index(0).is_some() && all.all(|one| one.as_str().is_some())
    };
    let has_requested = member("requested").is_some_and(|it| it.as_str().is_some());
    let required = [
        ("supported", member("supported").is_some_and(is_list)),
        ("requested", has_requested),
    ];
    for (name, _) in required.iter().filter(|(_, has_it)| !has_it) {
        let finding = part.at(&VERSION_SHAPE, detail(name, member(name)));
        findings.push(finding.path(format!("error.data.{name}")));
    }
}

fn capability_shape(part: &Part<'_>, error: Value<'_>, findings: &mut Findings) {
    let name = "requiredCapabilities";
    let found = error.get("data").and_then(|data| data.get(name));
    if !found.is_some_and(|it| it.is_object()) {
        let finding = part.at(&CAPABILITY_SHAPE, detail(name, found));
        findings.push(finding.path(format!("error.data.{name}")));
    }
}

fn detail(name: &str, found: Option<Value<'_>>) -> String {
    match found {
        None => format!("no {name}"),
        Some(value) => format!("{name} is {}", quote::text(&value.raw_text())),
    }
}
