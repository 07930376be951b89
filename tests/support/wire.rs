//! What real peers sent over their connections, as a recording: `tests/net/wire/*.wire`.
//!
//! A file begins with a line that says what it is. Then come the steps in order: nanoseconds, the
//! number of the connection, and what happened (`open`, `refused`, `c2s`, `s2c`, `c2s-eof`,
//! `s2c-reset` …); behind `c2s` and `s2c` the number of bytes and, on the next line, these.

use crate::written::{self, Session};
use mcpreel_capture::spool::Tail;
use mcpreel_store::indexer::Indexer;
use mcpreel_store::indexer::derive::reindex;
use mcpreel_store::reader::Recording;
use mcpreel_store::schema::State;
use mcpreel_trace::event::{Closer, EventKind, Party, ProcessContext, Step};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::Direction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const WAYS: [Direction; 2] = [Direction::ClientToServer, Direction::ServerToClient];

/// The file of that name.
pub fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net/wire");
    folder.join(format!("{name}.wire"))
}

/// Makes the recording of `file` in `dir`.
pub fn recording(dir: &Path, file: &Path) -> Recording {
    indexed(play(dir, file))
}

/// The recording of a session that goes on.
pub fn indexed_live(session: &Session) -> Recording {
    written::drain(&mut session.indexer(), &written::bytes(u64::MAX));
    Recording::open(&session.reel).unwrap()
}

/// The recording of a session that is over.
pub fn indexed(mut session: Session) -> Recording {
    session.status(None, None);
    let mut indexer = session.indexer();
    written::drain(&mut indexer, &written::bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    indexer.release_spool().unwrap();
    Recording::open(&session.reel).unwrap()
}

/// Makes the recording of `file` by many who each take so many bytes of the spool, and go on where the
/// one before ended.
pub fn recording_in_pieces(dir: &Path, file: &Path, bytes: u64) -> Recording {
    let mut session = play(dir, file);
    session.status(None, None);
    drop(session.indexer());
    loop {
        let mut indexer = Indexer::resume(&session.reel, session.spool()).unwrap();
        if indexer.step(Tail::Final, &written::bytes(bytes)).unwrap() {
            indexer.finish(State::Complete).unwrap();
            indexer.release_spool().unwrap();
            break;
        }
    }
    reindex(&session.reel, &mut |_| ()).unwrap();
    Recording::open(&session.reel).unwrap()
}

/// The bytes that went each way of each connection.
pub type Sent = BTreeMap<(u32, Direction), Vec<u8>>;

/// The bytes in `file`, by connection and way.
pub fn sent(file: &Path) -> Sent {
    let mut sent = Sent::new();
    each_step(file, |_, connection, what, bytes| {
        let way = WAYS[usize::from(what != "c2s")];
        if matches!(what, "c2s" | "s2c") {
            sent.entry((connection, way)).or_default().extend(bytes);
        }
    });
    sent
}

fn context() -> ProcessContext {
    ProcessContext {
        transport: "http".into(),
        url: Some("http://127.0.0.1:3000/mcp".into()),
        ..written::context("server", 1)
    }
}

/// Writes the spool of `file`.
pub fn play(dir: &Path, file: &Path) -> Session {
    let mut session = Session::begin(&dir.join("a.reel"), context());
    each_step(file, |t, connection, what, bytes| {
        session.at(t);
        step(&mut session, connection, what, bytes);
    });
    session
}

fn each_step(file: &Path, mut visit: impl FnMut(u64, u32, &str, &[u8])) {
    let bytes = std::fs::read(file).unwrap();
    let mut rest = &bytes[..];
    take_line(&mut rest);
    while !rest.is_empty() {
        let line = take_line(&mut rest);
        let words: Vec<_> = line.split(' ').collect();
        let length = words.get(3).map_or(0, |length| length.parse().unwrap());
        let (sent, behind) = rest.split_at(length);
        let (t, connection) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        visit(t, connection, words[2], sent);
        rest = behind
            .strip_prefix(b"\n")
            .filter(|_| length > 0)
            .unwrap_or(behind);
    }
}

fn take_line<'b>(rest: &mut &'b [u8]) -> &'b str {
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
    let line = std::str::from_utf8(&rest[..end]).unwrap();
    *rest = &rest[end + 1..];
    line
}

