//! From the spool into the recording.

use super::written_session::*;
use crate::indexer::{Finished, Indexer};
use crate::library::spool_of;
use crate::reader::Recording;
use crate::reindex::reindex;
use crate::schema::State;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::{Seq, StreamId};
use std::io::Read;

fn finished(session: &mut Session, budget: u64) -> Recording {
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(budget));
    assert_eq!(indexer.finish(State::Complete).unwrap(), Finished::Plain);
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

#[test]
fn frames_are_numbered_in_the_order_of_their_last_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::C2S, b"begun first");
    session.chunk(StreamId::S2C, b"whole\n");
    session.chunk(StreamId::C2S, b", ended last\n");
    session.end();
    let recording = finished(&mut session, u64::MAX);
    let heads = recording.heads(Seq(0), 10).unwrap();
    let streams: Vec<_> = heads.iter().map(|head| (head.seq.0, head.stream)).collect();
    assert_eq!(streams, [(1, StreamId::S2C), (2, StreamId::C2S)]);
    assert_eq!(heads[1].t_first, Moment(1000));
    assert_eq!(heads[1].t_last, Moment(3000));
    assert_eq!(heads[1].offset, 0);
}

#[test]
fn requests_are_paired_with_responses() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 8, 64 * 1024);
    session.end();
    let recording = finished(&mut session, u64::MAX);
    let summary = recording.summary().unwrap();
    assert_eq!(summary.exchanges, 9);
    assert_eq!(summary.open, 0);
    assert_eq!(
        statuses(&recording),
        [
            "ok", "ok", "ok", "error", "lost", "ok", "ok", "error", "lost"
        ]
    );
    assert_eq!(summary.failed, 4);
    assert_eq!(summary.session.server.name.as_deref(), Some("weather"));
    let call = &recording.exchanges_of_frame(Seq(2)).unwrap()[0];
    assert_eq!(&*call.method, "tools/call");
    assert!(
        call.summary.starts_with("tools/call t2"),
        "{}",
        call.summary
    );
    let of_call = recording.messages_of_exchange(call.id).unwrap();
    assert_eq!(of_call.len(), 2);
    assert_eq!(of_call[1].record.method.as_deref(), Some("tools/call"));
    let raw = recording.raw(Seq(2)).unwrap();
    assert_eq!(of_call[0].span, 0..raw.len() as u64 - 1);
    assert_eq!(
        recording
            .exchanges_of_frame(of_call[1].record.frame)
            .unwrap()
            .len(),
        1
    );
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
fn an_exit_that_only_the_status_block_holds_is_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.status(Some(exit(3)), None);
    let recording = finished(&mut session, u64::MAX);
    let events = recording.events(0).unwrap();
    assert_eq!(events.last().unwrap().event.kind, exit(3));
    assert_eq!(events.len(), 2);
}

#[test]
fn a_stream_that_its_writer_closes_ends_its_unfinished_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"unfinished");
    session.event(&EventKind::Eof {
        stream: StreamId::S2C,
        by: Closer::Writer,
    });
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    assert_eq!(indexer.frames(), 1);
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
fn a_page_of_frames_is_bounded_in_bytes_and_has_none_of_a_long_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let sizes = [300_000, 300_000, 10, (1 << 20) + 1, 10];
    for size in sizes {
        let line = [vec![b'x'; size - 1], vec![b'\n']].concat();
        for chunk in line.chunks(64 * 1024) {
            session.chunk(StreamId::S2C, chunk);
        }
    }
    session.end();
    let recording = finished(&mut session, u64::MAX);
    let page = |after| {
        let page = recording.frames(Seq(after)).unwrap();
        let sizes = page.iter().map(|(head, raw)| {
            let held = raw.as_ref().map(bytes::Bytes::len);
            assert!(held.is_none_or(|held| held as u64 == head.size));
            (head.seq.0, held)
        });
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(page(0), [(1, Some(300_000)), (2, Some(300_000))]);
    assert_eq!(page(2), [(3, Some(10)), (4, None)]);
    assert_eq!(page(4), [(5, Some(10))]);
    assert_eq!(page(5), []);
}

#[test]
fn a_live_recording_shows_its_unfinished_lines() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"whole\nunfin");
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let shown = rows(
        &session.reel,
        "SELECT committed, pending, pending_since FROM stream WHERE id = 1",
    );
    assert_eq!(shown, ["6|5|1000"]);
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
    indexer.step(u64::MAX, &bytes(1000)).unwrap();
    let blocker = rusqlite::Connection::open(&session.reel).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = indexer.step(u64::MAX, &bytes(1000)).unwrap_err();
    assert!(error.is_busy(), "{error}");
    blocker.execute_batch("ROLLBACK").unwrap();
    drop(blocker);
    drain(&mut indexer, &bytes(1000));
    assert_eq!(indexer.finish(State::Complete).unwrap(), Finished::Plain);
    let recording = Recording::open(&session.reel).unwrap();
    assert_eq!(recording.summary().unwrap().exchanges, 21);
}

#[test]
fn drained_records_give_their_disk_space_back() {
    use std::os::unix::fs::MetadataExt;
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let line = [b"x".repeat(60_000), b"\n".to_vec()].concat();
    for _ in 0..100 {
        session.chunk(StreamId::S2C, &line);
    }
    let spool = spool_of(&session.reel);
    let before = spool.metadata().unwrap().blocks();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let after = spool.metadata().unwrap().blocks();
    // Where the file system has no holes there is nothing to see.
    assert!(after < before / 2 || after == before, "{before} {after}");
    assert!(crate::library::start_of(&spool).is_ok());
}

#[test]
fn a_finished_recording_is_one_plain_file_of_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 1000);
    session.end();
    drop(finished(&mut session, u64::MAX));
    std::fs::remove_file(spool_of(&session.reel)).unwrap();
    let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = session.reel.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
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
    while !indexer
        .step(u64::MAX, &bytes(700 * lives))
        .unwrap()
        .caught_up
    {
        drop(indexer);
        indexer = Indexer::resume(&session.reel, session.spool()).unwrap();
        lives += 1;
        assert!(
            lives < 100,
            "every life must come further than the one before"
        );
    }
    assert!(lives > 3);
    assert_eq!(indexer.finish(State::Complete).unwrap(), Finished::Pending);
    assert_same(&recorded(&session.reel), &recorded(&undisturbed.reel));
    reindex(&session.reel, &mut |_| ()).unwrap();
    assert_same(&derived(&session.reel), &derived(&undisturbed.reel));
}

#[test]
fn an_event_within_an_unfinished_line_is_on_record_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    session.chunk(StreamId::S2C, b"unfin");
    session.event(&EventKind::Spawned { pid: 7 });
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    drop(indexer);
    session.chunk(StreamId::S2C, b"ished\n");
    let mut indexer = Indexer::resume(&session.reel, session.spool()).unwrap();
    drain(&mut indexer, &bytes(u64::MAX));
    assert_eq!(
        rows(&session.reel, "SELECT kind FROM event"),
        ["start", "spawned"]
    );
    assert_eq!(
        rows(&session.reel, "SELECT raw FROM frame"),
        ["unfinished\\n"]
    );
}
