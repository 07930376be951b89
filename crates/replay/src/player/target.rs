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

use super::PlayError;
use super::calls::Tally;
use super::director::{Deadly, Director};
use super::stages::{Next, Stop};
use crate::bind::Binder;
use crate::diff::Report;
use crate::lines::{Lines, Tail};
use crate::signals::{Signals, ready, within};
use mcpreel_capture::process::spawn::{ServerEnds, SpawnError, spawn_in};
use mcpreel_capture::process::{exit_event, signal_name};
use mcpreel_capture::tap::{MAX_CHUNK, Tap};
use mcpreel_store::reader::Summary;
use mcpreel_store::record::Recorder;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{count, escape};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, read, write};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

/// The longest time without a look at the clock and a word about the progress.
const TOLD: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<OsString>,
    /// The working directory; `None`: ours.
    pub dir: Option<PathBuf>,
}

/// Why the recorded command cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCommand {
    Unknown,
    /// Values in it are redacted, and were not supplied: which. Not escaped.
    Redacted(Vec<Box<str>>),
}

impl Command {
    /// The recorded command, in the folder where it was as long as that is there.
    pub fn recorded(summary: &Summary, binder: &Binder) -> Result<Self, NoCommand> {
        let context = &summary.context;
        if context.argv.is_empty() {
            return Err(NoCommand::Unknown);
        }
        let words = context.argv.iter().map(|word| binder.word(word));
        let words: Vec<_> = words
            .collect::<Result<_, _>>()
            .map_err(NoCommand::Redacted)?;
        let dir = context.cwd.as_deref().map(|dir| binder.word(dir));
        let dir = dir.and_then(Result::ok).map(PathBuf::from);
        Ok(Self {
            words: words.into_iter().map(OsString::from).collect(),
            dir: dir.filter(|dir| dir.is_dir()),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Progress<'a> {
    pub tally: &'a Tally,
    /// Requests of the recording.
    pub requests: u64,
    /// What of the server is waited for, escaped.
    pub waits: Option<String>,
}

impl Progress<'_> {
    pub fn in_words(&self) -> String {
        let (sent, requests) = (count(self.tally.sent), count(self.requests));
        match &self.waits {
            Some(waits) => format!("{sent} of {requests} sent, waits for {waits}"),
            None => format!("{sent} of {requests} sent"),
        }
    }
}

#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    pub tally: Tally,
    pub requests: u64,
    /// The signal by which the user stopped it.
    pub interrupted: Option<i32>,
}

/// Starts the server, lets `director` play to it, and puts on record with `recorder` what is said.
pub fn run(
    command: &Command,
    director: Director<'_>,
    recorder: &mut Recorder,
    signals: &Signals,
    told: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, PlayError> {
    let tap = recorder.tap();
    let requests = director.requests()?;
    let (pipes, child) = match Pipes::start(command) {
        Ok(started) => started,
        Err(error) => {
            let (exit_code, message) = (error.exit_code(), error.to_string());
            let (report, tally) = director.not_started(escape(&message).into());
            tap.event(EventKind::SpawnFailed { exit_code, message });
            tap.end(None);
            recorder.start();
            return Ok(Outcome {
                report,
                tally,
                requests,
                interrupted: None,
            });
        }
    };
    tap.event(EventKind::Spawned { pid: child.id() });
    recorder.start();
    let target = Target {
        clock: tap.clock(),
        tap,
        pipes,
        child,
        director,
        signals,
        buffer: vec![0; MAX_CHUNK],
        lines: Lines::default(),
        stderr: Tail::default(),
        exit: None,
        gone: Vec::new(),
        told_at: Moment(0),
        requests,
    };
    target.play(told)
}

/// One server, driven: its pipes, the director, and the new recording, in one loop.
struct Target<'a> {
    clock: Clock,
    tap: Arc<Tap>,
    pipes: Pipes,
    child: Child,
    director: Director<'a>,
    signals: &'a Signals,
    buffer: Vec<u8>,
    lines: Lines,
    stderr: Tail,
    exit: Option<ExitStatus>,
    /// What of the server has ended, its output or its process, and was not said yet.
    gone: Vec<Option<End>>,
    told_at: Moment,
    requests: u64,
}

impl Target<'_> {
    fn play(mut self, told: &mut dyn FnMut(&Progress<'_>)) -> Result<Outcome, PlayError> {
        let played = self.until_over(told);
        if self.exit.is_none() {
            // Nobody relays to it any more, whatever went wrong.
            let _ = self.child.kill();
            self.exit = self.child.wait().ok();
            if let Some(status) = self.exit {
                self.tap.event(exit_event(status));
            }
        }
        self.tap.end(self.exit.map(exit_event));
        played?;
        let stderr = self.stderr.lines();
        let (report, tally) = self.director.finish(&stderr, self.requests);
        Ok(Outcome {
            report,
            tally,
            requests: self.requests,
            interrupted: self.signals.first(),
        })
    }

    fn until_over(&mut self, told: &mut dyn FnMut(&Progress<'_>)) -> Result<(), PlayError> {
        loop {
            self.director.tick(self.clock.now())?;
            self.act();
            // Who has said everything may go: all that was heard before is gone on from first.
            if self.director.next() != Next::Now {
                let now = self.clock.now();
                for gone in self.gone.drain(..) {
                    match gone {
                        None => self.director.output_ended(now),
                        Some(ended) => self.director.exited(ended, now),
                    }
                }
            }
            let now = self.clock.now();
            let timeout = match self.director.next() {
                Next::Never => return Ok(()),
                Next::Now => Duration::ZERO,
                Next::At(until) => until.map_or(TOLD, |until| until.since(now)).min(TOLD),
            };
            if self.told_at + TOLD <= now {
                self.told_at = now;
                told(&Progress {
                    tally: self.director.tally(),
                    requests: self.requests,
                    waits: self.director.waits(now),
                });
            }
            self.hear(timeout)?;
        }
    }

    fn act(&mut self) {
        let action = self.director.take_action();
        self.send(&action.send);
        if action.close {
            self.close_input(Closer::Writer);
        }
        if let Some(signal) = action.signal
            && self.exit.is_none()
        {
            let signal = match signal {
                Deadly::Term => Signal::SIGTERM,
                Deadly::Kill => Signal::SIGKILL,
            };
            let pid = i32::try_from(self.child.id()).map(Pid::from_raw);
            // It may have ended just now; then it needs no signal.
            let _ = pid.map(|pid| kill(pid, signal));
            let message = format!("the server was sent {} by the replay", signal.as_str());
            self.tap.event(EventKind::Warning { message });
        }
    }

    fn hear(&mut self, timeout: Duration) -> Result<(), PlayError> {
        let ready = self.pipes.wait(self.signals, timeout);
        let [woken, has_room, says, complains] = ready;
        if has_room {
            self.write();
        }
        if says {
            self.read_stdout()?;
        }
        if complains {
            self.read_stderr();
        }
        if let Some(signal) = self.signals.take() {
            self.tap.event(EventKind::Signal {
                signal: signal_name(signal),
                sender: None,
                passed: Passed::NotNeeded,
            });
            let now = self.clock.now();
            self.director.stop(Stop::Interrupted(signal), now);
        }
        // Its end is a signal as well; in vain it is asked for only where there is time to.
        if self.exit.is_none()
            && (woken || ready == [false; 4])
            && let Some(status) = self.child.try_wait()?
        {
            self.exit = Some(status);
            self.tap.event(exit_event(status));
            let code = status.code().map(|code| End::Exited { code });
            let killed = |number| End::Killed {
                signal: signal_name(number),
            };
            let ended = code.or_else(|| status.signal().map(killed));
            self.gone.push(Some(ended.unwrap_or(End::Unknown)));
        }
        Ok(())
    }

    /// Reads what there is. Goes on after each line as if it had come alone, so that what is recorded
    /// next is known when the next line is heard.
    fn read_stdout(&mut self) -> Result<(), PlayError> {
        let read = self.pipes.stdout.read(&mut self.buffer);
        let now = self.clock.now();
        let mut went = Ok(());
        let director = &mut self.director;
        let mut hear = |line: crate::lines::Line<'_>| {
            if went.is_ok() {
                went = director.arrive(line, now);
            }
        };
        if let Some(bytes) = read {
            let chunk = &self.buffer[..bytes];
            self.tap.chunk(StreamId::S2C, now, chunk);
            self.lines.push(chunk, &mut hear);
        } else {
            self.lines.rest(&mut hear);
            self.eof(StreamId::S2C, Closer::Writer);
            self.gone.push(None);
        }
        Ok(went?)
    }

    fn read_stderr(&mut self) {
        let now = self.clock.now();
        if let Some(bytes) = self.pipes.stderr.read(&mut self.buffer) {
            let chunk = &self.buffer[..bytes];
            self.tap.chunk(StreamId::STDERR, now, chunk);
            self.stderr.push(chunk);
        } else {
            self.eof(StreamId::STDERR, Closer::Writer);
        }
    }

    fn eof(&self, stream: StreamId, by: Closer) {
        self.tap.event(EventKind::Eof { stream, by });
    }
}

/// What the server is sent: on record first, then written as the server takes it.
impl Target<'_> {
    /// Puts bytes on record, and writes what the server takes of them.
    fn send(&mut self, bytes: &[u8]) {
        if self.pipes.is_open() && !bytes.is_empty() {
            let now = self.clock.now();
            for chunk in bytes.chunks(MAX_CHUNK) {
                self.tap.chunk(StreamId::C2S, now, chunk);
            }
            self.pipes.queue(bytes);
            self.write();
        }
    }

