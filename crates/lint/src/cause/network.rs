//! Causes in how a server is reached over the network: HTTP, authorization, sessions.

use super::Certainty::{Certain, Likely};
use super::facts::{Alike, Facts};
use super::{Cause, Evidence, Place, SHOWN, addresses, phrases, refusals};
use crate::authorization::{Kind, REFUSES};
use mcpreel_trace::event::{Event, EventKind, Step};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::http::{End, HttpExchange, SESSION};
use mcpreel_wire::text::{cut, escape, plural};

/// Columns of what a sentence quotes.
const QUOTED: usize = 200;

pub(super) fn at(http: &HttpExchange, text: impl Into<String>) -> Evidence {
    Evidence::new(Place::Frame(http.request), text)
}

/// `POST /mcp (#12)`
pub(super) fn named(http: &HttpExchange) -> String {
    let line = format!("{} {}", http.method, http.target);
    format!("{} (#{})", cut(&escape(&line), QUOTED), http.request.0)
}

pub(super) fn quoted(text: &str) -> String {
    cut(&escape(text), QUOTED)
}

/// What the bridge says of a URL at which nobody listens.
const NOBODY: &str = "nothing listens there";

const GONE: &str = "The URL is right: at that moment the server had not been started yet, had ended, or was being \
                    started anew. Look at its own log of that time; the recording of the network shows when.";

const TOKEN: &str = "Give mcpreel a token: `--header 'Authorization: Bearer …'`.";

/// How the bridge begins to say that the server was there, and gave it nothing that it can hand on.
const REACHED: [&str; 3] = ["answered with", "ended its answer", "is longer than"];

/// mcpreel stood between a host on pipes and a server with a URL, and answered in place of the server.
pub(super) fn answered_by_bridge(facts: &Facts) -> Option<Cause> {
    let ways = facts.failed.iter().flat_map(|failed| &failed.ways);
    let ways: Vec<_> = ways.filter(|way| way.is_by_bridge).collect();
    let first = ways.first()?;
    let said = first
        .said()
        .map_or(String::new(), |said| format!(": {}", quoted(said)));
    let others = ways.iter().map(|way| way.requests.len()).sum::<usize>() - 1;
    let is_all = facts.failed.iter().all(|failed| failed.is_all);
    let others = phrases::others(others, is_all, "likewise");
    let words = first.said().unwrap_or_default();
    // Who answered others was there, at this URL.
    let without_answer = facts.counts.failed + facts.open.count + facts.cancelled_by_user;
    let is_gone = words.contains(NOBODY) && facts.counts.exchanges > without_answer;
    let (before, advice) = if is_gone {
        (", though it answered others", Some(GONE))
    } else {
        ("", advice_on_words(words))
    };
    let sentence = format!(
        "the server gave {} no answer{before}; mcpreel told the client{said}{others}",
        phrases::call_at(&first.exchange)
    );
    let was_reached = REACHED.iter().any(|said| words.contains(said));
    let advice = advice.unwrap_or(if words.contains("had not answered") {
        "The host closed its side before the server answered. The recording of the network, whose name has \
         -http behind this one's, shows how far the call came."
    } else if was_reached {
        "The server was reached. What it answered is in the recording of the network, whose name has -http \
         behind this one's; why it did is in its own log."
    } else {
        "If nothing listens there, start the server, and compare the URL with what it says when it listens. \
         Else look at the recording of the network, whose name has -http behind this one's."
    });
    let cause = Cause::new(Certain, sentence, advice).shown_call(&first.exchange);
    let rest = ways
        .iter()
        .skip(1)
        .map(|way| phrases::request(&way.exchange));
    Some(cause.shown(rest))
}

/// The last tries to reach the server, all of which failed, the last first; and how many were before them.
pub(super) fn failed_tries(facts: &Facts) -> (Vec<&Event>, usize) {
    let is_try = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Unreachable { .. } | EventKind::Connected { .. }
        )
    };
    let tries: Vec<_> = facts.events_that(is_try).collect();
    let is_unreachable = |event: &&Event| matches!(event.kind, EventKind::Unreachable { .. });
    let failed = tries.iter().rev().copied().take_while(is_unreachable);
    let failed: Vec<_> = failed.collect();
    let before = tries.len() - failed.len();
    (failed, before)
}

