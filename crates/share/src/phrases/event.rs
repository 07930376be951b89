//! Events.

use super::{command, ended, not_started, process};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{count, duration, escape, plural, size};

/// An event in one sentence, without a full stop.
pub fn event(kind: &EventKind) -> String {
    match kind {
        EventKind::Start(context) if context.argv.is_empty() => {
            format!("recording of {}", escape(&context.name))
        }
        EventKind::Start(context) => format!("recording of {}", command(&context.argv)),
        EventKind::Spawned { pid } => format!("the server was started, pid {pid}"),
        EventKind::SpawnFailed { exit_code, message } => not_started(*exit_code, message),
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
        EventKind::Recovered { frames } => {
            let frames = plural(*frames, "frame");
            format!("completed from the spool of a recorder that had gone: {frames} added")
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
        (_, Closer::Writer) => "a stream was closed by its writer",
        (_, Closer::Reader) => "a stream was closed by its reader",
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
