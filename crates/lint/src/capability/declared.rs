//! Capabilities that were used without having been declared.
//!
//! What a client declared is known from `initialize` on, what a server declared from its answer
//! on; in the modern era only where somebody asked the server. Clients of the modern era need not
//! ask, so there it is no more than a warning.

use crate::capability::{CLIENT, LIST_CHANGED, LOGGING, SERVER, SUB};
use crate::{Findings, Handshake, Part, Rule};
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::{Revision, methods};
use mcpreel_wire::message::{Body, Direction, Era};

/// What must be known about declarations beside the declarations.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// The handshake was read by its outline only: what was declared is not known.
    is_blind: bool,
}

impl Declarations {
    /// A response: it may be one that declares.
    pub(super) fn response(&mut self, part: &Part<'_>) {
        let declares = matches!(part.method(), Some("initialize" | "server/discover"));
        self.is_blind |= declares && part.value.is_none();
    }

    pub(super) fn request(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.is_blind |= part.method() == Some("initialize") && part.value.is_none();
        if self.is_blind {
            return;
        }
        match part.direction() {
            Direction::ClientToServer => {
                if let Some(declared) = of_server(part) {
                    request(part, declared, &SERVER, findings);
                    if part.method() == Some("tools/call") {
                        task(part, declared, findings);
                    }
                }
            }
            Direction::ServerToClient => {
                if let Some(declared) = of_client(part) {
                    request(part, declared, &CLIENT, findings);
                    asked_of_client(part, declared, findings);
                }
            }
        }
    }

    pub(super) fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let rule = match part.method() {
            Some("notifications/message") => &LOGGING,
            Some(name) if name.ends_with("/list_changed") => &LIST_CHANGED,
            _ => return,
        };
        let declared = match part.direction() {
            Direction::ClientToServer => of_client(part),
            Direction::ServerToClient => of_server(part),
        };
        let Some((name, needed)) = needed(part) else {
            return;
        };
        let lacks = |declared: &Declared| !declared.has(needed) && declared.is_whole();
        if !self.is_blind && declared.is_some_and(lacks) {
            findings.push(part.at(rule, format!("{name} without {needed}")));
        }
    }
}

/// What the server has declared, where that is known.
fn of_server<'a>(part: &Part<'a>) -> Option<&'a Declared> {
    let known = part.seen.known;
    match part.era() {
        Era::Modern => known.discovered.as_ref(),
        Era::Legacy => known.server.as_ref(),
    }
}

/// What the client has declared in the handshake, where there was one.
fn of_client<'a>(part: &Part<'a>) -> Option<&'a Declared> {
    let known = part.seen.known;
    (part.era() == Era::Legacy && known.handshake != Handshake::None).then_some(&known.client)
}

/// The method of a message and what must have been declared for it.
fn needed(part: &Part<'_>) -> Option<(&'static str, &'static str)> {
    let method = methods::find(part.method()?)?;
    Some((method.name, method.used_in(part.revision())?.capability?))
}

fn request(part: &Part<'_>, declared: &Declared, rule: &'static Rule, findings: &mut Findings) {
    let Some((method, needed)) = needed(part) else {
        return;
    };
    if declared.has(needed) || !declared.is_whole() {
        return;
    }
    let whole = needed.split('.').next().unwrap_or(needed);
    let (rule, missing) = if declared.has(whole) {
        (&SUB, needed)
    } else {
        (rule, whole)
    };
    findings.push(part.at(rule, format!("{method} without {missing}")));
}

/// A use of a part of a capability that was not declared.
fn lacks(part: &Part<'_>, declared: &Declared, needed: &str, what: &str, findings: &mut Findings) {
    if declared.has(needed) || !declared.is_whole() {
        return;
    }
    let member = what.split(' ').next().unwrap_or(what);
    let finding = part.at(&SUB, format!("{what} without {needed}"));
    findings.push(finding.path(format!("params.{member}")));
}

/// A call that asks for a task (2025-11-25).
fn task(part: &Part<'_>, declared: &Declared, findings: &mut Findings) {
    let Body::Request(request) = &part.message.body else {
        return;
    };
    let asks = request.task && part.revision() == Revision::V2025_11_25;
    if asks && declared.has("tools") {
        lacks(
            part,
            declared,
            "tasks.requests.tools.call",
            "task",
            findings,
        );
    }
}

/// What the server asks of its client, beyond the method (2025-11-25).
fn asked_of_client(part: &Part<'_>, declared: &Declared, findings: &mut Findings) {
    if part.revision() != Revision::V2025_11_25 {
        return;
    }
    let param = |name: &str| part.param(name);
    match part.method() {
        Some("sampling/createMessage") if declared.has("sampling") => {
            if let Some(what) = tool_use(param) {
                lacks(part, declared, "sampling.tools", what, findings);
            }
        }
        Some("elicitation/create") if declared.has("elicitation") => {
            if let Some(missing) = missing_mode(param("mode"), declared) {
                lacks(part, declared, missing, "mode", findings);
            }
        }
        _ => {}
    }
}

/// The param by which sampling is asked to use tools.
fn tool_use<'a>(param: impl Fn(&str) -> Option<Value<'a>>) -> Option<&'static str> {
    let given = |name: &&str| param(name).is_some_and(|value| !value.is_null());
    ["tools", "toolChoice"].into_iter().find(given)
}

/// The capability that the mode of an elicitation needs and that is missing; `form` is what is
/// meant where neither side says a mode.
pub(crate) fn missing_mode(mode: Option<Value<'_>>, declared: &Declared) -> Option<&'static str> {
    let says_none = !declared.has("elicitation.form") && !declared.has("elicitation.url");
    let is = |name: &str| mode.is_some_and(|mode| mode.is_str(name));
    let has_form = declared.has("elicitation.form") || says_none && declared.has("elicitation");
    if mode.is_none() || is("form") {
        (!has_form).then_some("elicitation.form")
    } else {
        (is("url") && !declared.has("elicitation.url")).then_some("elicitation.url")
    }
}
