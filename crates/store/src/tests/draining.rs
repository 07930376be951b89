//! From the spool into the recording.

use super::written_session::*;
use crate::indexer::derive::reindex;
use crate::indexer::{IndexError, Indexer};
use crate::library::spool_of;
use crate::reader::Recording;
use crate::recovery::bring_up_to_date;
use crate::schema::{self, State};
use mcpreel_capture::spool::Tail;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{Seq, StreamId};
use std::io::Read;

fn finished(session: &mut Session, budget: u64) -> Recording {
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(budget));
    assert!(indexer.finish(State::Complete).unwrap());
    drop(indexer);
    Recording::open(&session.reel).unwrap()
}

#[test]
fn the_frames_of_a_stream_concatenate_to_the_stream() {
    let dir = tempfile::tempdir().unwrap();
    for (id, size) in [(1, 1), (2, 7), (3, 64 * 1024)] {
        let mut session = Session::start(dir.path(), "weather", id);
        let sent: [&[u8]; 3] = [
            b"{}\n\r\n\n\0\xff\n[1",
            b"\xef\xbb\xbf{}\r\nx",
            b"one\ntwo\nthree\n",
        ];
        for (stream, bytes) in StreamId::STDIO.into_iter().zip(sent) {
            bytes
                .chunks(size)
                .for_each(|chunk| session.chunk(stream, chunk));
        }
        session.end();
        let recording = finished(&mut session, 1);
        for (stream, bytes) in StreamId::STDIO.into_iter().zip(sent) {
            assert_eq!(concatenated(&recording, stream), bytes);
        }
        assert_eq!(recording.summary().unwrap().frames, 5 + 2 + 3);
    }
}

/// Each table and index had a page of 16 KiB.
#[test]
fn a_small_recording_is_a_small_file() {
    let dir = tempfile::tempdir().unwrap();
    for (id, is_killed) in [(1, false), (2, true)] {
        let mut session = Session::start(dir.path(), "weather", id);
        busy_session(&mut session, 5, 1000);
        if is_killed {
            session.die();
            bring_up_to_date(&session.reel, Clock::start(), &mut |_| ()).unwrap();
        } else {
            session.end();
            finished(&mut session, u64::MAX);
        }
        let size = session.reel.metadata().unwrap().len();
        assert!((1..=100_000).contains(&size), "{size}");
        assert_eq!(rows(&session.reel, "PRAGMA integrity_check"), ["ok"]);
        let recording = Recording::open(&session.reel).unwrap();
        assert!(recording.summary().unwrap().frames > 10);
    }
}

#[test]
fn a_long_line_is_stored_whole_and_known_by_its_outline() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(
        StreamId::C2S,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"big\"}}\n",
    );
    let mut line =
        br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#.to_vec();
    line.extend((0..3 * 1024 * 1024_u32).map(|n| b'a' + (n / 7 % 26) as u8));
    line.extend_from_slice(b"\"}]}}\n");
    for (n, chunk) in line.chunks(60_000).enumerate() {
        session.chunk(StreamId::S2C, chunk);
        if n % 5 == 0 {
            session.chunk(StreamId::STDERR, b"meanwhile\n");
        }
    }
    session.chunk(StreamId::S2C, b"after\n");
    session.end();
    let recording = finished(&mut session, 200_000);
    let heads = recording.heads(Seq(0), 100).unwrap();
    let big = heads.iter().find(|head| head.size > 1_000_000).unwrap();
    assert_eq!(big.size, line.len() as u64);
    assert!(recording.raw(big.seq).unwrap() == line);
    let mut streamed = Vec::new();
    recording
        .stream(big.seq)
        .unwrap()
        .read_to_end(&mut streamed)
        .unwrap();
    assert!(streamed == line);
    line.extend_from_slice(b"after\n");
    assert!(concatenated(&recording, StreamId::S2C) == line);
    assert_eq!(statuses(&recording), ["ok"]);
    let before = derived(&session.reel);
    reindex(&session.reel, &mut |_| ()).unwrap();
    assert_same(&derived(&session.reel), &before);
}

