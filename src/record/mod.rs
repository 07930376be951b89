//! One session being recorded: capture and store put together.
//!
//! ```text
//!  main thread              pumps                   indexer thread (nice 19)
//!  ───────────              ─────                   ────────────────────────
//!  spool, start event
//!  server ──────────────▶   read, spool, write ──▶  unparked: drain, commit, watch stalls
//!  wait for the end                                 (asleep while nothing happens)
//!  status block, finisher: the rest within 150 ms, or leave the spool
//!  exit code or signal of the server
//! ```
//!
//! The session never waits for the recording: whatever fails here costs at most the recording,
//! and is said once on stderr.

mod disk;
mod indexing;
mod name;
mod warning;
mod worker;

use crate::capture::process::spawn::SpawnError;
use crate::capture::process::{context, descriptors, signals};
use crate::capture::spool::Writer;
use crate::capture::stdio;
use crate::capture::tap::Tap;
use crate::store::library;
use crate::trace::clock::Clock;
use crate::trace::event::{DEFAULT_SLOW_NS, EventKind, ProcessContext};
use indexing::Indexing;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use warning::Warning;

/// What to record, and where.
#[derive(Debug)]
pub struct Options {
    /// The server's command and its arguments; at least the command.
    pub command: Vec<OsString>,
    /// A name for it; `None` takes the command's.
    pub name: Option<String>,
    /// The folder of recordings, or why none could be determined.
    pub dir: Result<PathBuf, String>,
    /// What makes the recording: `live` or `demo`.
    pub origin: &'static str,
    /// Bytes of traffic that are put on record at most.
    pub max_size: Option<u64>,
    /// Nanoseconds; an answer that takes longer is slow. `None`: a second.
    pub slow_ns: Option<u64>,
    /// What the user should know about the settings; put on record, since stderr is the server's.
    pub remarks: Vec<String>,
}

/// How the server ended, and therefore how we end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code; 125 to 127 where it could not be started.
    Code(u8),
    /// By this signal.
    Signal(i32),
}

/// Runs and records a session between our standard streams until it is over.
///
/// Writes nothing of its own to them, unless the server cannot be started or the recording fails;
/// then one line goes to stderr.
#[must_use]
pub fn run(options: &Options) -> Ending {
    let inherited = descriptors::inherited();
    signals::survive_large_files();
    let clock = Clock::start();
    let warning = Arc::new(Warning::default());
    let (spool, mut files) = match Files::create(options, clock) {
        Ok((writer, files)) => (Ok(writer), Some(files)),
        Err(reason) => (Err(reason), None),
    };
    let tap = Arc::new(Tap::new(clock, spool, options.max_size));
    let far = files.as_ref().and_then(|files| disk::network(&files.spool));
    for message in options.remarks.iter().cloned().chain(far) {
        tap.event(EventKind::Warning { message });
    }
    let gauges = stdio::gauges();
    let mut start_indexing = || {
        warning.tell(&tap);
        let files = files.take()?;
        Some(Indexing::start(files, &tap, &gauges, &warning))
    };
    let mut indexing = None;
    let ended = stdio::run(&options.command, &tap, &gauges, || {
        descriptors::release(inherited);
        indexing = start_indexing();
    });
    let ending = conclude(&ended, &tap, &warning);
    // A server that could not be started is on record as well.
    if let Some(indexing) = indexing.or_else(start_indexing) {
        indexing.finish();
    }
    warning.tell(&tap);
    warning.tell_problem();
    ending
}

/// Puts the end on record.
fn conclude(ended: &Result<ExitStatus, SpawnError>, tap: &Tap, warning: &Warning) -> Ending {
    match ended {
        Ok(status) => {
            tap.end(Some(stdio::exit_event(*status)));
            match (status.signal(), status.code()) {
                (Some(signal), _) => Ending::Signal(signal),
                (None, code) => Ending::Code(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(1)),
            }
        }
        Err(error) => {
            let (exit_code, message) = (error.exit_code(), error.to_string());
            warning.say(&message);
            tap.event(EventKind::SpawnFailed { exit_code, message });
            tap.end(None);
            Ending::Code(exit_code)
        }
    }
}

/// Ends this process as the server ended: with its exit code, which is returned, or by its
/// signal, without leaving a core file of ours.
#[must_use]
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

/// The two files of a session.
#[derive(Debug)]
struct Files {
    spool: PathBuf,
    reel: PathBuf,
    context: ProcessContext,
}

impl Files {
    fn create(options: &Options, clock: Clock) -> Result<(Writer, Self), String> {
        let dir = options.dir.clone()?;
        let context = start_event(options, clock)?;
        let in_dir = |error: std::io::Error| format!("{}: {error}", dir.display());
        library::create_dir(&dir).map_err(in_dir)?;
        let stem = library::file_stem(context.wall_ns, &context.name, &context.recording);
        let reel = dir.join(format!("{stem}.{}", library::REEL));
        let spool = library::spool_of(&reel);
        let event = EventKind::Start(Box::new(context.clone()));
        let json = serde_json::to_vec(&event).map_err(|error| error.to_string())?;
        let magic = getrandom::u32().map_err(|error| error.to_string())?;
        let writer = Writer::create(&spool, magic, &json).map_err(in_dir)?;
        Ok((
            writer,
            Self {
                spool,
                reel,
                context,
            },
        ))
    }
}

fn start_event(options: &Options, clock: Clock) -> Result<ProcessContext, String> {
    let id = getrandom::u32().map_err(|error| error.to_string())?;
    let name = options.name.clone();
    Ok(ProcessContext {
        recording: format!("{id:08x}"),
        name: name.unwrap_or_else(|| name::of_command(&options.command)),
        origin: options.origin.into(),
        slow_ns: Some(options.slow_ns.unwrap_or(DEFAULT_SLOW_NS)),
        ..context::of(&options.command, clock.wall_ns())
    })
}
