//! What every request must carry.

use super::path;
use crate::finding::Findings;
use crate::once::Once;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;

pub(super) static META_MISSING: Rule = Rule::error(
    "modern-meta-missing",
    "a request does not say its version, or what the client can do",
)
.why("A modern server knows nothing from earlier requests, and must refuse one that does not say this itself.")
.fix("Let the client put the member that is named into `_meta` of every request.")
.of(section::META)
.only(Revisions::MODERN);

pub(super) static CLIENT_INFO_MISSING: Rule = Rule::note(
    "modern-client-info-missing",
    "a request does not say which client sends it",
)
.why("Logs of the server cannot tell which client has asked.")
.fix("Let the client put its name and version into `_meta` of every request, unless it is meant to stay unknown.")
.of(section::META)
.only(Revisions::MODERN);

/// A request of the client by the modern revision.
pub(super) fn asked(part: &Part<'_>, once: &mut Once, findings: &mut Findings) {
    if part.value.is_none() {
        return;
    }
    let meta = part.param("_meta");
    let member = |key: &str| meta.and_then(|meta| meta.get(key));
    let has_version = member(keys::PROTOCOL_VERSION).is_some_and(|it| it.as_str().is_some());
    let has_capabilities = member(keys::CLIENT_CAPABILITIES).is_some_and(|it| it.is_object());
    let required = [
        (keys::PROTOCOL_VERSION, has_version),
        (keys::CLIENT_CAPABILITIES, has_capabilities),
    ];
    for (key, _) in required.iter().filter(|(_, has_it)| !has_it) {
        let detail = match member(key) {
            None => format!("no {key}"),
            Some(value) => format!("{key} is {}", value.kind().as_str()),
        };
        let finding = part.at(&META_MISSING, detail);
        findings.push(finding.path(path(&["params", "_meta", key])));
    }
    let is_named = member(keys::CLIENT_INFO).is_some_and(|info: Value<'_>| info.is_object());
    if !is_named && once.is_first(&CLIENT_INFO_MISSING) {
        let detail = format!("no {}", keys::CLIENT_INFO);
        findings.push(part.at(&CLIENT_INFO_MISSING, detail));
    }
}
