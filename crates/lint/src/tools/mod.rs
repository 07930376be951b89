//! Rules about tools, their schemas, and values against them.
//!
//! ```text
//!  tools/list ─▶ definition: names, schemas, headers ─▶ listing: what is known for certain
//!                                                          │
//!  tools/call ─▶ calls: name, arguments ◀──────────────────┤
//!  its answer ─▶ calls: structuredContent ◀────────────────┘
//! ```
//!
//! * `definition`: what is wrong with a tool as it is listed, told once per definition;
//! * `listing`: pages put together, and what is kept of each tool;
//! * `calls`: arguments and results;
//! * `schema`: values against schemas; `schema_limits`: how large and deep they may be.

mod calls;
pub(crate) mod definition;
mod instance;
mod listing;
pub mod schema;
mod schema_limits;

use super::section::{JSON_SCHEMA, TOOL_HEADERS, TOOL_NAMES, TOOL_OUTPUT, TOOLS};
use crate::quote::written;
use crate::{Family, Part, Revisions, Rule, quote};
use calls::Calls;
use definition::Definitions;
use listing::Listing;
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Outcome};
use std::borrow::Cow;

const STRUCTURED: Revisions = Revisions::since(Revision::V2025_06_18);
const OBJECTS: Revisions = Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25);
const NAMED: Revisions = Revisions::since(Revision::V2025_11_25);

rules! {
    UNKNOWN_CALLED = warning("tool-unknown-called").of(TOOLS).of_absence()
        .finds("a call of a tool that the server does not list")
        .why("The server can only refuse such a call.")
        .fix("Let the client list the tools again before it calls, and hand only listed names to the model.");

    ARGS_INVALID = warning("tool-args-invalid").of(TOOLS)
        .finds("arguments that do not fit the tool's `inputSchema`")
        .why("The server may refuse the call, or work with values that its author never expected.")
        .fix("Send arguments as the schema has them, or correct the schema if the tool does accept them.");

    INPUT_SCHEMA_INVALID = error("tool-input-schema-invalid").of(TOOLS)
        .finds("an `inputSchema` that is missing, or no valid schema of an object")
        .why("Clients that check what they are given drop the tool, some of them all tools of the server.")
        .fix("Give every tool an `inputSchema` that is a JSON object with `\"type\": \"object\"` and is valid in its dialect.");

    OUTPUT_SCHEMA_INVALID = error("tool-output-schema-invalid").of(TOOL_OUTPUT).only(STRUCTURED)
        .finds("an `outputSchema` that is no valid schema")
        .why("Clients that check what they are given drop the tool or fail to read its results.")
        .fix("Leave `outputSchema` out, or make it a JSON Schema that is valid in its dialect, of type object before 2026-07-28.");

    STRUCTURED_MISSING = error("tool-structured-missing").of(TOOL_OUTPUT).only(STRUCTURED)
        .finds("no `structuredContent` although the tool has an `outputSchema`")
        .why("Official clients refuse such a result, so that a call which went well looks like a failure.")
        .fix("Return `structuredContent` with every result of the tool that is no error, or take its `outputSchema` back.");

    STRUCTURED_MISMATCH = error("tool-structured-mismatch").of(TOOL_OUTPUT).only(STRUCTURED)
        .finds("`structuredContent` that does not fit the tool's `outputSchema`")
        .why("Clients that check results refuse this one, so that a call which went well looks like a failure.")
        .fix("Return what the `outputSchema` promises, or correct the schema to what the tool returns.");

    STRUCTURED_NOT_OBJECT = error("tool-structured-not-object").of(TOOL_OUTPUT).only(OBJECTS)
        .finds("`structuredContent` that is no object")
        .why("Up to 2025-11-25 clients read `structuredContent` as an object and fail on anything else.")
        .fix("Wrap the value in an object, for example as its member `result`, or agree on 2026-07-28.");

    STRUCTURED_NO_TEXT = note("tool-structured-no-text").of(TOOL_OUTPUT).only(STRUCTURED)
        .finds("`structuredContent` without a text beside it")
        .why("Clients that do not know `structuredContent` show an empty result.")
        .fix("Add the same value as JSON in a text block of content.");

    DUPLICATE_NAME = warning("tool-duplicate-name").of(TOOL_NAMES)
        .finds("two tools of one list have the same name")
        .why("A call by that name reaches one of them, and the protocol does not say which.")
        .fix("Give each tool of the server a name of its own.");

    NAME_FORMAT = warning("tool-name-format").of(TOOL_NAMES).only(NAMED)
        .finds("a tool name that is not 1 to 128 of `A-Za-z0-9_.-`")
        .why("Hosts that hand the name on to a model provider may drop the tool or have the whole request refused.")
        .fix("Use only ASCII letters, digits, `_`, `-` and `.`, and no more than 128 of them.");

    UNKNOWN_AS_RESULT = note("tool-unknown-as-result").of(TOOLS)
        .finds("an unknown tool answered with a result instead of an error")
        .why("A client cannot tell a tool that failed from one that does not exist.")
        .fix("Answer calls of unknown tools with the error -32602.");

    VALIDATION_AS_ERROR = note("tool-validation-as-error").of(TOOLS).only(NAMED)
        .finds("wrong arguments answered with the error -32602 instead of a result")
        .why("Many hosts do not show protocol errors to the model, which then cannot correct its call.")
        .fix("Answer with a result that has `\"isError\": true` and says in text which argument is wrong.");

    EXTERNAL_REF = warning("tool-external-ref").of_modern(JSON_SCHEMA)
        .finds("a schema that refers to another one on the network")
        .why("Clients must not fetch it on their own, so that most cannot use the schema, or the tool, at all.")
        .fix("Put the schema that is meant under `$defs` and refer to it there.");

    X_HEADER_INVALID = warning("tool-x-header-invalid").of_modern(TOOL_HEADERS)
        .finds("an `x-mcp-header` that clients have to refuse")
        .why("Clients over HTTP have to leave the tool out of the list.")
        .fix("Annotate only properties of type string, integer or boolean that `properties` alone lead to, each with a different header token.");

    ISERROR_TYPE = error("tool-iserror-type").of(TOOLS)
        .finds("`isError` is neither true nor false")
        .why("Strict clients refuse the result, others take a failed call for a successful one.")
        .fix("Send `isError` as a JSON boolean, or leave it out where the call went well.");

    DESCRIPTION_MISSING = note("tool-description-missing").of(TOOLS)
        .finds("tools without a description")
        .why("A model that has only a name to go by picks the wrong tool, or none.")
        .fix("Describe in a sentence or two what each tool does and when to use it.");

    HIDES_TOOLS = warning("tool-schema-hides-tools")
        .finds("a definition for which hosts are known to drop tools")
        .why("With one such tool some hosts show none of the server's tools, and where a host passes schemas on unchecked, model providers refuse every request of it.")
        .fix("Give the root of `inputSchema` `\"type\": \"object\"` and no `oneOf`, `anyOf` or `allOf`, keep every `$ref` inside the schema, and names to `A-Za-z0-9_.-`.");

    CHECK_SKIPPED = note("schema-check-skipped")
        .finds("schemas of tools, or values for them, that were not checked")
        .why("They may be wrong: a check must not hold up the recording, and fetches nothing.")
        .fix("Make the schemas smaller or plainer if they and their values are to be checked.");
}

