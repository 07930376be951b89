//! The stdio transport: our three descriptors on one side, the server's pipes on the other.
//!
//! ```text
//!   fd 0 ─▶ pump c2s ─▶ pipe ─▶ server's stdin
//!   fd 1 ◀─ pump s2c ◀─ pipe ◀─ server's stdout
//!   fd 2 ◀─ pump     ◀─ pipe ◀─ server's stderr     (one pipe for both where 1 and 2 are one file)
//! ```
//!
//! The main thread starts the server, then waits for notices: a signal, the server's end, a
//! pump's end. `life` decides from them when the session is over.

mod life;

use super::gauge::Gauge;
use super::process::signals::{Arrivals, Pending};
use super::process::spawn::{ServerEnds, SpawnError, spawn};
use super::process::{exit_event, signals, wait_without_reaping};
use super::pump::{End, Pump};
use super::tap::Tap;
use life::{Facts, Verdict};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use nix::sys::socket::{Shutdown, shutdown};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Origin;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The gauges of the three pumps, indexed by stream.
pub type Gauges = [Arc<Gauge>; 3];

/// Notices are few (signals, three pumps, one exit); a full queue only makes a thread wait that
/// has nothing else to do.
const NOTICES: usize = 64;

/// Our stderr stays open for so long after the server has closed its own: usually the server ends
/// with it, and then it stays open until all is said about the recording.
const LAST_WORD: Duration = Duration::from_millis(100);

/// What a thread tells the main thread.
enum Notice {
    Signal(Origin),
    ServerEnded,
    /// With its sink, where that has been kept open.
    PumpEnded(StreamId, Option<Box<dyn End>>),
}

pub fn gauges() -> Gauges {
    StreamId::STDIO.map(|stream| Arc::new(Gauge::new(stream)))
}

/// Runs `command` between our standard streams until the session is over, and returns how the
/// server ended. `started` is called once it runs.
pub fn run(
    command: &[OsString],
    tap: &Arc<Tap>,
    gauges: &Gauges,
    started: impl FnOnce(),
) -> Result<ExitStatus, SpawnError> {
    let failed = |source| SpawnError::Failed {
        program: command
            .first()
            .map_or_else(String::new, |p| p.to_string_lossy().into_owned()),
        source,
    };
    let (signals, arrivals) = signals::catch(signals::ignored()).map_err(failed)?;
    let plumbing = Plumbing::lay().map_err(failed)?;
    let server = spawn(command, plumbing.server)?;
    tap.event(EventKind::Spawned { pid: server.id() });
    let (notify, notices) = sync_channel(NOTICES);
    let mut session = Session {
        tap,
        gauges,
        notices,
        pipes: plumbing.inodes,
        facts: Facts::new(plumbing.merged),
        signals: Vec::new(),
        arrivals,
        server,
        survivors_told: false,
        kept: None,
    };
    let id = session.server.id();
    if let Err(error) = start(plumbing.ends, tap, gauges, signals, id, &notify) {
        // A server that nobody relays to must not be left behind.
        let _ = session.server.kill();
        let _ = session.server.wait();
        return Err(failed(error));
    }
    started();
    session.supervise().map_err(failed)
}

/// The main thread's view of a running session.
struct Session<'a> {
    tap: &'a Arc<Tap>,
    gauges: &'a Gauges,
    notices: Receiver<Notice>,
    pipes: Vec<u64>,
    facts: Facts,
    signals: Vec<Pending>,
    arrivals: Arrivals,
    server: Child,
    survivors_told: bool,
    /// Our stderr, and when it is to be closed if the session is not over before.
    kept: Option<(Box<dyn End>, Moment)>,
}

