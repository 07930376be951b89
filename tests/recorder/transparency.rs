//! Whatever goes in comes out, in both directions and on stderr, and stands in the recording.

use crate::support::host_session::Traffic;
use crate::support::pieces::Pieces;
use crate::support::{Library, byte_pattern, peer, wait_for_work};
use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags};
use std::io::Read;

const ROUNDS: u32 = if cfg!(feature = "long-tests") { 100 } else { 5 };

/// 100 MB.
const LONG_LINE: usize = 100_000_000;

/// What the budget is for the recorder with a line of any length, and room for a build without
/// optimisation.
const MEMORY: u64 = if cfg!(debug_assertions) { 64 } else { 32 } * 1024 * 1024;

/// What a stream is made of: everything that somebody might think of changing.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => proptest::collection::vec(any::<u8>(), 1..200),
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\n\n\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\0".to_vec()),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => Just(b"\xff\xfe\xc3\x28\xed\xa0\x80".to_vec()),
        1 => Just("\u{2028}\u{85}\u{1b}[2J".as_bytes().to_vec()),
        2 => Just(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#.to_vec()),
        2 => Just(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()),
        1 => (60_000..140_000_usize).prop_map(|len| vec![b'x'; len]),
    ]
}

/// A stream in pieces that have nothing to do with what it is made of, pauses between some.
fn pieces() -> impl Strategy<Value = Pieces> {
    let stream = proptest::collection::vec(fragment(), 0..40).prop_map(|parts| parts.concat());
    let sizes = proptest::collection::vec(
        prop_oneof![1..9_usize, 1..5_000_usize, 1..200_000_usize],
        1..30,
    );
    (stream, sizes, any::<u64>()).prop_map(|(stream, sizes, pauses)| {
        let (mut pieces, mut rest) = (Vec::new(), &stream[..]);
        for (nth, size) in sizes.into_iter().enumerate() {
            let (piece, left) = rest.split_at(size.min(rest.len()));
            pieces.push(piece.to_vec());
            rest = left;
            if pauses >> nth & 1 == 1 {
                pieces.push(Vec::new());
            }
        }
        pieces.push(rest.to_vec());
        Pieces(pieces)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ROUNDS,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_in_any_chunks_arrive_and_are_on_record(
        c2s in pieces(), s2c in pieces(), stderr in pieces()
    ) {
        let library = Library::new();
        let traffic = Traffic { c2s, s2c, stderr };
        let (received, got) = traffic.through(&library);
        prop_assert!(received.status.success());
        let expected = [traffic.c2s.bytes(), traffic.s2c.bytes(), traffic.stderr.bytes()];
        prop_assert!([&got, &received.out, &received.err].into_iter().eq(&expected), "what arrived");
        for (stream, expected) in ["c2s", "s2c", "stderr"].into_iter().zip(&expected) {
            prop_assert!(library.stream(stream) == *expected, "the recording of {stream}");
        }
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_passes_both_ways_and_is_on_record() {
    let library = Library::new();
    let size = LONG_LINE.to_string();
    let mut run = library.run([peer().into_os_string(), "long-line".into(), size.into()]);
    let mut child = run.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let writer =
        std::thread::spawn(move || byte_pattern::write(&mut stdin, LONG_LINE).map(|()| stdin));
    let out = child.stdout.take().expect("stdout is a pipe");
    assert!(
        byte_pattern::is_read_from(out.take(LONG_LINE as u64), LONG_LINE).expect("it can be read")
    );
    let stdin = writer
        .join()
        .expect("it does not panic")
        .expect("the server reads");
    wait_for_work(child.id(), "both lines in the recording", || {
        let recording = open(&library).ok()?;
        (long_lines(&recording) == Ok(2)).then_some(())
    });
    let peak = crate::support::peak_memory(child.id()).expect("the recorder runs");
    drop(stdin);
    let ended = child.wait_with_output().expect("the child is ours");
    assert_eq!(
        String::from_utf8_lossy(&ended.stderr),
        "true\n",
        "what the server got"
    );
    assert!(ended.status.success());
    crate::support::note(format_args!(
        "peak memory of the recorder: {} KiB",
        peak >> 10
    ));
    assert!(peak <= MEMORY, "the recorder took {} KiB", peak >> 10);
    for stream in ["c2s", "s2c"] {
        assert_is_long_line(&library, stream);
    }
}

/// The only recording, by its file.
fn open(library: &Library) -> rusqlite::Result<Connection> {
    let reel = library
        .files("reel")
        .pop()
        .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Connection::open_with_flags(reel, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn long_lines(recording: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT count(*) FROM frame WHERE length(raw) > 1000000";
    recording.query_row(sql, [], |row| row.get(0))
}

/// The frame of the stream, read from the file itself: as JSON it would take minutes.
fn assert_is_long_line(library: &Library, stream: &str) {
    assert_ne!(library.json(&["show", "@"])[0]["state"], "live");
    let recording = open(library).expect("it is a database");
    let sql = "SELECT frame.seq FROM frame JOIN stream ON stream.id = stream WHERE label = ?1";
    let seq: i64 = recording
        .query_row(sql, [stream], |row| row.get(0))
        .expect("it is there");
    let blob = recording
        .blob_open("main", "frame", "raw", seq, true)
        .expect("it has bytes");
    assert!(
        byte_pattern::is_read_from(blob, LONG_LINE).expect("it can be read"),
        "{stream}"
    );
}