/// The server could not be reached when the last client came.
pub(super) fn unreachable(facts: &Facts) -> Option<Cause> {
    let (failed, earlier) = failed_tries(facts);
    let last = failed.first()?;
    let EventKind::Unreachable { message, step, .. } = &last.kind else {
        return None;
    };
    let count = failed.len() as u64;
    let before = if earlier > 0 {
        ", after it had been"
    } else {
        ""
    };
    let times = if count > 1 {
        format!(" ({count} tries)")
    } else {
        String::new()
    };
    let sentence = format!(
        "the server could not be reached{before}{times}: {}",
        quoted(message)
    );
    let advice = advice_on_step(*step);
    let shown = failed.iter().take(SHOWN).rev().map(|event| {
        let place = Place::Event {
            after: event.after_seq,
            t: event.t,
        };
        Evidence::new(place, "the server was not reached")
    });
    Some(Cause::new(Certain, sentence, advice).shown(shown))
}

/// What to look at where this step on the way to the server failed.
fn advice_on_step(step: Step) -> &'static str {
    match step {
        Step::Name => {
            "Compare the name in the URL with that of the server, and look whether this machine finds it."
        }
        Step::Tcp => {
            "Start the server, and compare the URL with what it says when it listens: host, port and \
             scheme. `curl -v URL` shows the same without a host in between."
        }
        Step::Tls => {
            "Where nothing speaks TLS at that port, the URL begins with http://. Else look at the TLS that \
             the server wants: its versions, HTTP/1.1, a certificate of the client."
        }
        Step::CertificateTrust => {
            "Give the certificate of the authority that signed the server's with --ca FILE, or believe any server \
             with --insecure where it is your own."
        }
        Step::CertificateName => {
            "Put a name that the certificate is for into the URL, or let the server have one for the name \
             that is there. --insecure does without."
        }
        Step::CertificateTime => {
            "Renew the certificate of the server, or set the clock of this machine. --insecure does without."
        }
    }
}

/// The advice that the recording of the network has: the words of the bridge tell which.
fn advice_on_words(said: &str) -> Option<&'static str> {
    if let Some((_, answer)) = said.split_once(" answered HTTP ") {
        let status = answer.get(..3)?.parse().ok()?;
        return Some(match status {
            401 if answer.ends_with("it refuses the token") => OTHER_TOKEN,
            401 => TOKEN,
            _ => refusals::advice_on("POST", status),
        });
    }
    let steps = [
        ("has no address", Step::Name),
        (NOBODY, Step::Tcp),
        ("not with TLS", Step::Tls),
        ("TLS handshake", Step::Tls),
        ("only HTTP/2", Step::Tls),
        ("certificate is for another name", Step::CertificateName),
        ("certificate has expired", Step::CertificateTime),
        ("certificate is not valid yet", Step::CertificateTime),
        ("has signed its certificate", Step::CertificateTrust),
    ];
    let step = steps.iter().find(|(words, _)| said.contains(words));
    step.map(|(_, step)| advice_on_step(*step))
}

/// The proxy refused a request.
pub(super) fn refused_by_proxy(facts: &Facts) -> Option<Cause> {
    let is_refusal = |kind: &EventKind| matches!(kind, EventKind::Refused { .. });
    let event = facts.events_that(is_refusal).next()?;
    let EventKind::Refused { message, .. } = &event.kind else {
        return None;
    };
    let sentence = format!("mcpreel refused a request: {}", quoted(message));
    let is_tcp = |url: &str| url.starts_with("tcp://");
    let advice = if facts.context.url.as_deref().is_some_and(is_tcp) {
        "If the server speaks HTTP, start the proxy with its http:// URL. If a web page sent the request, nothing has \
         to be done."
    } else {
        "A web page must not reach the server through the proxy. Where the client is meant to come from there (a \
         tunnel, a host in a cloud), start the proxy with --keep-host."
    };
    let place = Place::Event {
        after: event.after_seq,
        t: event.t,
    };
    Some(Cause::new(Certain, sentence, advice).shown([Evidence::new(place, "refused")]))
}

