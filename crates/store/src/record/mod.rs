//! Records a session: capture and store put together.
//!
//! ```text
//!  main thread              pumps                   keeper            indexer, a process (nice 19)
//!  ───────────              ─────                   ──────            ────────────────────────────
//!  spool, start event
//!  server ──────────────▶   read, spool, write ──▶  unparked: wakes ──▶ drain, commit
//!  wait for the end                                 watch stalls, disk  (asleep while nothing comes)
//!  status page ─────────────────────────────────▶   150 ms at most      the rest, one plain file
//!  exit code or signal of the server
//! ```
//!
//! The session never waits for the recording: whatever fails here costs at most the recording,
//! and is said once on stderr. [`import`] makes a recording of a session that is over.

pub mod import;
pub mod indexer_process;
mod keeper;
pub mod proxy;
mod recorder;

pub use keeper::index_by_this_program;
pub use recorder::{Recorder, new_id, of_command};

use mcpreel_capture::process::spawn::SpawnError;
use mcpreel_capture::process::{self, exit_event, signals};
use mcpreel_capture::stdio;
use mcpreel_trace::clock::Clock;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

#[derive(Debug)]
pub struct Options {
    /// The server's command and its arguments; none where it is reached by its URL alone.
    pub command: Vec<OsString>,
    /// Credentials that do not go on record where command lines have them, each with what stands before it
    /// there.
    pub secrets: Vec<(String, String)>,
    /// A name for it; `None` takes the command's.
    pub name: Option<String>,
    /// The folder of recordings, or why none could be determined.
    pub dir: Result<PathBuf, String>,
    /// The folder in which the command is started; `None`: ours.
    pub cwd: Option<PathBuf>,
    /// `stdio`, `http`, `ws` or `tcp`.
    pub transport: &'static str,
    /// The URL of a server over the network.
    pub url: Option<String>,
    /// The maker of the recording: `live`, `demo`, `replay`, `minimised` or `mock`.
    pub origin: &'static str,
    /// The id of the recording that this one is made from.
    pub parent: Option<String>,
    /// The id that the recording gets; `None`: any.
    pub id: Option<String>,
    /// The id of the recording of the other side of a bridge.
    pub other_side: Option<String>,
    /// The file that a replay plays, where it has no such parent.
    pub played: Option<String>,
    /// Tools that a replay calls and that only read.
    pub read_only_tools: Vec<String>,
    /// Bytes of traffic that are put on record at most.
    pub max_size: Option<u64>,
    /// Nanoseconds; an answer that takes longer is slow. `None`: a second.
    pub slow_ns: Option<u64>,
    /// Remarks about the settings for the user; put on record, since stderr is the server's.
    pub remarks: Vec<String>,
}

/// The end of the server, and therefore of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code; 125 to 127 where it could not be started.
    Code(u8),
    Signal(i32),
}

/// Runs and records a session between our standard streams until it is over.
///
/// Writes nothing of its own to them, unless the server cannot be started or the recording fails;
/// then one line goes to stderr. `begin` is called when it is known what is open: that is closed once
/// the server has it.
pub fn run(options: &Options, begin: impl FnOnce()) -> Ending {
    let inherited = process::inherited();
    begin();
    signals::survive_large_files();
    let mut recorder = Recorder::create(options, Clock::start());
    let tap = recorder.tap();
    recorder.record_remarks(options);
    let gauges = recorder.gauges();
    let ended = stdio::run(&options.command, &tap, &gauges, || {
        process::release(inherited);
        recorder.start();
    });
    let ending = conclude(&ended, &recorder);
    recorder.finish();
    ending
}

fn conclude(ended: &Result<ExitStatus, SpawnError>, recorder: &Recorder) -> Ending {
    let tap = recorder.tap();
    match ended {
        Ok(status) => {
            tap.end(Some(exit_event(*status)));
            match (status.signal(), status.code()) {
                (Some(signal), _) => Ending::Signal(signal),
                (None, code) => Ending::Code(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(1)),
            }
        }
        Err(error) => {
            recorder.say(&error.line());
            tap.event(error.event());
            tap.end(None);
            Ending::Code(error.exit_code())
        }
    }
}

/// Ends this process as the server ended: with its exit code, which is returned, or by its
/// signal, without leaving a core file of ours.
pub fn end_as(ending: Ending) -> ExitCode {
    match ending {
        Ending::Code(code) => ExitCode::from(code),
        Ending::Signal(signal) => {
            use nix::sys::resource::{Resource, setrlimit};
            let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
            // Only real-time signals are not known there; shells write those as a code.
            drop(signal_hook::low_level::emulate_default_handler(signal));
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
    }
}
