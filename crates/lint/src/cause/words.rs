//! Phrases that several causes need. Text off the wire is escaped in all of them.

use super::facts::{Facts, Found, Group, Line};
use super::last_words::{LastWords, unframed};
use super::{Evidence, Place, named};
use crate::quote;
use mcpreel_trace::event::{Closer, Event, EventKind, ProcessName};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, escape_bytes, plural};

/// Requests that a sentence names.
const NAMED: usize = 3;

const NAME: usize = 40;

/// Columns of what the recorder noted: it ends with the way out.
const NOTED: usize = 400;

/// Columns of a line that is no message: those of stderr say most at their beginning.
const SAID: usize = 160;

/// The tool, prompt or resource, else the method, escaped and cut.
pub fn call(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or(&exchange.method);
    cut(&escape(name), NAME)
}

pub fn call_at(exchange: &Exchange) -> String {
    format!("{} (#{})", call(exchange), exchange.request.0.0)
}

/// `search_docs (#83), get_forecast (#85), …`: the first three.
pub fn calls<'e>(exchanges: impl IntoIterator<Item = &'e Exchange>) -> String {
    let mut calls: Vec<_> = exchanges.into_iter().map(call_at).collect();
    if calls.len() > NAMED {
        calls.truncate(NAMED);
        calls.push("…".to_owned());
    }
    calls.join(", ")
}

pub fn places(requests: &[Seq]) -> String {
    let mut places: Vec<_> = requests
        .iter()
        .take(NAMED)
        .map(|seq| format!("#{}", seq.0))
        .collect();
    if requests.len() > NAMED {
        places.push("…".to_owned());
    }
    places.join(", ")
}

pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => plural(count, "time"),
    }
}

/// How often a rule found something: `once`, `twice`, `1000 times or more`.
pub fn times_found(group: &Group) -> String {
    format!("{}{}", times(group.count), or_more(group))
}

/// ` or more` where not all findings were counted.
pub fn or_more(group: &Group) -> &'static str {
    if group.is_all { "" } else { " or more" }
}

/// What was answered, in one line.
pub fn answer(exchange: &Exchange) -> Option<String> {
    exchange
        .answered()
        .map(|answer| escape(answer).into_owned())
}

/// `ended with exit code 3`, `was ended by SIGSEGV`.
pub fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {}", quote::text(signal)),
        End::NotStarted { .. } => "was not started".to_owned(),
        End::Unknown => "ended (how is not on record)".to_owned(),
    }
}

/// `; stderr says: …` of the line that says most, if there is one. Who ends with 0 need not have
/// said why: then only a fault is worth telling.
pub fn stderr_says(facts: &Facts) -> String {
    let words = LastWords::of(facts);
    let is_well = facts.end() == Some(&End::Exited { code: 0 }) && facts.first_said.is_some();
    let telling = if is_well {
        words.fault()
    } else {
        words.telling()
    };
    let said = |line: &Line| {
        let text = escape_bytes(unframed(line.text()).trim_ascii());
        format!("; stderr says: {}", cut(&text, SAID))
    };
    telling.map_or_else(String::new, said)
}

pub fn host(host: &ProcessName) -> String {
    match host.name.as_str() {
        "" => "the host".to_owned(),
        name => quote::text(name),
    }
}

/// A stream as the server calls it.
pub fn stream(stream: StreamId) -> &'static str {
    match stream {
        StreamId::STDERR => "stderr",
        StreamId::S2C => "stdout",
        _ => "stdin",
    }
}

pub fn writer(stream: StreamId) -> &'static str {
    match stream {
        StreamId::C2S => "the host",
        _ => "the server",
    }
}

pub fn request(exchange: &Exchange) -> Evidence {
    let way = match exchange.direction {
        Direction::ClientToServer => "the client asked",
        Direction::ServerToClient => "the server asked",
    };
    let text = format!("{way}: {}", escape(exchange.asked()));
    Evidence::new(Place::Frame(exchange.request.0), text)
}

