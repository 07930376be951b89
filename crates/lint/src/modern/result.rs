//! What every result must carry.

use crate::finding::{Finding, Findings};
use crate::once::Once;
use crate::quote;
use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::methods::TASKS_EXTENSION;

pub(super) static SERVER_INFO_MISSING: Rule = Rule::note(
    "modern-server-info-missing",
    "a result does not say which server sends it",
)
.why("Logs of the client cannot tell which server, or which version of it, has answered.")
.fix("Let the server put its name and version into `_meta` of every result, unless it is meant to stay unknown.")
.of(section::META)
.only(Revisions::MODERN);

pub(super) static TYPE_MISSING: Rule = Rule::error(
    "modern-result-type-missing",
    "a result without `resultType`",
)
.why("Without it a client cannot tell a final answer from a question, and takes it for the answer of an older server.")
.fix("Let the server set `resultType`, `complete` for a final answer, in every result.")
.of(section::RESULT_TYPE)
.only(Revisions::MODERN)
.milder_where(
    Severity::Warning,
    "the server has not shown that it knows the modern era",
);

pub(super) static TYPE_UNKNOWN: Rule = Rule::error(
    "modern-result-type-unknown",
    "a result of a type that the client cannot know",
)
.why("Clients must treat a result of a type that they do not know as invalid, so the call fails.")
.fix("Let the server answer with `complete` or `input_required`, and with others only where the request declares the extension that defines them.")
.of(section::RESULT_TYPE)
.only(Revisions::MODERN);

pub(super) fn answered(
    part: &Part<'_>,
    result: Value<'_>,
    is_proven: bool,
    once: &mut Once,
    findings: &mut Findings,
) {
    match result.get("resultType") {
        None => findings.push(type_missing(part, is_proven)),
        Some(kind) => type_known(part, kind, findings),
    }
    let info = result
        .get("_meta")
        .and_then(|meta| meta.get(keys::SERVER_INFO));
    if is_proven && info.is_none() && once.is_first(&SERVER_INFO_MISSING) {
        let detail = format!("no {}", keys::SERVER_INFO);
        findings.push(part.at(&SERVER_INFO_MISSING, detail));
    }
}

fn type_missing(part: &Part<'_>, is_proven: bool) -> Finding {
    let method = quote::text(part.method().unwrap_or_default());
    if is_proven {
        return part.at(&TYPE_MISSING, format!("result of {method}"));
    }
    let detail = format!("result of {method}; the server may be of the legacy era");
    part.at(&TYPE_MISSING, detail).as_bad_as(Severity::Warning)
}

fn type_known(part: &Part<'_>, kind: Value<'_>, findings: &mut Findings) {
    if kind.is_str("complete") || kind.is_str("input_required") {
        return;
    }
    let declared = part.client_capabilities();
    let is_declared = declared.has(&format!("extensions.{TASKS_EXTENSION}"));
    let shown = quote::text(&kind.raw_text());
    let is_unclear = !is_declared && !declared.is_whole();
    let detail = if kind.is_str("task") && is_unclear {
        return;
    } else if kind.is_str("task") {
        match (is_declared, part.method()) {
            (true, Some("tools/call")) => return,
            (true, method) => format!("{shown} for {}", quote::text(method.unwrap_or_default())),
            (false, _) => format!("{shown}, but the request does not declare {TASKS_EXTENSION}"),
        }
    } else if kind.as_str().is_some() && declared.has_unknown_extensions() {
        return;
    } else {
        shown
    };
    let finding = part.at(&TYPE_UNKNOWN, detail);
    findings.push(finding.path("result.resultType"));
}
