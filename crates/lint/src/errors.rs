//! Rules about error codes and messages.
//!
//! A code is judged by its number, by the request and by the words of the message: another code
//! would have been right only where both agree.

use crate::{Family, Finding, Part, Revisions, Severity, quote, section};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_wire::json::Number;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::{Revision, errors, methods};
use mcpreel_wire::message::{Body, Era, Outcome};
use std::sync::Arc;

rules! {
    RESERVED = error("error-code-reserved",
        "a reserved error code that the protocol does not define")
        .why("Each peer has its own idea of what such a number means, so clients react wrongly to it.")
        .fix("Use the code that the protocol has for the case, or one outside -32768 to -32000.")
        .of(section::JSONRPC_ERROR)
        .milder_in(Severity::Warning, Revisions::LEGACY)
        .milder_where(Severity::Warning, "the code is none of -32099 to -32020, which MCP keeps for itself");

    REMOVED = error("error-removed-code",
        "an error code of earlier revisions that this one has removed")
        .why("Clients of this revision do not expect it and take it for an unknown failure.")
        .fix("Answer -32602 for a resource that is not there, and ask for input with a result in place of -32042.")
        .of_modern(section::ERROR_CODES);

    WRONG_METHOD_CODE = warning("error-method-not-found-code",
        "an unknown method answered with another code than -32601")
        .why("Clients find out by this code what a server cannot do, and take any other for a failure.")
        .fix("Answer requests of unknown methods with -32601.")
        .of(section::JSONRPC_ERROR);

    WRONG_RESOURCE_CODE = note("error-resource-not-found-code",
        "a missing resource answered with another code than the revision has for it")
        .why("Clients cannot tell a resource that is gone from a server that fails.")
        .fix("Answer with -32002 up to 2025-11-25 and with -32602 from 2026-07-28 on.")
        .of(section::RESOURCES);

    MESSAGE_EMPTY = note("error-message-empty", "an error that says nothing")
        .why("The user sees that something failed, and nothing about what.")
        .fix("Say in one sentence what went wrong.")
        .of(section::JSONRPC_ERROR);

    INTERNAL_FOR_PARAMS = note("error-internal-for-params",
        "parameters that were not accepted, answered as an internal error")
        .why("The caller takes it for a failure of the server and does not mend its parameters.")
        .fix("Answer with -32602 where the parameters are at fault.")
        .of(section::JSONRPC_ERROR);
}

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const RESOURCE_NOT_FOUND: i64 = -32002;
const URL_ELICITATION: i64 = -32042;

/// Methods of their own that servers have answered with a result. Without a limit a server that
/// answers everything would fill the memory.
const SERVED: usize = 256;

/// The family of these rules. It remembers which methods that the protocol does not have were
/// answered with a result: a server that knows one may refuse it as it likes.
#[derive(Debug, Default)]
pub struct Errors {
    served: BoundedMap<Arc<str>, (), SERVED>,
}

impl Family for Errors {
    fn part(&mut self, part: &Part<'_>) {
        let Body::Response(response) = &part.message.body else {
            return;
        };
        match &response.outcome {
            Outcome::Error { code, message } => {
                let code = code.as_deref().and_then(integer);
                self.error(part, code, message.as_deref());
            }
            _ => self.served(part),
        }
    }
}

impl Errors {
    fn served(&mut self, part: &Part<'_>) {
        if let Some(method) = part.method()
            && methods::find(method).is_none()
            && !self.served.contains(method)
        {
            self.served.insert(method.into(), ());
        }
    }

    fn error(&self, part: &Part<'_>, code: Option<i64>, message: Option<&str>) {
        if message.is_some_and(|message| message.trim().is_empty()) {
            let code = code.map_or_else(|| "error".to_owned(), |code| format!("error {code}"));
            part.tell_at(&MESSAGE_EMPTY, "error.message", code);
        }
        let Some(code) = code else { return };
        let of_number = removed(part, code).or_else(|| reserved(part, code));
        part.extend(of_number.map(|finding| finding.path("error.code")));
        let message = message.unwrap_or_default();
        let of_case = match part.method() {
            Some("resources/read") => resource(part, code, message),
            Some(method) if methods::find(method).is_none() => {
                self.unknown_method(part, method, code, message)
            }
            _ => None,
        };
        let of_case = of_case.or_else(|| internal(part, code, message));
        part.extend(of_case.map(|finding| finding.path("error.code")));
    }

    /// Servers that validate before they dispatch answer an unknown method as bad parameters.
    fn unknown_method(
        &self,
        part: &Part<'_>,
        method: &str,
        code: i64,
        message: &str,
    ) -> Option<Finding> {
        if code == METHOD_NOT_FOUND || self.served.contains(method) {
            return None;
        }
        let by_code = matches!(code, 0 | INVALID_PARAMS) && !has_more_methods(part);
        if !by_code && !Words::of(message).no_such_method() {
            return None;
        }
        let (method, message) = (quote::text(method), quote::text(message));
        let detail = format!("{method} answered with {code}: {message}");
        Some(part.at(&WRONG_METHOD_CODE, detail))
    }
}

/// Whether the server has said that it speaks more than the protocol.
fn has_more_methods(part: &Part<'_>) -> bool {
    let declared = part.server_capabilities();
    let has = |declared: &Declared| declared.has("extensions") || declared.has("experimental");
    declared.is_some_and(has)
}

