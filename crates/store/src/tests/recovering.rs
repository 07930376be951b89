//! Recordings whose recorder has gone.

use super::written_session::*;
use crate::library::{Details, Entry, Library, Standing, spool_of};
use crate::open::{beside, is_born};
use crate::reader::Recording;
use crate::recovery::{Outcome, RecoverError, Stage, bring_up_to_date, drain_for, is_missing};
use crate::schema::{self, State};
use mcpreel_capture::spool::{Progress, SpoolReader, Tail};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn recover(reel: &Path) -> Outcome {
    bring_up_to_date(reel, Clock::start(), &mut |_| ()).unwrap()
}

/// What the recorder makes of a session that nothing disturbs.
fn index_whole(session: &mut Session) {
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
}

#[test]
fn a_spool_alone_becomes_a_recording() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 10, 100);
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
    index_whole(&mut undisturbed);

    for steps in 0..6 {
        let mut session = Session::start(dir.path(), "weather", 2 + steps);
        busy_session(&mut session, 30, 90);
        session.end();
        let mut indexer = session.indexer();
        for _ in 0..steps {
            indexer.step(Tail::Final, &bytes(900)).unwrap();
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

    assert!(
        !is_born(&session.reel).unwrap(),
        "the header has no version yet"
    );
    assert!(matches!(recover(&session.reel), Outcome::Completed { .. }));
    let recording = Recording::open(&session.reel).unwrap();
    assert!(recording.summary().unwrap().frames > 5);
}

fn kept(reel: &Path) -> PathBuf {
    beside(&spool_of(reel), ".damaged")
}

fn warnings(recording: &Recording) -> Vec<String> {
    let events = recording.events(0).unwrap().into_iter();
    let messages = events.filter_map(|row| match row.event.kind {
        EventKind::Warning { message } => Some(message),
        _ => None,
    });
    messages.collect()
}

fn gaps(recording: &Recording) -> Vec<(StreamId, u64, u64)> {
    let events = recording.events(0).unwrap().into_iter();
    let gaps = events.filter_map(|row| match row.event.kind {
        EventKind::Gap {
            stream,
            offset,
            bytes,
            ..
        } => Some((stream, offset, bytes)),
        _ => None,
    });
    gaps.collect()
}

fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Three lines, the second of which is damaged at the byte that is returned.
fn damaged_in_the_middle(session: &mut Session) -> u64 {
    session.chunk(StreamId::S2C, b"one\n");
    // Behind the header of the segment and that of the record.
    let at = session.written() + 16 + 41;
    session.chunk(StreamId::S2C, b"two\n");
    session.chunk(StreamId::S2C, b"three\n");
    session.chunk(StreamId::STDERR, b"four\n");
    at
}

#[test]
fn a_damaged_record_costs_nothing_else_and_its_spool_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let at = damaged_in_the_middle(&mut session);
    session.die();
    flip(&spool_of(&session.reel), at);
    let before = std::fs::read(spool_of(&session.reel)).unwrap();
    recover(&session.reel);
    let recording = Recording::open(&session.reel).unwrap();
    assert_eq!(concatenated(&recording, StreamId::S2C), b"one\nthree\n");
    assert_eq!(concatenated(&recording, StreamId::STDERR), b"four\n");
    assert_eq!(gaps(&recording), [(StreamId::S2C, 4, 4)]);
    let warnings = warnings(&recording);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("44 bytes of the spool could not be read"));
    assert!(!spool_of(&session.reel).exists());
    assert_eq!(std::fs::read(kept(&session.reel)).unwrap(), before);
    assert_eq!(Library::new(dir.path()).list().unwrap().len(), 1);
}

#[test]
fn a_spool_that_was_left_behind_by_a_complete_recording_goes() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    session.end();
    index_whole(&mut session);
    session.die();
    let before = recorded(&session.reel);
    assert_eq!(recover(&session.reel), Outcome::Whole);
    assert!(!spool_of(&session.reel).exists());
    assert_same(&recorded(&session.reel), &before);
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

