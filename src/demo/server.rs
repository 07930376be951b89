//! The weather server: plain threads over stdin and stdout, one per call; the resources that it
//! offers.

use super::{Connection, PROTOCOL_VERSION, Pace, lock, tools};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Scope};

/// Error codes of JSON-RPC and MCP 2025-11-25.
const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
const RESOURCE_NOT_FOUND: i64 = -32002;

/// What all threads of the server share.
pub(super) struct Server<'a> {
    pub(super) connection: Connection<'a>,
    errors: Mutex<Box<dyn Write + Send + 'a>>,
    pub(super) pace: Pace,
    /// Calls that can be cancelled, by the JSON text of their id.
    cancels: Mutex<HashMap<String, SyncSender<()>>>,
    /// Whether the module with the tides is on.
    pub(super) marine: AtomicBool,
}

/// Serves until `input` ends and every call has been answered or given up.
pub fn run<'a>(
    input: impl BufRead,
    output: impl Write + Send + 'a,
    errors: impl Write + Send + 'a,
    pace: Pace,
) -> io::Result<()> {
    let server = Server {
        connection: Connection::new(output),
        errors: Mutex::new(Box::new(errors)),
        pace,
        cancels: Mutex::default(),
        marine: AtomicBool::new(false),
    };
    server.complain("weather-server 1.4.0 on stdio, 214 stations loaded");
    let read = thread::scope(|scope| {
        let read = server.read(input, scope);
        server.connection.end();
        lock(&server.cancels).clear();
        read
    });
    server.complain("input closed, bye");
    read
}

impl Server<'_> {
    fn read<'scope>(
        &'scope self,
        input: impl BufRead,
        scope: &'scope Scope<'scope, '_>,
    ) -> io::Result<()> {
        for line in input.lines() {
            let Ok(message) = serde_json::from_str::<Value>(&line?) else {
                self.complain("ERROR a line that is no JSON, ignored");
                continue;
            };
            let Some(method) = message["method"].as_str().map(str::to_owned) else {
                self.connection.settle(message);
                continue;
            };
            match message.get("id").cloned() {
                // Dropping the sender wakes the call.
                None if method == "notifications/cancelled" => {
                    let id = message["params"]["requestId"].to_string();
                    lock(&self.cancels).remove(&id);
                }
                None => {}
                Some(id) if method == "tools/call" => {
                    // Here, not in the thread: the next line may be the cancel.
                    let (sender, cancelled) = sync_channel(1);
                    lock(&self.cancels).insert(id.to_string(), sender);
                    scope.spawn(move || {
                        let params = &message["params"];
                        if let Err(error) = tools::call(self, &id, params, &cancelled) {
                            // The host has gone, which the reader will notice.
                            self.complain(&format!("ERROR cannot answer: {error}"));
                        }
                        lock(&self.cancels).remove(&id.to_string());
                    });
                }
                Some(id) => self.answer(&id, &method, &message["params"])?,
            }
        }
        Ok(())
    }

    fn answer(&self, id: &Value, method: &str, params: &Value) -> io::Result<()> {
        let result = match method {
            "initialize" => {
                self.pace.pause(120);
                introduction()
            }
            "ping" | "logging/setLevel" => json!({}),
            "tools/list" => {
                self.pace.pause(15);
                json!({"tools": tools::list(self.marine.load(Ordering::Relaxed))})
            }
            "resources/list" => json!({"resources": resources()}),
            "resources/read" => return self.read_resource(id, params),
            unknown => {
                let message = format!("Method not found: {unknown}");
                return self.connection.fail(id, METHOD_NOT_FOUND, &message);
            }
        };
        self.connection.respond(id, &result)
    }

    fn read_resource(&self, id: &Value, params: &Value) -> io::Result<()> {
        let uri = params["uri"].as_str().unwrap_or_default();
        let Some(text) = resource(uri) else {
            let message = format!("Resource not found: {uri}");
            return self.connection.fail(id, RESOURCE_NOT_FOUND, &message);
        };
        self.pace.pause(35);
        let contents = json!([{"uri": uri, "mimeType": "text/markdown", "text": text}]);
        self.connection.respond(id, &json!({"contents": contents}))
    }

    pub(super) fn complain(&self, line: &str) {
        // Nobody may be reading, and there is nowhere else to say so.
        let _ = writeln!(lock(&self.errors), "{line}");
    }
}

fn introduction() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {
            "logging": {},
            "resources": {},
            "tools": {"listChanged": true},
        },
        "serverInfo": {"name": "weather-server", "title": "Weather", "version": "1.4.0"},
        "instructions": "Forecasts for the Nordic countries. Modules add more tools.",
    })
}

fn resources() -> Value {
    let station = |id, title| {
        let uri = format!("weather://stations/{id}");
        json!({"uri": uri, "name": id, "title": title, "mimeType": "text/markdown"})
    };
    json!([
        station("bergen", "Station Bergen Florida"),
        station("tromso", "Station Tromsø Holt"),
    ])
}

/// The text of a resource; `None` if there is none with this URI.
fn resource(uri: &str) -> Option<&'static str> {
    match uri {
        "weather://stations/bergen" => Some(
            "# Bergen Florida\n\n12 m above the sea, observing since 1949.\n\
             It rains on 239 days of the year: bring a coat.\n",
        ),
        "weather://stations/tromso" => Some(
            "# Tromsø Holt\n\n20 m above the sea, observing since 1987.\n\
             No sunrise from 27 November to 15 January.\n",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the server writes to stdout for these lines.
    fn serve(lines: &[Value]) -> Vec<String> {
        let input: String = lines
            .iter()
            .flat_map(|line| [line.to_string(), "\n".to_owned()])
            .collect();
        let mut output = Vec::new();
        run(input.as_bytes(), &mut output, io::sink(), Pace::new(1000))
            .expect("writing to memory does not fail");
        let output = String::from_utf8(output).expect("the server writes UTF-8");
        output.lines().map(str::to_owned).collect()
    }

    fn request(method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    #[test]
    fn what_is_unknown_gets_the_code_of_the_protocol() {
        let code = |message: Value| {
            let answer: Value = serde_json::from_str(&serve(&[message])[0]).expect("JSON");
            answer["error"]["code"].clone()
        };
        assert_eq!(code(request("no/such", &json!({}))), METHOD_NOT_FOUND);
        assert_eq!(
            code(request("resources/read", &json!({"uri": "x:"}))),
            RESOURCE_NOT_FOUND
        );
        assert_eq!(
            code(request("tools/call", &json!({"name": "get_tides"}))),
            INVALID_PARAMS
        );
    }

    #[test]
    fn a_cancelled_call_is_not_answered_and_does_not_hold_up_the_end() {
        let watch = json!({"name": "watch_storm", "arguments": {"sea": "North Sea"}});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 7}});
        let lines = serve(&[request("tools/call", &watch), cancel]);
        assert_eq!(lines, [""; 0]);
    }
}