fn step(session: &mut Session, connection: u32, what: &str, sent: &[u8]) {
    let client = format!("127.0.0.1:{}", 40_000 + connection);
    let (way, end) = what.split_once('-').unwrap_or((what, ""));
    let is_up = way == "c2s";
    let stream = StreamId::of_connection(connection, WAYS[usize::from(!is_up)]);
    match (way, end) {
        ("open", _) => session.event(&EventKind::Connected {
            connection,
            client,
            server: "127.0.0.1:3000".into(),
            name_ns: 0,
            tcp_ns: 100_000,
            tls_ns: None,
        }),
        ("refused", _) => session.event(&EventKind::Unreachable {
            connection,
            client,
            step: Step::Tcp,
            message: "127.0.0.1:3000: Connection refused; nothing listens there".into(),
        }),
        (_, "") => session.carry(stream, sent),
        (_, "eof") => session.event(&EventKind::Eof {
            stream,
            by: Closer::Writer,
        }),
        _ => session.event(&EventKind::Disconnected {
            connection,
            by: if is_up { Party::Client } else { Party::Server },
            reset: true,
            bytes: WAYS.map(|way| session.carried(StreamId::of_connection(connection, way))),
        }),
    }
}

// Cases told by hand.
//
// ```text
// > POST /mcp                        a request, on connection 1 (`2>`: on another)
// > Accept: application/json
// >
// > request 1 ping                   its body, in the short forms of `told.rs`
// < 200                              a response
// < Content-Type: text/event-stream  whose lines then are events
// <
// < result 1 {}
// < more                             more events of that stream; `endpoint /message` is one of 2024-11-05
// < result 2 {}
// < id 7                             an event of that stream that has only an id
// < keep-alive                       a comment of that stream
// < end                              the end of that stream
// after 30000                        milliseconds pass
// close client                       who closes connection 1 (`close server 2`)
// lose tcp 127.0.0.1:1: refused     the server cannot be reached: the step, and why
// refuse it comes from a web page     the proxy refuses a request
// add Authorization: Bearer x         the proxy adds a header to the next request
// call 127.0.0.2:3000                 the proxy puts this name into the `Host` of the next request
// ```

/// Makes the recording of a case in `dir`.
pub fn told(dir: &Path, case: &str) -> Recording {
    indexed(tell(dir, case))
}

/// Writes the spool of a case.
pub fn tell(dir: &Path, case: &str) -> Session {
    let mut session = Session::begin(&dir.join("a.reel"), context());
    let mut lines = case
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .peekable();
    let mut open = BTreeSet::new();
    while let Some(line) = lines.next() {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["after", ms] => {
                session.later(ms.parse::<u64>().unwrap() * 1_000_000);
                continue;
            }
            ["close", who] => close(&mut session, 1, who),
            ["close", who, connection] => close(&mut session, connection.parse().unwrap(), who),
            ["refuse", ..] => session.event(&EventKind::Refused {
                connection: 99,
                client: "127.0.0.1:40099".into(),
                message: line["refuse ".len()..].to_owned(),
            }),
            ["add", ..] => edit(&mut session, "header", &line["add ".len()..]),
            ["call", name] => edit(&mut session, "Host", name),
            ["lose", step, ..] => session.event(&EventKind::Unreachable {
                connection: 99,
                client: "127.0.0.1:40099".into(),
                step: serde_json::from_value(step.into()).unwrap(),
                message: line["lose ".len() + step.len() + 1..].to_owned(),
            }),
            _ => {
                let (marker, first) = line.split_once(' ').unwrap();
                let mut message = vec![first];
                while let Some(more) = lines.next_if(|it| marker_of(it) == marker && !begins(it)) {
                    message.push(more[marker.len()..].trim_start());
                }
                let (connection, sign) = marker.split_at(marker.len() - 1);
                let connection = connection.parse().unwrap_or(1);
                if open.insert(connection) {
                    step(&mut session, connection, "open", &[]);
                }
                let way = if sign == ">" { "c2s" } else { "s2c" };
                step(&mut session, connection, way, &http(&message));
            }
        }
        session.later(1_000_000);
    }
    session
}

