//! Causes in connections over the network that break, and in streams of events on them.

use super::Certainty::{self, Certain, Likely, Possible};
use super::facts::Facts;
use super::{AT_ONCE_NS, Cause, SECOND_NS, network, phrases};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::text::{duration, plural};

/// A stream that was silent for so long when it broke was most likely broken for that, nanoseconds: the
/// shortest limits of proxies are near.
const IDLE_NS: u64 = 25 * SECOND_NS;

fn end_of(http: &HttpExchange) -> Moment {
    http.t_last.unwrap_or(http.t_request)
}

/// Each call that is lost because the response that would have held its answer was cut off, and that
/// response.
fn calls_cut_off(facts: &Facts) -> Vec<(&Exchange, &HttpExchange)> {
    let cut = &facts.https.cut;
    let lost = facts.lost.exchanges.iter();
    let cut_off = lost.filter_map(|call| {
        // In HTTP+SSE all answers of a conversation come on one stream, which names no session.
        let carries_all = |one: &&HttpExchange| {
            let is_nameless = one.method == "GET" && one.session.is_none();
            let is_meant = one.conversation == call.conversation;
            is_nameless && is_meant && one.t_last >= Some(call.t_request)
        };
        let own = cut.iter().find(|one| one.id == call.http);
        Some((call, own.or_else(|| cut.iter().find(carries_all))?))
    });
    cut_off.collect()
}

/// The connections broke with calls in flight, and whoever came after that found no server, or another
/// one: the server was killed, or has crashed.
pub(super) fn connections_broke(facts: &Facts) -> Option<Cause> {
    let (failed, _) = network::failed_tries(facts);
    let refused = network::refused_sessions(facts);
    let since = [
        failed.last().map(|event| event.t),
        refused.first().map(|http| http.t_request),
    ];
    let since = since.into_iter().flatten().min()?;
    let mut cut_off = calls_cut_off(facts);
    // Where the server has answered after the break, what failed later has a reason of its own.
    let served = facts.https.t_last_served;
    cut_off.retain(|(_, http)| served <= end_of(http) && end_of(http) <= since);
    let t = cut_off.iter().map(|(_, http)| end_of(http)).max()?;
    cut_off.retain(|(_, http)| t.ns_since(end_of(http)) < AT_ONCE_NS);
    let calls = cut_off.iter().map(|(call, _)| *call);
    let sentence = format!(
        "the connections broke {} into the recording, with {} in flight: {}; after that {}",
        duration(t.0),
        plural(cut_off.len() as u64, "call"),
        phrases::calls(calls.clone()),
        found_after(&failed, refused.first().copied())
    );
    let advice = "The server, or what is in front of it, was killed, has crashed or was restarted: look at its \
                  log at that moment, and at whoever starts it. Later failures are consequences of this.";
    let tries = failed
        .last()
        .map(|event| phrases::event(event, "the server was not reached"));
    let response = |http: &HttpExchange| network::at(http, network::phrases_of(http));
    let cause = Cause::new(Certain, sentence, advice)
        .shown(calls.take(2).map(phrases::request))
        .shown(tries)
        .shown(refused.first().map(|http| response(http)));
    Some(cause.shown(cut_off.iter().map(|(_, http)| response(http))))
}

/// `the server could not be reached (3 tries)`, and what another server said, in the order of time.
fn found_after(failed: &[&Event], refused: Option<&HttpExchange>) -> String {
    let unreachable = failed.last().map(|first| {
        let tries = match failed.len() {
            1 => String::new(),
            tries => format!(" ({tries} tries)"),
        };
        let said = format!("the server could not be reached{tries}");
        (first.t, said)
    });
    let another = refused.map(|http| {
        let (request, status) = (network::named(http), http.status.unwrap_or_default());
        let said = format!(
            "a server came that does not know the session: it refused {request} with {status}"
        );
        (http.t_request, said)
    });
    let mut found: Vec<_> = unreachable.into_iter().chain(another).collect();
    found.sort();
    let found: Vec<_> = found.into_iter().map(|(_, said)| said).collect();
    found.join(", and ")
}

