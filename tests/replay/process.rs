//! A recording made by hand, and a replay of it against a server that does what it is told.

use crate::support::written::{Session, exit};
use crate::support::{Library, peer};
use crate::told;
use mcpreel_trace::event::EventKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What is said where nothing differs.
pub const SAME: &str = " does the same as ";

/// Milliseconds, stream, what (`told.rs` has the short forms).
pub type Row<'a> = (u64, &'a str, &'a str);

/// A folder with one recording in it.
pub struct Case {
    pub library: Library,
    pub recording: PathBuf,
}

impl Case {
    /// The session that these rows tell; it ended well.
    pub fn new(rows: &[Row<'_>]) -> Self {
        Self::ended(rows, &exit(0))
    }

    /// The same with another end.
    pub fn ended(rows: &[Row<'_>], end: &EventKind) -> Self {
        let library = Library::new();
        let mut session = Session::start(library.path(), "told", 0x7f3a_9c21);
        for (ms, stream, what) in rows {
            session.set_clock(ms * 1_000_000);
            session.chunk(told::stream_id(stream), &told::bytes(what));
        }
        session.end_with(end.clone());
        let recording = session.finish();
        Self { library, recording }
    }

    /// The same with a cassette in the place of the recording, which is given besides.
    pub fn taped(rows: &[Row<'_>]) -> (Self, PathBuf) {
        let mut case = Self::new(rows);
        let cassette = case.library.path().join("told.jsonl");
        let mut export = case.library.mcpreel("export");
        export.arg(&case.recording).args(["--raw", "-o"]);
        assert!(export.arg(&cassette).status().unwrap().success());
        let recording = std::mem::replace(&mut case.recording, cassette);
        (case, recording)
    }

    /// `mcpreel replay OPTIONS RECORDING -- peer script STEPS`.
    pub fn command(&self, options: &[&str], script: &[&str]) -> Command {
        let mut command = self.library.mcpreel("replay");
        command.args(options).arg(&self.recording).arg("--");
        command.arg(peer()).arg("script").args(script);
        command.stdin(Stdio::null());
        command
    }

    /// The same with a server of another kind.
    pub fn against(&self, options: &[&str], server: &[&str]) -> Replayed {
        let mut command = self.library.mcpreel("replay");
        command.args(options).arg(&self.recording).arg("--");
        Replayed::of(&command.args(server).stdin(Stdio::null()).output().unwrap())
    }

    /// What comes of it.
    pub fn replay(&self, options: &[&str], script: &[&str]) -> Replayed {
        Replayed::of(&self.command(options, script).output().unwrap())
    }

    /// The recording that a replay has made.
    pub fn made(&self) -> PathBuf {
        let mut files = self.library.recordings();
        files.retain(|file| *file != self.recording);
        assert_eq!(files.len(), 1, "one replay was made");
        files.remove(0)
    }
}

/// What a replay said, and how it ended.
#[derive(Debug)]
pub struct Replayed {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Replayed {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// It ended so, and said all of this on stdout.
    #[track_caller]
    pub fn is(&self, code: i32, said: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        for text in said {
            assert!(
                self.out.contains(text),
                "no {text:?} in\n{}\n{}",
                self.out,
                self.err
            );
        }
        self
    }
}

/// All bytes of a stream of a recording.
pub fn stream(library: &Library, recording: &Path, stream: &str) -> Vec<u8> {
    let recording = recording.to_str().unwrap();
    let frames = library.json(&["show", recording, "--frames"]);
    let of_stream = frames.iter().filter(|frame| frame["stream"] == stream);
    of_stream.flat_map(crate::support::frame_bytes).collect()
}