fn edit(session: &mut Session, what: &str, new: &str) {
    let stream = StreamId::of_connection(1, Direction::ClientToServer);
    session.event(&EventKind::Edited {
        stream,
        offset: session.carried(stream),
        what: what.to_owned(),
        old: String::new(),
        new: new.to_owned(),
    });
}

fn marker_of(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

/// Whether a line is the first of a message.
fn begins(line: &str) -> bool {
    let (_, rest) = line.split_once(' ').unwrap_or((line, ""));
    let first = rest.split(' ').next().unwrap_or_default();
    matches!(first, "POST" | "GET" | "DELETE" | "OPTIONS" | "more")
        || first.len() == 3 && first.parse::<u16>().is_ok()
}

fn close(session: &mut Session, connection: u32, who: &str) {
    let way = if who == "client" {
        "c2s-eof"
    } else {
        "s2c-eof"
    };
    step(session, connection, way, &[]);
    let way = if who == "client" {
        "c2s-reset"
    } else {
        "s2c-reset"
    };
    step(session, connection, way, &[]);
}

/// A message of HTTP with its length.
fn http(lines: &[&str]) -> Vec<u8> {
    if lines[0] == "more" {
        return events(lines[1..].iter()).into_bytes();
    }
    let mut parts = lines.split(|line| line.is_empty());
    let head = parts.next().unwrap();
    let body = parts.flatten();
    let is_response = head[0].parse::<u16>().is_ok();
    let is_stream = head.iter().any(|line| line.contains("text/event-stream")) && is_response;
    let body = if is_stream {
        events(body)
    } else {
        body.map(|line| crate::told::line(line))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let first = if is_response {
        format!("HTTP/1.1 {} Said\r\n", head[0])
    } else {
        let own = head.iter().any(|line| line.starts_with("Host:"));
        let host = if own { "" } else { "Host: 127.0.0.1:3000\r\n" };
        format!("{} HTTP/1.1\r\n{host}", head[0])
    };
    let fields: String = head[1..].iter().flat_map(|line| [*line, "\r\n"]).collect();
    let length = match (is_stream, is_response) {
        // A stream goes on until somebody ends it, or as long as its connection.
        (true, _) if fields.contains("Connection: close") => String::new(),
        (true, _) => "Transfer-Encoding: chunked\r\n".to_owned(),
        (false, false) if body.is_empty() => String::new(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    format!("{first}{fields}{length}\r\n{body}").into_bytes()
}

/// A chunk of events, where there are any, and the last chunk where the stream ends.
fn events<'l>(lines: impl Iterator<Item = &'l &'l str>) -> String {
    let mut end = "";
    let event = |line: &&str| match line.split_once(' ') {
        Some(("endpoint", target)) => format!("event: endpoint\ndata: {target}\n\n"),
        Some(("id", id)) => format!("id: {id}\ndata:\n\n"),
        None if *line == "keep-alive" => ": still here\n\n".to_owned(),
        None if *line == "end" => {
            end = "0\r\n\r\n";
            String::new()
        }
        _ => format!("data: {}\n\n", crate::told::line(line)),
    };
    let events: String = lines.map(event).collect();
    match events.len() {
        0 => end.to_owned(),
        length => format!("{length:x}\r\n{events}\r\n{end}"),
    }
}