/// Definitions that are remembered as looked at, so that a client that lists the same tools again
/// and again is not told the same each time.
const LOOKED_AT: usize = 16_384;

#[derive(Debug, Default)]
pub struct Tools {
    listing: Listing,
    calls: Calls,
    looked_at: BoundedMap<u64, (), LOOKED_AT>,
}

impl Family for Tools {
    fn part(&mut self, part: &Part<'_>) {
        let is_of_server = part.direction() == Direction::ServerToClient;
        match (&part.message.body, part.method()) {
            (Body::Request(request), Some("tools/call")) if !is_of_server => {
                self.calls.called(part, request, &mut self.listing);
            }
            (Body::Response(response), Some("tools/call")) if is_of_server => {
                self.calls.answered(part, response, &mut self.listing);
            }
            (Body::Response(response), Some("tools/list")) if is_of_server => {
                let is_result = matches!(response.outcome, Outcome::Result { .. });
                if let Some(asked) = part.request().filter(|_| is_result) {
                    let (result, revision) = (part.result(), part.revision());
                    let doubles = self.listing.page(asked.list, result, revision);
                    self.listed(part, &doubles);
                }
            }
            (Body::Notification(_), Some("notifications/tools/list_changed")) if is_of_server => {
                self.listing.changed();
            }
            _ => {}
        }
    }
}

impl Tools {
    /// Tells what is wrong with the tools of a page; `doubles` are the places of those whose names
    /// were there before.
    fn listed(&mut self, part: &Part<'_>, doubles: &[usize]) {
        let tools = part.result().and_then(|result| result.get("tools"));
        let mut definitions = Definitions::new(part.revision());
        let tools = tools.iter().flat_map(Value::elements).enumerate();
        for (index, definition) in tools {
            let Some(name) = definition.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            let tool = ListedTool { part, index, name };
            if doubles.binary_search(&index).is_ok() {
                tool.tell(&DUPLICATE_NAME, [member("name")], "listed before");
            }
            let digest = digest((definition.raw(), part.revision() as u8));
            if self.looked_at.is_first(digest) {
                definitions.look(definition, &tool);
            }
        }
        if let Some(skipped) = definitions.skipped() {
            part.tell_at(&CHECK_SKIPPED, "result.tools", skipped);
        }
    }
}

/// Findings of one rule in one list; tools without a description are told once.
const SHOWN: usize = 20;

/// A tool in a list, and the message that lists it.
pub struct ListedTool<'a> {
    part: &'a Part<'a>,
    index: usize,
    pub name: Cow<'a, str>,
}

pub fn member(name: &str) -> Step {
    Step::Member(name.into())
}

impl ListedTool<'_> {
    /// Tells something about the tool, at the place in it that `steps` lead to.
    pub fn tell(&self, rule: &'static Rule, steps: impl IntoIterator<Item = Step>, detail: &str) {
        let part = self.part;
        let frame = Some(part.seen.head.seq);
        let limit = if *rule == DESCRIPTION_MISSING {
            1
        } else {
            SHOWN
        };
        part.seen.findings.push_up_to(limit, rule, frame, || {
            let start = [member("result"), member("tools"), Step::Element(self.index)];
            let path = written(start.into_iter().chain(steps).collect());
            let detail = format!("{}: {detail}", quote::text(&self.name));
            part.at(rule, detail).path(path)
        });
    }
}

#[cfg(test)]
mod tools_tests;