pub fn response(exchange: &Exchange) -> Option<Evidence> {
    let (seq, _) = exchange.response?;
    let took = exchange.latency_ns();
    let took = took.map_or_else(String::new, |ns| format!(" after {}", duration(ns)));
    let answer = answer(exchange).map_or_else(String::new, |answer| format!(": {answer}"));
    let text = format!("answered{took}{answer}");
    Some(Evidence::new(Place::Frame(seq), text))
}

/// So many of the last lines of stderr as evidence, in the order in which they were written; the
/// one that says most is among them.
pub fn stderr(facts: &Facts, count: usize) -> Vec<Evidence> {
    let words = LastWords::of(facts);
    words.around(count).iter().map(|one| line(one)).collect()
}

pub fn has_last_words(facts: &Facts) -> bool {
    LastWords::of(facts).telling().is_some()
}

/// What the recorder noted, a sentence or two.
pub fn noted(text: &str) -> String {
    cut(&escape(text), NOTED)
}

pub fn said(line: &Line) -> String {
    cut(&escape_bytes(line.bytes.trim_ascii()), SAID)
}

pub fn line(line: &Line) -> Evidence {
    let place = match line.stream {
        StreamId::STDERR => Place::Stderr(line.seq),
        _ => Place::Frame(line.seq),
    };
    Evidence::new(place, format!("{}: {}", stream(line.stream), said(line)))
}

pub fn event(event: &Event, text: impl Into<String>) -> Evidence {
    let (after, t) = (event.after_seq, event.t);
    Evidence::new(Place::Event { after, t }, text)
}

/// How the session ended, as evidence.
pub fn end_of(facts: &Facts) -> Vec<Evidence> {
    let is_end =
        |kind: &EventKind| matches!(kind, EventKind::Exit { .. } | EventKind::SpawnFailed { .. });
    let Some(end) = facts.end() else {
        return Vec::new();
    };
    let text = format!("the server {}", ended(end));
    let events = facts.events_that(is_end);
    events.map(|one| event(one, text.clone())).collect()
}

/// The host closing one of its sides, as evidence.
pub fn leaving(facts: &Facts) -> Option<Evidence> {
    let left = facts.host_left()?;
    let by_host = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer
            } | EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Reader
            }
        )
    };
    let closing = facts.events_that(by_host).find(|event| event.t == left)?;
    Some(event(closing, "the host closed its side"))
}

/// The first findings of a rule as evidence.
pub fn findings(group: &Group) -> impl Iterator<Item = Evidence> {
    group.first.iter().map(|found| finding(&group.rule, found))
}

/// An answer that has nearly the id of a request.
pub struct OtherId {
    /// `; what came is an answer with id "7" in place of 7 (#12)`
    pub said: String,
    pub advice: &'static str,
    pub evidence: Evidence,
}

/// The answer to a request that nobody could take for it, as its id has another JSON type.
pub fn other_id(facts: &Facts, call: &Exchange) -> Option<OtherId> {
    let group = facts.found(named::RESPONSE_ID_TYPE_CHANGED)?;
    let found = group
        .first
        .iter()
        .find(|found| found.exchange == Some(call.id))?;
    let place = found
        .frame
        .map_or_else(String::new, |seq| format!(" (#{})", seq.0));
    let id = quote::text(call.rpc_id.json());
    Some(OtherId {
        said: format!(
            "; what came is an answer with {} in place of {id}{place}",
            found.detail
        ),
        advice: "Let the server send back the id of a request as it came: a number stays a number, \
                 a text a text.",
        evidence: finding(&group.rule, found),
    })
}

pub fn finding(rule: &str, found: &Found) -> Evidence {
    let path = found.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {}", quote::text(path)));
    let place = found.frame.map_or(Place::Session, Place::Frame);
    let text = format!("{}{path}: {}", quote::text(rule), found.detail);
    Evidence::new(place, text)
}
