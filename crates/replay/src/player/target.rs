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
use super::director::Director;
use super::stages::{Next, Stop};
use crate::bind::Binder;
use crate::diff::Report;
use crate::lines::{Lines, Tail};
use crate::signals::{Signals, ready, signal_event, within};
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
use std::collections::VecDeque;
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
    /// Credentials in those words that do not go on record, each with what stands before it.
    pub secrets: Vec<(String, String)>,
    /// The working directory; `None`: ours.
    pub dir: Option<PathBuf>,
}

/// Why the recorded command cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCommand {
    Unknown,
    /// The server was reached by this URL. Not escaped.
    Url(String),
    /// Values in it are redacted, and were not supplied: which. Not escaped.
    Redacted(Vec<Box<str>>),
}

impl Command {
    /// The recorded command, in the folder where it was as long as that is there.
    pub fn recorded(summary: &Summary, binder: &Binder) -> Result<Self, NoCommand> {
        let context = &summary.context;
        if let Some(url) = context.url.as_deref().or(context.bridged_url()) {
            return Err(NoCommand::Url(url.to_owned()));
        }
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
            secrets: Vec::new(),
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
    let (child, [stdin, stdout, stderr]) = match start(command) {
        Ok(started) => started,
        Err(error) => {
            let message = escape(&error.line()).into();
            let (report, tally) = director.not_started(message);
            tap.event(error.event());
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
    let mut target = Target {
        clock: tap.clock(),
        tap,
        child,
        director,
        signals,
        stdin: Some(stdin),
        stdout: Some(stdout),
        stderr: Some(stderr),
        unwritten: VecDeque::new(),
        buffer: vec![0; MAX_CHUNK],
        lines: Lines::default(),
        last_words: Tail::default(),
        exit: None,
        gone: Vec::new(),
    };
    let played = target.until_over(requests, told);
    if target.exit.is_none() {
        // Nobody relays to it any more, whatever went wrong.
        let _ = target.child.kill();
        target.exit = target.child.wait().ok();
        if let Some(status) = target.exit {
            target.tap.event(exit_event(status));
        }
    }
    target.tap.end(target.exit.map(exit_event));
    played?;
    let last_words = target.last_words.lines();
    let (report, tally) = target.director.finish(&last_words, requests);
    Ok(Outcome {
        report,
        tally,
        requests,
        interrupted: signals.first(),
    })
}

/// Starts the server; gives our ends of its stdin, which never blocks, its stdout and its stderr.
fn start(command: &Command) -> Result<(Child, [OwnedFd; 3]), SpawnError> {
    let failed = |source| SpawnError::Failed {
        program: (command.words.first()).map_or_else(String::new, |it| it.display().to_string()),
        source,
    };
    let (server_stdin, stdin) = io::pipe().map_err(failed)?;
    let (stdout, server_stdout) = io::pipe().map_err(failed)?;
    let (stderr, server_stderr) = io::pipe().map_err(failed)?;
    // The flag is this end's alone: the server's keeps its own.
    let flag = fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
    flag.map_err(|errno| failed(errno.into()))?;
    let ends = ServerEnds {
        stdin: server_stdin.into(),
        stdout: server_stdout.into(),
        stderr: server_stderr.into(),
    };
    let child = spawn_in(command.dir.as_deref(), &command.words, ends)?;
    Ok((child, [stdin.into(), stdout.into(), stderr.into()]))
}

/// One server, driven: its pipes, the director, and the new recording, in one loop.
struct Target<'a> {
    clock: Clock,
    tap: Arc<Tap>,
    child: Child,
    director: Director<'a>,
    signals: &'a Signals,
    /// Our ends of the pipes; `None` once closed.
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// Bytes on record that the server has not taken yet.
    unwritten: VecDeque<u8>,
    buffer: Vec<u8>,
    lines: Lines,
    last_words: Tail,
    exit: Option<ExitStatus>,
    /// Ends that the director was not told of: of the output (`None`) or of the process.
    gone: Vec<Option<End>>,
}

impl Target<'_> {
    fn until_over(
        &mut self,
        requests: u64,
        told: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(), PlayError> {
        let mut told_at = Moment(0);
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
            if told_at + TOLD <= now {
                told_at = now;
                told(&Progress {
                    tally: self.director.tally(),
                    requests,
                    waits: self.director.waits(now),
                });
            }
            self.hear(timeout)?;
        }
    }

    fn act(&mut self) {
        let action = self.director.take_action();
        if self.stdin.is_some() {
            let now = self.clock.now();
            for chunk in action.send.chunks(MAX_CHUNK) {
                self.tap.chunk(StreamId::C2S, now, chunk);
            }
            self.unwritten.extend(action.send);
            self.write();
        }
        if action.close {
            self.close_input(Closer::Writer);
        }
        if let Some(signal) = action.signal
            && self.exit.is_none()
        {
            let signal = [Signal::SIGTERM, Signal::SIGKILL][signal as usize];
            let pid = i32::try_from(self.child.id()).map(Pid::from_raw);
            // It may have ended just now; then it needs no signal.
            let _ = pid.map(|pid| kill(pid, signal));
            // As from a host: the server is not to blame for ending by it.
            self.tap.event(signal_event(signal as i32, Passed::Once));
        }
    }

    /// Waits for the server, a signal, or so long.
    fn hear(&mut self, timeout: Duration) -> Result<(), PlayError> {
        let stdin = self.stdin.as_ref().filter(|_| !self.unwritten.is_empty());
        let [stdin, stdout, stderr] = [stdin, self.stdout.as_ref(), self.stderr.as_ref()]
            .map(|pipe| pipe.map(|fd| fd.as_fd()));
        let fds = [
            (Some(self.signals.wake.as_fd()), PollFlags::POLLIN),
            (stdin, PollFlags::POLLOUT),
            (stdout, PollFlags::POLLIN),
            (stderr, PollFlags::POLLIN),
        ];
        let ready = ready(fds, within(timeout));
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
            self.tap.event(signal_event(signal, Passed::NotNeeded));
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
        let read = read_once(&mut self.stdout, &mut self.buffer);
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
        if let Some(bytes) = read_once(&mut self.stderr, &mut self.buffer) {
            let chunk = &self.buffer[..bytes];
            self.tap.chunk(StreamId::STDERR, self.clock.now(), chunk);
            self.last_words.push(chunk);
        } else {
            self.eof(StreamId::STDERR, Closer::Writer);
        }
    }

    fn eof(&self, stream: StreamId, by: Closer) {
        self.tap.event(EventKind::Eof { stream, by });
    }

    /// Writes as much as the server takes now.
    fn write(&mut self) {
        let (now, waited) = (self.clock.now(), self.unwritten.len());
        while let Some(stdin) = &self.stdin
            && !self.unwritten.is_empty()
        {
            match write(stdin, self.unwritten.as_slices().0) {
                Ok(bytes) => drop(self.unwritten.drain(..bytes)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(_) => {
                    self.close_input(Closer::Reader);
                    self.director.input_refused(now);
                }
            }
        }
        self.unwritten.shrink_to(MAX_CHUNK);
        let waits = self.unwritten.len();
        if waits < waited {
            self.director.unread(0, now);
        }
        self.director.unread(waits as u64, now);
    }

    fn close_input(&mut self, by: Closer) {
        if self.stdin.take().is_none() {
            return;
        }
        let bytes = std::mem::take(&mut self.unwritten).len() as u64;
        if bytes > 0 {
            let stream = StreamId::C2S;
            self.tap.event(EventKind::Undelivered { stream, bytes });
        }
        self.eof(StreamId::C2S, by);
    }
}

/// Reads once: the number of bytes; `None` at the end, after which the pipe is closed.
fn read_once(pipe: &mut Option<OwnedFd>, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match read(pipe.as_ref()?, buffer) {
            Err(Errno::EINTR) => {}
            Ok(bytes) if bytes > 0 => return Some(bytes),
            // Whatever else a read says, nothing will come any more.
            Ok(_) | Err(_) => *pipe = None,
        }
    }
}
