//! Causes in headers of HTTP: what a browser needs to let a web page through (CORS), and what repeats the body.

use super::Certainty::{self, Certain, Likely, Possible};
use super::facts::Facts;
use super::{Cause, network, phrases};
use crate::quote;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::http::{HttpExchange, SESSION};
use mcpreel_wire::http::Head;

/// Methods that a browser sends without asking whether it may (Fetch, CORS-safelisted method).
const SAFELISTED: [&str; 3] = ["GET", "HEAD", "POST"];

/// A browser asked whether a web page may send a request, and the answer does not allow it.
pub(super) fn preflight_refused(facts: &Facts) -> Option<Cause> {
    let mut preflights = facts.https.alone.iter().rev().filter_map(Preflight::of);
    let (preflight, (why, advice)) = preflights.find_map(|preflight| {
        let refusal = preflight.refusal()?;
        Some((preflight, refusal))
    })?;
    let http = preflight.http;
    let sentence = format!(
        "the browser did not send {} {} for the web page at {}: the response to its preflight, {}, {why}",
        quote::text(preflight.method),
        network::quoted(&http.target),
        quote::text(preflight.origin),
        network::named(http)
    );
    // Another client may have been served since, or the same one without this request.
    let certainty = if facts.https.last_served > http.id {
        Possible
    } else {
        Certain
    };
    let asked = match &*preflight.headers.join(", ") {
        "" => String::new(),
        names => format!("wants to send {}; ", quote::text(names)),
    };
    let shown = network::at(http, asked + &network::phrases_of(http));
    Some(Cause::new(certainty, sentence, advice).shown([shown]))
}

/// A request by which a browser asks whether a web page may send another one.
struct Preflight<'h> {
    http: &'h HttpExchange,
    response: &'h Head,
    origin: &'h str,
    method: &'h str,
    headers: Vec<&'h str>,
}

impl<'h> Preflight<'h> {
    fn of(http: &'h HttpExchange) -> Option<Self> {
        let request = http
            .request_head
            .as_ref()
            .filter(|_| http.method == "OPTIONS")?;
        Some(Self {
            http,
            response: http.response_head.as_ref()?,
            origin: request.get("origin")?,
            method: request.get("access-control-request-method")?,
            headers: request.list("access-control-request-headers").collect(),
        })
    }

    /// What the answer lacks, and what to do about it.
    fn refusal(&self) -> Option<(String, &'static str)> {
        let status = self.http.status?;
        if !(200..300).contains(&status) {
            return Some((format!("is {status}"), advice_on_status(status)));
        }
        if let Some(wrong) = wrong_origin(self.response, self.origin) {
            return Some((wrong, ALLOW_ORIGIN));
        }
        let method_is_allowed = SAFELISTED.contains(&self.method)
            || allows(self.response, "access-control-allow-methods", self.method);
        if !method_is_allowed {
            let why = format!("does not allow the method {}", quote::text(self.method));
            return Some((
                why,
                "Let the server's CORS settings allow the methods GET, POST and DELETE.",
            ));
        }
        let headers = self.headers.iter().copied();
        let is_refused = |name: &&str| !allows(self.response, "access-control-allow-headers", name);
        let refused: Vec<_> = headers.filter(is_refused).collect();
        if refused.is_empty() {
            return None;
        }
        let refused = quote::text(&refused.join(", "));
        Some((
            format!("does not allow the header {refused}"),
            ALLOW_HEADERS,
        ))
    }
}

const ALLOW_ORIGIN: &str = "Let the server's CORS settings allow the origin of the page: \
                            `Access-Control-Allow-Origin` on each response, on errors too.";

const ALLOW_HEADERS: &str = "Let the server's CORS settings allow the headers of MCP (`Access-Control-Allow-Headers`): \
                             content-type, authorization, mcp-session-id, mcp-protocol-version, last-event-id, and from \
                             2026-07-28 on mcp-method and mcp-name.";

fn advice_on_status(status: u16) -> &'static str {
    match status {
        401 | 403 => {
            "A preflight carries no token and none of the client's headers. Let the server, or the gateway in \
             front of it, answer OPTIONS before it asks for a token."
        }
        _ => "Let the server answer OPTIONS: a CORS middleware in front of its route does.",
    }
}

/// Whether a list in the response has `wanted`, or stands for everything. A star does not stand for a token.
fn allows(response: &Head, list: &str, wanted: &str) -> bool {
    response.list(list).any(|one| {
        one.eq_ignore_ascii_case(wanted)
            || one == "*" && !wanted.eq_ignore_ascii_case("authorization")
    })
}

/// What is wrong with the origin that a response allows, for a page of `origin`.
fn wrong_origin(response: &Head, origin: &str) -> Option<String> {
    match response.get("access-control-allow-origin") {
        None => Some("has no Access-Control-Allow-Origin".to_owned()),
        Some(allowed) if allowed != "*" && allowed != origin => {
            let allowed = quote::text(allowed);
            Some(format!(
                "allows only {allowed} (Access-Control-Allow-Origin)"
            ))
        }
        Some(_) => None,
    }
}

