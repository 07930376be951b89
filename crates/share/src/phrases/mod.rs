//! Recordings in words for people: events, ends, peers; [`when`] has dates and times,
//! [`recording`] what lists say of a recording, [`phrases_network`] of connections and HTTP, [`phrases_session`] what there is to say of one, [`phrases_story`]
//! what happened from a request to its answer.
//!
//! Everything that came from outside is escaped here. The commands and the viewer say the same.

pub mod phrases_network;
pub mod phrases_session;
pub mod phrases_story;
pub mod recording;
pub mod when;

use crate::redacting::masked;
use mcpreel_lint::cause::{Cause, Place};
use mcpreel_store::reader::Summary;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind, Passed, ProcessContext, ProcessName};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::{End, Peer, Session};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{
    count, duration, escape, masked_url, pad_end, plural, since, size, width, wrap,
};
use serde_json::Value;

/// What `why` says, in escaped lines of so many columns with their names: the best cause, how sure it
/// is, what shows it, what to do; then the other causes. A line that goes on has no name. `address` is
/// what stands before the `#` of a frame.
pub fn why(causes: &[Cause], address: &str, columns: usize) -> Vec<(&'static str, String)> {
    let Some((best, others)) = causes.split_first() else {
        return Vec::new();
    };
    let said = |cause: &Cause, text: &str| format!("{}: {text}", cause.certainty.as_str());
    let mut rows = vec![("why", best.sentence.clone())];
    // Where nothing was found there is nothing to be sure of.
    if best.is_trouble() {
        rows.push(("certainty", said(best, best.certainty.help())));
    }
    let places = best.evidence.iter().map(|evidence| match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) => format!("{address}#{}", seq.0),
        Place::Event { t, .. } => since(t.0),
        Place::Session => "–".to_owned(),
    });
    let places: Vec<_> = places.collect();
    let widest = places.iter().map(|place| width(place)).max().unwrap_or(0);
    for (evidence, place) in best.evidence.iter().zip(&places) {
        let text = format!("{}  {}", pad_end(place, widest), evidence.text);
        rows.push(("evidence", text));
    }
    rows.push(("next", best.advice.to_owned()));
    let also = |cause: &Cause| ("also", said(cause, &cause.sentence));
    rows.extend(others.iter().map(also));
    let (mut lines, mut last) = (Vec::new(), "");
    for (name, text) in rows {
        for line in wrap(&escape(&text), columns) {
            let is_new = std::mem::replace(&mut last, name) != name;
            lines.push((if is_new { name } else { "" }, line));
        }
    }
    lines
}

fn ended(code: Option<&i32>, signal: Option<&str>) -> String {
    match (code, signal) {
        (_, Some(signal)) => format!("the server was ended by {}", escape(signal)),
        (Some(code), None) => format!("the server ended with exit code {code}"),
        (None, None) => "the server ended".to_owned(),
    }
}

fn not_started(exit_code: u8, message: &str) -> String {
    let message = escape(message);
    format!("the server was not started ({exit_code}): {message}")
}

pub fn end(end: &End) -> String {
    match end {
        End::Exited { code } => ended(Some(code), None),
        End::Killed { signal } => ended(None, Some(signal)),
        End::NotStarted { exit_code, message } => not_started(*exit_code, message),
        End::Unknown => "the recording ends before the server did".to_owned(),
    }
}

/// The same of a session in this context: a server behind a URL lives on, and `run --url` starts mcpreel.
pub fn end_of_session(end: &End, context: &ProcessContext) -> String {
    match end {
        End::Unknown if context.url.is_some() => "the proxy was ended".to_owned(),
        // Nobody started a server.
        end if context.bridged_url().is_some() => {
            self::end(end).replacen("the server", "mcpreel", 1)
        }
        end => self::end(end),
    }
}

/// A remark for recordings without times.
pub const UNTIMED: &str = "not on record: everything stands at 0, and durations mean nothing";