/// The server wants a token that it did not get.
pub(super) fn unauthorized(facts: &Facts) -> Option<Cause> {
    let mut refused = facts.https.refused.iter();
    // A preflight has no token.
    let last = refused.rfind(|one| one.status == Some(401) && one.method != "OPTIONS")?;
    if facts.https.last_served > last.id {
        return None;
    }
    let sent = last
        .request_head
        .as_ref()
        .and_then(|head| head.get("authorization"));
    let is_added = adds_authorization(facts);
    let challenge = last
        .response_head
        .as_ref()
        .and_then(|head| head.get("www-authenticate"));
    let said = challenge.map_or(String::new(), |it| format!("; it says: {}", quoted(it)));
    let what = match sent {
        _ if is_added => "refused the token that --header adds to",
        Some(_) => "refused the token of",
        None => "wants a token for",
    };
    // The client is mcpreel, which does not log in.
    let is_bridge = facts.context.other_side.is_some();
    let unusable = unusable_metadata(facts);
    let unusable = unusable.filter(|_| sent.is_none() && !is_added && !is_bridge);
    let sentence = match &unusable {
        Some(why) => format!(
            "the server wants a token for {}, and the client did not get one: {why}",
            named(last)
        ),
        None => format!("the server {what} {}: 401 Unauthorized{said}", named(last)),
    };
    let advice = match (sent, challenge) {
        _ if unusable.as_ref().is_some_and(|why| why.ends_with(REFUSES)) => NO_LOGIN,
        _ if unusable.is_some() => {
            "Let the server's metadata name `resource` and `authorization_servers` (RFC 9728 section 2), or \
             give mcpreel a token: `--header 'Authorization: Bearer …'`."
        }
        _ if is_added => OTHER_TOKEN,
        _ if is_bridge => TOKEN,
        (Some(_), _) => {
            "Get a new token, and check that it is meant for this server (audience, scopes) and has not \
             expired. Behind a proxy a client that logs in by itself compares the server's `resource` \
             with the URL it dials: give it a token with --header, or let the host log in directly."
        }
        (None, Some(_)) => {
            "Log in with the host, or give mcpreel a token: `--header 'Authorization: Bearer …'`. \
             Hosts that log in by themselves compare the server's `resource` with the URL they dial, \
             which a proxy has changed."
        }
        (None, None) => {
            "Give mcpreel a token: `--header 'Authorization: Bearer …'`. The server does not say \
             where to get one (WWW-Authenticate is missing), so no host can log in by itself."
        }
    };
    let steps = facts.https.authorization.iter();
    let told = steps.rev().take(SHOWN).rev().map(|step| {
        let place = step.frame.map_or(Place::Session, Place::Frame);
        let said = match &step.mismatches[..] {
            [] => step.said.clone(),
            wrong if step.frame.is_none() => format!("{}; {}", step.said, wrong.join("; ")),
            wrong => wrong.join("; "),
        };
        Evidence::new(place, format!("{}: {said}", step.kind.as_str()))
    });
    Some(Cause::new(Certain, sentence, advice).shown(told))
}

const OTHER_TOKEN: &str = "Give --header another token: this one is not meant for this server (audience, scopes), \
                           has expired, or is not whole. The word before it counts too: `Authorization: Bearer …`.";

const NO_LOGIN: &str = "A client that logs in by itself compares the server's `resource` with the URL that it dials, \
                        which is the recorder's now. Let the host log in at the server's own URL once, and give \
                        the token to the recorder: `mcpreel proxy URL --header 'Authorization: Bearer …'`. If the \
                        client refuses without the recorder too, let the server name the URL that clients dial.";

/// Why a client that was asked for a token cannot use the metadata that it got, if it went no further.
fn unusable_metadata(facts: &Facts) -> Option<String> {
    let steps = &facts.https.authorization;
    let challenge = steps
        .iter()
        .rposition(|step| step.kind == Kind::Challenge)?;
    let mut seen = steps[challenge..]
        .iter()
        .filter(|step| step.frame.is_some());
    let last = seen.next_back()?;
    let is_metadata = last.kind == Kind::ResourceMetadata;
    (is_metadata && !last.mismatches.is_empty()).then(|| last.mismatches.join("; "))
}

/// Whether the proxy adds a token to requests, as it was told to.
fn adds_authorization(facts: &Facts) -> bool {
    let is_token = |kind: &EventKind| match kind {
        EventKind::Edited { old, new, .. } => {
            let name = new.split_once(':').map_or("", |(name, _)| name);
            old.is_empty() && name.eq_ignore_ascii_case("authorization")
        }
        _ => false,
    };
    facts.events_that(is_token).next().is_some()
}

