//! The host: it starts a server, talks to it by a script, answers what the server asks, and closes
//! its input at the end.

use super::{Connection, PROTOCOL_VERSION, Pace, Pending, lock};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::thread::{self, Scope};

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
pub fn run(command: &[OsString], pace: Pace, errors: impl Write + Send) -> io::Result<()> {
    let mut child = start(command)?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let host = Host {
        connection: Connection::new(stdin),
        pace,
        lists_changed: Mutex::default(),
        list_changed: Condvar::new(),
    };
    let played = thread::scope(|scope| {
        scope.spawn(|| pass_on_warnings(stderr, errors));
        let reader = scope.spawn(|| read(&host, stdout, scope));
        let played = play(&host);
        host.connection.close();
        let _ = reader.join();
        played
    });
    let status = child.wait()?;
    played?;
    if status.success() {
        Ok(())
    } else {
        let ended = format!("the server ended with {status}");
        Err(io::Error::other(ended))
    }
}

fn start(command: &[OsString]) -> io::Result<Child> {
    let none = || io::Error::other("no server command");
    let (program, arguments) = command.split_first().ok_or_else(none)?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let program = program.to_string_lossy();
            io::Error::other(format!("cannot start {program}: {error}"))
        })
}

fn pass_on_warnings(stderr: impl Read, mut errors: impl Write) {
    let lines = BufReader::new(stderr).split(b'\n');
    for line in lines.map_while(Result::ok) {
        if line.starts_with(b"mcpreel") {
            // Without a reader there is nobody to warn.
            let _ = errors.write_all(&[&line[..], b"\n"].concat());
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
    fn ask(&self, method: &str, params: &Value) -> io::Result<()> {
        Self::finish(self.begin(method, params)?)
    }

    fn begin(&self, method: &str, params: &Value) -> io::Result<Pending> {
        self.connection.request(method, params)
    }

    /// Calls a tool.
    fn call(&self, tool: &str, arguments: &Value) -> io::Result<()> {
        Self::finish(self.begin_call(tool, arguments)?)
    }

    fn begin_call(&self, tool: &str, arguments: &Value) -> io::Result<Pending> {
        self.begin("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn finish(pending: Pending) -> io::Result<()> {
        let gone = || io::Error::other("the server left without an answer");
        pending.wait().map(drop).ok_or_else(gone)
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

/// The story, scene by scene.
fn play(host: &Host) -> io::Result<()> {
    shake_hands(host)?;
    look_around(host)?;
    ask_for_three_cities(host)?;
    wait_for_a_report(host)?;
    make_mistakes(host)?;
    host.pace.pause(500);
    host.call("plan_trip", &json!({"city": "Bergen"}))?;
    host.pace.pause(500);
    host.call("radar_archive", &json!({"date": "2026-11-19"}))?;
    lose_patience(host)?;
    add_a_module(host)?;
    host.pace.pause(500);
    Ok(())
}

fn shake_hands(host: &Host) -> io::Result<()> {
    let params = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"elicitation": {"form": {}}, "sampling": {}},
        "clientInfo": {
            "name": "demo-host",
            "title": "mcpreel demo",
            "version": env!("CARGO_PKG_VERSION"),
        },
    });
    host.ask("initialize", &params)?;
    host.connection.notify("notifications/initialized", None)?;
    host.ask("logging/setLevel", &json!({"level": "info"}))
}

fn look_around(host: &Host) -> io::Result<()> {
    host.pace.pause(300);
    let tools = host.begin("tools/list", &json!({}))?;
    let resources = host.begin("resources/list", &json!({}))?;
    Host::finish(tools)?;
    Host::finish(resources)?;
    host.pace.pause(400);
    let station = json!({"uri": "weather://stations/bergen"});
    host.ask("resources/read", &station)
}

/// Three calls at once, answered in another order; the slowest one makes noise.
fn ask_for_three_cities(host: &Host) -> io::Result<()> {
    host.pace.pause(600);
    let mut pending = Vec::new();
    for city in ["Tromsø", "Bergen", "Oslo"] {
        pending.push(host.begin_call("get_forecast", &json!({"city": city, "days": 3}))?);
        host.pace.pause(20);
    }
    pending.into_iter().try_for_each(Host::finish)
}

/// A slow call with progress, and a quick one while it runs.
fn wait_for_a_report(host: &Host) -> io::Result<()> {
    host.pace.pause(700);
    let params = json!({
        "name": "climate_report",
        "arguments": {"region": "Vestland"},
        "_meta": {"progressToken": "report-1"},
    });
    let report = host.begin("tools/call", &params)?;
    host.pace.pause(800);
    host.ask("ping", &json!({}))?;
    host.call("get_forecast", &json!({"city": "Stavanger"}))?;
    Host::finish(report)
}

/// Two errors of tools, two of the protocol.
fn make_mistakes(host: &Host) -> io::Result<()> {
    host.pace.pause(600);
    host.call("get_forecast", &json!({"city": "Atlantis"}))?;
    host.pace.pause(300);
    host.call("get_forecast", &json!({"city": "Longyearbyen"}))?;
    host.pace.pause(300);
    host.call("get_tides", &json!({"harbour": "Bergen"}))?;
    host.pace.pause(200);
    let station = json!({"uri": "weather://stations/atlantis"});
    host.ask("resources/read", &station)
}

/// A call that is cancelled, and never answered.
fn lose_patience(host: &Host) -> io::Result<()> {
    host.pace.pause(500);
    let watch = host.begin_call("watch_storm", &json!({"sea": "Norwegian Sea"}))?;
    host.pace.pause(1300);
    let params = json!({"requestId": watch.id, "reason": "The user has lost patience."});
    host.connection
        .notify("notifications/cancelled", Some(&params))
}

/// The tool that was unknown above becomes known.
fn add_a_module(host: &Host) -> io::Result<()> {
    host.pace.pause(500);
    host.call("enable_module", &json!({"module": "marine"}))?;
    host.wait_for_new_list();
    host.ask("tools/list", &json!({}))?;
    host.pace.pause(400);
    host.call("get_tides", &json!({"harbour": "Bergen"}))
}
