//! Recordings whose recorder has gone.

use super::session::*;
use crate::store::library::{Details, Entry, Standing, spool_of};
use crate::store::open::{beside, is_unborn};
use crate::store::reader::Recording;
use crate::store::recovery::{Outcome, bring_up_to_date, drain_for};
use crate::store::schema::{self, State};
use crate::trace::clock::Clock;
use crate::trace::event::EventKind;
use crate::trace::frame::StreamId;
use std::path::Path;
use std::time::Duration;

fn recover(reel: &Path) -> Outcome {
    bring_up_to_date(reel, Clock::start(), &mut |_| ()).unwrap()
}

#[test]
fn a_spool_alone_becomes_a_recording() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 10, 100);
    assert_eq!(recover(&session.reel), Outcome::Live);
    session.die();
    let entry = Entry::read(&session.reel);
    assert_eq!(entry.standing, Standing::Interrupted);
    assert!(matches!(entry.details, Details::Started(_)));
    let Outcome::Completed { frames, state } = recover(&session.reel) else {
        panic!("it was interrupted");
    };
    assert_eq!(state, State::Recovered);
    assert!(!spool_of(&session.reel).exists());
    let recording = Recording::open(&session.reel).unwrap();
    let summary = recording.summary().unwrap();
    assert_eq!((summary.frames, summary.state), (frames, State::Recovered));
    assert_eq!(summary.id, "00000001");
    let last = recording.events(0).unwrap().pop().unwrap();
    assert_eq!(last.event.kind, EventKind::Recovered { frames });
    assert_eq!(recover(&session.reel), Outcome::Whole);
}

#[test]
fn a_killed_recorder_leaves_what_an_undisturbed_one_would_have_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut undisturbed = Session::start(dir.path(), "weather", 1);
    busy_session(&mut undisturbed, 30, 90);
    undisturbed.end();
    let mut indexer = undisturbed.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);

    for steps in 0..6 {
        let mut session = Session::start(dir.path(), "weather", 2 + steps);
        busy_session(&mut session, 30, 90);
        session.end();
        let mut indexer = session.indexer();
        for _ in 0..steps {
            indexer.step(u64::MAX, &bytes(900)).unwrap();
        }
        drop(indexer);
        session.die();
        assert_eq!(Entry::read(&session.reel).standing, Standing::Pending);
        let outcome = recover(&session.reel);
        let Outcome::Completed {
            state: State::Complete,
            ..
        } = outcome
        else {
            panic!("{outcome:?}");
        };
        assert_same(&recorded(&session.reel), &recorded(&undisturbed.reel));
        assert_same(&derived(&session.reel), &derived(&undisturbed.reel));
    }
}

#[test]
fn a_recording_whose_creation_was_interrupted_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    session.die();
    std::fs::write(&session.reel, b"").unwrap();
    assert!(matches!(recover(&session.reel), Outcome::Completed { .. }));
    assert!(
        Recording::open(&session.reel)
            .unwrap()
            .summary()
            .unwrap()
            .frames
            > 5
    );
}

/// Its tables were in the WAL when the recorder died, and the header of the file does not show
/// that: they were made a second time, and that failed.
#[test]
fn a_recording_whose_creation_ended_in_the_wal_is_not_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    let start = session.spool().first_position();
    session.die();

    // A reader that came before the tables keeps them in the WAL.
    let twin = dir.path().join("twin");
    let reader = rusqlite::Connection::open(&twin).unwrap();
    reader
        .execute_batch(
            "PRAGMA page_size = 16384; PRAGMA application_id = 0x6D637072; PRAGMA journal_mode = WAL;
             BEGIN; SELECT count(*) FROM sqlite_schema",
        )
        .unwrap();
    let writer = schema::fill(&twin, &context("weather", 1), start).unwrap();
    std::fs::copy(&twin, &session.reel).unwrap();
    std::fs::copy(beside(&twin, "-wal"), beside(&session.reel, "-wal")).unwrap();
    drop((writer, reader));

    assert!(is_unborn(&session.reel), "the header has no version yet");
    assert!(matches!(recover(&session.reel), Outcome::Completed { .. }));
    let recording = Recording::open(&session.reel).unwrap();
    assert!(recording.summary().unwrap().frames > 5);
}

#[test]
fn a_torn_tail_is_stated() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"whole\n");
    session.chunk(StreamId::S2C, b"torn\n");
    let end = session.written();
    session.die();
    let spool = std::fs::OpenOptions::new()
        .write(true)
        .open(spool_of(&session.reel));
    spool.unwrap().set_len(end - 1).unwrap();
    recover(&session.reel);
    let recording = Recording::open(&session.reel).unwrap();
    assert_eq!(concatenated(&recording, StreamId::S2C), b"whole\n");
    let warned = recording.events(0).unwrap().into_iter().any(|row| {
        matches!(row.event.kind, EventKind::Warning { message } if message.contains("36 bytes"))
    });
    assert!(warned);
}

#[test]
fn a_spool_that_was_left_behind_by_a_complete_recording_goes() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);
    session.die();
    let before = recorded(&session.reel);
    assert_eq!(recover(&session.reel), Outcome::Whole);
    assert!(!spool_of(&session.reel).exists());
    assert_same(&recorded(&session.reel), &before);
}

#[test]
fn a_reader_that_was_in_the_way_is_made_up_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let reader = Recording::open(&session.reel).unwrap();
    reader.summary().unwrap();
    let finished = indexer.finish(State::Complete).unwrap();
    assert_eq!(finished, crate::store::indexer::Finished::StillWal);
    // Neither closes in an orderly way, as if both were killed.
    session.die();
    drop(reader);
    assert!(indexer.leave_wal().unwrap());
    assert!(!crate::store::open::is_wal(&session.reel).unwrap());
}

#[test]
fn a_list_waits_for_a_large_spool_no_longer_than_it_was_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let lines = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n".repeat(1000);
    for _ in 0..10 {
        session.chunk(StreamId::S2C, &lines);
    }
    session.end();
    session.die();
    let outcome = drain_for(&session.reel, Clock::start(), Duration::ZERO).unwrap();
    assert_eq!(outcome, Outcome::Partly);
    assert_eq!(Entry::read(&session.reel).standing, Standing::Pending);
    let outcome = drain_for(&session.reel, Clock::start(), Duration::from_mins(10)).unwrap();
    assert_eq!(
        outcome,
        Outcome::Partly,
        "too many frames to derive meanwhile"
    );
    assert!(matches!(recover(&session.reel), Outcome::Completed { .. }));
    let recording = Recording::open(&session.reel).unwrap();
    assert_eq!(recording.summary().unwrap().messages, 10_000);
}
