//! Words and evidence that several causes need. Text off the wire is escaped in all of them.

use super::facts::{Facts, Found, Group, Line};
use super::stderr_lines::{LastWords, unframed};
use super::{Evidence, Place};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, escape_bytes, plural};
use std::collections::BTreeMap;

/// Things of one kind that a sentence names.
const NAMED: usize = 3;

/// Columns of a name.
const NAME: usize = 40;

/// Columns of a note of the recorder, which ends with the way out.
const NOTED: usize = 400;

/// Columns of a line that is no message.
const SAID: usize = 160;

/// The advice where the recorder was killed.
pub const CUT_OFF: &str = "All until then is on record. Record again, and find who ended the recorder: the \
                           host, a person, or the system.";

/// The tool, prompt or resource, else the method, escaped and cut.
pub fn call(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or(&exchange.method);
    cut(&escape(name), NAME)
}

pub fn call_at(exchange: &Exchange) -> String {
    format!("{} (#{})", call(exchange), exchange.request.0.0)
}

/// `search_docs (#83), get_forecast (#85), …`
pub fn calls<'e>(exchanges: impl IntoIterator<Item = &'e Exchange>) -> String {
    first_few(exchanges.into_iter().map(call_at))
}

/// The first things of a list, with an ellipsis for the others.
pub fn first_few(all: impl IntoIterator<Item = String>) -> String {
    let mut all = all.into_iter();
    let mut named: Vec<_> = all.by_ref().take(NAMED).collect();
    named.extend(all.next().map(|_| "…".to_owned()));
    named.join(", ")
}

/// What is said of a number of things where there are any.
pub fn if_any(count: u64, say: impl FnOnce(u64) -> String) -> String {
    Some(count).filter(|n| *n > 0).map_or_else(String::new, say)
}

pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => plural(count, "time"),
    }
}

/// ` or more` where not all findings were counted.
pub fn or_more(group: &Group) -> &'static str {
    if group.is_all { "" } else { " or more" }
}

/// `; 3 other calls had no answer either`, if there are any; `is_all`: none beyond them.
pub fn others(count: usize, is_all: bool, what: &str) -> String {
    let or_more = if is_all { "" } else { " or more" };
    match count {
        0 => String::new(),
        1 if is_all => format!("; 1 other call {what}"),
        _ => format!("; {count}{or_more} other calls {what}"),
    }
}

/// The answer in one line.
pub fn answer(exchange: &Exchange) -> String {
    escape(exchange.answered().unwrap_or_default()).into_owned()
}

/// `ended with exit code 3`, `was ended by SIGSEGV`
pub fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {}", quote::text(signal)),
        End::NotStarted { .. } => "was not started".to_owned(),
        End::Unknown => "ended (how is not on record)".to_owned(),
    }
}

/// `; stderr says: …` with the line that says most, if there is one. A server that ends with 0 need
/// not have said why: then only a fault is worth telling.
pub fn stderr_says(facts: &Facts, since: Option<Moment>) -> String {
    let words = LastWords::of(facts, since);
    let is_well = facts.end() == Some(&End::Exited { code: 0 }) && facts.first_said.is_some();
    let telling = words.telling().filter(|_| words.names_fault || !is_well);
    telling.map_or_else(String::new, |line| {
        let text = escape_bytes(unframed(line.text()).trim_ascii());
        format!("; {} says: {}", stream(line), cut(&text, SAID))
    })
}

/// The sides that write on a stream and read from it.
pub fn writer_and_reader(stream: Option<StreamId>) -> (&'static str, &'static str) {
    match stream {
        Some(StreamId::C2S) => ("host", "server"),
        _ => ("server", "host"),
    }
}

pub fn request(exchange: &Exchange) -> Evidence {
    let side = match exchange.direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    };
    let text = format!("the {side} asked: {}", escape(exchange.asked()));
    Evidence::new(Place::Frame(exchange.request.0), text)
}

pub fn response(exchange: &Exchange) -> Option<Evidence> {
    let (seq, _) = exchange.response?;
    let mut text = "answered".to_owned();
    if let Some(ns) = exchange.latency_ns() {
        text = format!("{text} after {}", duration(ns));
    }
    if exchange.answered().is_some() {
        text = format!("{text}: {}", answer(exchange));
    }
    Some(Evidence::new(Place::Frame(seq), text))
}