/// The connection broke while a call was being answered.
pub(super) fn stream_cut(facts: &Facts) -> Option<Cause> {
    if connections_broke(facts).is_some() {
        return None;
    }
    let (call, http) = *calls_cut_off(facts).last()?;
    let end = end_of(http);
    let after = duration(end.ns_since(call.t_request));
    let is_its_own = http.id == call.http;
    let sentence = format!(
        "the connection broke while {} was being answered, {after} after it was asked: {}",
        phrases::call_at(call),
        match http.events {
            _ if !is_its_own => format!(
                "{} was cut off, on which answers come",
                network::named(http)
            ),
            0 => "nothing of the answer had come whole".to_owned(),
            events => format!("{} had come", plural(events, "event")),
        }
    );
    let (certainty, advice) = judge_cut(facts, http, is_its_own);
    let cause = Cause::new(certainty, sentence, advice).shown([phrases::request(call)]);
    Some(cause.shown([network::at(http, network::phrases_of(http))]))
}

/// How certain the reason is for which the response `http` was cut off, and what to look at.
fn judge_cut(facts: &Facts, http: &HttpExchange, is_its_own: bool) -> (Certainty, &'static str) {
    let silent = end_of(http).ns_since(http.t_first.or(http.t_head).unwrap_or(http.t_request));
    if is_its_own && http.events <= 1 && silent >= IDLE_NS {
        (
            Likely,
            "Nothing was sent for so long that a proxy, a load balancer or the client gave up. Let the \
             server send a comment (`: keepalive`) every 15 seconds, or raise the limit in between.",
        )
    } else if facts.https.last_served == 0 && is_plain(facts) {
        (
            Certain,
            "The server has never answered. Where it speaks TLS, the URL begins with https://. Else it, or \
             what is in between, ended the connection: look at the server's log at that moment.",
        )
    } else {
        (
            Certain,
            "The server, or what is in between, ended it: look at the server's log at that moment. Where \
             it is a limit of a proxy, raise it.",
        )
    }
}

fn is_plain(facts: &Facts) -> bool {
    let url = facts.context.url.as_deref();
    url.is_some_and(|url| url.starts_with("http://"))
}

fn lived_ns(http: &HttpExchange) -> u64 {
    end_of(http).ns_since(http.t_request)
}

/// Streams of the server to its client break when they are idle.
pub(super) fn idle_stream_cut(facts: &Facts) -> Option<Cause> {
    let streams = facts.https.cut.iter();
    let streams = streams.filter(|one| one.method == "GET" && one.is_stream());
    let long: Vec<_> = streams
        .clone()
        .filter(|one| lived_ns(one) >= IDLE_NS)
        .collect();
    let alike = cut_alike(streams);
    let is_alike = alike.len() >= long.len();
    let cut = if is_alike { alike } else { long };
    let first = cut.first().filter(|_| cut.len() > 1)?;
    let (which, events) = if is_alike {
        ("each", ", without an event")
    } else {
        ("the first", "")
    };
    let names = match &*names_in(first) {
        "" => String::new(),
        names => format!(" ({names})"),
    };
    let sentence = format!(
        "the server, or a proxy in front of it{names}, cut off {} streams of events, {which} {} after it was \
         opened{events}: {}",
        cut.len(),
        duration(lived_ns(first)),
        network::named(first)
    );
    let advice = "Something between ends a stream after that time (nginx: `proxy_read_timeout`). Where it counts \
                  silence, let the server send a comment (`: keepalive`) more often than that, every 15 seconds \
                  for most; where it counts the whole duration, raise the limit.";
    let shown = cut
        .iter()
        .map(|one| network::at(one, network::phrases_of(one)));
    Some(Cause::new(Likely, sentence, advice).shown(shown))
}

