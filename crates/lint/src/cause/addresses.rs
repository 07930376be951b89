//! Causes in names and paths: one side is called by another than it knows.

use super::Certainty::Certain;
use super::facts::Facts;
use super::{Cause, network, phrases};
use crate::quote;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::http::reference::{is_same_origin, split};
use regex::Regex;
use std::sync::LazyLock;

/// The endpoint to which a client of 2024-11-05 is told to send is not there, or of another origin.
pub(super) fn endpoint_elsewhere(facts: &Facts) -> Option<Cause> {
    unused_endpoints(facts).find_map(|(stream, endpoint)| {
        not_there(facts, stream, endpoint)
            .or_else(|| of_another_origin(facts, stream, endpoint))
            .or_else(|| in_a_compressed_stream(facts, stream, endpoint))
    })
}

/// The endpoints to which no message was sent with success, the last first, with their streams. A server
/// that was reached once was reached at the right place.
fn unused_endpoints(facts: &Facts) -> impl Iterator<Item = &(HttpExchange, Box<str>)> {
    let named = facts.https.endpoints.iter().rev();
    named.filter(|(stream, _)| facts.https.last_served < stream.id)
}

/// The first message to the endpoint that the event on `stream` names, if it is refused for its address.
fn refused_at_endpoint<'f>(facts: &'f Facts, stream: &HttpExchange) -> Option<&'f HttpExchange> {
    let mut refused = facts.https.refused.iter();
    refused.find(|one| {
        let is_meant = one.method == "POST" && one.conversation == stream.conversation;
        let is_for_address = matches!(one.status, Some(404 | 405))
            && !network::says_session_is_gone(facts.https.said(one.id));
        is_meant && one.id > stream.id && is_for_address
    })
}

fn not_there(facts: &Facts, stream: &HttpExchange, endpoint: &str) -> Option<Cause> {
    let refused = refused_at_endpoint(facts, stream)?;
    let sentence = format!(
        "the server told the client to send to {}, and nothing is there: {} was refused with {}",
        network::quoted(endpoint),
        network::named(refused),
        refused.status.unwrap_or_default()
    );
    let advice = "A proxy in front of the server adds a part to the path or cuts one off, and the server does not \
                  know. Tell the server the path under which clients reach it (Python SDK: `mount_path`; TypeScript \
                  SDK: the first argument of `SSEServerTransport`), or let the proxy forward the named path too.";
    Some(Cause::new(Certain, sentence, advice).shown(shown(&[stream, refused])))
}

fn of_another_origin(facts: &Facts, stream: &HttpExchange, endpoint: &str) -> Option<Cause> {
    let meant = origin_of(endpoint)?;
    let url = facts.context.url.as_deref()?;
    let dialled = header(stream, "host")?;
    // Behind a tunnel the client dials with another scheme than the tunnel.
    let of_client = ["http", "https"].map(|scheme| format!("{scheme}://{dialled}"));
    let is_ours = of_client.iter().any(|own| is_same_origin(own, meant));
    if is_ours || is_same_origin(origin_of(url)?, meant) {
        return None;
    }
    let sentence = format!(
        "the server told the client to send to {}, which has another origin than the URL that the client \
         dials ({}) and than the server's ({})",
        network::quoted(endpoint),
        quote::text(dialled),
        quote::text(url)
    );
    let advice = "Clients refuse such an endpoint, or go past the recorder. Let the server send a path without an \
                  origin (mcp-go: `WithUseFullURLForMessageEndpoint(false)`). A server that makes the origin from \
                  `Host` needs the proxy in front of it to pass on `Host` and `X-Forwarded-Proto`.";
    Some(Cause::new(Certain, sentence, advice).shown(shown(&[stream])))
}

/// The proxy puts its own origin into the event, but not in a compressed stream.
fn in_a_compressed_stream(facts: &Facts, stream: &HttpExchange, endpoint: &str) -> Option<Cause> {
    let head = stream.response_head.as_ref().filter(|it| it.is_encoded())?;
    let coding = head.get("content-encoding")?;
    let url = facts.context.url.as_deref()?;
    if !is_same_origin(origin_of(endpoint)?, origin_of(url)?) {
        return None;
    }
    let sentence = format!(
        "the server told the client to send to {}, past the recorder: the stream is compressed ({}), and the \
         recorder cannot change the endpoint in a compressed stream",
        network::quoted(endpoint),
        quote::text(coding)
    );
    let advice = "Let the server name the endpoint by its path alone, or send its streams of events without \
                  Content-Encoding.";
    Some(Cause::new(Certain, sentence, advice).shown(shown(&[stream])))
}

