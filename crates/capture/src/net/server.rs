//! The server, where the proxy starts it too.
//!
//! It is started as `run` would start it, but for its standard streams: nothing comes in, and what it
//! prints is a log, since its protocol goes over the network. Both outputs go to our stderr and on record
//! as the server's. When it ends, so do we.

use super::tls::Tls;
use super::upstream::{Reached, Unreachable, Upstream};
use crate::gauge::Gauge;
use crate::process::signals::{Arrivals, Caught, Pending, SCHEDULED};
use crate::process::spawn::{ServerEnds, SpawnError, spawn};
use crate::process::{exit_event, signals, wait_without_reaping};
use crate::pump::Pump;
use crate::stdio::OurEnd;
use crate::tap::Tap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, Step};
use mcpreel_trace::frame::StreamId;
use nix::unistd::Pid;
use signal_hook::low_level::siginfo::Origin;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How long connections wait for a server that does not listen yet. Some install themselves first.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often such a server is tried.
const PAUSE: Duration = Duration::from_millis(20);

/// Notices are few; a full queue only makes a thread wait that has nothing else to do.
const NOTICES: usize = 64;

enum Notice {
    Signal(Origin),
    Ended,
    /// Nobody prints any more.
    Silent,
}

/// A server that was started.
pub struct Server {
    child: Child,
    notices: Receiver<Notice>,
    arrivals: Arrivals,
    signals: Vec<Pending>,
    is_silent: bool,
}

impl Server {
    /// Starts `command`. To be called by a thread that lives to the end.
    pub fn start(command: &[OsString], tap: &Arc<Tap>) -> Result<Self, SpawnError> {
        let failed = |source| SpawnError::Failed {
            program: command
                .first()
                .map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            source,
        };
        let (caught, arrivals) = signals::catch(signals::ignored_but_ctrl_c()).map_err(failed)?;
        let (output, ends) = streams().map_err(failed)?;
        let mut child = spawn(command, ends)?;
        tap.event(EventKind::Spawned { pid: child.id() });
        let (notify, notices) = channel(NOTICES);
        if let Err(error) = watch(child.id(), output, caught, tap, &notify) {
            // A server that nobody looks after must not be left behind.
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(error));
        }
        Ok(Self {
            child,
            notices,
            arrivals,
            signals: Vec::new(),
            is_silent: false,
        })
    }

    /// Waits for its end, and passes signals on until then.
    pub async fn ended(&mut self, tap: &Tap) -> io::Result<ExitStatus> {
        let mut ended: Option<(ExitStatus, Moment)> = None;
        loop {
            let now = tap.clock().now();
            self.settle_signals(tap, now, ended.is_none());
            // A signal that ended it may not have been told yet.
            let is_told = |at: Moment| !self.arrivals.are_untold() || now.since(at) >= SCHEDULED;
            if let Some((status, _)) = ended.filter(|(_, at)| is_told(*at)) {
                return Ok(status);
            }
            let soon = ended.map(|_| now + Duration::from_millis(1));
            let due = self.signals.iter().map(Pending::due).chain(soon).min();
            match self.notice(due.map(|due| due.since(now))).await {
                Some(Notice::Signal(origin)) => {
                    self.arrivals.told(&origin);
                    self.signals
                        .extend(Pending::new(&origin, tap.clock().now()));
                }
                Some(Notice::Ended) => {
                    let status = self.child.wait()?;
                    tap.event(exit_event(status));
                    ended = Some((status, tap.clock().now()));
                }
                Some(Notice::Silent) => self.is_silent = true,
                None => {}
            }
        }
    }

    /// Waits until all that it printed is delivered, and nobody else prints.
    pub async fn silent(&mut self) {
        while !self.is_silent {
            self.is_silent = !matches!(self.notice(None).await, Some(Notice::Signal(_)));
        }
    }

    async fn notice(&mut self, within: Option<Duration>) -> Option<Notice> {
        match within {
            None => self.notices.recv().await,
            Some(within) => {
                let notice = tokio::time::timeout(within, self.notices.recv()).await;
                notice.ok().flatten()
            }
        }
    }

    fn settle_signals(&mut self, tap: &Tap, now: Moment, lives: bool) {
        let server = i32::try_from(self.child.id()).ok().map(Pid::from_raw);
        let server = server.filter(|_| lives);
        self.signals.retain_mut(|pending| {
            let is_due = pending.due() <= now || server.is_none();
            let settled = is_due.then(|| pending.settle(server)).flatten();
            settled.map(|event| tap.event(event)).is_none()
        });
    }
}

/// Our end of the pipe for both outputs, and the server's streams.
fn streams() -> io::Result<(OwnedFd, ServerEnds)> {
    let (output, printed) = io::pipe()?;
    let ends = ServerEnds {
        stdin: File::open("/dev/null")?.into(),
        stdout: printed.try_clone()?.into(),
        stderr: printed.into(),
    };
    Ok((output.into(), ends))
}

/// Starts the threads that tell what happens to the server.
fn watch(
    server: u32,
    output: OwnedFd,
    mut caught: Caught,
    tap: &Arc<Tap>,
    notify: &Sender<Notice>,
) -> io::Result<()> {
    let start = |name: &str, body: Box<dyn FnOnce(Sender<Notice>) + Send>| {
        let notify = notify.clone();
        let thread = thread::Builder::new().name(name.into());
        thread.spawn(move || body(notify)).map(drop)
    };
    // Whoever does not listen any more has no need to be told.
    let pump = Pump {
        source: Box::new(output),
        sink: Box::new(OurEnd::stderr()),
        tap: Arc::clone(tap),
        gauge: Arc::new(Gauge::new(StreamId::STDERR)),
        keeps_sink: true,
    };
    start(
        "output",
        Box::new(move |notify| {
            drop(pump.run());
            drop(notify.blocking_send(Notice::Silent));
        }),
    )?;
    start(
        "signals",
        Box::new(move |notify| {
            for origin in caught.forever() {
                drop(notify.blocking_send(Notice::Signal(origin)));
            }
        }),
    )?;
    start(
        "reaper",
        Box::new(move |notify| {
            wait_without_reaping(server);
            drop(notify.blocking_send(Notice::Ended));
        }),
    )
}

/// What connections have to know of a server that was started.
pub struct Starting {
    until: Moment,
    listens: AtomicBool,
    has_ended: AtomicBool,
}

impl Starting {
    pub fn new(tap: &Tap) -> Self {
        Self {
            until: tap.clock().now() + PATIENCE,
            listens: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        }
    }

    /// The server has ended.
    pub fn ended(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Connects to the server, as soon as it listens.
    pub async fn connect(
        &self,
        upstream: &Upstream,
        tls: Option<&Tls>,
        tap: &Tap,
    ) -> Result<Reached, Unreachable> {
        loop {
            let connected = upstream.connect(tls, tap.clock()).await;
            let is_refused = matches!(&connected, Err(it) if it.step == Step::Tcp && !it.is_reset);
            if !is_refused {
                self.listens.store(true, Ordering::Relaxed);
            }
            if self.listens.load(Ordering::Relaxed) {
                return connected;
            }
            let why = if self.has_ended.load(Ordering::Relaxed) {
                "the server has ended, and had not listened there"
            } else if tap.clock().now() >= self.until {
                "the server runs, but does not listen there: is it the right port?"
            } else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            return Err(Unreachable {
                step: Step::Tcp,
                message: format!("{}: {why}", upstream.authority()),
                is_reset: false,
            });
        }
    }
}