/// A reader that saw none of it took a busy indexer for one that stands still after ten seconds.
#[test]
fn who_waits_for_an_indexer_can_see_how_far_it_has_derived() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, &b"{}\n".repeat(10_000));
    session.die();
    let spool = SpoolReader::open(&spool_of(&session.reel)).unwrap();
    let mut seen = Vec::new();
    let outcome = bring_up_to_date(&session.reel, Clock::start(), &mut |stage| {
        if let Stage::Deriving { frames } = stage {
            seen.push((frames, spool.progress().derived));
        }
    });
    assert!(matches!(outcome, Ok(Outcome::Completed { .. })));
    assert_eq!(seen, [(4096, 4096), (8192, 8192)]);
}

#[test]
fn an_indexer_that_is_still_at_work_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 10, 100);
    session.end();
    let mut cat = std::process::Command::new("cat");
    let mut indexer = cat.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let spool = SpoolReader::open(&spool_of(&session.reel)).unwrap();
    let progress = Progress {
        indexer: indexer.id().cast_signed(),
        ..spool.progress()
    };
    spool.publish(&progress).unwrap();
    session.die();

    let listed = drain_for(&session.reel, Clock::start(), Duration::from_millis(20)).unwrap();
    assert_eq!(listed, Outcome::Partly, "a list waits for its time");
    assert!(is_missing(&session.reel), "nothing was taken over");
    let mut looks = 0;
    let outcome = bring_up_to_date(&session.reel, Clock::start(), &mut |_| {
        looks += 1;
        if looks == 20 {
            assert!(is_missing(&session.reel), "nothing was taken over");
            indexer.kill().unwrap();
            indexer.wait().unwrap();
        }
    });
    assert!(matches!(outcome, Ok(Outcome::Completed { .. })));
    indexer.wait().unwrap();
}

/// A reader that looked first whether the recorder has ended, and then at the lock, took the indexer
/// for a recorder that lives.
#[test]
fn an_indexer_that_takes_the_lock_just_now_is_waited_for() {
    for round in 0..50 {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        session.end();
        let path = spool_of(&session.reel);
        let spool = SpoolReader::open(&path).unwrap();
        let mut progress = spool.progress();
        progress.indexer = std::process::id().cast_signed();
        spool.publish(&progress).unwrap();
        session.die();
        let (reel, began) = (&session.reel, &std::sync::Barrier::new(2));
        let looks = &AtomicU32::new(0);
        let look = |_| {
            looks.fetch_add(1, Ordering::Relaxed);
        };
        std::thread::scope(|threads| {
            let reader = threads.spawn(move || {
                began.wait();
                bring_up_to_date(reel, Clock::start(), &mut { look }).unwrap()
            });
            began.wait();
            (0..round * 80).for_each(|_| std::hint::spin_loop());
            progress.is_over = true;
            spool.publish(&progress).unwrap();
            let held = mcpreel_capture::spool::lock(&path);
            while !reader.is_finished() && looks.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now();
            }
            progress.indexer = 0;
            spool.publish(&progress).unwrap();
            drop(held);
            assert!(matches!(reader.join().unwrap(), Outcome::Completed { .. }));
        });
    }
}

#[test]
fn a_journal_that_a_killed_writer_left_is_rolled_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 300, 1000);
    session.end();
    session.die();
    recover(&session.reel);
    let before = recorded(&session.reel);
    let killed = dir.path().join("killed.reel");
    let conn = rusqlite::Connection::open(&session.reel).unwrap();
    conn.execute_batch("PRAGMA cache_size = 1; BEGIN; UPDATE frame SET raw = zeroblob(9000);")
        .unwrap();
    // Nobody holds the copies: they are what a killed writer leaves.
    for suffix in ["", "-journal"] {
        std::fs::copy(beside(&session.reel, suffix), beside(&killed, suffix)).unwrap();
    }
    assert_eq!(recover(&killed), Outcome::Whole);
    assert!(!beside(&killed, "-journal").exists());
    assert_same(&recorded(&killed), &before);
}

#[test]
fn a_recording_that_somebody_else_is_making_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 100);
    // Its creation has begun, and does not go on.
    std::fs::write(&session.reel, b"").unwrap();
    let busy = bring_up_to_date(&session.reel, Clock::start(), &mut |_| ());
    assert!(matches!(busy, Err(RecoverError::Busy { .. })), "{busy:?}");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| recover(&session.reel));
        std::fs::remove_file(&session.reel).unwrap();
        drop(session.indexer());
        assert_eq!(waiting.join().unwrap(), Outcome::Live);
    });
}
