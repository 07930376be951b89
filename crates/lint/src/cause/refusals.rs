//! Causes in what HTTP says in place of a message: a status that refuses, a response without an answer.

use super::Certainty::Certain;
use super::facts::{Facts, Https};
use super::network::{at, named, phrases_of, quoted, sessions_of_streams, unknown_sessions};
use super::{Cause, addresses, phrases};
use mcpreel_trace::correlator::NO_ANSWER;
use mcpreel_trace::exchange::{Exchange, PROBE, Status};
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::text::escape;

/// A request was refused with an HTTP status, and no message says why.
pub(super) fn http_refused(facts: &Facts) -> Option<Cause> {
    let (renewed, lost) = unknown_sessions(facts);
    let of_sessions = [renewed, lost, sessions_of_streams(facts)].concat();
    let refused = facts.https.refused.iter().filter(|one| {
        let is_told = one.status == Some(401)
            || of_sessions.iter().any(|it| it.id == one.id)
            || addresses::is_reported_here(facts, one);
        !is_told && is_refusal(facts, one)
    });
    let mut refused: Vec<_> = refused.collect();
    // Whoever was redirected and then refused followed that: the refusal is what is wrong.
    let is_redirect = |one: &HttpExchange| matches!(one.status, Some(300..400));
    if !refused.iter().all(|one| is_redirect(one)) {
        refused.retain(|one| !is_redirect(one));
    }
    let first = refused.first()?;
    let status = first.status.unwrap_or_default();
    let response = first.response_head.as_ref();
    let location = response.and_then(|head| head.get("location"));
    let to = location.map_or(String::new(), |url| format!(" to {}", quoted(url)));
    let more = phrases::if_any(refused.len() as u64 - 1, |n| format!(", like {n} more"));
    let word = if (300..400).contains(&status) {
        "redirected"
    } else {
        "refused"
    };
    let said = match &*facts.https.says(first.id) {
        "" => ", and no message".to_owned(),
        said => said.to_owned(),
    };
    let sentence = format!("{} was {word} with {status}{to}{more}{said}", named(first));
    let advice = advice_on(&first.method, status);
    let shown = refused.iter().map(|one| at(one, phrases_of(one)));
    Some(Cause::new(Certain, sentence, advice).shown(shown))
}

/// Whether a request that was refused should have been served, and nothing else tells of it.
fn is_refusal(facts: &Facts, one: &HttpExchange) -> bool {
    let asks = one.has_messages && one.method == "POST" || requests_legacy_stream(facts, one);
    let mut troubled = facts.troubled();
    let is_message = troubled.any(|call| call.http == one.id && call.status == Status::Error);
    // Who looks for the newer era is refused by servers of the older one; who looks for streamable
    // HTTP, by servers that only have HTTP+SSE.
    let mut opening = facts.opening.iter().filter(|call| call.http == one.id);
    let is_probe = opening.any(|call| &*call.method == PROBE || call.status == Status::Probe);
    // The client went where it was sent, and nothing is wrong with that.
    let is_followed = one.is_redirected() && facts.https.last_served > one.id;
    // What we answer in place of a server is told as its being out of reach.
    let response = one.response_head.as_ref();
    let is_ours = response.is_some_and(|head| head.is_from_recorder());
    asks && !is_message && !is_probe && !is_followed && !is_ours
}

/// Whether a client of 2024-11-05 asks for its stream of events, and nobody was ever served.
fn requests_legacy_stream(facts: &Facts, one: &HttpExchange) -> bool {
    let request = one.request_head.as_ref();
    let mut accepted = request.into_iter().flat_map(|head| head.list("accept"));
    let is_opening = one.method == "GET" && one.session.is_none();
    is_opening
        && facts.https.last_served == 0
        && accepted.any(|kind| kind.starts_with("text/event-stream"))
}