/// The requests that were refused because the server does not know their session any more, the first of
/// them first: those before the client began a new session, and those after that.
pub(super) fn unknown_sessions(facts: &Facts) -> (Vec<&HttpExchange>, Vec<&HttpExchange>) {
    let with_session = |one: &&HttpExchange| {
        let head = one.request_head.as_ref();
        head.is_some_and(|head| head.get(SESSION).is_some())
    };
    // Some servers say it with another status.
    let is_lost = |one: &&HttpExchange| match one.status {
        Some(400 | 404 | 410) => true,
        Some(401 | 403) => false,
        _ => says_session_is_gone(facts.https.said(one.id)),
    };
    let refused = facts.https.refused.iter();
    let refused: Vec<_> = refused.filter(with_session).filter(is_lost).collect();
    let first = refused.first().map_or(0, |one| one.id);
    // A 400 says many things; that the session is gone it says in words.
    let says = facts.troubled().any(|call| {
        let answered = call.answered().unwrap_or_default();
        call.http >= first && answered.to_ascii_lowercase().contains("session")
    });
    let told = refused.into_iter();
    let told = told.filter(|one| one.status != Some(400) || says);
    told.partition(|one| one.id < facts.https.last_initialize)
}

/// Whether an error says that the server does not know a session any more.
pub(super) fn says_session_is_gone(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    let gone = [
        "not found",
        "not find",
        "no transport",
        "unknown",
        "expired",
        "invalid",
        "no valid",
        "no such",
        "not exist",
    ];
    said.contains("session") && gone.iter().any(|word| said.contains(word))
}

/// A call that was answered with an error about its session, and with success of HTTP, if nothing was
/// answered after it.
fn session_error(facts: &Facts) -> Option<&Exchange> {
    // A tool of a server without sessions of HTTP may have sessions of its own.
    let has_session = |one: &HttpExchange| {
        let head = one.response_head.as_ref();
        head.is_some_and(|head| head.get(SESSION).is_some())
    };
    if !facts.https.opening.iter().any(has_session) {
        return None;
    }
    facts.troubled().find(|call| {
        let is_refused = facts.https.refused.iter().any(|one| one.id == call.http);
        call.http > facts.https.last_initialize
            && call.status == Status::Error
            && says_session_is_gone(call.answered().unwrap_or_default())
            && !is_refused
            && !facts.survived(call.request.0)
    })
}

/// `POST /mcp (#5) was refused with 404, and 2 requests after it`.
pub(super) fn refusals(refused: &[&HttpExchange]) -> String {
    let (first, more) = (refused[0], refused.len() as u64 - 1);
    let status = first.status.unwrap_or_default();
    let again = phrases::if_any(more, |n| format!(", and {} after it", plural(n, "request")));
    format!("{} was refused with {status}{again}", named(first))
}

/// The requests that were refused for their session, and after which the client began no new session.
pub(super) fn refused_sessions(facts: &Facts) -> Vec<&HttpExchange> {
    unknown_sessions(facts).1
}

/// Whether a cause of HTTP tells why calls failed: the server had lost their session, and the client has begun
/// a new one, or a guard refused their names.
pub(super) fn has_http_cause(facts: &Facts, way: &Alike) -> bool {
    let (renewed, _) = unknown_sessions(facts);
    let is_it = |one: &&HttpExchange| one.id == way.exchange.http;
    let refused = facts.https.refused.iter().find(is_it);
    let is_guarded = refused.is_some_and(|one| addresses::is_reported_here(facts, one));
    renewed.iter().any(is_it) || is_guarded && addresses::name_refused(facts).is_some()
}

/// The server does not know a session any more, and the client has begun a new one, as it should.
pub(super) fn session_renewed(facts: &Facts) -> Option<Cause> {
    let (refused, _) = unknown_sessions(facts);
    let first = refused.first()?;
    let sentence = format!(
        "the server no longer knew the session: {}, and the client began a new one",
        refusals(&refused)
    );
    let advice = "The server was restarted or has dropped the session. What it remembered of the session is gone; \
                  the client has to send the refused request again.";
    let cause = Cause::new(Certain, sentence, advice).shown([at(first, phrases_of(first))]);
    let calls = facts.troubled();
    let calls = calls.filter(|call| refused.iter().any(|one| one.id == call.http));
    Some(cause.shown(calls.map(phrases::request)))
}