    fn write(&mut self) {
        let now = self.clock.now();
        let waited = self.pipes.waiting();
        if self.pipes.write().is_err() {
            self.close_input(Closer::Reader);
            self.director.input_refused(now);
        }
        let waits = self.pipes.waiting();
        if waits < waited {
            self.director.unread(0, now);
        }
        self.director.unread(waits as u64, now);
    }

    fn close_input(&mut self, by: Closer) {
        if !self.pipes.is_open() {
            return;
        }
        let waits = self.pipes.waiting();
        if waits > 0 {
            self.tap.event(EventKind::Undelivered {
                stream: StreamId::C2S,
                bytes: waits as u64,
            });
        }
        self.pipes.close_input();
        self.eof(StreamId::C2S, by);
    }
}

/// The three pipes of the server, none of which we ever wait at alone.
struct Pipes {
    stdin: Option<OwnedFd>,
    stdout: Source,
    stderr: Source,
    /// Bytes to be written, and the number of those that were.
    queue: Vec<u8>,
    written: usize,
}

/// Where the server writes; `None` once that is closed.
struct Source(Option<OwnedFd>);

impl Pipes {
    fn start(command: &Command) -> Result<(Self, Child), SpawnError> {
        let failed = |source| SpawnError::Failed {
            program: (command.words.first())
                .map_or_else(String::new, |it| it.display().to_string()),
            source,
        };
        let (server_stdin, stdin) = io::pipe().map_err(failed)?;
        let (stdout, server_stdout) = io::pipe().map_err(failed)?;
        let (stderr, server_stderr) = io::pipe().map_err(failed)?;
        let stdin = OwnedFd::from(stdin);
        // The flag is this end's alone: the server's keeps its own.
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
            .map_err(|errno| failed(errno.into()))?;
        let ends = ServerEnds {
            stdin: server_stdin.into(),
            stdout: server_stdout.into(),
            stderr: server_stderr.into(),
        };
        let child = spawn_in(command.dir.as_deref(), &command.words, ends)?;
        let pipes = Self {
            stdin: Some(stdin),
            stdout: Source(Some(stdout.into())),
            stderr: Source(Some(stderr.into())),
            queue: Vec::new(),
            written: 0,
        };
        Ok((pipes, child))
    }

