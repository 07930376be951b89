//! Sessions of a client with servers, with the recorder in between or without it.
//!
//! ```text
//!  this test ─sessions.json▶ client ─▶ [ mcpreel run ─▶ ] server
//!      ▲                       │            │
//!      └──── what it saw ──────┘            └─▶ recordings
//! ```
//!
//! One process of a client has all sessions that are asked of it, one after the other: it takes
//! longer to start some of them than to have a session.

use crate::packages::run;
use crate::peers::{Client, Server};
use crate::support::{Library, MCPREEL, text, wait_for};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What is asked of a server, by its name.
const PLANS: &str = include_str!("plans.json");

/// A session that was had.
pub struct Session {
    pub server: &'static Server,
    pub client: &'static Client,
    pub mode: &'static str,
    /// What the client saw, without what differs from run to run.
    pub seen: Value,
    /// Where its recordings are, if there are any.
    pub library: Library,
    /// The recordings, in the order in which they began. Some clients start a server several times
    /// for one session.
    pub recordings: Vec<PathBuf>,
    /// The one place in the file system that server and client talk about, as the session left it.
    folder: TempDir,
}

/// Has a session of `client` with each of the servers, recorded.
pub fn record(
    client: &'static Client,
    mode: &'static str,
    servers: &[&'static Server],
) -> Vec<Session> {
    let mut sessions = have(client, mode, servers, true);
    for session in &mut sessions {
        session.recordings = ended(&session.library);
        assert!(
            !session.recordings.is_empty(),
            "{} is not on record",
            session.name()
        );
    }
    sessions
}

/// Has them without the recorder.
pub fn converse(
    client: &'static Client,
    mode: &'static str,
    servers: &[&'static Server],
) -> Vec<Session> {
    have(client, mode, servers, false)
}

impl Session {
    /// The command that starts the server once more for the same session.
    pub fn command(&self) -> Vec<String> {
        self.server.command(self.folder.path())
    }

    /// Makes its folder as it was when it began.
    pub fn restore(&self) {
        for entry in fs::read_dir(self.folder.path()).expect("the folder is ours") {
            let path = entry.expect("the folder is ours").path();
            let gone = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
            gone.expect("what is in it is ours");
        }
        furnish(self.folder.path());
    }

    /// What the client sees in the same session with what `command` starts in place of the server.
    pub fn again(&self, command: &[String]) -> Value {
        let session = asked(self.server, self.mode, self.folder.path(), command);
        seen(self.client, &json!([session])).swap_remove(0)
    }

    /// What `mcpreel COMMAND… --json` says of each recording, one object per line.
    pub fn json(&self, command: &[&str]) -> Vec<Value> {
        let of = |recording: &PathBuf| {
            let recording = recording.to_string_lossy();
            let words: Vec<_> = [command[0], &recording]
                .into_iter()
                .chain(command[1..].iter().copied())
                .collect();
            self.library.json(&words)
        };
        self.recordings.iter().flat_map(of).collect()
    }

    /// `everything × python-sdk × auto`
    pub fn name(&self) -> String {
        format!(
            "{} × {} × {}",
            self.server.name, self.client.name, self.mode
        )
    }
}

/// A folder in which a session can be had.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    furnish(folder.path());
    folder
}

/// Puts two files into it, and a repository with a change.
fn furnish(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("the folder can be written to");
    };
    write("hello.txt", b"hello\nworld\n");
    write("pixel.png", b"\x89PNG\r\n");
    fs::create_dir(folder.join("repository")).expect("the folder can be written to");
    write("repository/hello.txt", b"hello\n");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        git.env("GIT_AUTHOR_DATE", "2015-12-10T00:00:00Z");
        git.env("GIT_COMMITTER_DATE", "2015-12-10T00:00:00Z");
        run(git.args(args).current_dir(folder.join("repository")));
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=hello"]);
    write("repository/hello.txt", b"hello\nworld\n");
}

fn have(
    client: &'static Client,
    mode: &'static str,
    servers: &[&'static Server],
    through: bool,
) -> Vec<Session> {
    let places: Vec<_> = servers.iter().map(|_| (Library::new(), folder())).collect();
    let asked = servers
        .iter()
        .zip(&places)
        .map(|(server, (library, folder))| {
            let mut command = Vec::new();
            if through {
                let library = library.path().to_string_lossy();
                command.extend([MCPREEL, "run", "--dir", &library, "--"].map(str::to_owned));
            }
            command.extend(server.command(folder.path()));
            asked(server, mode, folder.path(), &command)
        });
    let seen = seen(client, &asked.collect());
    let all = servers.iter().zip(places).zip(seen);
    let session = |((server, (library, folder)), seen): ((&&'static Server, _), Value)| {
        let session = Session {
            server,
            client,
            mode,
            seen,
            library,
            recordings: Vec::new(),
            folder,
        };
        let error = &session.seen["error"];
        assert!(
            error.is_null(),
            "{}: {}",
            session.name(),
            error.as_str().unwrap_or_default()
        );
        session
    };
    all.map(session).collect()
}

/// A session as a client is told about it, with what `command` starts.
fn asked(server: &Server, mode: &str, folder: &Path, command: &[String]) -> Value {
    let plans: Value = serde_json::from_str(PLANS).expect("the plans are JSON");
    let plan = plans[server.plan].to_string();
    let plan = plan.replace("${folder}", &folder.to_string_lossy());
    let plan: Value = serde_json::from_str(&plan).expect("a path needs no escape");
    json!({"mode": mode, "plan": plan, "folder": folder, "command": command})
}

/// What a client saw of each session.
fn seen(client: &Client, asked: &Value) -> Vec<Value> {
    let words = client.command();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut client = command.spawn().expect("it is installed");
    let mut stdin = client.stdin.take().expect("stdin is a pipe");
    stdin
        .write_all(asked.to_string().as_bytes())
        .expect("it reads what is asked of it");
    drop(stdin);
    let output = client.wait_with_output().expect("the child is ours");
    assert!(output.status.success(), "{words:?}: {}", text(&output));
    serde_json::from_slice(&output.stdout).expect("it prints a list in JSON")
}

/// The recordings of a library when all of them are complete.
fn ended(library: &Library) -> Vec<PathBuf> {
    let mut recordings = wait_for("the end of the recorders", || {
        let recordings = library.json(&["ls"]);
        let is_over = |recording: &Value| recording["state"] != "live";
        recordings.iter().all(is_over).then_some(recordings)
    });
    recordings.sort_by_key(|recording| recording["wall_ns"].as_u64());
    let path = |recording: &Value| PathBuf::from(recording["path"].as_str().expect("it has one"));
    recordings.iter().map(path).collect()
}
