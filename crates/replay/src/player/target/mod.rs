//! The server as a process: it is started, given what the director says, and listened to.
//!
//! ```text
//!  one thread, one poll:   stdin (when something waits) · stdout · stderr · signals
//!
//!    stdout ─read─▶ on record ─▶ lines ─▶ director ─▶ on record ─write─▶ stdin
//!    stderr ─read─▶ on record ─▶ its last lines
//! ```
//!
//! Nothing here blocks: a server that does not read cannot keep us from hearing what it says, and
//! the other way round. What is read is on record before it is used, what is sent before it is
//! written. Memory holds what the pipes hold, one line, and a page of the recording.

mod command;
mod past;
mod pipes;
mod playing;
mod progress;
mod signals;
mod writing;

pub use command::{Command, NoCommand};
pub use past::{LeftOut, Library, Wanted};
pub use signals::{Signals, Stopper};

use super::director::{Director, Tally, Waits};
use crate::lines::{Lines, Tail};
use crate::report::Report;
use mcpreel_capture::process::spawn::SpawnError;
use mcpreel_capture::tap::MAX_CHUNK;
use mcpreel_store::reader::ReadError;
use mcpreel_store::record::Recorder;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_wire::text::escape;
use pipes::Pipes;
use playing::Target;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Progress<'a> {
    pub tally: &'a Tally,
    /// Requests that are to be made: those of the recording but for what is left out.
    pub requests: u64,
    pub waits: Waits,
}

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The recording that is replayed could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The pipes to the server could not be used.
    #[error("the pipes to the server cannot be used")]
    Pipe(#[from] std::io::Error),
}

#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    pub tally: Tally,
    pub requests: u64,
    /// The signal by which the user stopped it.
    pub interrupted: Option<i32>,
}

/// Starts the server, plays `library` to it, and puts on record with `recorder` what is said.
pub fn run(
    command: &Command,
    library: Library<'_>,
    director: Director,
    recorder: &mut Recorder,
    signals: &Signals,
    told: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, TargetError> {
    let tap = recorder.tap();
    let (pipes, child) = match Pipes::start(command) {
        Ok(started) => started,
        Err(error) => return not_started(&error, &library, director, recorder),
    };
    tap.event(EventKind::Spawned { pid: child.id() });
    recorder.start();
    let target = Target {
        clock: tap.clock(),
        gauge: Arc::clone(&recorder.gauges()[0]),
        tap,
        pipes,
        child,
        library,
        director,
        signals,
        buffer: vec![0; MAX_CHUNK],
        lines: Lines::default(),
        stderr: Tail::default(),
        exit: None,
        gone: Vec::new(),
        told_at: Moment(0),
    };
    target.play(told)
}

/// What comes of it where there is no server.
fn not_started(
    error: &SpawnError,
    library: &Library<'_>,
    director: Director,
    recorder: &mut Recorder,
) -> Result<Outcome, TargetError> {
    let tap = recorder.tap();
    let (exit_code, message) = (error.exit_code(), error.to_string());
    let (report, tally) = director.not_started(escape(&message).into());
    tap.event(EventKind::SpawnFailed { exit_code, message });
    tap.end(None);
    recorder.start();
    Ok(Outcome {
        report,
        tally,
        requests: library.requests()?,
        interrupted: None,
    })
}