/// The streams without an event that lived as long as the last of them, one after another: a limit ends them.
/// Streams that end at one moment have another reason.
fn cut_alike<'f>(streams: impl Iterator<Item = &'f HttpExchange>) -> Vec<&'f HttpExchange> {
    let silent = streams.filter(|one| one.events == 0 && lived_ns(one) >= SECOND_NS);
    let mut alike: Vec<_> = silent.collect();
    let limit = alike.last().map_or(0, |last| lived_ns(last));
    alike.retain(|one| lived_ns(one).abs_diff(limit) <= limit / 10);
    alike.dedup_by(|later, before| later.t_request < end_of(before));
    alike
}

/// The client opens its stream of events again, and the server refuses it: it has another of the session.
pub(super) fn stream_taken(facts: &Facts) -> Option<Cause> {
    let is_taken = |one: &&HttpExchange| {
        let said = facts.https.said(one.id).to_ascii_lowercase();
        let is_told =
            matches!(one.status, Some(409)) || one.status == Some(400) && says_taken(&said);
        one.method == "GET" && one.session.is_some() && is_told
    };
    let mut refused: Vec<_> = facts.https.refused.iter().filter(is_taken).collect();
    let last = *refused.last()?;
    refused.retain(|one| one.session == last.session);
    let first = *refused.first()?;
    let alone = facts.https.alone.iter();
    let mut streams = alone.filter(|one| one.is_stream() && one.session == last.session);
    let came_again = streams.clone().any(|one| one.id > last.id);
    let held = streams.rfind(|one| one.id < first.id);
    let said = network::quoted(facts.https.said(first.id));
    let said = if said.is_empty() {
        said
    } else {
        format!(" ({said})")
    };
    let (again, before, advice) = held.map_or_else(none_before, |held| {
        let (before, advice) = held_before(held, first);
        (" again", before, advice)
    });
    let sentence = format!(
        "the client could not open its stream of events{again}: {}{said}; {before}",
        network::refusals(&refused)
    );
    let certainty = if came_again { Possible } else { Certain };
    let shown = held.into_iter().chain(refused.iter().copied());
    let shown = shown.map(|one| network::at(one, network::phrases_of(one)));
    Some(Cause::new(certainty, sentence, advice).shown(shown))
}

/// Whether a 400 to a GET says that there may be one stream only.
fn says_taken(said: &str) -> bool {
    let is_of_another = ["already", "only one", "exists", "another"];
    said.contains("multiple get requests")
        || said.contains("stream") && is_of_another.iter().any(|word| said.contains(word))
}

fn none_before() -> (&'static str, String, &'static str) {
    (
        "",
        "no earlier stream of this session is on record".to_owned(),
        "The server already has a stream of this session, which was opened past the recorder or before the \
         recording began. Two clients must not share a session.",
    )
}

const TAKEN_ADVICE: &str = "The server still holds the stream before, and has not noticed that its reader has gone. \
                            What it sends by itself does not reach the client meanwhile. Let the server take the \
                            newer stream in place of the older, and send comments (`: keepalive`), which fail \
                            where nobody reads.";

/// What became of the stream `held` that is in the way of the request `refused`, and what to do about it.
fn held_before(held: &HttpExchange, refused: &HttpExchange) -> (String, &'static str) {
    let stream = network::named(held);
    match held.t_last.filter(|_| held.ended.is_some()) {
        Some(end) if end <= refused.t_request => {
            let ago = duration(refused.t_request.ns_since(end));
            let said = format!("the stream before, {stream}, had ended {ago} earlier");
            (said, TAKEN_ADVICE)
        }
        _ => (
            format!("{stream} of the same session was still open"),
            "The client opens a second stream while it has one: the protocol allows this, many servers do not. \
             Report it to the makers of the client; two clients must not share a session.",
        ),
    }
}

