//! A search finds the frames with a text, wherever in them it stands.

use super::written_session::{Session, bytes, drain};
use crate::schema::State;
use crate::text_search::{Pattern, Search, SearchHit};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};
use std::path::PathBuf;

/// A recording of these lines, one frame each.
fn recorded(dir: &std::path::Path, lines: &[(StreamId, &[u8])]) -> PathBuf {
    let mut session = Session::start(dir, "weather", 1);
    for (stream, line) in lines {
        for piece in [*line, &b"\n"[..]].concat().chunks(60_000) {
            session.chunk(*stream, piece);
        }
    }
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    session.reel.clone()
}

fn search(reel: &std::path::Path, pattern: &Pattern, nanos: u64) -> Vec<SearchHit> {
    let mut search = Search::new(reel, pattern).unwrap();
    let clock = Clock::start();
    let mut hits = Vec::new();
    loop {
        let found = search.step(clock.deadline(nanos)).unwrap();
        hits.extend(found.hits);
        if found.done {
            assert_eq!(found.left, 0);
            return hits;
        }
    }
}

fn literal(text: &str) -> Pattern {
    Pattern::Literal(text.into())
}

fn seqs(hits: &[SearchHit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.seq.0).collect()
}

#[test]
fn a_text_is_found_in_bodies_stderr_and_noise_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let reel = recorded(
        dir.path(),
        &[
            (
                StreamId::C2S,
                br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"q":"a\"b"}}"#,
            ),
            (StreamId::STDERR, b"Disk full"),
            (StreamId::S2C, b"the disk is gone \xff"),
            (
                StreamId::S2C,
                br#"{"jsonrpc":"2.0","method":"n","params":{"q":"caf\u00E9"}}"#,
            ),
        ],
    );
    for nanos in [0, u64::MAX] {
        assert_eq!(seqs(&search(&reel, &literal("disk"), nanos)), [3, 2]);
        assert_eq!(seqs(&search(&reel, &literal("Disk"), nanos)), [2]);
        assert_eq!(seqs(&search(&reel, &literal("a\"b"), nanos)), [1]);
        assert_eq!(seqs(&search(&reel, &literal("café"), nanos)), [4]);
        let regex = Pattern::Regex("d[ei]sk .*gone".into());
        let hits = search(&reel, &regex, nanos);
        assert_eq!(
            hits,
            [SearchHit {
                seq: Seq(3),
                place: 4..16
            }]
        );
    }
}

#[test]
fn a_match_across_two_pieces_of_a_long_frame_is_found_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let mut line = vec![b'x'; 3 * 1024 * 1024];
    for at in [1024 * 1024 - 3, 2 * 1024 * 1024 - 1] {
        let mut line = line.clone();
        line[at..at + 6].copy_from_slice(b"needle");
        let dir = tempfile::tempdir_in(dir.path()).unwrap();
        let reel = recorded(dir.path(), &[(StreamId::S2C, &line), (StreamId::S2C, b"z")]);
        let hits = search(&reel, &literal("needle"), u64::MAX);
        let at = at as u64;
        assert_eq!(
            hits,
            [SearchHit {
                seq: Seq(1),
                place: at..at + 6
            }]
        );
    }
    line.truncate(10);
    let reel = recorded(dir.path(), &[(StreamId::S2C, &line)]);
    assert!(search(&reel, &literal("needle"), u64::MAX).is_empty());
}

#[test]
fn a_file_that_claims_endless_frames_is_searched_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [(StreamId::S2C, &b"needle"[..]); 3];
    let reel = recorded(dir.path(), &lines);
    let conn = rusqlite::Connection::open(&reel).unwrap();
    let lie = format!(
        "UPDATE recording SET frames = {0}; UPDATE frame SET seq = {0} WHERE seq = 3",
        i64::MAX
    );
    conn.execute_batch(&lie).unwrap();
    drop(conn);
    let mut search = Search::new(&reel, &literal("needle")).unwrap();
    let clock = Clock::start();
    // Each step looks at one of the three frames at least.
    let found = (0..4).map(|_| search.step(clock.deadline(0)).unwrap());
    let hits: Vec<_> = found.flat_map(|found| found.hits).collect();
    assert_eq!(seqs(&hits), [i64::MAX as u64, 2, 1]);
}
