//! The sessions of these tests, and what becomes of them.

pub use super::written::{Session, bytes, context, drain, exit};

use crate::reader::Recording;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::path::Path;

pub const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}
"#;
pub const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"weather","version":"2"}}}
"#;

/// A session with a bit of everything; chunks of `size` bytes.
pub fn busy_session(session: &mut Session, calls: u32, size: usize) {
    session.event(&EventKind::Spawned { pid: 7 });
    let mut to_server = INITIALIZE.to_vec();
    let mut to_client = INITIALIZED.to_vec();
    for id in 2..calls + 2 {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t{}","arguments":{{"n":{id}}}}}}}"#,
            id % 3
        );
        to_server.extend_from_slice(call.as_bytes());
        to_server.push(b'\n');
        let answer = match id % 4 {
            0 => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no"}}}}"#)
            }
            1 => String::from("a log line on stdout"),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#),
        };
        to_client.extend_from_slice(answer.as_bytes());
        to_client.push(b'\n');
    }
    to_client.extend_from_slice(b"an unfinished line");
    let stderr = b"one\xff\ntwo\r\n\nthree".repeat(3);
    let mut streams = [&to_server[..], &to_client, &stderr].map(|bytes| bytes.chunks(size));
    while streams.iter().any(|chunks| chunks.len() > 0) {
        for (stream, chunks) in StreamId::STDIO.into_iter().zip(&mut streams) {
            if let Some(chunk) = chunks.next() {
                session.chunk(stream, chunk);
            }
        }
    }
}

pub fn rows(reel: &Path, sql: &str) -> Vec<String> {
    let conn = Connection::open(reel).unwrap();
    let mut statement = conn.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values = (0..columns).map(|at| shown(row.get_ref(at).unwrap()));
        Ok(values.collect::<Vec<_>>().join("|"))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => bytes.escape_ascii().to_string(),
    }
}

/// Like `assert_eq!`, and shows only the first row that differs.
#[track_caller]
pub fn assert_same(left: &[String], right: &[String]) {
    for (left, right) in left.iter().zip(right) {
        assert_eq!(left, right);
    }
    assert_eq!(left.len(), right.len());
}

/// Everything that is derived, in order.
pub fn derived(reel: &Path) -> Vec<String> {
    let mut all = rows(reel, "SELECT * FROM message");
    all.extend(rows(reel, "SELECT * FROM line"));
    all.extend(rows(reel, "SELECT * FROM exchange ORDER BY id"));
    all.extend(rows(reel, "SELECT * FROM finding ORDER BY id"));
    all.extend(rows(
        reel,
        "SELECT derived_version, messages, exchanges, failed, open, findings, session FROM recording",
    ));
    all
}

/// Everything that is on record, in order, but for the start event, which holds the id.
pub fn recorded(reel: &Path) -> Vec<String> {
    let mut all = rows(reel, "SELECT * FROM frame ORDER BY seq");
    all.extend(rows(
        reel,
        "SELECT * FROM event WHERE kind <> 'start' ORDER BY id",
    ));
    all.extend(rows(reel, "SELECT id, committed, pending FROM stream"));
    all.extend(rows(
        reel,
        "SELECT frames, bytes, gap_bytes, t_last FROM recording",
    ));
    all
}

/// The frames of a stream, one after the other.
pub fn concatenated(recording: &Recording, stream: StreamId) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut after = Seq(0);
    loop {
        let page = recording.frames(after).unwrap();
        let Some((last, _)) = page.last() else {
            return bytes;
        };
        after = last.seq;
        for (head, raw) in page.into_iter().filter(|(head, _)| head.stream == stream) {
            let raw = raw.unwrap_or_else(|| recording.raw(head.seq).unwrap().into());
            assert_eq!(raw.len() as u64, head.size);
            bytes.extend_from_slice(&raw);
        }
    }
}

pub fn statuses(recording: &Recording) -> Vec<&'static str> {
    let exchanges = recording.exchanges(ExchangeId(0), 1000).unwrap();
    exchanges
        .iter()
        .map(|exchange| exchange.status.as_str())
        .collect()
}
