//! The host: it starts a server, talks to it by a script, answers what the server asks, and closes
//! its input at the end.

mod script;

use super::connection::{Connection, Pending};
use super::{PROTOCOL_VERSION, Pace, lock};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex};
use std::thread::{self, Scope};

#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("no server command")]
    NoCommand,
    /// The server could not be started.
    #[error("cannot start {command}")]
    Spawn { command: String, source: io::Error },
    #[error("cannot talk to the server")]
    Pipe(#[from] io::Error),
    /// It ended, or closed its output, while an answer was due.
    #[error("the server left without answering {method}")]
    Gone { method: &'static str },
    /// It ended otherwise than with exit code 0.
    #[error("the server ended with {0}")]
    Exit(ExitStatus),
}

/// What all threads of the host share.
struct Host {
    connection: Connection<'static>,
    pace: Pace,
    /// How many times the list of tools was said to have changed.
    lists_changed: Mutex<u32>,
    list_changed: Condvar,
}

/// Starts `command` and plays the script with it. What the server's side says on stderr about
/// itself stays quiet, as in any host; what the recorder says goes to `errors`.
pub fn run(command: &[OsString], pace: Pace, errors: impl Write + Send) -> Result<(), HostError> {
    let mut child = start(command)?;
    let (stdin, stdout) = pipes(&mut child)?;
    let stderr = child.stderr.take();
    let host = Host {
        connection: Connection::new(stdin),
        pace,
        lists_changed: Mutex::default(),
        list_changed: Condvar::new(),
    };
    let played = thread::scope(|scope| {
        scope.spawn(|| pass_on_warnings(stderr, errors));
        let reader = scope.spawn(|| read(&host, stdout, scope));
        let played = script::play(&host);
        host.connection.close();
        let _ = reader.join();
        played
    });
    let status = child.wait()?;
    played?;
    if status.success() {
        Ok(())
    } else {
        Err(HostError::Exit(status))
    }
}

fn start(command: &[OsString]) -> Result<Child, HostError> {
    let (program, arguments) = command.split_first().ok_or(HostError::NoCommand)?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| HostError::Spawn {
            command: program.to_string_lossy().into_owned(),
            source,
        })
}

fn pipes(child: &mut Child) -> io::Result<(ChildStdin, ChildStdout)> {
    child
        .stdin
        .take()
        .zip(child.stdout.take())
        .ok_or_else(|| io::Error::other("the server has no pipes"))
}

fn pass_on_warnings(stderr: Option<impl Read>, mut errors: impl Write) {
    for line in stderr
        .into_iter()
        .flat_map(|pipe| BufReader::new(pipe).split(b'\n'))
    {
        match line {
            Ok(line) if line.starts_with(b"mcpreel") => {
                // Without a reader there is nobody to warn.
                let _ = errors
                    .write_all(&line)
                    .and_then(|()| errors.write_all(b"\n"));
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Reads what the server sends until it closes its output.
fn read<'scope>(host: &'scope Host, stdout: ChildStdout, scope: &'scope Scope<'scope, '_>) {
    for line in BufReader::new(stdout).split(b'\n') {
        let Ok(line) = line else { break };
        // A line that is no JSON is what many hosts ignore, and so does this one.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        match (message["method"].as_str(), message.get("id")) {
            (None, _) => host.connection.settle(message),
            (Some("notifications/tools/list_changed"), None) => {
                *lock(&host.lists_changed) += 1;
                host.list_changed.notify_all();
            }
            (Some(_), None) => {}
            (Some(_), Some(_)) => {
                scope.spawn(move || answer(host, &message));
            }
        }
    }
    host.connection.end();
    // Whoever is about to wait has either seen the end, or is woken.
    drop(lock(&host.lists_changed));
    host.list_changed.notify_all();
}

/// Answers what the server asks, as slowly as a person or a model.
fn answer(host: &Host, request: &Value) {
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "elicitation/create" => {
            host.pace.pause(900);
            json!({"action": "accept", "content": {"nights": 3, "activity": "kayaking"}})
        }
        "sampling/createMessage" => {
            host.pace.pause(650);
            let advice = "Oilskins, two pairs of wool socks, and no illusions.";
            json!({
                "role": "assistant",
                "content": {"type": "text", "text": advice},
                "model": "demo-model-1",
                "stopReason": "endTurn",
            })
        }
        "ping" => json!({}),
        _ => {
            // A failed write means that the server has gone, which the reader notices.
            let _ = host.connection.fail(id, -32601, "Method not found");
            return;
        }
    };
    let _ = host.connection.respond(id, &result);
}

impl Host {
    fn ask(&self, method: &'static str, params: &Value) -> Result<Value, HostError> {
        let pending = self.begin(method, params)?;
        Self::finish(method, pending)
    }

    fn begin(&self, method: &'static str, params: &Value) -> Result<Pending, HostError> {
        Ok(self.connection.request(method, params)?)
    }

    fn finish(method: &'static str, pending: Pending) -> Result<Value, HostError> {
        pending.wait().ok_or(HostError::Gone { method })
    }

    /// Waits until the server has said that its list of tools changed, or has gone.
    fn wait_for_new_list(&self) {
        let changed = lock(&self.lists_changed);
        let waited = self.list_changed.wait_while(changed, |changed| {
            *changed == 0 && !self.connection.is_over()
        });
        drop(waited);
    }
}
