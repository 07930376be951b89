//! A cassette is the recording: whatever was on record comes back, and whatever a hand or a
//! stranger made of the file is told.
//!
//! * [`round_trip`]: any recording, written and read again, is the same;
//! * [`damaged`]: lines and tails that cannot be read are told and skipped;
//! * [`cassette_hostile`]: no file makes it fail, or take more than it should;
//! * [`samples`]: the sample recordings.

mod cassette_hostile;
mod cassette_session;
mod damaged;
mod round_trip;
mod samples;

use mcpreel::cli::cassette::Tape;
use mcpreel_share::cassette::{self, Entry, Reader};
use mcpreel_share::export::{Excerpt, Export, Selection};
use mcpreel_store::reader::Recording;
use std::io::Cursor;
use std::path::Path;

/// The whole recording `reel` as a cassette.
fn written(reel: &Path) -> Vec<u8> {
    let recording = Recording::open(reel).expect("it can be read");
    let mut file = Vec::new();
    let all = Selection::between(None, None);
    let written = cassette::write(Export {
        excerpt: Excerpt::of(&recording, &all),
        out: &mut file,
        progress: &mut |_| Ok(()),
    });
    written.expect("it can be written");
    file
}

/// What the program makes of a cassette given in place of a recording.
fn taken(dir: &Path, file: &[u8]) -> Tape {
    let path = dir.join("session.jsonl");
    std::fs::write(&path, file).expect("it can be written");
    let tape = Tape::of(&path).map_err(|failure| format!("{failure:?}"));
    tape.expect("it can be read").expect("it is a cassette")
}

/// What is told about the lines of a cassette.
fn faults(file: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(Cursor::new(file)).expect("it has a header");
    let mut faults = Vec::new();
    while let Some(entry) = reader.next_entry().expect("memory can be read") {
        if let Entry::Fault(fault) = entry {
            faults.push(fault.to_string());
        }
    }
    faults
}