/// The browser hides a response, or the id of the session in it, from the web page that asked.
pub(super) fn cors_blocked(facts: &Facts) -> Option<Cause> {
    let streams = facts.https.endpoints.iter().rev().map(|(stream, _)| stream);
    let mut asked = facts.https.opening.iter().rev().chain(streams);
    asked.find_map(|http| {
        let (request, response) = (http.request_head.as_ref()?, http.response_head.as_ref()?);
        let origin = request.get("origin")?;
        let host = request.get("host").unwrap_or_default();
        let is_same = origin.split_once("://").is_some_and(|(_, its)| its == host);
        let is_served = http.status.is_some_and(|status| status < 300);
        if is_same || !is_served {
            return None;
        }
        let hidden = hidden(facts, http, response, origin)?;
        let sentence = format!(
            "the browser hides {}the response to {} from the web page at {}: {}",
            hidden.part,
            network::named(http),
            quote::text(origin),
            hidden.why
        );
        let later = facts.https.refused.iter();
        let later = later.filter(|one| one.id > http.id && lacks_session(one, origin));
        let shown = [http].into_iter().chain(later);
        let shown = shown.map(|one| network::at(one, network::phrases_of(one)));
        Some(Cause::new(hidden.certainty, sentence, hidden.advice).shown(shown))
    })
}

/// What a browser hides of a response, why, and what to do about it.
struct Hidden {
    /// The part, if it is not the whole response.
    part: &'static str,
    why: String,
    certainty: Certainty,
    advice: &'static str,
}

fn hidden(facts: &Facts, http: &HttpExchange, response: &Head, origin: &str) -> Option<Hidden> {
    // Clients that are no browsers go on, and some of them send an origin.
    if let Some(wrong) = wrong_origin(response, origin).filter(|_| !facts.went_on) {
        return Some(Hidden {
            part: "",
            why: format!("it {wrong}"),
            certainty: Likely,
            advice: ALLOW_ORIGIN,
        });
    }
    let is_exposed = allows(response, "access-control-expose-headers", SESSION);
    response.get(SESSION).filter(|_| !is_exposed)?;
    let mut later = facts.https.refused.iter().filter(|one| one.id > http.id);
    later.find(|one| lacks_session(one, origin))?;
    Some(Hidden {
        part: "the session id in ",
        why: format!("its Access-Control-Expose-Headers lacks {SESSION}"),
        certainty: Certain,
        advice: "Let the server's CORS settings expose the header `Mcp-Session-Id`: the page cannot send the id \
                 back before it can read it.",
    })
}

/// Whether a web page of `origin` sent a message without the id of a session.
fn lacks_session(http: &HttpExchange, origin: &str) -> bool {
    let request = http.request_head.as_ref();
    let is_of_page =
        |head: &Head| head.get("origin") == Some(origin) && head.get(SESSION).is_none();
    http.has_messages && request.is_some_and(|head| is_of_page(head))
}

/// The error for headers that do not say what the body says.
const HEADER_MISMATCH: &str = "-32020";

/// The server refuses a request whose headers do not repeat its body.
pub(super) fn header_mismatch(facts: &Facts) -> Option<Cause> {
    let is_refusal = |call: &&Exchange| call.code.as_deref() == Some(HEADER_MISMATCH);
    let call = facts.troubled().chain(&facts.opening).find(is_refusal)?;
    let http = facts.https.refused.iter().find(|one| one.id == call.http);
    let request = http.map(|one| one.request);
    let group = facts.found("http-header-mismatch");
    let found = group.into_iter().flat_map(|group| &group.first);
    let found = found.filter(|found| found.frame.is_some() && found.frame == request);
    let found: Vec<_> = found.map(|found| &*found.detail).collect();
    let (what, certainty, advice) = if found.is_empty() {
        (
            "as mcpreel recorded the request, its headers and its body agree".to_owned(),
            Likely,
            "A proxy between the recorder and the server drops or changes headers: let it pass on \
             MCP-Protocol-Version and all headers that begin with Mcp-.",
        )
    } else {
        (
            found.join("; "),
            Certain,
            "The client, or a proxy between it and the recorder, drops or changes the header. Take Mcp-Method, \
             Mcp-Name, Mcp-Param-… and MCP-Protocol-Version from the message that is sent, and let proxies pass on \
             all headers that begin with Mcp-.",
        )
    };
    let sentence = format!(
        "the server refused {} because its headers do not match its body: {what}; it says: {}",
        phrases::call_at(call),
        phrases::answer(call)
    );
    let head = http.map(|one| network::at(one, network::phrases_of(one)));
    Some(
        Cause::new(certainty, sentence, advice)
            .shown(head)
            .shown_call(call),
    )
}
