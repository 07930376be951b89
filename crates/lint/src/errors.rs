//! Rules about error codes and messages.
//!
//! A code is judged by its number, by the request and by the words of the message: another code
//! would have been right only where both agree.

use crate::{Family, Finding, Part, quote, section};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_wire::json::Number;
use mcpreel_wire::mcp::{Revision, errors, methods};
use mcpreel_wire::message::{Body, Era, Outcome};
use std::sync::Arc;

rules! {
    RESERVED = warning("error-code-reserved").of(section::JSONRPC_ERROR)
        .finds("a reserved error code that the protocol does not define")
        .why("Each peer has its own idea of what such a number means, so clients react wrongly to it.")
        .fix("Use the code that the protocol has for the case, or one outside -32768 to -32000.");

    REMOVED = error("error-removed-code").of_modern(section::ERROR_CODES)
        .finds("an error code of earlier revisions that this one has removed")
        .why("Clients of this revision do not expect it and take it for an unknown failure.")
        .fix("Answer -32602 for a resource that is not there, and ask for input with a result in place of -32042.");

    WRONG_METHOD_CODE = warning("error-method-not-found-code").of(section::JSONRPC_ERROR)
        .finds("an unknown method answered with another code than -32601")
        .why("Clients find out by this code what a server cannot do, and take any other for a failure.")
        .fix("Answer requests of unknown methods with -32601.");

    WRONG_RESOURCE_CODE = note("error-resource-not-found-code").of(section::RESOURCES)
        .finds("a missing resource answered with another code than the revision has for it")
        .why("Clients cannot tell a resource that is gone from a server that fails.")
        .fix("Answer with -32002 up to 2025-11-25 and with -32602 from 2026-07-28 on.");

    MESSAGE_EMPTY = note("error-message-empty").of(section::JSONRPC_ERROR)
        .finds("an error that says nothing")
        .why("The user sees that something failed, and nothing about what.")
        .fix("Say in one sentence what went wrong.");

    INTERNAL_FOR_PARAMS = note("error-internal-for-params").of(section::JSONRPC_ERROR)
        .finds("parameters that were not accepted, answered as an internal error")
        .why("The caller takes it for a failure of the server and does not correct its parameters.")
        .fix("Answer with -32602 where the parameters are at fault.");
}

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const RESOURCE_NOT_FOUND: i64 = -32002;
const URL_ELICITATION: i64 = -32042;

/// Methods of their own that servers have answered with a result. Without a limit a server that
/// answers everything would fill the memory.
const SERVED: usize = 256;

/// Bytes of a message that are looked at.
const LOOKED_AT: usize = 4096;

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
        let Outcome::Error { code, message } = &response.outcome else {
            let method = part
                .method()
                .filter(|method| methods::find(method).is_none());
            if let Some(method) = method.filter(|method| !self.served.contains(*method)) {
                self.served.insert(method.into(), ());
            }
            return;
        };
        // What mcpreel answered in place of a server is not the server's.
        if part.value.is_some_and(errors::is_own_error) {
            return;
        }
        let code = code
            .as_deref()
            .and_then(|code| Number::parse(code)?.to_i64());
        let message = message.as_deref();
        if message.is_some_and(|message| message.trim().is_empty()) {
            let code = code.map_or_else(|| "error".to_owned(), |code| format!("error {code}"));
            part.tell_at(&MESSAGE_EMPTY, "error.message", code);
        }
        if let Some(code) = code {
            let words = Words::of(message.unwrap_or_default());
            let of_number = removed(part, code).or_else(|| reserved(part, code));
            let of_case = self.of_case(part, code, &words).or_else(|| {
                let is_wrong = code == INTERNAL && words.not_accepted();
                is_wrong.then(|| part.at(&INTERNAL_FOR_PARAMS, quote::text(words.message)))
            });
            let found = of_number.into_iter().chain(of_case);
            part.extend(found.map(|finding| finding.path("error.code")));
        }
    }
}

