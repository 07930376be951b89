//! A session as a recording.

use crate::redact::corpus::Session;
use crate::support::Library;
use crate::support::written::{self, bytes, context, drain, exit};
use mcpreel_store::schema::State;
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::frame::StreamId;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// Records a session in `dir`; every frame comes in three chunks or more.
pub fn record(session: &Session, dir: &Path) -> PathBuf {
    let known = context("told", 0x7f3a_9c21);
    let mut name = session.context.name.clone();
    if name.is_empty() {
        name.clone_from(&known.name);
    }
    let context = ProcessContext {
        recording: known.recording,
        origin: known.origin,
        wall_ns: known.wall_ns,
        transport: known.transport,
        name,
        ..session.context.clone()
    };
    let mut written = written::Session::begin(&dir.join("told.reel"), context);
    for (nth, (stream, raw)) in session.frames.iter().enumerate() {
        written.at((nth as u64 + 1) * 1_000_000);
        let third = raw.len().div_ceil(3).min(60_000);
        raw.chunks(third)
            .for_each(|part| written.chunk(*stream, part));
    }
    session.events.iter().for_each(|event| written.event(event));
    written.end_with(exit(0));
    let mut indexer = written.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    indexer.release_spool().unwrap();
    written.reel.clone()
}

/// Frames of a session as a recording.
pub fn frames(dir: &Path, frames: &[(StreamId, &str)]) -> PathBuf {
    let frames = frames
        .iter()
        .map(|(stream, text)| (*stream, format!("{text}\n").into_bytes()));
    let session = Session {
        frames: frames.collect(),
        ..Session::default()
    };
    record(&session, dir)
}

/// What the program does with these words.
pub fn ran(library: &Library, words: &[&str]) -> Output {
    let mut command = library.mcpreel(words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command.output().unwrap()
}

/// What it writes where it must succeed.
pub fn stdout(library: &Library, words: &[&str]) -> String {
    let output = ran(library, words);
    assert!(
        output.status.success(),
        "{words:?}: {}",
        crate::support::text(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A recording without its secrets.
pub fn redacted(library: &Library, reel: &Path) -> PathBuf {
    let path = library.path().join("redacted.reel");
    let words = [
        "redact",
        reel.to_str().unwrap(),
        "-o",
        path.to_str().unwrap(),
    ];
    stdout(library, &words);
    path
}