/// The server does not know a session any more, and the client goes on with it.
pub(super) fn session_lost(facts: &Facts) -> Option<Cause> {
    let refused = refused_sessions(facts);
    let Some(first) = refused.first() else {
        if let Some(cause) = session_of_stream_unknown(facts) {
            return Some(cause);
        }
        let call = session_error(facts)?;
        let sentence = format!(
            "the server no longer knows the session: {} was answered with {}, and the client never began a \
             new one",
            phrases::call_at(call),
            phrases::answer(call)
        );
        return Some(Cause::new(Likely, sentence, WRONG_STATUS).shown_call(call));
    };
    let calls = facts.troubled().filter(|call| call.http >= first.id);
    let sentence = format!(
        "the server no longer knows the session: {}, and the client never began a new one",
        refusals(&refused)
    );
    let advice = if first.status == Some(404) {
        "The server was restarted or has dropped the session. A client has to send `initialize` \
         again after a 404: restart the host, and report it to its makers. A server that may be \
         restarted keeps its sessions elsewhere, or needs none."
    } else {
        WRONG_STATUS
    };
    let cause = Cause::new(Certain, sentence, advice).shown([at(first, phrases_of(first))]);
    Some(cause.shown(calls.map(phrases::request)))
}

/// The requests to the endpoint of a stream (HTTP+SSE, 2024-11-05) that were refused because the server does
/// not know the session, and after which the client opened no other stream.
pub(super) fn sessions_of_streams(facts: &Facts) -> Vec<&HttpExchange> {
    let https = &facts.https;
    let last_stream = https.endpoints.iter().map(|(stream, _)| stream.id).max();
    let refused = https.refused.iter().filter(|one| {
        let mut streams = https.endpoints.iter().map(|(stream, _)| stream);
        one.method == "POST"
            && last_stream < Some(one.id)
            && streams.any(|stream| stream.conversation == one.conversation)
            && says_session_is_gone(https.said(one.id))
    });
    refused.collect()
}

/// The server does not know the session whose stream of events (HTTP+SSE, 2024-11-05) the client reads.
fn session_of_stream_unknown(facts: &Facts) -> Option<Cause> {
    let refused = sessions_of_streams(facts);
    let first = *refused.first()?;
    let streams = facts.https.endpoints.iter().map(|(stream, _)| stream);
    let of_session = |one: &&HttpExchange| one.conversation == first.conversation;
    let stream = streams.rev().find(of_session)?;
    let (said, refusals) = (facts.https.says(first.id), refusals(&refused));
    let served = facts.https.last_served;
    // A process that has lost a session does not serve it again.
    let is_several = served < stream.id || served > first.id;
    let (sentence, certainty, advice) = if is_several {
        let sentence = format!(
            "the server does not know the session of its own stream, {}: {refusals}{said}; several processes \
             serve one URL, and the POST and the GET reached different processes",
            named(stream)
        );
        (sentence, Likely, SEVERAL_PROCESSES)
    } else {
        let sentence = format!(
            "the server no longer knows the session: {refusals}{said}, and the client opened no other stream"
        );
        (sentence, Certain, STREAM_LOST)
    };
    let shown = [stream].into_iter().chain(refused.iter().copied());
    let shown = shown.map(|one| at(one, phrases_of(one)));
    Some(Cause::new(certainty, sentence, advice).shown(shown))
}

const SEVERAL_PROCESSES: &str = "Let one process serve the URL (uvicorn: `--workers 1`), or let the load balancer send \
                                 all requests of a client to one process. Streamable HTTP without sessions needs \
                                 neither.";

const STREAM_LOST: &str = "The server was restarted or has dropped the session. A client of HTTP+SSE has to open its \
                           stream again: restart the host.";

/// The advice where a session is gone, and the server says so with another status than 404.
const WRONG_STATUS: &str = "The server was restarted or has dropped the session. It has to answer 404, after which \
                            a client sends `initialize` again: report it to its makers, and restart the host \
                            meanwhile.";

/// `POST /mcp → 404`: the request and its response in a few words.
pub(super) fn phrases_of(http: &HttpExchange) -> String {
    let events = phrases::if_any(http.events, |n| format!(", {}", plural(n, "event")));
    let end = match http.ended {
        Some(End::Cut) => ", cut off",
        Some(End::Left) => ", until the client left",
        Some(End::Unfinished) => ", open when the recording ended",
        _ => "",
    };
    let line = quoted(&format!("{} {}", http.method, http.target));
    match http.status {
        Some(status) => format!("{line} → {status}{events}{end}"),
        None => format!("{line} → no response{end}"),
    }
}
