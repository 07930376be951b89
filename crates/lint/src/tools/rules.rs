//! The rules of this family.

use crate::rule::{Revisions, Rule, Severity};
use crate::section::{JSON_SCHEMA, TOOL_HEADERS, TOOL_NAMES, TOOL_OUTPUT, TOOLS};
use mcpreel_wire::mcp::Revision;

const STRUCTURED: Revisions = Revisions::since(Revision::V2025_06_18);
const OBJECTS: Revisions = Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25);
const NAMED: Revisions = Revisions::since(Revision::V2025_11_25);
const NO_DIALECT: &str = "neither the schema nor the revision says which dialect is meant";

pub static UNKNOWN_CALLED: Rule = Rule::warning(
    "tool-unknown-called",
    "a call of a tool that the server does not list",
)
.why("The server can only refuse such a call, and the model that made it gets nowhere.")
.fix(
    "Let the client list the tools again before it calls, and hand only listed names to the model.",
)
.of(TOOLS);
pub static ARGS_INVALID: Rule = Rule::warning(
    "tool-args-invalid",
    "arguments that do not fit the tool's `inputSchema`",
)
.why("The server may refuse the call, or work with values that its author never expected.")
.fix("Send arguments as the schema has them, or correct the schema if the tool does accept them.")
.of(TOOLS);
pub static INPUT_SCHEMA_INVALID: Rule = Rule::error("tool-input-schema-invalid", "an `inputSchema` that is missing, or no valid schema of an object")
    .why("Clients that check what they are given drop the tool, some of them all tools of the server.")
    .fix("Give every tool an `inputSchema` that is a JSON object with `\"type\": \"object\"` and is valid in its dialect.")
    .of(TOOLS)
    .milder_where(Severity::Warning, NO_DIALECT);
pub static OUTPUT_SCHEMA_INVALID: Rule = Rule::error("tool-output-schema-invalid", "an `outputSchema` that is no valid schema")
    .why("Clients that check what they are given drop the tool or fail to read its results.")
    .fix("Leave `outputSchema` out, or make it a JSON Schema that is valid in its dialect, of type object before 2026-07-28.")
    .of(TOOL_OUTPUT)
    .only(STRUCTURED)
    .milder_where(Severity::Warning, NO_DIALECT);
pub static STRUCTURED_MISSING: Rule = Rule::error("tool-structured-missing", "no `structuredContent` although the tool has an `outputSchema`")
    .why("Official clients refuse such a result, so that a call which went well looks like a failure.")
    .fix("Return `structuredContent` with every result of the tool that is no error, or take its `outputSchema` back.")
    .of(TOOL_OUTPUT)
    .only(STRUCTURED);
pub static STRUCTURED_MISMATCH: Rule = Rule::error("tool-structured-mismatch", "`structuredContent` that does not fit the tool's `outputSchema`")
    .why("Clients that check results refuse this one, so that a call which went well looks like a failure.")
    .fix("Return what the `outputSchema` promises, or correct the schema to what the tool returns.")
    .of(TOOL_OUTPUT)
    .only(STRUCTURED);
pub static STRUCTURED_NOT_OBJECT: Rule = Rule::error(
    "tool-structured-not-object",
    "`structuredContent` that is no object",
)
.why("Up to 2025-11-25 clients read `structuredContent` as an object and fail on anything else.")
.fix("Wrap the value in an object, for example as its member `result`, or agree on 2026-07-28.")
.of(TOOL_OUTPUT)
.only(OBJECTS);
pub static STRUCTURED_NO_TEXT: Rule = Rule::note(
    "tool-structured-no-text",
    "`structuredContent` without a text beside it",
)
.why("Clients that do not know `structuredContent` show an empty result.")
.fix("Add the same value as JSON in a text block of content.")
.of(TOOL_OUTPUT)
.only(STRUCTURED);
pub static DUPLICATE_NAME: Rule = Rule::warning(
    "tool-duplicate-name",
    "two tools of one list have the same name",
)
.why("A call by that name reaches one of them, and nobody can say which.")
.fix("Give each tool of the server a name of its own.")
.of(TOOL_NAMES);
pub static NAME_FORMAT: Rule = Rule::warning("tool-name-format", "a tool name that is not 1 to 128 of `A-Za-z0-9_.-`")
    .why("Hosts that hand the name on to a model provider may drop the tool or have the whole request refused.")
    .fix("Use only ASCII letters, digits, `_`, `-` and `.`, and no more than 128 of them.")
    .of(TOOL_NAMES)
    .only(NAMED);
