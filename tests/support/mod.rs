//! What the tests that start real processes share: a folder of its own for each, the program's
//! own JSON to read recordings back, and conditions to wait for.

#![expect(dead_code, reason = "every test file uses a part of it")]

pub mod account;
pub mod byte_pattern;
pub mod conversation;
pub mod dice;
pub mod host_session;
pub mod pieces;
pub mod proxy;
pub mod rmcp_client;
#[cfg(all(feature = "long-tests", target_os = "linux"))]
pub mod small_disk;
pub mod stored_rows;
pub mod terminal;
pub mod written;

use mcpreel_capture::spool::MAX_CHUNK;
use mcpreel_trace::frame::StreamId;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The program under test.
pub const MCPREEL: &str = env!("CARGO_BIN_EXE_mcpreel");

/// No condition takes longer on a busy machine, unless the program is broken.
const DEADLINE: Duration = Duration::from_mins(2);

/// Bytes of a stream, however many: as chunks that a spool takes.
pub fn chunk_all(session: &mut written::Session, stream: StreamId, bytes: &[u8]) {
    for chunk in bytes.chunks(MAX_CHUNK) {
        session.chunk(stream, chunk);
    }
}

/// Servers and hosts that misbehave on purpose (`tests/support/peer/`).
pub fn peer() -> PathBuf {
    let test = std::env::current_exe().expect("a test has an executable");
    let target = test
        .ancestors()
        .nth(2)
        .expect("tests are built into target/PROFILE/deps");
    let peer = target.join("examples").join("peer");
    assert!(
        is_fresh(&peer),
        "the peer is older than its source: `cargo build --example peer` (`cargo test` does it, \
         `cargo test --test` does not)"
    );
    peer
}

/// Whether the peer was built after its source was last changed.
fn is_fresh(peer: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/peer");
    let changed = |path: &Path| {
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let files = std::fs::read_dir(source).into_iter().flatten().flatten();
    let newest = files.filter_map(|file| changed(&file.path())).max();
    peer.exists() && newest <= changed(peer)
}

/// A folder of recordings that vanishes with the test.
pub struct Library {
    dir: tempfile::TempDir,
}

impl Library {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    /// In a folder of its own within `parent`.
    pub fn within(parent: &Path) -> Self {
        Self {
            dir: tempfile::tempdir_in(parent).expect("a folder can be made there"),
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `mcpreel COMMAND` on this folder, in an environment with nothing else in it but PATH.
    pub fn mcpreel(&self, command: &str) -> Command {
        let mut mcpreel = Command::new(MCPREEL);
        mcpreel
            .env_clear()
            .env("HOME", self.path())
            .env("MCPREEL_DIR", self.path());
        mcpreel
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .arg(command);
        mcpreel
    }

    /// `mcpreel run SERVER…` with pipes on all three streams.
    pub fn run<S: AsRef<OsStr>>(&self, server: impl IntoIterator<Item = S>) -> Command {
        let mut run = self.mcpreel("run");
        run.args(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        run
    }

    /// `mcpreel run -- sh -c SCRIPT` with pipes on all three streams.
    pub fn run_sh(&self, script: &str) -> Command {
        self.run(["sh", "-c", script])
    }

    /// The objects that `mcpreel ARGS… --json` prints, one per line.
    pub fn json(&self, args: &[&str]) -> Vec<serde_json::Value> {
        // On a busy machine the indexer may not have begun: one is told to try again, and does.
        let output = wait_for("a recording that can be read", || {
            let mut command = self.mcpreel(args[0]);
            let output = command.args(&args[1..]).arg("--json").output();
            let output = output.expect("mcpreel starts");
            (!text(&output).contains("is still being made")).then_some(output)
        });
        assert!(
            output.status.success(),
            "mcpreel {args:?} --json: {}",
            text(&output)
        );
        output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("every line is a JSON object"))
            .collect()
    }

    /// The events of the newest recording that are of this kind.
    pub fn events(&self, kind: &str) -> Vec<serde_json::Value> {
        let mut events = self.json(&["show", "@", "--events"]);
        events.retain(|event| event["kind"] == kind);
        events
    }

    /// All bytes of a stream (`c2s`, `s2c`, `stderr`) of the newest recording.
    pub fn stream(&self, stream: &str) -> Vec<u8> {
        let frames = self.json(&["show", "@", "--frames"]);
        frames
            .iter()
            .filter(|frame| frame["stream"] == stream)
            .flat_map(frame_bytes)
            .collect()
    }

    /// The recordings of sessions that are over. On a busy machine a part of them may still be in the
    /// spool; whoever reads a recording adds that.
    pub fn recordings(&self) -> Vec<PathBuf> {
        for spool in self.files("spool") {
            let mut show = self.mcpreel("show");
            let shown = show.arg(spool.with_extension("reel")).output();
            shown.expect("mcpreel starts");
        }
        self.files("reel")
    }

    /// The files of the folder whose names end with `.ENDING`.
    pub fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).expect("the folder can be listed");
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension() == Some(OsStr::new(ending)));
        files
    }
}

/// Sends a signal to a process that was started here.
pub fn send(signal: nix::sys::signal::Signal, to: u32) {
    let pid = i32::try_from(to).expect("a process id is small");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).expect("it lives");
}

/// The most memory that a process has taken so far, bytes; `None` where that cannot be had.
pub fn peak_memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// CPU time that a process has had so far.
fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name, which may hold anything, ends at the last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let of_user_and_system = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = of_user_and_system.flat_map(str::parse::<u64>).sum();
    Some(Duration::from_millis(ticks * 10))
}

/// The exact bytes of a frame in JSON.
pub fn frame_bytes(frame: &serde_json::Value) -> Vec<u8> {
    use base64::Engine as _;
    match (&frame["text"], &frame["base64"]) {
        (serde_json::Value::String(text), _) => text.clone().into_bytes(),
        (_, serde_json::Value::String(coded)) => base64::engine::general_purpose::STANDARD
            .decode(coded)
            .expect("base64 is valid"),
        _ => panic!("a frame without bytes: {frame}"),
    }
}

/// Both outputs of a program, for a message.
pub fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Waits until `condition` gives something; fails the test, naming `what`, if it never does.
pub fn wait_for<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    wait_until(what, || Duration::ZERO, condition)
}

/// The same for what the process `pid` is at work on in a thread that leaves the CPU to all others:
/// on a busy machine it gets next to nothing, so what counts is the time that it had.
pub fn wait_for_work<T>(pid: u32, what: &str, condition: impl FnMut() -> Option<T>) -> T {
    wait_until(what, || cpu_time(pid).unwrap_or_default(), condition)
}

/// Waits until `condition` gives something. Fails if it takes longer than the deadline, counted
/// from when the time that was `worked` last grew, and if that itself is longer.
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline for a test that would hang"
)]
fn wait_until<T>(
    what: &str,
    worked: impl Fn() -> Duration,
    mut condition: impl FnMut() -> Option<T>,
) -> T {
    let mut began = std::time::Instant::now();
    let mut latest = worked();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(found) = condition() {
            return found;
        }
        let now = worked();
        if now > latest {
            (latest, began) = (now, std::time::Instant::now());
        }
        let is_late = began.elapsed() >= DEADLINE || now >= DEADLINE;
        assert!(!is_late, "never happened: {what}");
        std::thread::sleep(pause);
        // A condition that starts a program takes the time of what it waits for.
        pause = (pause * 3 / 2).min(Duration::from_millis(50));
    }
}

/// Says something about a test that passes: a seed, a figure.
#[expect(clippy::print_stderr, reason = "the output of a test is for people")]
pub fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}