#[test]
fn missing_bytes_are_stated_and_end_the_line_that_they_interrupt() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"whole\nbroken");
    session.lose(StreamId::S2C, 100);
    session.status(None, Some("no space left on device"));
    session.chunk(StreamId::S2C, b" off\nwhole again\n");
    session.lose(StreamId::STDERR, 9);
    session.status(Some(exit(0)), Some("no space left on device"));
    let recording = finished(&mut session, u64::MAX);
    let heads = recording.heads(Seq(0), 10).unwrap();
    let frames: Vec<_> = heads.iter().map(|head| (head.offset, head.size)).collect();
    assert_eq!(frames, [(0, 6), (6, 6), (112, 5), (117, 12)]);
    let gaps: Vec<_> = recording
        .events(0)
        .unwrap()
        .into_iter()
        .filter(|row| matches!(row.event.kind, EventKind::Gap { .. }))
        .map(|row| (row.event.after_seq, row.event.kind))
        .collect();
    let reason = Some(String::from("no space left on device"));
    let gap = |stream, offset, bytes, reason| EventKind::Gap {
        stream,
        offset,
        bytes,
        reason,
    };
    assert_eq!(
        gaps,
        [
            (Seq(2), gap(StreamId::S2C, 12, 100, reason)),
            (Seq(4), gap(StreamId::STDERR, 0, 9, None)),
        ]
    );
    assert_eq!(recording.summary().unwrap().gap_bytes, 109);
}

#[test]
fn a_chunk_without_bytes_ends_the_line_that_is_open_on_its_stream() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"one");
    session.chunk(StreamId::STDERR, b"other");
    session.chunk(StreamId::S2C, b"");
    session.chunk(StreamId::S2C, b"");
    session.event(&EventKind::Spawned { pid: 1 });
    session.chunk(StreamId::S2C, b"two\n");
    session.chunk(StreamId::S2C, b"");
    session.end();
    let recording = finished(&mut session, 1);
    let frames = recording.frames(Seq(0)).unwrap();
    let frames: Vec<_> = frames.into_iter().filter_map(|(_, raw)| raw).collect();
    assert_eq!(frames, [&b"one"[..], b"two\n", b"other"]);
    let events = recording.events(0).unwrap();
    assert_eq!(events[1].event.after_seq, Seq(1), "it came after the line");
    assert_eq!(recording.summary().unwrap().gap_bytes, 0);
}

#[test]
fn derived_rows_are_the_same_when_they_are_derived_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 100, 50);
    session.lose(StreamId::S2C, 5);
    session.end();
    drop(finished(&mut session, 700));
    let before = derived(&session.reel);
    assert!(before.len() > 200);
    reindex(&session.reel, &mut |_| ()).unwrap();
    assert_same(&derived(&session.reel), &before);
}

#[test]
fn a_failed_step_is_made_up_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 20, 100);
    session.end();
    let mut indexer = session.indexer();
    indexer.step(Tail::Final, &bytes(1000)).unwrap();
    let blocker = rusqlite::Connection::open(&session.reel).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = indexer.step(Tail::Final, &bytes(1000)).unwrap_err();
    let is_busy = matches!(&error, IndexError::Sqlite(error) if schema::is_busy(error));
    assert!(is_busy, "{error}");
    blocker.execute_batch("ROLLBACK").unwrap();
    drop(blocker);
    drain(&mut indexer, &bytes(1000));
    assert!(indexer.finish(State::Complete).unwrap());
    let recording = Recording::open(&session.reel).unwrap();
    assert_eq!(recording.summary().unwrap().exchanges, 21);
}

#[test]
fn the_recorder_is_told_what_is_drained_and_may_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let line = [b"x".repeat(60_000), b"\n".to_vec()].concat();
    let mut indexer = session.indexer();
    for _ in 0..100 {
        session.chunk(StreamId::S2C, &line);
    }
    let open = session.written();
    session.chunk(StreamId::STDERR, b"a line that is not over");
    for _ in 0..100 {
        session.chunk(StreamId::S2C, &line);
    }
    drain(&mut indexer, &bytes(u64::MAX));
    let progress = session.spool().progress();
    assert_eq!(
        (progress.released, progress.drained),
        (open, session.written())
    );
    assert!(crate::library::start_of(&spool_of(&session.reel)).is_ok());
}

#[test]
fn an_indexer_that_resumes_goes_on_where_the_last_transaction_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 20, 64);
    session.end();
    let mut undisturbed = Session::start(dir.path(), "weather", 2);
    busy_session(&mut undisturbed, 20, 64);
    undisturbed.end();
    drop(finished(&mut undisturbed, 300));

    let mut indexer = session.indexer();
    let mut lives = 1;
    // A line that stays open is read again in every life.
    while !indexer.step(Tail::Final, &bytes(700 * lives)).unwrap() {
        drop(indexer);
        indexer = Indexer::resume(&session.reel, session.spool()).unwrap();
        lives += 1;
        assert!(
            lives < 100,
            "every life must come further than the one before"
        );
    }
    assert!(lives > 3);
    assert!(!indexer.finish(State::Complete).unwrap());
    assert_same(&recorded(&session.reel), &recorded(&undisturbed.reel));
    reindex(&session.reel, &mut |_| ()).unwrap();
    assert_same(&derived(&session.reel), &derived(&undisturbed.reel));
}
