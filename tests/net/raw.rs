//! What real peers sent over their connections, as a recording.
//!
//! A folder has for each connection N the bytes of both ways, `N.c2s` and `N.s2c`, and `N.times`:
//! nanoseconds, what happened (`open`, `c2s`, `s2c`, `c2s-eof`, …), how many bytes.

use crate::support::written::{self, Session};
use mcpreel_store::reader::Recording;
use mcpreel_trace::event::{Closer, EventKind, Party, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::Direction;
use std::collections::BTreeMap;
use std::path::Path;

/// Makes the recording, in `dir`, of the folder `raw`.
pub fn recording(dir: &Path, raw: &Path) -> Recording {
    let context = ProcessContext {
        transport: "http".into(),
        url: Some("http://127.0.0.1:3000/mcp".into()),
        ..written::context("server", 1)
    };
    let mut session = Session::begin(&dir.join("a.reel"), context);
    let mut connections = BTreeMap::new();
    let mut steps = Vec::new();
    for number in 1.. {
        let Ok(times) = std::fs::read_to_string(raw.join(format!("{number}.times"))) else {
            break;
        };
        let ways =
            ["c2s", "s2c"].map(|way| std::fs::read(raw.join(format!("{number}.{way}"))).unwrap());
        connections.insert(number, ways);
        for line in times.lines() {
            let mut words = line.split(' ');
            let t: u64 = words.next().unwrap().parse().unwrap();
            let what = words.next().unwrap().to_owned();
            let bytes: usize = words.next().unwrap_or("0").parse().unwrap();
            steps.push((t, number, what, bytes));
        }
    }
    steps.sort_by_key(|step| step.0);
    for (t, number, what, bytes) in steps {
        session.at(t);
        step(&mut session, number, &what, bytes, &connections[&number]);
    }
    session.status(None, None);
    let mut indexer = session.indexer();
    written::drain(&mut indexer, &written::bytes(u64::MAX));
    indexer
        .finish(mcpreel_store::schema::State::Complete)
        .unwrap();
    Recording::open(&session.reel).unwrap()
}

fn step(session: &mut Session, connection: u32, what: &str, bytes: usize, ways: &[Vec<u8>; 2]) {
    let (way, end) = what.split_once('-').unwrap_or((what, ""));
    let is_up = way == "c2s";
    let direction = [Direction::ServerToClient, Direction::ClientToServer][usize::from(is_up)];
    let stream = StreamId::of_connection(connection, direction);
    match (way, end) {
        ("open", _) => session.event(&EventKind::Connected {
            connection,
            client: format!("127.0.0.1:{}", 40_000 + connection),
            server: "127.0.0.1:3000".into(),
            name_ns: 0,
            tcp_ns: 100_000,
            tls_ns: None,
        }),
        ("c2s" | "s2c", "") => {
            let at = usize::try_from(session.carried(stream)).unwrap();
            session.carry(stream, &ways[usize::from(!is_up)][at..at + bytes]);
        }
        (_, "eof") => session.event(&EventKind::Eof {
            stream,
            by: Closer::Writer,
        }),
        _ => session.event(&EventKind::Disconnected {
            connection,
            by: if is_up { Party::Client } else { Party::Server },
            reset: end == "reset",
            bytes: [Direction::ClientToServer, Direction::ServerToClient]
                .map(|way| session.carried(StreamId::of_connection(connection, way))),
        }),
    }
}