pub(super) const NOT_ACCEPTABLE: &str = "The client has to send `Accept: application/json, text/event-stream`; \
                                         some servers refuse `*/*`.";

/// What to look at where the request was refused with this status.
pub(super) fn advice_on(method: &str, status: u16) -> &'static str {
    match status {
        400 | 404..=406 if method == "GET" => {
            "The client asks for a stream of HTTP+SSE (2024-11-05). Most servers speak streamable HTTP: set the type \
             of this one in the host's configuration to `http` (also called `streamable-http`). Else check the path \
             of the URL, which for HTTP+SSE is often /sse."
        }
        300..400 => {
            "Give mcpreel the URL that the server redirects to: a client that follows the redirect goes \
             past the recorder, and a POST may become a GET on the way."
        }
        403 => {
            "The server, or a gateway in front of it, does not allow this request: the token lacks a right, or the \
             client comes from a place, a name (`Host`) or a page (`Origin`) that is not allowed."
        }
        404 | 405 => {
            "Check the path of the URL: servers listen at /mcp, or at /sse for the older transport. A \
             proxy in front may have cut off a prefix."
        }
        406 => NOT_ACCEPTABLE,
        413 => "The request is too large for the server or a proxy in front: raise its limit.",
        429 => "The server wants fewer requests: wait as long as Retry-After says.",
        502..=504 | 520..=530 => {
            "A gateway in front of the server has no answer from it: look whether the server runs, and at \
             its log."
        }
        500.. => "Look at the server's log at that moment: it failed before it could answer.",
        _ => {
            "Look at the body of the response (`mcpreel show` with that number): it often says why."
        }
    }
}

/// A call got a response without an answer: another document, or nothing.
pub(super) fn no_answer_in_response(facts: &Facts) -> Option<Cause> {
    // Who looks for streamable HTTP where there is only HTTP+SSE goes on with that.
    let is_probe = |(call, http): &&(Exchange, HttpExchange)| {
        &*call.method == "initialize" && facts.https.last_initialize > http.id
    };
    let all = facts.https.answerless.iter();
    let meant: Vec<_> = all.filter(|one| !is_probe(one)).collect();
    let (call, http) = meant.first()?;
    let answered = call.answered().unwrap_or_default();
    let received = escape(answered.strip_suffix(NO_ANSWER).unwrap_or(answered));
    let is_all = facts.https.answerless.len() < Https::ANSWERLESS;
    let more = phrases::others(meant.len() - 1, is_all, "had no answer either");
    let sentence = format!(
        "no answer came to {}: its response was {received}{more}",
        phrases::call_at(call)
    );
    let cause =
        Cause::new(Certain, sentence, advice_without_answer(http)).shown([phrases::request(call)]);
    let shown = meant.iter().map(|(_, http)| at(http, phrases_of(http)));
    Some(cause.shown(shown))
}

/// What to look at where the response `http` came in place of an answer.
fn advice_without_answer(http: &HttpExchange) -> &'static str {
    let kind = http.content_type.as_deref().unwrap_or_default();
    match http.status {
        Some(202 | 204) => {
            "The server takes the request for a notification, or means to answer elsewhere. It has to answer \
             on the response to the POST of the request, with JSON or with an event."
        }
        _ if http.is_stream() => {
            "The server ended the stream before the answer was sent: look at its log at that moment. A server \
             that lets its client come back for the answer has to give its events an id."
        }
        _ if kind == "text/html" => {
            "The URL is that of a web page: of another server, of a login, or of a proxy. Compare host, port \
             and path with those of the server, which often listens at /mcp, or at /sse for the older transport."
        }
        _ if kind == "application/json" => {
            "Look at the body (`mcpreel show` with that number): it has to be a JSON-RPC message with the id of \
             the request. Where it is that of another API, the URL is wrong."
        }
        _ => {
            "Look at the server's log at that moment, and at the URL: a handler that fails without an answer, or \
             something else than an MCP server, responds like this."
        }
    }
}
