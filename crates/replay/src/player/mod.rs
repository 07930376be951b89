//! Plays a recorded client to a live server again, and compares what comes back with what came then.
//!
//! ```text
//!  recording ──script──▶ ┌──────────┐ ──Action──▶ target: writer ──▶ server's stdin
//!                        │ director │
//!  judge ◀──two answers──└──────────┘ ◀──lines─── target: reader ◀── server's stdout
//!                             ▲                      │ every chunk on record first
//!                            bind                    ▼
//!                   recorded → live values        the new recording
//! ```
//!
//! * [`Director`] decides, and does nothing itself but read the recording: live lines arrive, time is
//!   an argument; [`Action`]s come out. Tests play it without processes. `requests`, `answers` and
//!   `questions` are its parts, `stages` and `conclusion` its end; `calls` holds what
//!   is open.
//! * `target` starts the server, moves the bytes and records them; [`Play`] is a whole replay with a
//!   recording of its own.
//! * [`guard`] says which tools may be called; [`Options`] holds everything that a user chooses.
//!
//! # Causal order
//!
//! A client message goes out after everything that the recorded client had seen before it, and
//! requests that overlapped then overlap again, at any speed: `director` has the table. Where the walk
//! waits for the server while the server waits for an answer that comes later in the recording, the
//! server gets that answer after a second.
//!
//! A recorded cancel of an open request goes out when the server had as long as it had then. If it
//! answers before, nothing is cancelled: that it answers now is a difference, what comes later is none.
//! Nothing waits for the answer to a request that was cancelled, that was not sent, or that opened a
//! listen stream; nor, for longer than a moment, for what belongs to no call. What the recorded
//! server died over has to be answered, or to be the end of this one: else it hangs.
//!
//! # What is sent
//!
//! The recorded bytes, unless a value in them was chosen by the server, is redacted, or is to be
//! rewritten: see [`bind`](crate::bind). A frame is sent whole or not at all; a batch is not sent.
//!
//! # How a replay ends
//!
//! With the recording; at a deadline with work pending (hang); when the server ends with work
//! pending (crash); when the server turns out to be of the other era; when the user stops it. Then
//! the server's input is closed, then it gets SIGTERM, then SIGKILL, and what was found until then
//! is reported.

mod answers;
mod calls;
mod conclusion;
mod director;
pub mod guard;
mod questions;
mod requests;
pub mod script;
mod stages;
mod target;

pub use crate::lines::Line;
pub use crate::signals::{Signals, Stopper};
pub use calls::Tally;
pub use director::{Action, Deadly, Director};
pub use guard::Guard;
pub use script::{LeftOut, Script, Wanted};
pub use stages::{Next, Stop};
pub use target::{Command, NoCommand, Outcome, Progress};

use crate::bind::Binder;
use crate::diff::Judge;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::record::{self, Recorder};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::{Closed, End};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// Each message after what the recorded client had seen before it.
    #[default]
    Causal,
    /// The same, and one request at a time.
    Serial,
    /// Causal, with the recorded gaps between the client's messages.
    Timed {
        speed: f64,
        /// The longest gap, before it is divided by `speed`.
        max_gap: Duration,
    },
}

/// The answer to a question of the server that the recorded client was not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// An error: the method is not found.
    #[default]
    Fail,
    /// The answer of a client that has nothing to offer: no roots, a cancelled form.
    Stub,
}

/// Everything that a user chooses.
#[derive(Debug, Default)]
pub struct Options {
    pub order: Order,
    pub timeout: Option<Duration>,
    pub asked: Policy,
    pub guard: Guard,
    /// Puts live values in the place of recorded ones.
    pub binder: Binder,
    /// Wall clock of the recording's t = 0, nanoseconds since the Unix epoch.
    pub recorded_wall_ns: u64,
    pub wall_ns: u64,
    /// The end of the recorded server, where it is known.
    pub recorded_end: Option<End>,
    /// Which side ended the recorded session, and when.
    pub recorded_close: Option<Closed>,
}

/// One replay: what is played, to whom, and where it is recorded.
pub struct Play<'r> {
    pub recording: &'r Recording,
    pub summary: &'r Summary,
    pub until: Option<Seq>,
    /// Of a network recording, the conversation that is played.
    pub conversation: Option<u32>,
    /// Which exchanges are played; `None`: all of them.
    pub wanted: Option<Wanted<'r>>,
    /// Which frames of the client are not sent.
    pub left_out: Option<LeftOut<'r>>,
    pub options: Options,
    pub judge: Judge,
    pub command: &'r Command,
    /// The folder for the new recording, or why there is none.
    pub dir: Result<PathBuf, String>,
    pub signals: &'r Signals,
}

/// A replay that is over.
pub struct Played {
    pub outcome: Outcome,
    /// Id and file of the new recording.
    pub id: String,
    pub path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("the replay cannot be put on record")]
    NoRecord,
    /// The recording that is replayed could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the server cannot be waited for")]
    Wait(#[from] std::io::Error),
}

impl Play<'_> {
    /// Plays to the end; `clock` starts with the replay.
    pub fn run(
        mut self,
        clock: Clock,
        told: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Played, PlayError> {
        let mut recorder = Recorder::create(&self.to_record()?, clock);
        let made = recorder.id().zip(recorder.path());
        let made = made.map(|(id, path)| (id.to_owned(), path.to_owned()));
        let (id, path) = made.ok_or(PlayError::NoRecord)?;
        // Up to the last frame is all of it.
        let until = self.until.filter(|until| until.0 < self.summary.frames);
        let mut script = Script::new(self.recording, until, self.conversation);
        (script.wanted, script.left_out) = (self.wanted, self.left_out);
        let (options, session) = (&mut self.options, &self.summary.session);
        options.recorded_wall_ns = self.summary.wall_ns;
        options.wall_ns = clock.wall_ns();
        options.recorded_end = session.phase.end().cloned();
        options.recorded_close = session.closed_first;
        let director = Director::new(self.options, self.judge, script, clock.now())?;
        let signals = self.signals;
        let outcome = target::run(self.command, director, &mut recorder, signals, told);
        recorder.finish();
        let outcome = outcome?;
        Ok(Played { outcome, id, path })
    }

    fn to_record(&self) -> Result<record::Options, PlayError> {
        let read_only_tools = self.options.guard.read_only_tools(self.recording)?;
        let path = self.recording.path();
        let file = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Ok(record::Options {
            command: self.command.words.clone(),
            secrets: self.command.secrets.clone(),
            name: Some(self.summary.name.clone()),
            dir: self.dir.clone(),
            cwd: self.command.dir.clone(),
            transport: "stdio",
            url: None,
            origin: match self.left_out {
                Some(_) => "minimised",
                None => "replay",
            },
            // The recording of a cassette is temporary; the cassette stays.
            parent: (!self.recording.is_temporary()).then(|| self.summary.id.clone()),
            id: None,
            other_side: None,
            played: (self.recording.is_temporary()).then(|| file().to_string_lossy().into_owned()),
            read_only_tools,
            max_size: None,
            slow_ns: Some(self.summary.slow_ns),
            remarks: Vec::new(),
        })
    }
}