/// `count` of the last lines of stderr (`since` a request, if there is one): the one that says most, then
/// those around it in the order in which they were written.
pub fn stderr(facts: &Facts, since: Option<Moment>, count: usize) -> Vec<Evidence> {
    let words = LastWords::of(facts, since);
    let mut lines = words.around(count).to_vec();
    lines.sort_by_key(|one| Some(one.seq) != words.telling().map(|telling| telling.seq));
    lines.into_iter().map(line).collect()
}

/// The lines that were said during a call, and those before its answer that name the same path.
pub fn stderr_about(facts: &Facts, call: &Exchange, count: usize) -> Vec<Evidence> {
    let (paths, during) = (
        LastWords::of_its_paths(facts, call),
        LastWords::during(facts, call),
    );
    let both = paths.around(count).iter().chain(during.around(count));
    let lines: BTreeMap<_, _> = both.map(|one| (one.seq, *one)).collect();
    lines.into_values().map(line).collect()
}

/// A note of the recorder, a sentence or two.
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
    Evidence::new(place, format!("{}: {}", stream(line), said(line)))
}

/// The stream of the server's process.
fn stream(line: &Line) -> &'static str {
    match line.stream {
        StreamId::STDERR => "stderr",
        StreamId::S2C => "stdout",
        _ => "stdin",
    }
}

pub fn event(event: &Event, text: impl Into<String>) -> Evidence {
    let (after, t) = (event.after_seq, event.t);
    Evidence::new(Place::Event { after, t }, text)
}

/// The process that the host spoke to: of `run --url` that is mcpreel, and nobody started a server.
pub fn server(facts: &Facts) -> &'static str {
    match facts.context.bridged_url() {
        Some(_) => "mcpreel",
        None => "the server",
    }
}

/// The end of the server.
pub fn end_of(facts: &Facts) -> Option<Evidence> {
    let is_end =
        |kind: &EventKind| matches!(kind, EventKind::Exit { .. } | EventKind::SpawnFailed { .. });
    let text = format!("{} {}", server(facts), ended(facts.end()?));
    Some(event(facts.events_that(is_end).next()?, text))
}

/// ` after the host …` where the host was the first to close a pipe.
pub fn after_host(facts: &Facts) -> &'static str {
    match facts.host_left() {
        None => "",
        Some(_) if facts.host_vanished() => {
            " after the host was gone (it closed stdin and stdout at once)"
        }
        Some(_) => " after the host had closed stdin",
    }
}

/// The host closing one of its sides.
pub fn leaving(facts: &Facts) -> Option<Evidence> {
    let left = facts.host_left()?;
    let is_eof = |kind: &EventKind| matches!(kind, EventKind::Eof { .. });
    let closing = facts.events_that(is_eof).find(|event| event.t == left)?;
    let what = match facts.session.ends.c2s {
        _ if facts.host_vanished() => "stdin and stdout at once: it ended, or was killed",
        Some(end) if end.t == left => "stdin",
        _ => "stdout",
    };
    Some(event(closing, format!("the host closed {what}")))
}

/// The first findings of a group.
pub fn findings(group: &Group) -> impl Iterator<Item = Evidence> {
    group.first.iter().map(|found| finding(&group.rule, found))
}

pub fn finding(rule: &str, found: &Found) -> Evidence {
    let place = found.frame.map_or(Place::Session, Place::Frame);
    let text = format!("{}{}: {}", quote::text(rule), at_path(found), found.detail);
    Evidence::new(place, text)
}

/// ` at params.name`
pub fn at_path(found: &Found) -> String {
    let path = found.path.as_deref();
    path.map_or_else(String::new, |path| format!(" at {}", quote::text(path)))
}

/// ` (#12)`
pub fn at(frame: Option<Seq>) -> String {
    frame.map_or_else(String::new, |seq| format!(" (#{})", seq.0))
}

/// The advice where an answer says why a call failed.
pub(super) fn advice_for_answer(facts: &Facts) -> &'static str {
    if facts.context.url.is_some() {
        "Compare the request with its answer, and read the server's log at that moment."
    } else {
        "Compare the request with its answer, and read stderr at that moment."
    }
}
