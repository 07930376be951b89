//! The host: it starts a server, talks to it by a script, answers what the server asks, and closes
//! its input at the end.

use super::{Connection, PROTOCOL_VERSION, Pace};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::{self, Scope};

/// State that all threads of the host share.
struct Host {
    connection: Connection<'static>,
    pace: Pace,
}

/// Starts `command` and plays the script with it. What the server's side says on stderr about
/// itself stays quiet, as in any host; what the recorder says goes to our stderr.
pub fn run(command: &[OsString], pace: Pace) -> io::Result<()> {
    let none = || io::Error::other("no server command");
    let (program, arguments) = command.split_first().ok_or_else(none)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        let program = program.to_string_lossy();
        io::Error::other(format!("cannot start {program}: {error}"))
    })?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let host = Host {
        connection: Connection::new(stdin),
        pace,
    };
    let played = thread::scope(|scope| {
        scope.spawn(|| pass_on_warnings(stderr));
        let reader = scope.spawn(|| read(&host, stdout, scope));
        let played = play(&host);
        host.connection.close();
        let _ = reader.join();
        played
    });
    let status = child.wait()?;
    match played {
        Some(()) if status.success() => Ok(()),
        Some(()) => Err(io::Error::other(format!("the server ended with {status}"))),
        None => Err(io::Error::other("the server left without an answer")),
    }
}

fn lines(pipe: impl Read) -> impl Iterator<Item = Vec<u8>> {
    let lines = BufReader::new(pipe).split(b'\n');
    lines.map_while(Result::ok)
}

fn pass_on_warnings(stderr: impl Read) {
    for line in lines(stderr).filter(|line| line.starts_with(b"mcpreel")) {
        // Without a reader there is nobody to warn.
        let _ = io::stderr().write_all(&[&line[..], b"\n"].concat());
    }
}

/// Reads what the server sends until it closes its output.
fn read<'scope>(host: &'scope Host, stdout: impl Read, scope: &'scope Scope<'scope, '_>) {
    for line in lines(stdout) {
        // A line that is no JSON is what many hosts ignore, and so does this one.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        match (message["method"].as_str(), message.get("id")) {
            (None, _) => host.connection.settle(message),
            (Some(_), None) => {}
            (Some(_), Some(_)) => {
                scope.spawn(move || answer(host, &message));
            }
        }
    }
    host.connection.end();
}

/// Answers what the server asks, as slowly as a person or a model.
fn answer(host: &Host, request: &Value) {
    let answer = match request["method"].as_str().unwrap_or_default() {
        "elicitation/create" => {
            host.pace.pause(900);
            Ok(json!({"action": "accept", "content": {"nights": 3, "activity": "kayaking"}}))
        }
        "sampling/createMessage" => {
            host.pace.pause(650);
            let advice = "Oilskins, two pairs of wool socks, and no illusions.";
            Ok(json!({
                "role": "assistant",
                "content": {"type": "text", "text": advice},
                "model": "demo-model-1",
                "stopReason": "endTurn",
            }))
        }
        "ping" => Ok(json!({})),
        _ => Err((-32601, "Method not found".to_owned())),
    };
    host.connection.respond(&request["id"], answer);
}

/// Requests, each after a pause. What returns `None` has found that the server is gone.
impl Host {
    fn begin(&self, pause: u64, method: &str, params: &Value) -> (u64, Receiver<Value>) {
        self.pace.pause(pause);
        self.connection.request(method, params)
    }

    fn begin_call(&self, pause: u64, tool: &str, arguments: &Value) -> (u64, Receiver<Value>) {
        let params = json!({"name": tool, "arguments": arguments});
        self.begin(pause, "tools/call", &params)
    }

    fn ask(&self, pause: u64, method: &str, params: &Value) -> Option<Value> {
        self.begin(pause, method, params).1.recv().ok()
    }

    fn call(&self, pause: u64, tool: &str, arguments: &Value) -> Option<Value> {
        self.begin_call(pause, tool, arguments).1.recv().ok()
    }
}

/// The story, scene by scene.
fn play(host: &Host) -> Option<()> {
    let params = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"elicitation": {"form": {}}, "sampling": {}},
        "clientInfo": {
            "name": "demo-host",
            "title": "mcpreel demo",
            "version": env!("CARGO_PKG_VERSION"),
        },
    });
    host.ask(0, "initialize", &params)?;
    host.connection.notify("notifications/initialized", None);
    host.ask(0, "logging/setLevel", &json!({"level": "info"}))?;
    // A look around.
    let tools = host.begin(300, "tools/list", &json!({}));
    let resources = host.begin(0, "resources/list", &json!({}));
    for (_, answer) in [tools, resources] {
        answer.recv().ok()?;
    }
    let station = json!({"uri": "weather://stations/bergen"});
    host.ask(400, "resources/read", &station)?;
    // Three calls at once, answered in another order; the slowest one makes noise.
    let three = [(600, "Tromsø"), (20, "Bergen"), (20, "Oslo")];
    let three = three.map(|(pause, city)| {
        host.begin_call(pause, "get_forecast", &json!({"city": city, "days": 3}))
    });
    host.pace.pause(20);
    for (_, answer) in three {
        answer.recv().ok()?;
    }
    // A slow call with progress, and quick ones while it runs.
    let params = json!({
        "name": "climate_report",
        "arguments": {"region": "Vestland"},
        "_meta": {"progressToken": "report-1"},
    });
    let (_, report) = host.begin(700, "tools/call", &params);
    host.ask(800, "ping", &json!({}))?;
    host.call(0, "get_forecast", &json!({"city": "Stavanger"}))?;
    report.recv().ok()?;
    // Two errors of tools, two of the protocol.
    host.call(600, "get_forecast", &json!({"city": "Atlantis"}))?;
    host.call(300, "get_forecast", &json!({"city": "Longyearbyen"}))?;
    host.call(300, "get_tides", &json!({"harbour": "Bergen"}))?;
    let station = json!({"uri": "weather://stations/atlantis"});
    host.ask(200, "resources/read", &station)?;
    // The server asks back; a large answer.
    host.call(500, "plan_trip", &json!({"city": "Bergen"}))?;
    host.call(500, "radar_archive", &json!({"date": "2026-11-19"}))?;
    // A call that is cancelled, and never answered.
    let (id, _) = host.begin_call(500, "watch_storm", &json!({"sea": "Norwegian Sea"}));
    host.pace.pause(1300);
    let params = json!({"requestId": id, "reason": "The user has lost patience."});
    let cancelled = "notifications/cancelled";
    host.connection.notify(cancelled, Some(&params));
    host.pace.pause(500);
    Some(())
}