impl Session<'_> {
    fn supervise(mut self) -> io::Result<ExitStatus> {
        let mut status = None;
        loop {
            let now = self.tap.clock().now();
            self.settle_signals();
            self.close_kept(now);
            self.facts.observe(self.gauges);
            let timeout = match self.facts.verdict(now) {
                Verdict::End => break,
                Verdict::Wait(until) => {
                    let kept = self.kept.as_ref().map(|(_, due)| *due);
                    let due = self
                        .signals
                        .iter()
                        .map(Pending::due)
                        .chain(until)
                        .chain(kept);
                    due.min()
                        .map(|due| due.since(now).max(Duration::from_millis(1)))
                }
            };
            match self.next(timeout) {
                Some(Notice::ServerEnded) => status = Some(self.reap()?),
                Some(Notice::PumpEnded(stream, kept)) => {
                    let now = self.now();
                    self.kept = kept.map(|end| (end, now + LAST_WORD)).or(self.kept.take());
                    self.facts.pump_ended(stream, now);
                }
                Some(Notice::Signal(origin)) => self.signal_arrived(&origin),
                None => self.tell_survivors(),
            }
        }
        self.drain();
        status.map_or_else(|| self.server.wait(), Ok)
    }

    fn close_kept(&mut self, now: Moment) {
        if let Some((end, _)) = self.kept.take_if(|(_, due)| *due <= now) {
            end.close();
        }
    }

    fn now(&self) -> Moment {
        self.tap.clock().now()
    }

    /// The next notice; `None` if there is none within `timeout`.
    fn next(&self, timeout: Option<Duration>) -> Option<Notice> {
        match timeout {
            None => self.notices.recv().ok(),
            Some(timeout) => self.notices.recv_timeout(timeout).ok(),
        }
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.server.wait()?;
        self.facts.server_ended(self.now());
        self.tap.event(exit_event(status));
        Ok(status)
    }

    fn signal_arrived(&mut self, origin: &Origin) {
        let now = self.now();
        self.arrivals.told(origin);
        if let Some(pending) = Pending::new(origin, now) {
            self.facts.signalled(now);
            self.signals.push(pending);
        }
    }

    fn settle_signals(&mut self) {
        let now = self.now();
        let server = i32::try_from(self.server.id()).ok().map(Pid::from_raw);
        let server = server.filter(|_| self.facts.server_lives());
        let tap = self.tap;
        self.signals.retain_mut(|pending| {
            let settled = (pending.due() <= now || server.is_none())
                .then(|| pending.settle(server))
                .flatten();
            settled.map(|event| tap.event(event)).is_none()
        });
    }

    /// Says once who still holds the server's pipes after it has ended.
    fn tell_survivors(&mut self) {
        if self.facts.server_lives() || std::mem::replace(&mut self.survivors_told, true) {
            return;
        }
        let processes = super::process::context::holders(&self.pipes);
        if !processes.is_empty() {
            self.tap.event(EventKind::Survivors { processes });
        }
    }

    /// Whether something that began before `began` has not come to its end.
    fn is_unsettled(&self, began: Moment) -> bool {
        let now = self.now();
        let mut gauges = self.gauges.iter();
        gauges.any(|gauge| self.facts.waits_for(gauge, began, now))
            || (self.arrivals.are_untold() && now.since(began) < signals::SCHEDULED)
    }

    /// Reads nothing more, and waits until what was read is delivered or refused, and until every
    /// signal that has arrived is on record.
    fn drain(&mut self) {
        self.gauges.iter().for_each(|gauge| gauge.close());
        let began = self.now();
        while self.is_unsettled(began) {
            match self.next(Some(Duration::from_millis(1))) {
                Some(Notice::Signal(origin)) => self.signal_arrived(&origin),
                Some(Notice::PumpEnded(..) | Notice::ServerEnded) | None => {}
            }
        }
        self.settle_signals();
        if !self.facts.outputs_ended() {
            let message = "other processes still hold the server's output; what they write after \
                           the end is not relayed";
            self.tap.event(EventKind::Warning {
                message: message.into(),
            });
        }
        for gauge in self.gauges {
            let (stream, bytes) = (gauge.stream(), gauge.pending());
            if bytes > 0 {
                self.tap.event(EventKind::Undelivered { stream, bytes });
            }
        }
    }
}

// The threads beside the main one, each of which tells it when something has happened.

/// A thread for each stream, one for signals, one that waits for the server.
fn start(
    ends: Vec<StreamEnds>,
    tap: &Arc<Tap>,
    gauges: &Gauges,
    mut signals: SignalsInfo<WithOrigin>,
    server: u32,
    notify: &SyncSender<Notice>,
) -> io::Result<()> {
    for StreamEnds {
        stream,
        source,
        sink,
    } in ends
    {
        let gauge = Arc::clone(&gauges[stream.index()]);
        let pump = Pump {
            source,
            sink,
            tap: Arc::clone(tap),
            gauge,
            keeps_sink: stream == StreamId::STDERR,
        };
        thread(stream.as_str(), notify, move |notify| {
            let kept = pump.run();
            drop(notify.send(Notice::PumpEnded(stream, kept)));
        })?;
    }
    thread("signals", notify, move |notify| {
        for origin in signals.forever() {
            drop(notify.send(Notice::Signal(origin)));
        }
    })?;
    thread("reaper", notify, move |notify| {
        wait_without_reaping(server);
        drop(notify.send(Notice::ServerEnded));
    })
}

fn thread(
    name: &str,
    notify: &SyncSender<Notice>,
    body: impl FnOnce(SyncSender<Notice>) + Send + 'static,
) -> io::Result<()> {
    let notify = notify.clone();
    std::thread::Builder::new()
        .name(name.into())
        .spawn(move || body(notify))
        .map(drop)
}

// The pipes between our descriptors and the server.

