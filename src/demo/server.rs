//! The weather server: plain threads over stdin and stdout, one per call; the resources that it
//! offers.

use super::{Answer, Connection, PROTOCOL_VERSION, Pace, lock, tools};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Scope};

/// Error codes of JSON-RPC and MCP 2025-11-25.
const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
const RESOURCE_NOT_FOUND: i64 = -32002;

/// State that all threads of the server share.
pub(super) struct Server<'a> {
    pub(super) connection: Connection<'a>,
    errors: Mutex<Box<dyn Write + Send + 'a>>,
    pub(super) pace: Pace,
    /// Calls that can be cancelled, by the JSON text of their id.
    cancels: Mutex<HashMap<String, SyncSender<()>>>,
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
            let method = message["method"].as_str().unwrap_or_default();
            match (method, message.get("id").cloned()) {
                ("", _) => self.connection.settle(message),
                // Dropping the sender wakes the call.
                ("notifications/cancelled", None) => {
                    let id = message["params"]["requestId"].to_string();
                    lock(&self.cancels).remove(&id);
                }
                (_, None) => {}
                ("tools/call", Some(id)) => {
                    // Here, not in the thread: the next line may be the cancel.
                    let (sender, cancelled) = sync_channel(1);
                    lock(&self.cancels).insert(id.to_string(), sender);
                    scope.spawn(move || {
                        if let Some(answer) = tools::call(self, &message["params"], &cancelled) {
                            self.connection.respond(&id, answer);
                        }
                        lock(&self.cancels).remove(&id.to_string());
                    });
                }
                (method, Some(id)) => {
                    let answer = self.answer(method, &message["params"]);
                    self.connection.respond(&id, answer);
                }
            }
        }
        Ok(())
    }

    fn answer(&self, method: &str, params: &Value) -> Answer {
        Ok(match method {
            "initialize" => {
                self.pace.pause(120);
                json!({
                    "protocolVersion": PROTOCOL_VERSION,
                    "capabilities": {
                        "logging": {},
                        "resources": {},
                        "tools": {},
                    },
                    "serverInfo": {"name": "weather-server", "title": "Weather", "version": "1.4.0"},
                    "instructions": "Forecasts for the Nordic countries.",
                })
            }
            "ping" | "logging/setLevel" => json!({}),
            "tools/list" => {
                self.pace.pause(15);
                json!({"tools": tools::list()})
            }
            "resources/list" => {
                let stations = STATIONS.map(|(uri, name, title, _)| {
                    json!({"uri": uri, "name": name, "title": title, "mimeType": MARKDOWN})
                });
                json!({"resources": stations})
            }
            "resources/read" => {
                let uri = params["uri"].as_str().unwrap_or_default();
                let known = STATIONS.iter().find(|(known, ..)| *known == uri);
                let unknown = || (RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"));
                let (.., text) = known.ok_or_else(unknown)?;
                self.pace.pause(35);
                json!({"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": text}]})
            }
            unknown => return Err((METHOD_NOT_FOUND, format!("Method not found: {unknown}"))),
        })
    }

    pub(super) fn complain(&self, line: &str) {
        // Nobody may be reading, and there is nowhere else to say so.
        let _ = writeln!(lock(&self.errors), "{line}");
    }
}

const MARKDOWN: &str = "text/markdown";

/// The resources: URI, name, title and text.
const STATIONS: [(&str, &str, &str, &str); 2] = [
    (
        "weather://stations/bergen",
        "bergen",
        "Station Bergen Florida",
        "# Bergen Florida\n\n12 m above the sea, observing since 1949.\n\
         It rains on 239 days of the year: bring a coat.\n",
    ),
    (
        "weather://stations/tromso",
        "tromso",
        "Station Tromsø Holt",
        "# Tromsø Holt\n\n20 m above the sea, observing since 1987.\n\
         No sunrise from 27 November to 15 January.\n",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that the server writes to stdout in answer to `lines`.
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
