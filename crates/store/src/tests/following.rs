//! Following a live recording.

use super::written_session::*;
use crate::follow::{Change, News, Tail};
use crate::library::spool_of;
use crate::recovery::bring_up_to_date;
use crate::schema::State;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::StreamId;

fn news(tail: &mut Tail) -> News {
    match tail.poll().unwrap() {
        Change::Changed(news) => *news,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_come_once_and_exchanges_again_when_they_change() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let mut tail = Tail::new(&session.reel);
    assert!(matches!(tail.poll().unwrap(), Change::Waiting));
    let mut indexer = session.indexer();
    session.chunk(StreamId::C2S, INITIALIZE);
    drain(&mut indexer, &bytes(u64::MAX));
    let first = news(&mut tail);
    assert_eq!(
        (first.frames.len(), first.messages.len(), first.events.len()),
        (1, 1, 1)
    );
    assert_eq!(first.exchanges[0].status.as_str(), "open");
    assert!(matches!(tail.poll().unwrap(), Change::Quiet));
    session.chunk(StreamId::S2C, INITIALIZED);
    drain(&mut indexer, &bytes(u64::MAX));
    let second = news(&mut tail);
    assert_eq!((second.frames.len(), second.events.len()), (1, 0));
    assert_eq!(second.exchanges[0].status.as_str(), "ok");
    session.chunk(
        StreamId::C2S,
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n",
    );
    session.end();
    drain(&mut indexer, &bytes(u64::MAX));
    assert_eq!(news(&mut tail).exchanges[0].status.as_str(), "open");
    // The tail sees that the recording is complete, and lets go of the file.
    indexer.finish(State::Complete).unwrap();
    let last = news(&mut tail);
    assert_eq!(last.summary.state, State::Complete);
    assert!(last.exchanges[0].has_failed());
    assert!(tail.recording().is_none());
    assert!(indexer.leave_wal().unwrap());
    assert!(matches!(tail.poll().unwrap(), Change::Ended));
}

#[test]
fn a_killed_recorder_is_noticed_and_its_recording_followed_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::C2S, INITIALIZE);
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let mut tail = Tail::new(&session.reel);
    assert_eq!(news(&mut tail).frames.len(), 1);
    session.chunk(StreamId::S2C, INITIALIZED);
    drop(indexer);
    session.die();
    let orphaned = (0..100).any(|_| matches!(tail.poll().unwrap(), Change::Orphaned));
    assert!(orphaned);
    bring_up_to_date(&session.reel, Clock::start(), &mut |_| ()).unwrap();
    assert!(!spool_of(&session.reel).exists());
    let last = news(&mut tail);
    assert_eq!(
        (last.frames.len(), last.summary.state),
        (1, State::Recovered)
    );
    assert!(matches!(tail.poll().unwrap(), Change::Ended));
}
