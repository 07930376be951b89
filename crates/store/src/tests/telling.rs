//! What belongs to an exchange is told with it.

use super::written_session::{Session, bytes, drain};
use crate::reader::Recording;
use crate::schema::State;
use crate::story::{Kinship, Told, Unfinished};
use mcpreel_trace::clock::Moment;
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
fn a_finding_that_was_made_at_the_end_stands_at_the_end_and_another_after_its_frame() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::C2S, CALL);
    session.chunk(StreamId::S2C, b"noise\n");
    session.chunk(StreamId::STDERR, b"last words\n");
    session.event(&EventKind::Exit {
        code: None,
        signal: Some("SIGSEGV".to_owned()),
        max_rss_bytes: 1,
        user_ns: 1,
        system_ns: 1,
    });
    let recording = finished(&mut session);
    let story = recording.story(ExchangeId(1)).unwrap().unwrap();
    let seen: Vec<_> = story
        .entries
        .iter()
        .filter_map(|entry| match &entry.what {
            Told::Finding(finding) => {
                let mut rules = ["frame-not-json", "process-died-in-flight"].into_iter();
                rules.find(|rule| **rule == *finding.rule)
            }
            what => Some(told(what)),
        })
        .skip_while(|what| *what != "own")
        .collect();
    assert_eq!(seen[..2], ["own", "line"]);
    assert_eq!(seen[2], "frame-not-json");
    assert_eq!(seen[3..5], ["line", "event"]);
    assert_eq!(seen.last(), Some(&"process-died-in-flight"));
    assert!(story.entries.is_sorted_by_key(|entry| entry.t));
    let last = story.entries.last().unwrap();
    assert_eq!(last.key.seq, Seq(1), "it still points at the request");
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

#[test]
fn an_unfinished_line_and_an_open_stall_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"half a li");
    for (stream, lasted_ns) in [(StreamId::C2S, None), (StreamId::S2C, Some(5))] {
        session.event(&EventKind::StallBegan { stream, bytes: 7 });
        if let Some(lasted_ns) = lasted_ns {
            session.event(&EventKind::StallEnded { stream, lasted_ns });
        }
    }
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let recording = Recording::open(&session.reel).unwrap();
    let unfinished = recording.unfinished().unwrap();
    let since = unfinished[0].since;
    assert!(since > Moment(0));
    assert_eq!(
        unfinished,
        [Unfinished {
            stream: StreamId::S2C,
            bytes: 9,
            since
        }]
    );
    let stalls = recording.open_stalls().unwrap();
    assert_eq!(stalls.len(), 1);
    assert_eq!((stalls[0].stream, stalls[0].bytes), (StreamId::C2S, 7));
}
