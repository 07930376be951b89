//! Events.

use super::{command, ended, not_started, process};
use mcpreel_trace::event::{Closer, EventKind, Passed, ProcessContext, ProcessName};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{count, duration, escape, plural, size};

/// An event in one sentence, without a full stop.
pub fn event(kind: &EventKind) -> String {
    match kind {
        EventKind::Start(context) => begun(context),
        EventKind::Spawned { pid } => format!("the server was started, pid {pid}"),
        EventKind::SpawnFailed { exit_code, message } => not_started(*exit_code, message),
        EventKind::Eof { stream, by } => eof(*stream, *by).to_owned(),
        EventKind::StallBegan { stream, bytes } => stall_began(*stream, *bytes),
        EventKind::StallEnded { stream, lasted_ns } => stall_ended(*stream, *lasted_ns),
        EventKind::Undelivered { stream, bytes } => undelivered(*stream, *bytes),
        EventKind::Signal {
            signal,
            sender,
            passed,
        } => self::signal(signal, *sender, *passed),
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
        EventKind::Survivors { processes } => survivors(processes),
        EventKind::Gap {
            stream,
            offset,
            bytes,
            reason,
        } => gap(*stream, *offset, *bytes, reason.as_deref()),
        EventKind::Untimed { message } | EventKind::Warning { message } => {
            format!("warning: {}", escape(message))
        }
        EventKind::Shortened { stream, message } => shortened(*stream, message),
        EventKind::Skipped { lines, message } => skipped(*lines, message),
        EventKind::HostLog { level, message } => host_log(level, message),
        EventKind::Recovered { frames } => recovered(*frames),
    }
}

fn begun(context: &ProcessContext) -> String {
    if context.argv.is_empty() {
        return format!("recording of {}", escape(&context.name));
    }
    format!("recording of {}", command(&context.argv))
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

fn stall_began(stream: StreamId, bytes: u64) -> String {
    format!("stall: {}, {} wait", idle_reader(stream), size(bytes))
}

fn stall_ended(stream: StreamId, lasted_ns: u64) -> String {
    let lasted = duration(lasted_ns);
    format!("stall over after {lasted}: {}", stream.as_str())
}

fn undelivered(stream: StreamId, bytes: u64) -> String {
    let bytes = plural(bytes, "byte");
    format!("{bytes} of {} could not be delivered", stream.as_str())
}

fn signal(signal: &str, sender: Option<u32>, passed: Passed) -> String {
    let sender = sender.map_or_else(String::new, |pid| format!(" from pid {pid}"));
    let passed = match passed {
        Passed::NotNeeded => "not passed on, the server had it already or has ended",
        Passed::Once => "passed on to the server",
        Passed::PerhapsTwice => "passed on to the server, which may have had it before",
    };
    format!("{}{sender}, {passed}", escape(signal))
}

fn survivors(processes: &[ProcessName]) -> String {
    let names: Vec<_> = processes.iter().map(process).collect();
    format!("still holding its pipes: {}", names.join(", "))
}

fn gap(stream: StreamId, offset: u64, bytes: u64, reason: Option<&str>) -> String {
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", escape(reason)));
    format!(
        "gap: {} of {} from byte {} on are not on record{reason}",
        plural(bytes, "byte"),
        stream.as_str(),
        count(offset)
    )
}

fn shortened(stream: StreamId, message: &str) -> String {
    let stream = stream.as_str();
    format!(
        "the next line of {stream} is not whole: {}",
        escape(message)
    )
}

fn skipped(lines: u64, message: &str) -> String {
    format!(
        "gap: {} not on record: {}",
        if lines == 1 {
            "1 line is".to_owned()
        } else {
            format!("{} lines are", count(lines))
        },
        escape(message)
    )
}

fn host_log(level: &str, message: &str) -> String {
    format!("the host's log, {}: {}", escape(level), escape(message))
}

fn recovered(frames: u64) -> String {
    let frames = plural(frames, "frame");
    format!("completed from the spool of a recorder that had gone: {frames} added")
}
