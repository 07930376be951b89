//! Calls and their results, judged by the tools that were listed before the call.

use super::listing::{Listing, Lookup, Schema, Tool};
use super::schema::Skipped;
use super::{
    ARGS_INVALID, CHECK_SKIPPED, ISERROR_TYPE, STRUCTURED_MISMATCH, STRUCTURED_MISSING,
    STRUCTURED_NO_TEXT, STRUCTURED_NOT_OBJECT, UNKNOWN_AS_RESULT, UNKNOWN_CALLED,
    VALIDATION_AS_ERROR, member,
};
use crate::features::TASK_AUGMENTATION;
use crate::quote::{self, written};
use crate::{Part, Rule};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Outcome, Request, Response};
use std::sync::Arc;

/// Open calls that are remembered, each with the schema of its result. The answers to older ones
/// are not looked at.
const OPEN: usize = 256;

/// Reasons not to check that are remembered as told.
const TOLD: usize = 1024;

#[derive(Debug, Default)]
pub struct Calls {
    open: BoundedMap<ExchangeId, Call, OPEN>,
    /// By a digest of the tool's name, which may be long.
    told: BoundedMap<(u64, &'static str, Skipped), (), TOLD>,
}

#[derive(Debug)]
struct Call {
    /// The name of the tool, escaped.
    tool: Box<str>,
    is_unknown: bool,
    /// The schema that the result has to fit.
    output: Option<Arc<Schema>>,
    /// Whether its arguments did not fit.
    is_invalid: bool,
}

impl Calls {
    pub fn called(&mut self, part: &Part<'_>, request: &Request, listing: &mut Listing) {
        let (Some(name), Some(exchange)) = (request.name.as_deref(), part.exchange()) else {
            return;
        };
        let mut call = Call {
            tool: quote::text(name).into(),
            is_unknown: false,
            output: None,
            is_invalid: false,
        };
        match listing.find(name) {
            Lookup::Unclear => return,
            Lookup::Unknown => {
                part.tell_at(&UNKNOWN_CALLED, "params.name", format!("\"{}\"", call.tool));
                call.is_unknown = true;
            }
            Lookup::Found(tool) => {
                augmented(part, request, &tool, &call.tool);
                call.output.clone_from(&tool.output);
                if let Some((schema, params)) = tool.input.as_ref().zip(part.params()) {
                    // Arguments that are left out are none.
                    let none;
                    let value = if let Some(value) = params.get("arguments") {
                        value
                    } else {
                        none = Document::parse(b"{}").expect("it is an object");
                        none.root()
                    };
                    let place = ["params", "arguments"];
                    let checked = (&ARGS_INVALID, &*call.tool, place);
                    call.is_invalid = self.check(part, checked, schema, value, listing);
                }
            }
        }
        self.open.insert(exchange, call);
    }

    pub fn answered(&mut self, part: &Part<'_>, response: &Response, listing: &mut Listing) {
        let exchange = part.exchange();
        let call = exchange.and_then(|exchange| self.open.remove(&exchange));
        let outcome = &response.outcome;
        let is_result = matches!(outcome, Outcome::Result { .. } | Outcome::ToolError);
        // A result that is no object has a rule of its own.
        let result = part.result().filter(Value::is_object);
        let Some(result) = result.filter(|_| is_result) else {
            let code = part.error().and_then(|error| error.get("code"));
            let is_refusal = code.is_some_and(|code| code.number_text() == Some("-32602"));
            if is_refusal && call.is_some_and(|call| call.is_invalid) {
                let detail = "the arguments of the call do not fit the inputSchema";
                part.tell_at(&VALIDATION_AS_ERROR, "error.code", detail);
            }
            return;
        };
        let is_error = failed(part, result);
        if is_error && call.as_ref().is_some_and(|call| call.is_unknown) {
            part.tell_at(&UNKNOWN_AS_RESULT, "result.isError", "isError is true");
        }
        if part.revision() < Revision::V2025_06_18 {
            return;
        }
        let structured = result.get("structuredContent");
        // What is no object where it has to be one fits no schema, which need not be told as well.
        let is_fit = structured.is_none_or(|it| is_structured(part, result, it, is_error));
        let Some(call) = call.filter(|_| is_fit && !is_error) else {
            return;
        };
        match (&call.output, structured) {
            (Some(schema), Some(value)) => {
                let place = ["result", "structuredContent"];
                let checked = (&STRUCTURED_MISMATCH, &*call.tool, place);
                self.check(part, checked, schema, value, listing);
            }
            (Some(_), None) => part.tell_at(&STRUCTURED_MISSING, "result", call.tool),
            (None, _) => {}
        }
    }