fn shown(exchanges: &[&HttpExchange]) -> Vec<super::Evidence> {
    let exchanges = exchanges.iter();
    let shown = exchanges.map(|one| network::at(one, network::phrases_of(one)));
    shown.collect()
}

/// `None` if the URL is relative.
fn origin_of(url: &str) -> Option<&str> {
    let (origin, _) = split(url)?;
    Some(origin).filter(|origin| !origin.starts_with("//"))
}

fn header<'h>(http: &'h HttpExchange, name: &str) -> Option<&'h str> {
    http.request_head.as_ref()?.get(name)
}

/// The header that a guard of the server refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guarded {
    Host,
    Origin,
}

/// Whether a cause of this file reports a refused request.
pub(super) fn is_reported_here(facts: &Facts, refused: &HttpExchange) -> bool {
    let is_it = |one: &HttpExchange| one.id == refused.id;
    guard_of(facts, refused).is_some()
        || unused_endpoints(facts)
            .any(|(stream, _)| refused_at_endpoint(facts, stream).is_some_and(is_it))
}

/// Which header the server refuses a request for, as far as it says so.
fn guard_of(facts: &Facts, one: &HttpExchange) -> Option<Guarded> {
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| quote::expression(r"(?i)\b(?:(host)|(origin))(?:s|name)?\b"));
    if !matches!(one.status, Some(403 | 421)) {
        return None;
    }
    let named = NAMED.captures(facts.https.said(one.id));
    match named {
        Some(named) if named.get(1).is_some() => Some(Guarded::Host),
        Some(_) => Some(Guarded::Origin),
        None => (one.status == Some(421)).then_some(Guarded::Host),
    }
}

/// A guard of the server against foreign names refuses requests.
pub(super) fn name_refused(facts: &Facts) -> Option<Cause> {
    let refused = facts.https.refused.iter();
    let guarded = refused.filter_map(|one| Some((one, guard_of(facts, one)?)));
    let (last, guard) = guarded.clone().next_back()?;
    if facts.https.last_served > last.id {
        return None;
    }
    let alike = guarded.filter(|(_, other)| *other == guard);
    let refused: Vec<_> = alike.map(|(one, _)| one).collect();
    let edited = edited_host(facts);
    let (sent, advice) = match guard {
        Guarded::Host => (
            edited.or(header(last, "host")),
            advice_on_host(edited.is_some()),
        ),
        Guarded::Origin => (
            header(last, "origin"),
            "Let the server allow the client's origin (Python SDK: `allowed_origins` in \
             `TransportSecuritySettings`; TypeScript SDK: `allowedOrigins`), and requests without `Origin`: a client \
             that is no browser need not send it.",
        ),
    };
    let name = match guard {
        Guarded::Host => "Host",
        Guarded::Origin => "Origin",
    };
    let said = facts.https.says(last.id);
    let guard_says = sent.map_or_else(
        || format!("the server refuses requests without {name}"),
        |sent| format!("a guard of the server refuses {name} {}", quote::text(sent)),
    );
    let sentence = format!("{guard_says}: {}{said}", network::refusals(&refused));
    let cause = Cause::new(Certain, sentence, advice).shown(shown(&refused));
    let calls = facts.troubled();
    let calls = calls.filter(|call| refused.iter().any(|one| one.id == call.http));
    Some(cause.shown(calls.map(phrases::request)))
}

/// The name by which the proxy calls the server, if it puts it in the place of its own.
fn edited_host(facts: &Facts) -> Option<&str> {
    facts.events.iter().find_map(|event| match &event.kind {
        EventKind::Edited { what, new, .. } if what.eq_ignore_ascii_case("host") => Some(&**new),
        _ => None,
    })
}

fn advice_on_host(is_edited: bool) -> &'static str {
    if is_edited {
        "The proxy sends the name in the server's URL, which the server does not take for its own. Put a name into \
         the URL that it knows (127.0.0.1, localhost), or add this one to those that it allows (Python SDK: \
         `allowed_hosts` in `TransportSecuritySettings`; TypeScript SDK: `allowedHosts`)."
    } else {
        "The server gets the name that the client dials. Start the proxy without --keep-host, which then sends the \
         name in the server's URL, or add this one to those that the server allows (Python SDK: `allowed_hosts` in \
         `TransportSecuritySettings`; TypeScript SDK: `allowedHosts`)."
    }
}