impl Errors {
    /// A missing resource or an unknown method that is answered with another code than its own.
    fn of_case(&self, part: &Part<'_>, code: i64, words: &Words<'_>) -> Option<Finding> {
        let method = part.method()?;
        let shown = quote::text(words.message);
        if method == "resources/read" {
            let right = match part.era() {
                Era::Legacy => RESOURCE_NOT_FOUND,
                Era::Modern => INVALID_PARAMS,
            };
            // The old code in the modern era is told by a rule of its own.
            let is_fit = [RESOURCE_NOT_FOUND, METHOD_NOT_FOUND, right].contains(&code);
            let detail = format!("{code} in place of {right}: {shown}");
            return (!is_fit && words.nothing_there())
                .then(|| part.at(&WRONG_RESOURCE_CODE, detail));
        }
        let is_known = methods::find(method).is_some() || self.served.contains(method);
        if is_known || code == METHOD_NOT_FOUND {
            return None;
        }
        // Servers that validate before they dispatch answer an unknown method as bad parameters,
        // unless they speak more than the protocol.
        let speaks_more = part
            .server_capabilities()
            .is_some_and(|declared| declared.has("extensions") || declared.has("experimental"));
        let by_code = matches!(code, 0 | INVALID_PARAMS) && !speaks_more;
        (by_code || words.no_such_method()).then(|| {
            let detail = format!("{} answered with {code}: {shown}", quote::text(method));
            part.at(&WRONG_METHOD_CODE, detail)
        })
    }
}

fn removed(part: &Part<'_>, code: i64) -> Option<Finding> {
    let is_removed = matches!(code, RESOURCE_NOT_FOUND | URL_ELICITATION);
    let elsewhere = errors::elsewhere(code).unwrap_or_default();
    (is_removed && part.era() == Era::Modern)
        .then(|| part.at(&REMOVED, format!("{code}: {elsewhere}")))
}

fn reserved(part: &Part<'_>, code: i64) -> Option<Finding> {
    let is_defined = match code {
        // Only one revision has it.
        URL_ELICITATION => part.revision() == Revision::V2025_11_25,
        // A modern server may say so to the `initialize` of a legacy client.
        _ => [part.era(), Era::Modern]
            .iter()
            .any(|era| errors::meaning(code, *era).is_some()),
    };
    // What the SDKs say so with an HTTP error is told by its status.
    if is_defined || !errors::is_reserved(code) || part.seen.is_refusal() {
        return None;
    }
    let elsewhere = errors::elsewhere(code);
    let elsewhere = elsewhere.unwrap_or("no revision of the protocol defines it");
    Some(part.at(&RESERVED, format!("{code}: {elsewhere}")))
}

/// The words of an error message, which tell its cause: they are compared without
/// case.
struct Words<'m> {
    message: &'m str,
    lower: String,
}

impl<'m> Words<'m> {
    fn of(message: &'m str) -> Self {
        let end = message.floor_char_boundary(LOOKED_AT);
        let lower = message[..end].to_ascii_lowercase();
        Self { message, lower }
    }

    /// Whether the message has one of `words`, which `|` separates.
    fn has_any(&self, words: &str) -> bool {
        words.split('|').any(|word| self.lower.contains(word))
    }

    fn no_such_method(&self) -> bool {
        self.has_any("method|request type|endpoint") && self.has_any(UNKNOWN)
    }

    fn nothing_there(&self) -> bool {
        self.has_any(NOT_THERE)
    }

    /// Whether the message tells which parameter was not accepted.
    fn not_accepted(&self) -> bool {
        let names_one = self.lower.starts_with("invalid ");
        names_one && self.has_any("must be|expected") || self.has_any(NOT_ACCEPTED)
    }
}

const UNKNOWN: &str = "not found|unknown|unsupported|not supported|not implemented|unrecognized|\
                       no such|does not exist|unhandled|no handler";

const NOT_THERE: &str = "not found|unknown resource|unknown uri|no such|does not exist|\
                         doesn't exist|cannot find|could not find|no resource|enoent";

/// Words of the validators that servers use.
const NOT_ACCEPTED: &str = "invalid_type|invalid_value|invalid_enum_value|invalid_string|\
                            invalid_union|invalid_literal|unrecognized_keys|too_small|too_big|\
                            zoderror|validation error|validation failed|invalid arguments|\
                            invalid params|invalid parameter|is a required property|\
                            is not of type|must have required property|missing required|\
                            missing field `|unknown variant `|invalid type: ";

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
