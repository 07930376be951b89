//! Members that no message has, and results that must have none.

use super::rules::{PING_RESULT, UNKNOWN_MEMBER};
use crate::finding::Findings;
use crate::quote;
use crate::seen::Part;
use crate::trail::Trail;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Body;

/// Names that a finding lists; of more it says how many. A hostile message could have a million.
const LISTED: usize = 4;

pub(super) fn look(part: &Part<'_>, findings: &mut Findings) {
    let Some(value) = part.value else { return };
    if matches!(part.message.body, Body::Invalid) {
        return;
    }
    let mut unknown = value.members().filter(|(name, _)| !is_known(*name));
    if let Some((first, _)) = unknown.next() {
        let finding = part.at(&UNKNOWN_MEMBER, listed(first, unknown));
        findings.push(finding.path(Trail::Member(&Trail::Top, first).path()));
    }
    let is_response = matches!(part.message.body, Body::Response(_));
    if is_response && part.method() == Some("ping") {
        ping(part, findings);
    }
}

fn is_known(name: Value<'_>) -> bool {
    let name = name.str_bytes();
    matches!(
        &*name,
        b"jsonrpc" | b"id" | b"method" | b"params" | b"result" | b"error"
    )
}

fn ping(part: &Part<'_>, findings: &mut Findings) {
    let members = part
        .result()
        .into_iter()
        .flat_map(|result| result.members());
    let mut members = members.filter(|(name, _)| !name.is_str("_meta"));
    if let Some((first, _)) = members.next() {
        let detail = listed(first, members);
        findings.push(part.at(&PING_RESULT, detail).path("result"));
    }
}

fn listed<'v>(first: Value<'v>, mut rest: impl Iterator<Item = (Value<'v>, Value<'v>)>) -> String {
    let few = rest.by_ref().take(LISTED - 1).map(|(name, _)| name);
    let few = std::iter::once(first).chain(few);
    let shown: Vec<_> = few.map(|name| quote::bytes(name.raw())).collect();
    let shown = shown.join(", ");
    match rest.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