    /// Whether something can still be written.
    fn is_open(&self) -> bool {
        self.stdin.is_some()
    }

    fn close_input(&mut self) {
        self.stdin = None;
        self.queue = Vec::new();
        self.written = 0;
    }

    /// Bytes that the server has not taken yet.
    fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Bytes are to be written after those that wait.
    fn queue(&mut self, bytes: &[u8]) {
        self.queue.extend_from_slice(bytes);
    }

    /// Writes as much as the server takes now.
    fn write(&mut self) -> Result<(), Errno> {
        while let Some(stdin) = &self.stdin
            && self.waiting() > 0
        {
            match write(stdin, &self.queue[self.written..]) {
                Ok(bytes) => self.written += bytes,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
        self.queue.clear();
        self.queue.shrink_to(MAX_CHUNK);
        self.written = 0;
        Ok(())
    }

    /// Waits until a signal has come, stdin has room for what waits, or stdout or stderr have
    /// something to read: which of the four.
    fn wait(&self, signals: &Signals, timeout: Duration) -> [bool; 4] {
        let stdin = self.stdin.as_ref().filter(|_| self.waiting() > 0);
        let fds = [
            (Some(signals.wake.as_fd()), PollFlags::POLLIN),
            (stdin.map(|fd| fd.as_fd()), PollFlags::POLLOUT),
            (
                self.stdout.0.as_ref().map(|fd| fd.as_fd()),
                PollFlags::POLLIN,
            ),
            (
                self.stderr.0.as_ref().map(|fd| fd.as_fd()),
                PollFlags::POLLIN,
            ),
        ];
        ready(fds, within(timeout))
    }
}

impl Source {
    /// Reads once: the number of bytes; `None` at the end, after which the source is closed.
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let fd = self.0.as_ref()?;
        loop {
            match read(fd, buffer) {
                Err(Errno::EINTR) => {}
                Ok(bytes) if bytes > 0 => return Some(bytes),
                // Whatever else a read says, nothing will come any more.
                Ok(_) | Err(_) => break,
            }
        }
        self.0 = None;
        None
    }
}
