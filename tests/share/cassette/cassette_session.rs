//! Sessions in which anything may happen, made from a seed.

use crate::support::chunk_all;
use crate::support::conversation::Conversation;
use crate::support::dice::Dice;
use crate::support::written::{Session, bytes, context, drain, exit};
use mcpreel_store::schema::State;
use mcpreel_trace::event::{Closer, EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::path::{Path, PathBuf};

/// Lines that no well-behaved peer sends.
fn odd_line(dice: &mut Dice) -> Vec<u8> {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth], b"\n".to_vec()].concat();
    match dice.below(16) {
        0 => b"\n".to_vec(),
        1 => b"{}\r\n".to_vec(),
        2 => b"\xef\xbb\xbf{}\n".to_vec(),
        3 => b"{}{}\n".to_vec(),
        4 => b" {\"a\":1}\n".to_vec(),
        5 => b"{\"a\":1}  \n".to_vec(),
        6 => b"{},\"raw\":{}\n".to_vec(),
        7 => b"{\"a\":\r1}\n".to_vec(),
        8 => b"\"\xff\xfe\0\"\n".to_vec(),
        9 => "\"\u{2028}\u{9b}\u{7f}\"\n".as_bytes().to_vec(),
        10 => nested(500 + dice.length_below(30)),
        11 => b"1.50e+3\n".to_vec(),
        12 => b"{\"jsonrpc\":\"2.0\",\"method\":\"m\\u0000\\ud800\"}\n".to_vec(),
        13 => format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n",
            "m".repeat(400)
        )
        .into_bytes(),
        // Longer than is collected in memory, and deeper than is parsed.
        14 if dice.below(4) == 0 => nested(600_000),
        15 if dice.below(4) == 0 => format!("{{\"x\":\"{}\"}}\n", "é".repeat(550_000)).into_bytes(),
        _ => (0..dice.length_below(40))
            .map(|_| dice.below(256).to_le_bytes()[0])
            .collect(),
    }
}

fn event(dice: &mut Dice) -> EventKind {
    let stream = StreamId(u32::try_from(dice.below(3)).expect("it is small"));
    let bytes = dice.below(1 << 40);
    match dice.below(5) {
        0 => EventKind::Spawned { pid: 7 },
        1 => EventKind::StallBegan { stream, bytes },
        2 => EventKind::Undelivered { stream, bytes },
        3 => EventKind::Warning {
            message: "\"odd\"\n\u{2028}\u{1b}[2J".into(),
        },
        _ => EventKind::Eof {
            stream,
            by: [Closer::Writer, Closer::Reader][dice.length_below(2)],
        },
    }
}

/// Records a session in `dir` whose moments are whole multiples of `unit`, nanoseconds.
pub fn record(dir: &Path, dice: &mut Dice, unit: u64) -> PathBuf {
    let id = u32::try_from(dice.below(1 << 30)).expect("it is small");
    let context = ProcessContext {
        argv: vec!["srv".into(), "é \"x\"".into()],
        cwd: Some("/srv".into()),
        env_names: vec!["HOME".into()],
        slow_ns: [None, Some(300_000)][dice.length_below(2)],
        ..context("weather", id)
    };
    let mut session = Session::begin(&dir.join("before.reel"), context);
    let lines = dice.length_below(80);
    let mut conversation = Conversation::wild(dice.below(u64::MAX));
    // What was said and not read yet, per stream.
    let mut pending: [Vec<u8>; 3] = Default::default();
    let mut t = 0;
    let mut reason = ["", "the disk is nearly full"][dice.length_below(2)];
    for _ in 0..lines {
        let line = conversation.next().expect("it has no end");
        pending[line.stream.index()].extend(line.bytes);
        if dice.below(6) == 0 {
            let stream = dice.length_below(3);
            pending[stream].extend(odd_line(dice));
        }
        for _ in 0..dice.below(4) {
            t += dice.below(3_000_000 / unit) * unit;
            step(&mut session, &mut pending, &mut reason, t, dice);
        }
    }
    for (stream, pending) in StreamId::STDIO.into_iter().zip(&pending) {
        if dice.below(2) == 0 {
            chunk_all(&mut session, stream, pending);
        }
    }
    end(session, dice)
}

/// Something happens: bytes are read, or lost, or there is an event.
fn step(
    session: &mut Session,
    pending: &mut [Vec<u8>; 3],
    reason: &mut &str,
    t: u64,
    dice: &mut Dice,
) {
    let stream = dice.length_below(3);
    let id = StreamId(u32::try_from(stream).expect("it is small"));
    session.at(t);
    match dice.below(40) {
        0 => {
            // The status says why before the gap is found.
            if !reason.is_empty() {
                session.status(None, Some(std::mem::take(reason)));
            }
            session.lose(id, 1 + dice.below(1000));
        }
        1..3 => session.event(&event(dice)),
        _ => {
            let waiting = &mut pending[stream];
            let len = match dice.below(3) {
                0 => waiting.len(),
                _ => dice.length_below(waiting.len() + 1),
            };
            let chunk: Vec<u8> = waiting.drain(..len).collect();
            chunk_all(session, id, &chunk);
        }
    }
}

fn end(mut session: Session, dice: &mut Dice) -> PathBuf {
    let mut indexer = session.indexer();
    match dice.below(3) {
        0 => session.end(),
        1 => session.end_with(EventKind::Exit {
            code: None,
            signal: Some("SIGKILL".into()),
            max_rss_bytes: u64::MAX,
            user_ns: u64::MAX,
            system_ns: u64::MAX,
        }),
        // Only the status knows of the end.
        _ => session.status(Some(exit(3)), None),
    }
    drain(&mut indexer, &bytes(1 + dice.below(1 << 20)));
    indexer.finish(State::Complete).expect("it can be finished");
    indexer.release_spool().expect("it can be removed");
    session.reel.clone()
}
