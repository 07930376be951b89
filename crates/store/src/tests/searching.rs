//! A search finds the frames with a text, wherever in them it stands.

use super::traffic;
use super::written_session::{Session, bytes, drain};
use crate::reader::Recording;
use crate::schema::State;
use crate::search::{Finder, Pace, Pattern, PatternError, Place, Search, SearchHit};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};
use proptest::prelude::*;
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
    let mut search = Search::new(reel, pattern, None).unwrap();
    let clock = Clock::start();
    let mut hits = Vec::new();
    loop {
        let found = search.step(&Pace { nanos, clock }).unwrap();
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
                place: Place::Bytes(4..16)
            }]
        );
    }
}

#[test]
fn words_that_only_a_summary_has_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let reel = recorded(
        dir.path(),
        &[
            (
                StreamId::C2S,
                br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            ),
            (
                StreamId::S2C,
                br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b"}]}}"#,
            ),
        ],
    );
    let recording = Recording::open(&reel).unwrap();
    let rows = recording.messages_of_frame(Seq(2)).unwrap();
    assert_eq!(&*rows[0].record.summary, "2 tools");
    let hits = search(&reel, &literal("2 tools"), u64::MAX);
    assert_eq!(
        hits,
        [SearchHit {
            seq: Seq(2),
            place: Place::Summary
        }]
    );
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
                place: Place::Bytes(at..at + 6)
            }]
        );
    }
    line.truncate(10);
    let reel = recorded(dir.path(), &[(StreamId::S2C, &line)]);
    assert!(search(&reel, &literal("needle"), u64::MAX).is_empty());
}

#[test]
fn a_pattern_that_cannot_be_searched_for_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let new = |pattern: &Pattern| Search::new(dir.path(), pattern, None).unwrap_err();
    assert!(matches!(new(&literal("")), PatternError::Empty));
    let error = new(&Pattern::Regex("a(b".into())).to_string();
    assert!(error.contains("unclosed group"), "{error}");
}

/// All frames in whose bytes the pattern is, as JSON may write it, or in whose summaries.
fn expected(recording: &Recording, text: &str) -> Vec<u64> {
    let finder = Finder::new(&literal(text)).unwrap();
    let has = |bytes: &[u8]| !finder.places(bytes, 1).is_empty();
    let heads = recording.heads(Seq(0), u32::MAX).unwrap();
    let fits = |seq: Seq| {
        let messages = recording.messages_of_frame(seq).unwrap();
        let mut summaries = messages.iter().map(|row| &row.record.summary);
        has(&recording.raw(seq).unwrap()) || summaries.any(|text| has(text.as_bytes()))
    };
    let seqs = heads.iter().map(|head| head.seq);
    seqs.filter(|seq| fits(*seq)).map(|seq| seq.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Summaries have words of their own and words off the wire; whatever is cut out of one is
    /// found again, and nothing else is.
    #[test]
    fn every_piece_of_a_summary_is_found(
        acts in prop::collection::vec(traffic::act(), 1..30),
        places in prop::collection::vec((any::<prop::sample::Index>(), 0..80_usize, 1..20_usize), 1..8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        traffic::play(&acts, &mut session);
        session.end();
        let mut indexer = session.indexer();
        drain(&mut indexer, &bytes(u64::MAX));
        indexer.finish(State::Complete).unwrap();
        let recording = Recording::open(&session.reel).unwrap();
        let frames = recording.summary().unwrap().frames;
        for (seq, from, length) in places {
            let seq = Seq(seq.index(usize::try_from(frames).unwrap().max(1)) as u64 + 1);
            for row in recording.messages_of_frame(seq).unwrap() {
                let piece = row.record.summary.chars().skip(from % 40).take(length);
                let text: String = piece.collect();
                if !text.is_empty() {
                    let mut found = seqs(&search(&session.reel, &literal(&text), 0));
                    found.sort_unstable();
                    prop_assert_eq!(found, expected(&recording, &text), "{:?}", text);
                }
            }
        }
    }
}

#[test]
fn letters_that_are_escaped_on_the_wire_are_found_in_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let line =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w\u0065ather"}}"#;
    let reel = recorded(dir.path(), &[(StreamId::C2S, line)]);
    assert_eq!(seqs(&search(&reel, &literal("weather"), 0)), [1]);
    assert!(search(&reel, &literal("whether"), 0).is_empty());
}

#[test]
fn what_is_left_never_grows_and_ends_at_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let lines = vec![(StreamId::STDERR, &b"one line of many"[..]); 3000];
    let reel = recorded(dir.path(), &lines);
    // One pass for a word, two where summaries may say it without the wire.
    for text in ["nothing", "14 tools"] {
        let mut search = Search::new(&reel, &literal(text), None).unwrap();
        let pace = Pace {
            nanos: 0,
            clock: Clock::start(),
        };
        let (mut left, mut reached) = (u64::MAX, Seq(u64::MAX));
        loop {
            let found = search.step(&pace).unwrap();
            assert!(found.left < left && found.reached <= reached, "{found:?}");
            assert_eq!((found.of, found.done), (3000, found.left == 0));
            (left, reached) = (found.left, found.reached);
            if found.done {
                break;
            }
        }
    }
}