/// The code as an integer: `-32602`, and `-32602.0` too.
fn integer(code: &str) -> Option<i64> {
    Number::parse(code)?.to_i64()
}

fn removed(part: &Part<'_>, code: i64) -> Option<Finding> {
    let is_removed = matches!(code, RESOURCE_NOT_FOUND | URL_ELICITATION);
    if !is_removed || part.era() == Era::Legacy {
        return None;
    }
    let elsewhere = errors::elsewhere(code).unwrap_or_default();
    Some(part.at(&REMOVED, format!("{code}: {elsewhere}")))
}

fn reserved(part: &Part<'_>, code: i64) -> Option<Finding> {
    let defined = match code {
        // Only one revision has it.
        URL_ELICITATION => part.revision() == Revision::V2025_11_25,
        // A modern server may say so to the `initialize` of a legacy client.
        _ => [part.era(), Era::Modern]
            .into_iter()
            .any(|era| errors::meaning(code, era).is_some()),
    };
    if defined || !errors::is_reserved(code) {
        return None;
    }
    let detail = match errors::elsewhere(code) {
        Some(elsewhere) => format!("{code}: {elsewhere}"),
        None => format!("{code}: no revision of the protocol defines it"),
    };
    let finding = part.at(&RESERVED, detail);
    // Only the part that MCP keeps for itself is forbidden outright.
    Some(match code {
        -32099..=-32020 => finding,
        _ => finding.as_bad_as(Severity::Warning),
    })
}

fn resource(part: &Part<'_>, code: i64, message: &str) -> Option<Finding> {
    let right = match part.era() {
        Era::Legacy => RESOURCE_NOT_FOUND,
        Era::Modern => INVALID_PARAMS,
    };
    // The old code in the modern era is told by a rule of its own.
    if matches!(code, RESOURCE_NOT_FOUND | METHOD_NOT_FOUND) || code == right {
        return None;
    }
    if !Words::of(message).nothing_there() {
        return None;
    }
    let detail = format!("{code} in place of {right}: {}", quote::text(message));
    Some(part.at(&WRONG_RESOURCE_CODE, detail))
}

fn internal(part: &Part<'_>, code: i64, message: &str) -> Option<Finding> {
    let found = code == INTERNAL && Words::of(message).not_accepted();
    found.then(|| part.at(&INTERNAL_FOR_PARAMS, quote::text(message)))
}

// What an error message says about its cause: only words tell, and they are compared without
// case.

/// Bytes of a message that are looked at.
const LOOKED_AT: usize = 4096;

/// An error message, ready to be searched.
struct Words(String);

impl Words {
    fn of(message: &str) -> Self {
        let end = message.floor_char_boundary(LOOKED_AT);
        Self(message[..end].to_ascii_lowercase())
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.0.contains(word))
    }

    /// Whether it says that there is no such method.
    fn no_such_method(&self) -> bool {
        self.has_any(&["method", "request type", "endpoint"]) && self.has_any(UNKNOWN)
    }

    /// Whether it says that something is not there.
    fn nothing_there(&self) -> bool {
        self.has_any(NOT_THERE)
    }

    /// Whether it tells which parameter was not accepted.
    fn not_accepted(&self) -> bool {
        let names_one = self.0.starts_with("invalid ") && self.has_any(&["must be", "expected"]);
        names_one || self.has_any(NOT_ACCEPTED)
    }
}

const UNKNOWN: &[&str] = &[
    "not found",
    "unknown",
    "unsupported",
    "not supported",
    "not implemented",
    "unrecognized",
    "no such",
    "does not exist",
    "unhandled",
    "no handler",
];

const NOT_THERE: &[&str] = &[
    "not found",
    "unknown resource",
    "unknown uri",
    "no such",
    "does not exist",
    "doesn't exist",
    "cannot find",
    "could not find",
    "no resource",
    "enoent",
];

/// Words of the validators that servers use.
const NOT_ACCEPTED: &[&str] = &[
    "invalid_type",
    "invalid_value",
    "invalid_enum_value",
    "invalid_string",
    "invalid_union",
    "invalid_literal",
    "unrecognized_keys",
    "too_small",
    "too_big",
    "zoderror",
    "validation error",
    "validation failed",
    "invalid arguments",
    "invalid params",
    "invalid parameter",
    "is a required property",
    "is not of type",
    "must have required property",
    "missing required",
    "missing field `",
    "unknown variant `",
    "invalid type: ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_real_servers_are_understood() {
        let says = Words::of;
        assert!(says("Method not found: x/y").no_such_method());
        assert!(says("Unknown method").no_such_method());
        assert!(!says("quota exceeded").no_such_method());
        assert!(!says("unknown user").no_such_method());
        assert!(says("MCP error -32602: Resource test://x not found").nothing_there());
        assert!(says("ENOENT: no such file or directory").nothing_there());
        assert!(!says("permission denied").nothing_there());
        assert!(says(r#"[{"received":"loud","code":"invalid_enum_value"}]"#).not_accepted());
        assert!(says("1 validation error for CallToolRequest").not_accepted());
        assert!(says("Invalid resourceType: a. Must be Text or Blob").not_accepted());
        assert!(!says("Invalid state: connection closed").not_accepted());
        assert!(!says("database is locked").not_accepted());
    }
}
