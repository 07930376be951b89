//! Following a live recording.

use super::written_session::*;
use crate::follow::{Change, Read, Watch};
use crate::library::spool_of;
use crate::reader::{ReadError, Recording};
use crate::recovery::bring_up_to_date;
use crate::schema::State;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::StreamId;

/// Polls for the number of frames and the state.
fn poll(watch: &mut Watch) -> Change<(u64, State)> {
    let read = |recording: &Recording| {
        let summary = recording.summary()?;
        let news = (summary.frames, summary.state);
        let is_final = summary.state.is_final();
        Ok::<_, ReadError>(if is_final {
            Read::Complete(news)
        } else {
            Read::All(news)
        })
    };
    watch.poll(read).unwrap()
}

fn news(watch: &mut Watch) -> (u64, State) {
    match poll(watch) {
        Change::Changed(news) => news,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_new_is_told_once_and_the_file_let_go_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let mut watch = Watch::new(&session.reel);
    assert!(matches!(poll(&mut watch), Change::Waiting));
    let mut indexer = session.indexer();
    session.chunk(StreamId::C2S, INITIALIZE);
    drain(&mut indexer, &bytes(u64::MAX));
    assert_eq!(news(&mut watch), (1, State::Live));
    assert!(matches!(poll(&mut watch), Change::Quiet));
    session.chunk(StreamId::S2C, INITIALIZED);
    session.end();
    drain(&mut indexer, &bytes(u64::MAX));
    assert_eq!(news(&mut watch), (2, State::Live));
    indexer.finish(State::Complete).unwrap();
    assert_eq!(news(&mut watch), (2, State::Complete));
    assert!(watch.recording().is_none());
    assert!(indexer.leave_wal().unwrap());
    assert!(matches!(poll(&mut watch), Change::Ended));
}

#[test]
fn a_killed_recorder_is_noticed_and_its_recording_followed_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::C2S, INITIALIZE);
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let mut watch = Watch::new(&session.reel);
    assert_eq!(news(&mut watch), (1, State::Live));
    session.chunk(StreamId::S2C, INITIALIZED);
    drop(indexer);
    session.die();
    let orphaned = (0..100).any(|_| matches!(poll(&mut watch), Change::Orphaned));
    assert!(orphaned);
    bring_up_to_date(&session.reel, Clock::start(), &mut |_| ()).unwrap();
    assert!(!spool_of(&session.reel).exists());
    assert_eq!(news(&mut watch), (2, State::Recovered));
    assert!(matches!(poll(&mut watch), Change::Ended));
}
