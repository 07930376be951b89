//! Pipes, threads and signals around the server, and the recording of the session.
//!
//! ```text
//!  fd 0 ─▶ input thread: on record ─┐
//!  signals thread ──────────────────┼─▶ bounded queue ─▶ main thread: lines ─▶ server ─▶ actions
//!  server behind us: three threads ─┘                          │ on record, then written
//!                                                              ├─▶ fd 1 (waits for the host as any
//!                                                              │         server does; a signal ends it)
//!                                                              └─▶ fd 2 (what nobody reads is dropped)
//! ```
//!
//! Everything is put on record before it is used or written. A host that does not read its answers
//! holds us up, so that nothing is read from it either: no queue grows.

mod behind;
mod input;
mod lines;
mod output;
mod session;

use super::server::Ended;
use super::{Report, Server};
use crate::mock::reel::Reel;
use lines::Lines;
use mcpreel_capture::process::ending::own_exit_event;
use mcpreel_capture::process::signals::{self, Arrivals, Caught};
use mcpreel_capture::tap::Tap;
use mcpreel_store::record::{self, Ending, Recorder};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::EventKind;
use output::Output;
use session::Session;
use signal_hook::low_level::siginfo::Origin;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Notices that wait for the main thread: each holds at most as much as is read at once.
const NOTICES: usize = 16;

/// What a thread tells the main thread.
enum Notice {
    Input(Vec<u8>),
    InputEnded,
    Signal(Origin),
    /// A line of the server behind us.
    Behind(Vec<u8>),
    BehindSays(Vec<u8>),
    BehindSilent,
    BehindExited,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Input,
    Unread,
    Signal(i32),
    Ended(Ended),
}

/// How whoever serves speaks, and how it ends.
pub trait Manner {
    fn remark(&self, text: &str) -> String;
    /// What came of the session, as lines for stderr.
    fn report(&self, report: &Report) -> String;
    fn ending(&self, report: &Report, how: &How) -> Ending;
}

/// The signals that end a session.
pub struct Signals {
    caught: Caught,
    arrivals: Arrivals,
}

impl Signals {
    /// From now on they do not end the process.
    pub fn catch() -> io::Result<Self> {
        let (caught, arrivals) = signals::catch()?;
        Ok(Self { caught, arrivals })
    }
}

/// Serves `server`'s recording between our standard streams until the session is over; records the
/// session as `record` says.
pub fn serve<R: Reel>(
    server: Server<R>,
    Signals { caught, arrivals }: Signals,
    record: &record::Options,
    manner: &dyn Manner,
) -> io::Result<Ending> {
    signals::survive_large_files();
    let mut recorder = Recorder::create(record, Clock::start());
    let tap = recorder.tap();
    for message in &record.remarks {
        let message = message.clone();
        tap.event(EventKind::Warning { message });
    }
    recorder.warn_of_network();
    let pid = std::process::id();
    tap.event(EventKind::Spawned { pid });
    recorder.start();
    let (notify, notices) = sync_channel(NOTICES);
    start_threads(&tap, caught, &notify)?;
    let mut output = Output::new(&tap, &arrivals);
    for message in &record.remarks {
        output.say(&manner.remark(message));
    }
    let ending = Session {
        server,
        output,
        lines: Lines::default(),
        behind: None,
        tap: &tap,
        arrivals: &arrivals,
        notices,
        notify,
        manner,
    }
    .run();
    let ended = own_exit_event(status(ending));
    tap.event(ended.clone());
    tap.end(Some(ended));
    recorder.finish();
    Ok(ending)
}

fn start_threads(
    tap: &Arc<Tap>,
    mut caught: Caught,
    notify: &SyncSender<Notice>,
) -> io::Result<()> {
    let tap = Arc::clone(tap);
    start("input", notify, move |notify| {
        input::read_all(&tap, &notify);
    })?;
    start("signals", notify, move |notify| {
        for origin in caught.forever() {
            drop(notify.send(Notice::Signal(origin)));
        }
    })
}

fn start(
    name: &str,
    notify: &SyncSender<Notice>,
    body: impl FnOnce(SyncSender<Notice>) + Send + 'static,
) -> io::Result<()> {
    let notify = notify.clone();
    let builder = thread::Builder::new().name(name.into());
    builder.spawn(move || body(notify)).map(drop)
}

fn status(ending: Ending) -> ExitStatus {
    // As `wait` gives it: the code in the second byte, or the signal in the first.
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => i32::from(code) << 8,
        Ending::Signal(signal) => signal & 0x7f,
    })
}
