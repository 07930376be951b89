//! What the result of a call has to be by itself, whatever was listed.

use super::rules::{ISERROR_TYPE, STRUCTURED_NO_TEXT, STRUCTURED_NOT_OBJECT};
use crate::finding::Findings;
use crate::quote;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;

/// Whether the result says that the call failed; tells where it says so in a wrong way.
pub(super) fn failed(part: &Part<'_>, result: Value<'_>, findings: &mut Findings) -> bool {
    let Some(is_error) = result.get("isError") else {
        return false;
    };
    let Some(is_error) = is_error.as_bool() else {
        let detail = quote::bytes(is_error.raw());
        findings.push(part.at(&ISERROR_TYPE, detail).path("result.isError"));
        // Who knows what was meant: nothing more is asked of such a result.
        return true;
    };
    is_error
}

/// What structured content has to be by itself. Returns whether it is an object where it has to be
/// one: what is none fits no schema, and that need not be told as well.
pub(super) fn shape(
    part: &Part<'_>,
    result: Value<'_>,
    structured: Value<'_>,
    is_error: bool,
    findings: &mut Findings,
) -> bool {
    let is_fit = structured.is_object() || part.revision() >= Revision::V2026_07_28;
    if !is_fit {
        let detail = structured.kind().as_str();
        let finding = part.at(&STRUCTURED_NOT_OBJECT, detail);
        findings.push(finding.path("result.structuredContent"));
    }
    let content = result.get("content").filter(|content| !content.is_null());
    let is_text = |block: Value<'_>| block.get("type").is_some_and(|kind| kind.is_str("text"));
    let has_text = content.is_some_and(|content| content.elements().any(is_text));
    if !is_error && !has_text {
        let detail = "no text block in content";
        findings.push(part.at(&STRUCTURED_NO_TEXT, detail).path("result.content"));
    }
    is_fit
}
