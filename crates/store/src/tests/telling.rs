//! The story of an exchange has all that belongs to it.

use super::written_session::{Session, bytes, drain};
use crate::reader::Recording;
use crate::schema::State;
use crate::story::{Kinship, Told};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::item::ItemKey;

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
"#;
const PROGRESS: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
"#;
const ASKED: &[u8] = br#"{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{}}
"#;
const REPLIED: &[u8] = br#"{"jsonrpc":"2.0","id":"s1","result":{"action":"accept"}}
"#;
const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}
"#;

fn told(what: &Told) -> &'static str {
    match what {
        Told::Message { of, .. } => match of {
            Kinship::Own => "own",
            Kinship::Child(_) => "child",
            Kinship::Chain(_) => "chain",
        },
        Told::Line { .. } => "line",
        Told::Event(_) => "event",
        Told::Finding(_) => "finding",
    }
}

fn finished(session: &mut Session) -> Recording {
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);
    Recording::open(&session.reel).unwrap()
}

#[test]
fn a_story_has_everything_between_request_and_answer_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::STDERR, b"before\n");
    session.chunk(StreamId::C2S, CALL);
    session.chunk(StreamId::S2C, PROGRESS);
    session.chunk(StreamId::S2C, ASKED);
    session.chunk(StreamId::STDERR, b"in between\n");
    session.event(&EventKind::StallBegan {
        stream: StreamId::C2S,
        bytes: 1,
    });
    session.chunk(StreamId::C2S, REPLIED);
    session.chunk(StreamId::S2C, ANSWER);
    session.chunk(StreamId::STDERR, b"after\n");
    let recording = finished(&mut session);
    let story = recording.story(ExchangeId(1)).unwrap().unwrap();
    let entries = story.entries.iter();
    let mut seen: Vec<_> = entries.map(|e| (e.key.seq.0, told(&e.what))).collect();
    seen.retain(|(_, what)| *what != "finding");
    assert_eq!(
        seen,
        [
            (2, "own"),
            (3, "own"),
            (4, "child"),
            (5, "line"),
            (5, "event"),
            (6, "child"),
            (7, "own"),
        ]
    );
    assert!(story.entries.is_sorted_by_key(|entry| entry.t));
    assert_eq!(story.left_out, 0);
    assert!(recording.story(ExchangeId(9)).unwrap().is_none());
    let touched = recording.exchanges_touched(Seq(6)).unwrap();
    assert_eq!(touched, [(ExchangeId(1), ItemKey::of_part(Seq(2), 0))]);
}

#[test]
fn a_story_that_is_too_long_says_how_much_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::C2S, CALL);
    for _ in 0..700 {
        session.chunk(StreamId::S2C, PROGRESS);
        session.chunk(StreamId::STDERR, b"line\n");
    }
    session.chunk(StreamId::S2C, ANSWER);
    let recording = finished(&mut session);
    let story = recording.story(ExchangeId(1)).unwrap().unwrap();
    let lines = story.entries.iter().filter(|e| told(&e.what) == "line");
    assert_eq!(lines.count(), 500);
    // Of 702 messages the first 500 and the answer, of 700 lines the first 500.
    assert_eq!(story.left_out, 201 + 200);
    let last = story.entries.iter().rfind(|e| told(&e.what) == "own");
    assert_eq!(last.unwrap().key.seq, Seq(1402), "the answer is told");
}