    /// Holds a value of a tool, which is at `place`, against `schema`. Returns whether it does not
    /// fit. The reason why it was not checked is told once.
    fn check(
        &mut self,
        part: &Part<'_>,
        (rule, tool, place): (&'static Rule, &str, [&'static str; 2]),
        schema: &Schema,
        value: Value<'_>,
        listing: &mut Listing,
    ) -> bool {
        let violations = schema
            .check(value, &mut listing.room)
            .unwrap_or_else(|reason| {
                if self.told.is_first((digest(tool), place[1], reason)) {
                    part.tell_at(&CHECK_SKIPPED, place.join("."), format!("{tool}: {reason}"));
                }
                Vec::new()
            });
        let is_wrong = !violations.is_empty();
        for violation in violations {
            let path = place.map(member).into_iter().chain(violation.path);
            let detail = format!("{tool}: {}", violation.message);
            part.tell_at(rule, written(path.collect()), detail);
        }
        is_wrong
    }
}

/// Tells where a tool is called as a task, or not as one, against what is listed (Tasks, Tool-level
/// negotiation). A server that takes no calls as tasks at all has a rule of its own.
fn augmented(part: &Part<'_>, request: &Request, tool: &Tool, name: &str) {
    let declared = part.server_capabilities();
    if !declared.is_some_and(|declared| declared.has("tasks.requests.tools.call")) {
        return;
    }
    let (path, listed) = match request.task {
        true if !tool.may_be_task => ("params.task", "not listed as one that can be"),
        false if tool.must_be_task => ("params", "listed as one that has to be"),
        _ => return,
    };
    let detail = format!("the tool \"{name}\" is {listed} a task");
    part.tell_at(&TASK_AUGMENTATION, path, detail);
}

/// Whether the result says that the call failed; tells where it says so in a wrong way.
fn failed(part: &Part<'_>, result: Value<'_>) -> bool {
    let Some(is_error) = result.get("isError") else {
        return false;
    };
    is_error.as_bool().unwrap_or_else(|| {
        let detail = quote::bytes(is_error.raw());
        part.tell_at(&ISERROR_TYPE, "result.isError", detail);
        // Nobody knows what was meant: nothing more is asked of such a result.
        true
    })
}

/// Tells what is wrong with structured content by itself. Returns whether it is an object where it has to be
/// one.
fn is_structured(
    part: &Part<'_>,
    result: Value<'_>,
    structured: Value<'_>,
    is_error: bool,
) -> bool {
    let is_fit = structured.is_object() || part.revision() >= Revision::V2026_07_28;
    if !is_fit {
        let detail = structured.kind().as_str();
        part.tell_at(&STRUCTURED_NOT_OBJECT, "result.structuredContent", detail);
    }
    let content = result.get("content").filter(|content| !content.is_null());
    let is_text = |block: Value<'_>| block.get("type").is_some_and(|kind| kind.is_str("text"));
    let has_text = content.is_some_and(|content| content.elements().any(is_text));
    if !is_error && !has_text {
        let detail = "no text block in content";
        part.tell_at(&STRUCTURED_NO_TEXT, "result.content", detail);
    }
    is_fit
}