/// Why calls of a session are lost, where the recording says it: how the session ended.
pub fn why_lost(summary: &Summary) -> Option<String> {
    let end = summary.session.phase.end();
    let end = end.filter(|end| !matches!(end, End::Unknown));
    end.map(|end| end_of_session(end, &summary.context))
}

/// `why`, where the exchange is a call of the client that was lost.
pub fn lost<'a>(exchange: &Exchange, why: Option<&'a str>) -> Option<&'a str> {
    let is_for_server = exchange.direction == Direction::ClientToServer;
    why.filter(|_| exchange.status == Status::Lost && is_for_server)
}

/// The end of a session in a word or two: `exit 0`, `SIGKILL`.
pub fn end_short(end: &End, context: &ProcessContext) -> String {
    match end {
        // It is mcpreel that ended well, whatever became of the server.
        End::Exited { code: 0 } if context.bridged_url().is_some() => "ended".to_owned(),
        End::Exited { code } => format!("exit {code}"),
        End::Killed { signal } => escape(signal).into_owned(),
        End::NotStarted { .. } => "not started".to_owned(),
        // A server behind a URL lives on.
        End::Unknown if context.url.is_some() => "ended".to_owned(),
        End::Unknown => "unknown".to_owned(),
    }
}

/// An error with its causes, none of them twice. Names of files in it are escaped.
pub fn sentence(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        // Transparent variants repeat what was said, and a database its own words with a number.
        if !words.ends_with(&cause) && !cause.starts_with("Error code ") {
            words = format!("{words}: {cause}");
        }
        source = error.source();
    }
    escape(&words).into_owned()
}

/// `tools/call search_docs`: the method of a call, and the name of its tool, prompt or resource.
/// Escaped.
pub fn call(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or_default();
    escape(format!("{} {name}", exchange.method).trim_end()).into_owned()
}

/// The latency of an exchange, `842 ms`, or until `end` how long its answer was waited for in vain,
/// `>4.0 s`.
pub fn took(exchange: &Exchange, end: impl Into<Option<Moment>>) -> Option<String> {
    let in_vain = || Some(format!(">{}", duration(exchange.unanswered_ns(end)?)));
    exchange.latency_ns().map(duration).or_else(in_vain)
}

pub fn process(process: &ProcessName) -> String {
    match (process.name.as_str(), process.pid) {
        ("", 0) => "unknown".to_owned(),
        ("", pid) => format!("pid {pid}"),
        (name, 0) => escape(name).into_owned(),
        (name, pid) => format!("{} (pid {pid})", escape(name)),
    }
}

/// A command line, quoted where a word would fall apart.
pub fn command(words: &[String]) -> String {
    let plain = |word: &str| {
        let harmless = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
        !word.is_empty() && word.chars().all(harmless)
    };
    let quoted = words.iter().map(|word| {
        if plain(word) {
            return word.clone();
        }
        format!("'{}'", escape(&word.replace('\'', "'\\''")))
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A command line without what is secret in it.
pub fn masked_command(words: &[String]) -> String {
    command(&masked(words, [words]))
}

/// The command that was started, without what is secret in it; of `run --url` as the user gave it.
pub fn started(context: &ProcessContext) -> String {
    command(&started_words(context))
}

/// The same as words.
pub fn started_words(context: &ProcessContext) -> Vec<String> {
    match context.bridged_url() {
        Some(url) => ["mcpreel", "run", "--url", &masked_url(url)]
            .map(str::to_owned)
            .into(),
        None => masked(&context.argv, [&*context.argv]),
    }
}

/// `everything 2.0.0`; `None` if the side never said who it is.
pub fn peer(peer: &Peer) -> Option<String> {
    let [name, version] = [&peer.name, &peer.version].map(|said| {
        let said = said.as_deref();
        said.filter(|said| !said.is_empty())
    });
    let name = escape(name?);
    Some(match version {
        Some(version) => format!("{name} {}", escape(version)),
        None => name.into_owned(),
    })
}

/// The versions that the server offered: `2025-11-25, 2026-07-28`; `None` where it said none.
pub fn versions_offered(session: &Session) -> Option<String> {
    let offered = session.versions_offered.iter();
    let mut offered: Vec<_> = offered.map(|one| escape(one)).collect();
    if session.more_versions_offered > 0 {
        let more = count(session.more_versions_offered as u64);
        offered.push(format!("{more} more").into());
    }
    (!offered.is_empty()).then(|| offered.join(", "))
}

/// Capabilities by name, with what they switch on: `logging, tools(listChanged)`.
pub fn capabilities(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::Object(capabilities)) => {
            let named = capabilities
                .iter()
                .map(|(name, value)| capability(name, value));
            named.collect::<Vec<_>>().join(", ")
        }
        _ => escape(json).into_owned(),
    }
}

fn capability(name: &str, value: &Value) -> String {
    let name = escape(name);
    let parts: Vec<_> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| **value != Value::Bool(false))
        .map(|(part, _)| escape(part))
        .collect();
    if parts.is_empty() {
        return name.into_owned();
    }
    format!("{name}({})", parts.join(", "))
}