/// Both ends of a stream, on our side.
pub struct StreamEnds {
    pub stream: StreamId,
    pub source: Box<dyn End>,
    pub sink: Box<dyn End>,
}

pub struct Plumbing {
    /// Source and sink of each stream.
    pub ends: Vec<StreamEnds>,
    pub server: ServerEnds,
    /// Inode numbers of the pipes that the server writes.
    pub inodes: Vec<u64>,
    /// Whether stdout and stderr are one pipe.
    pub merged: bool,
}

impl Plumbing {
    /// Makes the pipes for our standard descriptors as they are.
    pub fn lay() -> io::Result<Self> {
        let merged = same_file(&io::stdout(), &io::stderr());
        let (server_stdin, to_server) = io::pipe()?;
        let (from_stdout, server_stdout) = io::pipe()?;
        let mut inodes = vec![inode(&from_stdout)?];
        let out = OurEnd::stdout(merged);
        let mut ends = vec![
            pair(StreamId::C2S, OurEnd::stdin(), OwnedFd::from(to_server)),
            pair(StreamId::S2C, OwnedFd::from(from_stdout), out),
        ];
        let server_stderr = if merged {
            OwnedFd::from(server_stdout.try_clone()?)
        } else {
            let (from_stderr, server_stderr) = io::pipe()?;
            inodes.push(inode(&from_stderr)?);
            ends.push(pair(
                StreamId::STDERR,
                OwnedFd::from(from_stderr),
                OurEnd::stderr(),
            ));
            OwnedFd::from(server_stderr)
        };
        let server = ServerEnds {
            stdin: server_stdin.into(),
            stdout: server_stdout.into(),
            stderr: server_stderr,
        };
        Ok(Self {
            ends,
            server,
            inodes,
            merged,
        })
    }
}

fn pair(stream: StreamId, source: impl End + 'static, sink: impl End + 'static) -> StreamEnds {
    StreamEnds {
        stream,
        source: Box::new(source),
        sink: Box::new(sink),
    }
}

// Our three standard descriptors as ends of pumps.
//
// They stay at their numbers: closing one means to put `/dev/null` in its place, which releases
// the host's pipe at once, while no other file can ever take the number.

/// One of our standard descriptors.
#[derive(Debug)]
pub enum OurEnd {
    Stdin(io::Stdin),
    /// What the host reads; where stderr is the same file, that too.
    Stdout {
        out: io::Stdout,
        /// Whether stderr is closed with it.
        with_stderr: bool,
    },
    Stderr(io::Stderr),
}

impl OurEnd {
    pub fn stdin() -> Self {
        Self::Stdin(io::stdin())
    }

    /// Descriptor 1, or 1 and 2 if they are the same file.
    pub fn stdout(with_stderr: bool) -> Self {
        Self::Stdout {
            out: io::stdout(),
            with_stderr,
        }
    }

    pub fn stderr() -> Self {
        Self::Stderr(io::stderr())
    }
}

impl End for OurEnd {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin(fd) => fd.as_fd(),
            Self::Stdout { out, .. } => out.as_fd(),
            Self::Stderr(fd) => fd.as_fd(),
        }
    }

    fn close(self: Box<Self>) {
        let Ok(nothing) = nothing() else { return };
        // Only a bad descriptor number could make these fail.
        let _ = match *self {
            Self::Stdin(_) => dup2_stdin(nothing),
            Self::Stderr(_) => dup2_stderr(nothing),
            Self::Stdout { out, with_stderr } => {
                // Hosts that use socket pairs may hold our end as well: only this tells them.
                if !with_stderr && is_socket(&out) {
                    let _ = shutdown(out.as_raw_fd(), Shutdown::Write);
                }
                if with_stderr {
                    let _ = dup2_stderr(&nothing);
                }
                dup2_stdout(nothing)
            }
        };
    }
}

/// Something that can be in the place of a closed descriptor.
fn nothing() -> io::Result<OwnedFd> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from)
        .or_else(|_| Ok(io::pipe()?.1.into()))
}

/// Whether both descriptors are the same file, pipe, socket or terminal.
pub fn same_file(a: &impl AsFd, b: &impl AsFd) -> bool {
    let identity = |file: FileStat| (file.st_dev, file.st_ino, file.st_rdev);
    match (fstat(a.as_fd()), fstat(b.as_fd())) {
        (Ok(a), Ok(b)) => identity(a) == identity(b),
        _ => false,
    }
}

fn is_socket(fd: &impl AsFd) -> bool {
    fstat(fd.as_fd()).is_ok_and(|file| {
        SFlag::from_bits_truncate(file.st_mode) & SFlag::S_IFMT == SFlag::S_IFSOCK
    })
}

/// The inode number behind a descriptor.
pub fn inode(fd: &impl AsFd) -> io::Result<u64> {
    Ok(fstat(fd.as_fd())?.st_ino)
}
