//! Calls and their results, judged by the tools that were listed before the call.

use super::listing::{Listing, Lookup, Schema, Tool};
use super::schema::{Skipped, Violation};
use super::{
    ARGS_INVALID, CHECK_SKIPPED, ISERROR_TYPE, STRUCTURED_MISMATCH, STRUCTURED_MISSING,
    STRUCTURED_NO_TEXT, STRUCTURED_NOT_OBJECT, UNKNOWN_AS_RESULT, UNKNOWN_CALLED,
    VALIDATION_AS_ERROR, member,
};
use crate::{Finding, Findings, Part, Rule, quote};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Outcome, Request, Response};
use std::sync::{Arc, Weak};

/// Calls that are remembered until their answer. A client with more of them open is told less.
const OPEN: usize = 4096;

/// Reasons not to check that are remembered as told.
const TOLD: usize = 1024;

/// Calls that are open, and what was said about them.
#[derive(Debug, Default)]
pub struct Calls {
    open: BoundedMap<ExchangeId, Call, OPEN>,
    /// By a digest of the tool's name, which may be long.
    told: BoundedMap<(u64, &'static str, Skipped), (), TOLD>,
}

#[derive(Clone, Debug)]
struct Call {
    tool: Called,
    /// Whether its arguments did not fit.
    is_invalid: bool,
}

#[derive(Clone, Debug)]
enum Called {
    Unknown,
    /// A tool whose results have no schema.
    Plain,
    /// A tool whose results have one. The list keeps it and not the call: many calls would keep as
    /// many lists that are long gone.
    Structured {
        tool: Weak<Tool>,
        digest: u64,
        name: Box<str>,
    },
}

impl Called {
    fn new(tool: &Arc<Tool>) -> Self {
        if tool.output.is_none() {
            return Self::Plain;
        }
        Self::Structured {
            tool: Arc::downgrade(tool),
            digest: digest(&tool.name),
            name: quote::text(&tool.name).into(),
        }
    }
}

impl Calls {
    pub fn called(
        &mut self,
        part: &Part<'_>,
        request: &Request,
        listing: &mut Listing,
        findings: &mut Findings,
    ) {
        let Some(name) = request.name.as_deref() else {
            return;
        };
        let tool = listing.find(name);
        let before = findings.len();
        let tool = match &tool {
            Lookup::Unclear => return,
            Lookup::Unknown => {
                let detail = format!("\"{}\"", quote::text(name));
                findings.push(part.at(&UNKNOWN_CALLED, detail).path("params.name"));
                Called::Unknown
            }
            Lookup::Found(tool) => {
                self.arguments(part, tool, listing, findings);
                Called::new(tool)
            }
        };
        let found = &findings[before..];
        let is_invalid = found.iter().any(|finding| *finding.rule == ARGS_INVALID);
        if let Some(exchange) = part.exchange() {
            self.open.insert(exchange, Call { tool, is_invalid });
        }
    }

    fn arguments(
        &mut self,
        part: &Part<'_>,
        tool: &Tool,
        listing: &mut Listing,
        findings: &mut Findings,
    ) {
        let (Some(schema), Some(params)) = (&tool.input, part.params()) else {
            return;
        };
        // Arguments that are left out are none.
        let none;
        let value = if let Some(arguments) = params.get("arguments") {
            arguments
        } else {
            none = Document::parse(b"{}").expect("an empty object is JSON");
            none.root()
        };
        let check = Check {
            tool,
            schema,
            value,
            rule: &ARGS_INVALID,
            place: ["params", "arguments"],
        };
        self.check(&check, part, listing, findings);
    }