pub static UNKNOWN_AS_RESULT: Rule = Rule::note(
    "tool-unknown-as-result",
    "an unknown tool answered with a result instead of an error",
)
.why("A client cannot tell a tool that failed from one that does not exist.")
.fix("Answer calls of unknown tools with the error -32602.")
.of(TOOLS);
pub static VALIDATION_AS_ERROR: Rule = Rule::note(
    "tool-validation-as-error",
    "wrong arguments answered with the error -32602 instead of a result",
)
.why("Many hosts do not show protocol errors to the model, which then cannot correct its call.")
.fix("Answer with a result that has `\"isError\": true` and says in text which argument is wrong.")
.of(TOOLS)
.only(NAMED);
pub static EXTERNAL_REF: Rule = Rule::warning("tool-external-ref", "a schema that refers to another one on the network")
    .why("Clients must not fetch it on their own, so that most cannot use the schema, or the tool, at all.")
    .fix("Put the schema that is meant under `$defs` and refer to it there.")
    .of(JSON_SCHEMA)
    .only(Revisions::MODERN);
pub static X_HEADER_INVALID: Rule = Rule::warning("tool-x-header-invalid", "an `x-mcp-header` that clients have to refuse")
    .why("Clients over HTTP have to leave the tool out of the list.")
    .fix("Annotate only properties of type string, integer or boolean that `properties` alone lead to, each with a different header token.")
    .of(TOOL_HEADERS)
    .only(Revisions::MODERN);
pub static ISERROR_TYPE: Rule =
    Rule::error("tool-iserror-type", "`isError` is neither true nor false")
        .why("Strict clients refuse the result, others take a failed call for a successful one.")
        .fix("Send `isError` as a JSON boolean, or leave it out where the call went well.")
        .of(TOOLS);
pub static DESCRIPTION_MISSING: Rule =
    Rule::note("tool-description-missing", "tools without a description")
        .why("A model that has only a name to go by picks the wrong tool, or none.")
        .fix("Describe in a sentence or two what each tool does and when to use it.")
        .of(TOOLS);
pub static HIDES_TOOLS: Rule = Rule::warning("tool-schema-hides-tools", "a definition for which hosts are known to drop tools")
    .why("With one such tool some hosts show none of the server's tools, and where a host passes schemas on unchecked, model providers refuse every request of it.")
    .fix("Give the root of `inputSchema` `\"type\": \"object\"` and no `oneOf`, `anyOf` or `allOf`, keep every `$ref` inside the schema, and names to `A-Za-z0-9_.-`.");
pub static CHECK_SKIPPED: Rule = Rule::note("schema-check-skipped", "schemas of tools, or values for them, that were not checked")
    .why("Whether they are right is not known: a check must never hold the recording up, and never fetches anything.")
    .fix("Make the schemas smaller or plainer if they and their values are to be checked.");

pub static RULES: &[&Rule] = &[
    &UNKNOWN_CALLED,
    &ARGS_INVALID,
    &INPUT_SCHEMA_INVALID,
    &OUTPUT_SCHEMA_INVALID,
    &STRUCTURED_MISSING,
    &STRUCTURED_MISMATCH,
    &STRUCTURED_NOT_OBJECT,
    &STRUCTURED_NO_TEXT,
    &DUPLICATE_NAME,
    &NAME_FORMAT,
    &UNKNOWN_AS_RESULT,
    &VALIDATION_AS_ERROR,
    &EXTERNAL_REF,
    &X_HEADER_INVALID,
    &ISERROR_TYPE,
    &DESCRIPTION_MISSING,
    &HIDES_TOOLS,
    &CHECK_SKIPPED,
];
