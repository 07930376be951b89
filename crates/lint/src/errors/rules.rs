//! The rules of this family.

use crate::rule::{Revisions, Rule, Severity};
use crate::section;

pub(super) static RESERVED: Rule = Rule::error(
    "error-code-reserved",
    "a reserved error code that the protocol does not define",
)
.why("Each peer has its own idea of what such a number means, so clients react wrongly to it.")
.fix("Use the code that the protocol has for the case, or one outside -32768 to -32000.")
.of(section::JSONRPC_ERROR)
.milder_in(Severity::Warning, Revisions::LEGACY)
.milder_where(
    Severity::Warning,
    "the code is none of -32099 to -32020, which MCP keeps for itself",
);
pub(super) static REMOVED: Rule = Rule::error(
    "error-removed-code",
    "an error code of earlier revisions that this one has removed",
)
.why("Clients of this revision do not expect it and take it for an unknown failure.")
.fix("Answer -32602 for a resource that is not there, and ask for input with a result in place of -32042.")
.of(section::ERROR_CODES)
.only(Revisions::MODERN);
pub(super) static METHOD_NOT_FOUND: Rule = Rule::warning(
    "error-method-not-found-code",
    "an unknown method answered with another code than -32601",
)
.why("Clients find out by this code what a server cannot do, and take any other for a failure.")
.fix("Answer requests of unknown methods with -32601.")
.of(section::JSONRPC_ERROR);
pub(super) static RESOURCE_NOT_FOUND: Rule = Rule::note(
    "error-resource-not-found-code",
    "a missing resource answered with another code than the revision has for it",
)
.why("Clients cannot tell a resource that is gone from a server that fails.")
.fix("Answer with -32002 up to 2025-11-25 and with -32602 from 2026-07-28 on.")
.of(section::RESOURCES);
pub(super) static MESSAGE_EMPTY: Rule =
    Rule::note("error-message-empty", "an error that says nothing")
        .why("The user sees that something failed, and nothing about what.")
        .fix("Say in one sentence what went wrong.")
        .of(section::JSONRPC_ERROR);
pub(super) static INTERNAL_FOR_PARAMS: Rule = Rule::note(
    "error-internal-for-params",
    "parameters that were not accepted, answered as an internal error",
)
.why("The caller takes it for a failure of the server and does not mend its parameters.")
.fix("Answer with -32602 where the parameters are at fault.")
.of(section::JSONRPC_ERROR);
