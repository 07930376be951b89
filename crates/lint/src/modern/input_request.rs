//! The input requests of a result: whether the client can answer them.

use super::path;
use crate::capability::missing_mode;
use crate::finding::Findings;
use crate::quote;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;

pub(super) static REQUEST_KIND: Rule = Rule::error(
    "mrtr-request-kind",
    "an input request that is none of the three kinds",
)
.why("No client can answer it, so the call cannot go on.")
.fix("Let the server ask by `elicitation/create`, `sampling/createMessage` or `roots/list`.")
.of(section::INPUT_ROUNDS)
.only(Revisions::MODERN);

pub(super) static UNDECLARED: Rule = Rule::error(
    "mrtr-undeclared-capability",
    "an input request for something that the client has not declared",
)
.why("The client cannot answer it, so the call cannot go on.")
.fix("Let the server look at the capabilities in the request's `_meta` before it asks, and refuse with -32021 where it cannot do without.")
.of(section::INPUT_ROUNDS)
.only(Revisions::MODERN);

/// Input requests of a result that findings are made of: a line could hold a million.
const REPORTED: usize = 16;

/// The input requests of a result, each with its path.
pub(super) fn input_requests(result: Value<'_>) -> impl Iterator<Item = (Box<str>, Value<'_>)> {
    let requests = result.get("inputRequests");
    let is_asking = |kind: &Value<'_>| kind.is_str("input_required");
    let requests = requests.filter(|_| result.get("resultType").as_ref().is_some_and(is_asking));
    let members = requests.into_iter().flat_map(|it| it.members());
    members.take(REPORTED).map(|(key, request)| {
        let key = key.as_str().unwrap_or_default();
        (path(&["result", "inputRequests", &key]), request)
    })
}

/// Whether the client can answer it.
pub(super) fn judge(
    part: &Part<'_>,
    path: &str,
    request: Value<'_>,
    declared: Option<&Declared>,
    findings: &mut Findings,
) {
    let method = request.get("method");
    let known = ["elicitation/create", "sampling/createMessage", "roots/list"];
    let mut known = known.into_iter();
    let Some(method) = known.find(|known| method.is_some_and(|it| it.is_str(known))) else {
        let detail = match method {
            None => "no method".to_owned(),
            Some(method) => quote::text(&method.raw_text()),
        };
        findings.push(part.at(&REQUEST_KIND, detail).path(path));
        return;
    };
    let missing = declared.and_then(|declared| missing(method, request, declared));
    if let Some(missing) = missing {
        let finding = part.at(&UNDECLARED, format!("{method} without {missing}"));
        findings.push(finding.path(path));
    }
}

/// The capability that an input request needs and that was not declared.
fn missing(method: &str, request: Value<'_>, declared: &Declared) -> Option<&'static str> {
    let param = |name: &str| request.get("params").and_then(|params| params.get(name));
    let given = |name: &str| param(name).is_some_and(|value| !value.is_null());
    let lacks = |path: &'static str| (!declared.has(path)).then_some(path);
    if !declared.is_whole() {
        return None;
    }
    match method {
        "roots/list" => lacks("roots"),
        "sampling/createMessage" => {
            let tools = given("tools") || given("toolChoice");
            lacks("sampling").or_else(|| lacks("sampling.tools").filter(|_| tools))
        }
        _ => lacks("elicitation").or_else(|| missing_mode(param("mode"), declared)),
    }
}