    pub fn answered(
        &mut self,
        part: &Part<'_>,
        response: &Response,
        listing: &mut Listing,
        findings: &mut Findings,
    ) {
        let call = part
            .exchange()
            .and_then(|exchange| self.open.remove(&exchange));
        let is_result = matches!(
            response.outcome,
            Outcome::Result { .. } | Outcome::ToolError
        );
        let Some(result) = part.result().filter(|_| is_result) else {
            let is_invalid = call.is_some_and(|call| call.is_invalid);
            findings.extend(refused(part).filter(|_| is_invalid));
            return;
        };
        let is_error = failed(part, result, findings);
        let called = call.map(|call| call.tool);
        if is_error && matches!(called, Some(Called::Unknown)) {
            let finding = part.at(&UNKNOWN_AS_RESULT, "isError is true");
            findings.push(finding.path("result.isError"));
        }
        if part.revision() < Revision::V2025_06_18 {
            return;
        }
        let structured = result.get("structuredContent");
        let is_wrong = structured
            .is_some_and(|structured| !shape(part, result, structured, is_error, findings));
        if let Some(called) = called.filter(|_| !is_wrong && !is_error) {
            self.structured(part, &called, structured, listing, findings);
        }
    }

    fn structured(
        &mut self,
        part: &Part<'_>,
        called: &Called,
        structured: Option<Value<'_>>,
        listing: &mut Listing,
        findings: &mut Findings,
    ) {
        let Called::Structured { tool, digest, name } = called else {
            return;
        };
        let Some(structured) = structured else {
            let finding = part.at(&STRUCTURED_MISSING, &**name);
            findings.push(finding.path("result"));
            return;
        };
        let place = ["result", "structuredContent"];
        let tool = tool.upgrade();
        let Some((tool, schema)) = tool.as_ref().and_then(|it| Some((it, it.output.as_ref()?)))
        else {
            self.skipped(part, (*digest, name), place, Skipped::Gone, findings);
            return;
        };
        let check = Check {
            tool,
            schema,
            value: structured,
            rule: &STRUCTURED_MISMATCH,
            place,
        };
        self.check(&check, part, listing, findings);
    }

    fn check(
        &mut self,
        check: &Check<'_>,
        part: &Part<'_>,
        listing: &mut Listing,
        findings: &mut Findings,
    ) {
        let tool = check.tool;
        match tool.check(check.schema, check.value, &mut listing.room) {
            Ok(violations) => {
                let told = violations.into_iter().map(|violation| {
                    let name = quote::text(&tool.name);
                    let detail = format!("{name}: {}", violation.message);
                    part.at(check.rule, detail).path(check.path(violation))
                });
                findings.extend(told);
            }
            Err(reason) => {
                let name = (digest(&tool.name), &*quote::text(&tool.name));
                self.skipped(part, name, check.place, reason, findings);
            }
        }
    }

    /// Tells once why something of a tool was not checked.
    fn skipped(
        &mut self,
        part: &Part<'_>,
        (digest, name): (u64, &str),
        place: [&'static str; 2],
        reason: Skipped,
        findings: &mut Findings,
    ) {
        let key = (digest, place[1], reason);
        if self.told.is_first(key) {
            let finding = part.at(&CHECK_SKIPPED, format!("{name}: {reason}"));
            findings.push(finding.path(place.join(".")));
        }
    }
}

/// That wrong arguments were answered as an error of the protocol, if they were.
fn refused(part: &Part<'_>) -> Option<Finding> {
    let code = part.error()?.get("code")?;
    (code.number_text() == Some("-32602")).then(|| {
        let detail = "the arguments of the call do not fit the inputSchema";
        part.at(&VALIDATION_AS_ERROR, detail).path("error.code")
    })
}

/// A value that is checked by a schema of a tool.
struct Check<'c> {
    tool: &'c Tool,
    schema: &'c Schema,
    value: Value<'c>,
    rule: &'static Rule,
    place: [&'static str; 2],
}

impl Check<'_> {
    fn path(&self, violation: Violation) -> Box<str> {
        let start = self.place.map(member).into_iter();
        crate::quote::written(start.chain(violation.path).collect())
    }
}

// What the result of a call has to be by itself, whatever was listed.

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
