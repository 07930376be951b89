//! No file makes reading it fail, or take more than it should.

use crate::cassette::written;
use crate::cassette::{faults, taken};
use crate::support::dice::Dice;
use mcpreel_share::cassette::{Entry, Reader};
use mcpreel_store::reader::Recording;
use std::io::{self, Read as _};
use std::path::PathBuf;

const ROUNDS: u64 = if cfg!(feature = "long-tests") {
    20_000
} else {
    400
};

fn sample() -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    written(&root.join("recordings/noisy-stdout.reel"))
}

#[test]
fn any_change_of_any_byte_is_read_to_its_end() {
    let whole = sample();
    let header = memchr::memchr(b'\n', &whole).expect("it has lines") + 1;
    let seed = Dice::shaken().0;
    crate::support::note(format_args!("the seed is {seed}"));
    let mut dice = Dice(seed);
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    for round in 0..ROUNDS {
        let mut file = whole.clone();
        for _ in 0..=dice.below(20) {
            let at = header + dice.length_below(file.len() - header);
            let some = [b'"', b'{', b'}', b'[', b',', b':', b'\n', b'9', 0xff, 0];
            match dice.below(3) {
                0 => file[at] = some[dice.length_below(some.len())],
                1 => drop(file.drain(at..file.len().min(at + dice.length_below(50)))),
                _ => file.insert(at, some[dice.length_below(some.len())]),
            }
        }
        faults(&file);
        if round % 40 == 0 {
            let tape = taken(dir.path(), &file);
            let recording = Recording::open(tape.reel()).expect("it can be read");
            recording.facts(None).expect("they can be gathered");
        }
    }
}

/// Numbers and nesting that are too large for anything.
#[test]
fn huge_numbers_and_deep_nesting_are_taken_for_what_they_are() {
    let huge = u64::MAX;
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let event = |json: &str| format!("{{\"t\":{huge},\"k\":\"event\",\"event\":{json}}}");
    let frame = |members: &str| format!("{{\"t\":7,\"d\":\"s2c\",{members}}}");
    let gap = |stream| {
        format!("{{\"kind\":\"gap\",\"stream\":{stream},\"offset\":{huge},\"bytes\":{huge}}}")
    };
    let stall = format!("{{\"kind\":\"stall-ended\",\"stream\":1,\"lasted_ns\":{huge}}}");
    let request = "\"raw\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let answer = "\"raw\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    let lines = [
        "{\"cassette\":1}".to_owned(),
        format!("{{\"n\":{huge},\"t\":{huge},\"d\":\"c2s\",{request}}}"),
        frame(&format!(
            "\"n\":1e999,\"t0\":{huge},\"re\":{huge},\"in\":-1,{answer}"
        )),
        frame(&format!("\"raw\":{}", deep(511))),
        frame(&format!("\"raw\":{}", deep(100_000))),
        frame(&format!("\"x\":{},\"raw\":1", deep(600))),
        event(&gap(0)),
        event(&gap(1)),
        event(&stall),
        event(&stall),
        event(&format!("{{\"kind\":\"recovered\",\"frames\":{huge}}}")),
        event(&deep(600)),
        format!("{{\"t\":{huge},\"k\":\"end\"}}"),
    ];
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let tape = taken(dir.path(), (lines.join("\n") + "\n").as_bytes());
    let recording = Recording::open(tape.reel()).expect("it can be read");
    assert_eq!(recording.summary().expect("it can be read").frames, 4);
    recording.facts(None).expect("they can be gathered");
    let again = written(tape.reel());
    assert_eq!(faults(&again), [""; 0]);
}

#[test]
fn a_line_that_is_too_long_is_passed_over_whatever_it_begins_with() {
    let told = |before: &'static [u8], byte, after: &'static [u8]| {
        let long = io::repeat(byte).take(130 << 20);
        let mut reader = Reader::new(before.chain(long).chain(after)).expect("it has a header");
        let mut told = Vec::new();
        while let Some(entry) = reader.next_entry().expect("it can be read") {
            match entry {
                Entry::Fault(fault) => told.push(fault.to_string()),
                Entry::End { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        told
    };
    let nothing = told(b"{\"cassette\":1}\n", b'x', b"\n{\"t\":1,\"k\":\"end\"}\n");
    assert!(
        nothing[0].starts_with("line 2: it is longer than"),
        "{nothing:?}"
    );
    assert_eq!(nothing.len(), 1);
    let open = b"{\"cassette\":1}\n{\"d\":\"s2c\",\"t\":1,\"raw\":[";
    assert_eq!(told(open, b'[', b"").len(), 2);
}