// Events.

/// An event in one sentence, without a full stop.
pub fn event(kind: &EventKind) -> String {
    match kind {
        EventKind::Start(context) if context.argv.is_empty() => {
            format!("recording of {}", escape(&context.name))
        }
        EventKind::Start(context) => format!("recording of {}", started(context)),
        EventKind::Spawned { pid } => format!("the server was started, pid {pid}"),
        EventKind::SpawnFailed {
            exit_code, message, ..
        } => not_started(*exit_code, message),
        EventKind::Eof { stream, by } => eof(*stream, *by).to_owned(),
        EventKind::StallBegan { stream, bytes } => {
            format!("stall: {}, {} wait", idle_reader(*stream), size(*bytes))
        }
        EventKind::StallEnded { stream, lasted_ns } => {
            let lasted = duration(*lasted_ns);
            format!("stall over after {lasted}: {}", stream.as_str())
        }
        EventKind::Undelivered { stream, bytes } => {
            let bytes = plural(*bytes, "byte");
            format!("{bytes} of {} could not be delivered", stream.as_str())
        }
        EventKind::Signal {
            signal,
            sender,
            passed,
        } => {
            let sender = sender.map_or_else(String::new, |pid| format!(" from pid {pid}"));
            let passed = match passed {
                Passed::NotNeeded => "not passed on, the server had it already or has ended",
                Passed::Once => "passed on to the server",
                Passed::PerhapsTwice => "passed on to the server, which may have had it before",
            };
            format!("{}{sender}, {passed}", escape(signal))
        }
        EventKind::Exit {
            code,
            signal,
            max_rss_bytes,
            user_ns,
            system_ns,
        } => {
            let how = ended(code.as_ref(), signal.as_deref());
            if (*max_rss_bytes, *user_ns, *system_ns) == (0, 0, 0) {
                return how;
            }
            let cpu = duration(user_ns.saturating_add(*system_ns));
            format!("{how}; peak memory {}, CPU {cpu}", size(*max_rss_bytes))
        }
        EventKind::Survivors { processes } => {
            let names: Vec<_> = processes.iter().map(process).collect();
            format!("still holding its pipes: {}", names.join(", "))
        }
        EventKind::Listening { .. }
        | EventKind::Connected { .. }
        | EventKind::Unreachable { .. }
        | EventKind::Refused { .. }
        | EventKind::Edited { .. }
        | EventKind::Disconnected { .. } => phrases_network::event(kind).unwrap_or_default(),
        EventKind::Gap {
            stream,
            offset,
            bytes,
            reason,
        } => {
            let (bytes, offset) = (plural(*bytes, "byte"), count(*offset));
            let reason = reason.iter().map(|reason| format!(": {}", escape(reason)));
            let reason: String = reason.collect();
            let stream = stream.as_str();
            format!("gap: {bytes} of {stream} from byte {offset} on are not on record{reason}")
        }
        EventKind::Untimed { message } | EventKind::Warning { message } => {
            format!("warning: {}", escape(message))
        }
        EventKind::Shortened { stream, message } => {
            let (stream, message) = (stream.as_str(), escape(message));
            format!("the next line of {stream} is not whole: {message}")
        }
        EventKind::Skipped { lines, message } => {
            let (lines, message) = (plural(*lines, "line"), escape(message));
            format!("gap: {lines} not on record: {message}")
        }
        EventKind::HostLog { level, message } => {
            format!("the host's log, {}: {}", escape(level), escape(message))
        }
        EventKind::Copied => "copied here while the session went on".to_owned(),
        EventKind::Recovered { frames } => {
            let frames = plural(*frames, "frame");
            format!("completed from the spool of a recorder that had gone: {frames} in all")
        }
    }
}