/// Progress that comes this long after its call, and then all at once with the answer, was held back,
/// nanoseconds.
const HELD_NS: u64 = SECOND_NS;

/// What came within this time was read at once, nanoseconds.
const TOGETHER_NS: u64 = SECOND_NS / 20;

/// All events of calls came together at their ends.
pub(super) fn stream_buffered(facts: &Facts) -> Option<Cause> {
    let streamed = facts.https.with_progress.iter();
    // Fewer events than this: the progress came on another stream.
    let streamed =
        streamed.filter(|(call, http)| http.is_stream() && http.events > call.progress_count);
    let times = streamed.filter_map(|(call, http)| {
        let (first, last) = (http.t_first?, call.t_response_last?);
        Some((
            call,
            http,
            first.ns_since(http.t_sent),
            last.ns_since(first),
        ))
    });
    let is_held = |waited: u64, spread: u64| spread < TOGETHER_NS && waited >= HELD_NS;
    // Where one call has had its events one after another, nothing holds them back.
    if times.clone().any(|(_, _, _, spread)| spread >= TOGETHER_NS) {
        return None;
    }
    let held: Vec<_> = times
        .filter(|(.., waited, spread)| is_held(*waited, *spread))
        .collect();
    let (call, _, waited, _) = held.first()?;
    let more = phrases::others(held.len() - 1, true, "likewise");
    let sentence = format!(
        "something held back the events of {}: {} and the answer came together, {} after the request{more}",
        phrases::call_at(call),
        plural(call.progress_count, "notification") + " of progress",
        duration(*waited),
    );
    let advice = "A proxy in front of the server collects the response before it passes it on: turn its buffering \
                  off (nginx: `proxy_buffering off`, and no compression of text/event-stream), or let the server \
                  send `X-Accel-Buffering: no`. Where nothing is in between, the server writes its events only \
                  when the tool is done.";
    let cause = Cause::new(Likely, sentence, advice).shown_call(call);
    Some(
        cause.shown(
            held.iter()
                .map(|(_, http, ..)| network::at(http, response_through(http))),
        ),
    )
}

/// The response in a few words, with the names of those that passed it on or made it.
fn response_through(http: &HttpExchange) -> String {
    match &*names_in(http) {
        "" => network::phrases_of(http),
        names => format!("{}, {names}", network::phrases_of(http)),
    }
}

/// `Via: 1.1 edge, Server: nginx`: the names of those that passed the response on or made it; empty if it has none.
fn names_in(http: &HttpExchange) -> String {
    let head = http.response_head.as_ref();
    let line = |name| Some(format!("{name}: {}", quote::text(head?.get(name)?)));
    let names: Vec<_> = ["Via", "Server"].into_iter().filter_map(line).collect();
    names.join(", ")
}

/// Nobody has connected: the host has another URL.
pub(super) fn no_client(facts: &Facts) -> Option<Cause> {
    // Its client is mcpreel, and the recording of the other side tells why it asked nothing.
    if facts.context.other_side.is_some() {
        return None;
    }
    let has_come = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Connected { .. }
                | EventKind::Unreachable { .. }
                | EventKind::Refused { .. }
                | EventKind::Disconnected { .. }
        )
    };
    let is_listening = |kind: &EventKind| matches!(kind, EventKind::Listening { .. });
    let listening = facts.events_that(is_listening).last()?;
    let EventKind::Listening { url, .. } = &listening.kind else {
        return None;
    };
    let is_alone = facts.counts.frames == 0 && facts.events_that(has_come).next().is_none();
    is_alone.then_some(())?;
    let yet = if facts.is_live { " yet" } else { "" };
    let sentence = format!("no client has connected{yet} to {}", quote::text(url));
    let advice = "Put that URL into the host in place of the server's, and restart the host. It has to run on this \
                  machine, unless the proxy was started with --listen and --expose.";
    let shown = phrases::event(listening, "listening");
    Some(Cause::new(Certain, sentence, advice).shown([shown]))
}
