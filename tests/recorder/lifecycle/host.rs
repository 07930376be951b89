//! A host that starts a recorder and talks to it line by line.

use crate::support::{Library, wait_for};
use mcpreel_trace::clock::{Clock, Moment};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Beyond this a session hangs. Its recorder is killed then, so that the test fails instead.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A running session. Both processes run in `library`'s folder and in a process group of their
/// own.
pub struct Host {
    pub library: Rc<Library>,
    recorder: Recorder,
    /// `None` once it is closed; so are the others.
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    _watchdog: SyncSender<()>,
}

/// What is left when a session is over.
pub struct Ended {
    pub library: Rc<Library>,
    pub status: ExitStatus,
    /// What had not been heard yet.
    pub out: String,
    /// What had not been heard yet.
    pub err: String,
}

impl Host {
    /// Records `sh -c SCRIPT`.
    pub fn sh(script: &str) -> Self {
        Self::run(&["sh", "-c", script])
    }

    /// Records `server`, with pipes on all three streams.
    pub fn run(server: &[&str]) -> Self {
        let library = Library::new();
        let command = library.run(server);
        Self::start(library, command)
    }

    /// Starts `command`, which records into `library`.
    pub fn start(library: impl Into<Rc<Library>>, mut command: Command) -> Self {
        let library = library.into();
        command.current_dir(library.path()).process_group(0);
        let mut child = command.spawn().expect("the program starts");
        Self {
            library,
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            _watchdog: watch(pid_of(&child)),
            recorder: Recorder(child),
        }
    }

    /// The recorder.
    pub fn pid(&self) -> Pid {
        pid_of(&self.recorder.0)
    }

    /// Writes a line to the server.
    pub fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{line}").expect("the recorder reads");
    }

    /// The next line from the server's stdout; empty at its end.
    pub fn hear(&mut self) -> String {
        line(self.stdout.as_mut().expect("stdout is open"))
    }

    /// Sends `signal` to the recorder alone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the recorder is ours");
    }

    /// Sends `signal` to the recorder and the server, as a member of whose group each gets it.
    pub fn signal_group(&self, signal: Signal) {
        kill(Pid::from_raw(-self.pid().as_raw()), signal).expect("the group is ours");
    }

    /// Makes a file that a script waits for with `until [ -e NAME ]; do sleep 0.01; done`.
    pub fn touch(&self, name: &str) {
        std::fs::write(self.library.path().join(name), "").expect("the folder can be written");
    }

    /// Whether the recorder still runs.
    pub fn runs(&mut self) -> bool {
        self.recorder
            .0
            .try_wait()
            .expect("the recorder is ours")
            .is_none()
    }

    /// Waits until the recording, which is still being written, has an event of this kind for
    /// which `fits` holds.
    pub fn event(&self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        wait_for(&format!("a fitting {kind} event"), || {
            events_so_far(&self.library)
                .into_iter()
                .find(|e| e["kind"] == kind && fits(e))
        })
    }

    /// Waits for the end, with stdin closed.
    pub fn end(mut self) -> Ended {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Ended {
        let err = self.stderr.take();
        let err = std::thread::spawn(move || err.map_or_else(String::new, rest));
        let out = self.stdout.take().map_or_else(String::new, rest);
        let err = err.join().expect("a reader does not panic");
        let status = self.recorder.0.wait().expect("the recorder is ours");
        Ended {
            library: self.library,
            status,
            out,
            err,
        }
    }
}

impl Ended {
    /// The only event of this kind.
    pub fn event(&self, kind: &str) -> Value {
        let mut events = self.library.events(kind);
        assert_eq!(events.len(), 1, "one {kind} event: {events:?}");
        events.remove(0)
    }

    /// Who closed `stream` first.
    pub fn closer(&self, stream: &str) -> String {
        let mut events = self.library.events("eof");
        events.retain(|event| event["stream"] == stream);
        let all = || self.library.json(&["show", "@", "--events"]);
        assert_eq!(events.len(), 1, "one end of {stream} in {:#?}", all());
        events[0]["by"].as_str().unwrap_or_default().to_owned()
    }
}

/// What `wait` returns, and how long it took.
pub fn timed<T>(wait: impl FnOnce() -> T) -> (T, Duration) {
    let clock = Clock::start();
    let result = wait();
    (result, clock.now().since(Moment(0)))
}

/// Lets time go by, where a test shows that nothing happens because of it.
pub fn pass(time: Duration) {
    std::thread::sleep(time);
}

/// The events of a recording that is still being written; none if it cannot be read yet.
pub fn events_so_far(library: &Library) -> Vec<Value> {
    let show = library
        .mcpreel("show")
        .args(["@", "--events", "--json"])
        .output();
    let lines = show.expect("mcpreel starts").stdout;
    lines
        .split(|byte| *byte == b'\n')
        .filter_map(|l| serde_json::from_slice(l).ok())
        .collect()
}

/// The next line of `source`, without its terminator; what there is, at its end.
pub fn line(source: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while source.read(&mut byte).expect("it can be read") == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).expect("the tests write text")
}

/// All that is left in `source`.
pub fn rest(mut source: impl Read) -> String {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).expect("it can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("process ids are small"))
}

/// Kills the recorder if it is still there after [`DEADLINE`], as long as the sender lives.
fn watch(recorder: Pid) -> SyncSender<()> {
    let (alive, gone) = sync_channel(0);
    std::thread::spawn(move || {
        if gone.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
            let _ = kill(recorder, Signal::SIGKILL);
        }
    });
    alive
}

/// The recorder's process.
pub struct Recorder(pub Child);

impl Drop for Recorder {
    /// A test that failed leaves nothing behind.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