fn eof(stream: StreamId, by: Closer) -> &'static str {
    match (stream, by) {
        (StreamId::C2S, Closer::Writer) => "the host closed the server's input",
        (StreamId::C2S, Closer::Reader) => "the server closed its input",
        (StreamId::S2C, Closer::Writer) => "the server closed its output",
        (StreamId::S2C, Closer::Reader) => "the host closed the server's output",
        (StreamId::STDERR, Closer::Writer) => "the server closed its stderr",
        (StreamId::STDERR, Closer::Reader) => "the host closed the server's stderr",
        (stream, by) => match (stream.messages(), by) {
            (Some(Direction::ClientToServer), Closer::Writer) => "the client sends no more",
            (Some(Direction::ClientToServer), Closer::Reader) => "the server takes no more",
            (_, Closer::Writer) => "the server sends no more",
            (_, Closer::Reader) => "the client takes no more",
        },
    }
}

/// The side that does not read a stream whose writer waits.
pub fn idle_reader(stream: StreamId) -> &'static str {
    match stream {
        StreamId::C2S => "the server does not read its input",
        StreamId::S2C => "the host does not read the server's output",
        StreamId::STDERR => "the host does not read the server's stderr",
        _ => "a stream is not read",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::event::EventKind;
    use mcpreel_wire::id::RequestId;
    use mcpreel_wire::message::Direction;

    #[test]
    fn nothing_from_outside_reaches_the_terminal_unescaped() {
        let hostile = "\x1b[2J\u{202e}".to_owned();
        let process = ProcessName {
            pid: 1,
            name: hostile.clone(),
            command: Vec::new(),
        };
        let said = [
            event(&EventKind::Warning {
                message: hostile.clone(),
            }),
            event(&EventKind::Survivors {
                processes: vec![process],
            }),
            command(&["a b".to_owned(), hostile.clone()]),
            capabilities(&format!("{{{:?}: {{}}}}", "\u{202e}")),
            capabilities(&hostile),
            end(&End::Killed { signal: hostile }),
        ];
        for text in said {
            assert!(!text.contains(['\x1b', '\u{202e}']), "{text:?}");
        }
    }

    fn open_call() -> Exchange {
        let rpc_id = RequestId::from_json("1").expect("it is JSON");
        Exchange::begun(Direction::ClientToServer, rpc_id, "tools/call")
    }

    #[test]
    fn a_call_that_was_never_answered_says_how_long_it_waited_for_the_client() {
        let exchange = Exchange {
            waited_ns: 9_000_000_000,
            ..open_call()
        };
        let facts = phrases_story::facts(&exchange, None);
        assert!(facts.contains(&("waited", "9.0 s for the client".to_owned())));
    }

    #[test]
    fn a_lost_call_has_the_end_of_the_session_as_its_reason() {
        let killed = Some("the server was ended by SIGSEGV");
        let call = Exchange {
            direction: Direction::ClientToServer,
            status: Status::Lost,
            ..open_call()
        };
        assert_eq!(lost(&call, killed), killed);
        assert_eq!(lost(&call, None), None);
        let asked_by_server = Exchange {
            direction: Direction::ServerToClient,
            ..call.clone()
        };
        assert_eq!(lost(&asked_by_server, killed), None, "the host left");
        let answered = Exchange {
            status: Status::Ok,
            ..call
        };
        assert_eq!(lost(&answered, killed), None);
    }
}
