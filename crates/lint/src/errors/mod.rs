//! Rules about error codes and messages.
//!
//! A code is judged by its number, and by what the request was and the message says: only where
//! both agree is it told that another code would have been right. `hints` reads messages.

mod hints;
mod rules;

use super::family::Family;
use super::finding::{Finding, Findings};
use super::quote;
use super::remembered::Remembered;
use super::rule::{Rule, Severity};
use super::seen::{Part, Seen};
use hints::Words;
use mcpreel_wire::json::Number;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::{Revision, errors, methods};
use mcpreel_wire::message::{Body, Era, Outcome};
use std::sync::Arc;

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
#[derive(Debug)]
pub struct Errors {
    served: Remembered<Arc<str>, ()>,
}

impl Default for Errors {
    fn default() -> Self {
        Self {
            served: Remembered::new(SERVED),
        }
    }
}

impl Family for Errors {
    fn name(&self) -> &'static str {
        "errors"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &rules::RESERVED,
            &rules::REMOVED,
            &rules::METHOD_NOT_FOUND,
            &rules::RESOURCE_NOT_FOUND,
            &rules::MESSAGE_EMPTY,
            &rules::INTERNAL_FOR_PARAMS,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            let Body::Response(response) = &part.message.body else {
                continue;
            };
            match &response.outcome {
                Outcome::Error { code, message } => {
                    let code = code.as_deref().and_then(integer);
                    self.error(&part, code, message.as_deref(), findings);
                }
                _ => self.served(&part),
            }
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

    fn error(
        &self,
        part: &Part<'_>,
        code: Option<i64>,
        message: Option<&str>,
        findings: &mut Findings,
    ) {
        if message.is_some_and(|message| message.trim().is_empty()) {
            let code = code.map_or_else(|| "error".to_owned(), |code| format!("error {code}"));
            let finding = part.at(&rules::MESSAGE_EMPTY, code);
            findings.push(finding.path("error.message"));
        }
        let Some(code) = code else { return };
        let of_number = removed(part, code).or_else(|| reserved(part, code));
        findings.extend(of_number.map(|finding| finding.path("error.code")));
        let message = message.unwrap_or_default();
        let of_case = match part.method() {
            Some("resources/read") => resource(part, code, message),
            Some(method) if methods::find(method).is_none() => {
                self.unknown_method(part, method, code, message)
            }
            _ => None,
        };
        let of_case = of_case.or_else(|| internal(part, code, message));
        findings.extend(of_case.map(|finding| finding.path("error.code")));
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
        Some(part.at(&rules::METHOD_NOT_FOUND, detail))
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
    Some(part.at(&rules::REMOVED, format!("{code}: {elsewhere}")))
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
    let finding = part.at(&rules::RESERVED, detail);
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
    Some(part.at(&rules::RESOURCE_NOT_FOUND, detail))
}

fn internal(part: &Part<'_>, code: i64, message: &str) -> Option<Finding> {
    let found = code == INTERNAL && Words::of(message).not_accepted();
    found.then(|| part.at(&rules::INTERNAL_FOR_PARAMS, quote::text(message)))
}
