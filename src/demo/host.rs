//! The host: it starts a server, talks to it by a script, answers what the server asks, and closes
//! its input at the end.

use super::{Connection, PROTOCOL_VERSION, Pace};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

/// What all threads of the host share.
struct Host {
    connection: Connection<'static>,
    pace: Pace,
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
    };
    let (changed, lists_changed) = sync_channel(1);
    let played = thread::scope(|scope| {
        scope.spawn(|| pass_on_warnings(stderr, errors));
        let reader = scope.spawn(|| read(&host, stdout, changed, scope));
        let played = play(&host, &lists_changed);
        host.connection.close();
        let _ = reader.join();
        played
    });
    let status = child.wait()?;
    played?;
    if status.success() {
        return Ok(());
    }
    let ended = format!("the server ended with {status}");
    Err(io::Error::other(ended))
}

fn start(command: &[OsString]) -> io::Result<Child> {
    let none = || io::Error::other("no server command");
    let (program, arguments) = command.split_first().ok_or_else(none)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| {
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

/// Reads what the server sends until it closes its output; says on `changed` when the list of tools
/// has changed.
fn read<'scope>(
    host: &'scope Host,
    stdout: ChildStdout,
    changed: SyncSender<()>,
    scope: &'scope Scope<'scope, '_>,
) {
    let lines = BufReader::new(stdout).split(b'\n');
    for line in lines.map_while(Result::ok) {
        // A line that is no JSON is what many hosts ignore, and so does this one.
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        match (message["method"].as_str(), message.get("id")) {
            (None, _) => host.connection.settle(message),
            (Some("notifications/tools/list_changed"), None) => drop(changed.try_send(())),
            (Some(_), None) => {}
            (Some(_), Some(_)) => {
                scope.spawn(move || answer(host, &message));
            }
        }
    }
    host.connection.end();
    // Whoever waits for a new list waits no longer.
    drop(changed);
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

/// A request that is not answered yet.
type Pending = (u64, Receiver<Value>);

impl Host {
    /// Pauses, and sends a request.
    fn begin(&self, pause: u64, method: &str, params: &Value) -> io::Result<Pending> {
        self.pace.pause(pause);
        self.connection.request(method, params)
    }

    fn begin_call(&self, pause: u64, tool: &str, arguments: &Value) -> io::Result<Pending> {
        let params = json!({"name": tool, "arguments": arguments});
        self.begin(pause, "tools/call", &params)
    }

    fn finish((_, answer): Pending) -> io::Result<()> {
        let gone = |_| io::Error::other("the server left without an answer");
        answer.recv().map(drop).map_err(gone)
    }

    fn ask(&self, pause: u64, method: &str, params: &Value) -> io::Result<()> {
        Self::finish(self.begin(pause, method, params)?)
    }

    fn call(&self, pause: u64, tool: &str, arguments: &Value) -> io::Result<()> {
        Self::finish(self.begin_call(pause, tool, arguments)?)
    }
}

/// The story, scene by scene. `lists_changed` is heard of when the list of tools changes.
fn play(host: &Host, lists_changed: &Receiver<()>) -> io::Result<()> {
    shake_hands(host)?;
    // A look around.
    let tools = host.begin(300, "tools/list", &json!({}))?;
    let resources = host.begin(0, "resources/list", &json!({}))?;
    Host::finish(tools)?;
    Host::finish(resources)?;
    let station = json!({"uri": "weather://stations/bergen"});
    host.ask(400, "resources/read", &station)?;
    // Three calls at once, answered in another order; the slowest one makes noise.
    let mut pending = Vec::new();
    for (pause, city) in [(600, "Tromsø"), (20, "Bergen"), (20, "Oslo")] {
        let arguments = json!({"city": city, "days": 3});
        pending.push(host.begin_call(pause, "get_forecast", &arguments)?);
    }
    host.pace.pause(20);
    pending.into_iter().try_for_each(Host::finish)?;
    // A slow call with progress, and quick ones while it runs.
    let params = json!({
        "name": "climate_report",
        "arguments": {"region": "Vestland"},
        "_meta": {"progressToken": "report-1"},
    });
    let report = host.begin(700, "tools/call", &params)?;
    host.ask(800, "ping", &json!({}))?;
    host.call(0, "get_forecast", &json!({"city": "Stavanger"}))?;
    Host::finish(report)?;
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
    let (id, _) = host.begin_call(500, "watch_storm", &json!({"sea": "Norwegian Sea"}))?;
    host.pace.pause(1300);
    let params = json!({"requestId": id, "reason": "The user has lost patience."});
    let cancelled = "notifications/cancelled";
    host.connection.notify(cancelled, Some(&params))?;
    // The tool that was unknown above becomes known.
    host.call(500, "enable_module", &json!({"module": "marine"}))?;
    // A server that has gone is noticed by the next request.
    let _ = lists_changed.recv();
    host.ask(0, "tools/list", &json!({}))?;
    host.call(400, "get_tides", &json!({"harbour": "Bergen"}))?;
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
    host.ask(0, "initialize", &params)?;
    host.connection.notify("notifications/initialized", None)?;
    host.ask(0, "logging/setLevel", &json!({"level": "info"}))
}
