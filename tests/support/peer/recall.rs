//! A server that remembers: what it answers depends on what it was asked before.
//!
//! | request | what it answers |
//! |---|---|
//! | `tools/call open` | a handle, another one in each process |
//! | `tools/call use`, with `handle` | a tool error where it did not make the handle |
//! | `tools/call close`, with `handle` | a tool error where the handle was used |
//! | `tools/call trip` | a tool error after `tools/call poison` |
//! | `tools/list` | `trip`, without saying that it only reads |
//! | `resources/list` | a cursor; with that cursor an error, with any other one nothing |
//! | anything else | an empty result |
//!
//! `recall FILE N WHAT` counts in FILE how often it was started, and behaves otherwise in one of N
//! processes: `calm` answers `trip` well, `sleep` answers nothing at all. FILE has a dot for
//! each start, and an exclamation mark for each call of `trip`.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

/// Runs the mode, if it is this one.
pub fn run(mode: &str, arguments: &[String]) -> Option<ExitCode> {
    if mode != "recall" {
        return None;
    }
    let mut server = Server::default();
    if let [file, every, what] = arguments {
        let starts = count(file);
        server.file = Some(file.clone());
        let every: u64 = every.parse().expect("a number");
        if starts.is_multiple_of(every) {
            server.calm = what == "calm";
            server.asleep = what == "sleep";
        }
    }
    for line in io::stdin().lock().lines() {
        let line = line.expect("it is text");
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if message.get("id").is_some() && message.get("method").is_some() && !server.asleep {
            let mut answer = server.answer(&message);
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = message["id"].clone();
            let mut out = io::stdout();
            if writeln!(out, "{answer}")
                .and_then(|()| out.flush())
                .is_err()
            {
                break;
            }
        }
    }
    Some(ExitCode::SUCCESS)
}

/// How often it was started, this time included.
fn count(file: &str) -> u64 {
    add(file, b".");
    let text = std::fs::read_to_string(file).expect("it is there");
    text.matches('.').count() as u64
}

fn add(file: &str, what: &[u8]) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let mut file = opened.expect("it can be opened");
    file.write_all(what).expect("it can be written");
}

#[derive(Default)]
struct Server {
    /// Handles, and whether they were used.
    handles: BTreeMap<String, bool>,
    poisoned: bool,
    calm: bool,
    file: Option<String>,
    asleep: bool,
}

impl Server {
    fn answer(&mut self, message: &Value) -> Value {
        let params = &message["params"];
        let mut result = match message["method"].as_str().unwrap_or_default() {
            "tools/call" => self.call(params),
            "tools/list" => json!({"tools": [{"name": "trip"}]}),
            "resources/list" => match params["cursor"].as_str() {
                None => json!({"resources": [], "nextCursor": cursor()}),
                Some(given) if given == cursor() => {
                    return json!({"error": {"code": -32603, "message": "no"}});
                }
                Some(_) => json!({"resources": []}),
            },
            _ => json!({}),
        };
        if !params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null() {
            result["resultType"] = "complete".into();
        }
        json!({ "result": result })
    }

    fn call(&mut self, params: &Value) -> Value {
        let handle = params["arguments"]["handle"].as_str().unwrap_or_default();
        let (text, fails) = match params["name"].as_str().unwrap_or_default() {
            "open" => {
                let handle = format!("h-{:07}{}qzw", std::process::id(), self.handles.len());
                self.handles.insert(handle.clone(), false);
                (handle, false)
            }
            "use" => match self.handles.get_mut(handle) {
                Some(used) => {
                    *used = true;
                    ("used".to_owned(), false)
                }
                None => ("no such handle".to_owned(), true),
            },
            "close" => ("closed".to_owned(), self.handles.get(handle) == Some(&true)),
            "poison" => {
                self.poisoned = true;
                ("poisoned".to_owned(), false)
            }
            "trip" => {
                if let Some(file) = &self.file {
                    add(file, b"!");
                }
                ("tripped".to_owned(), self.poisoned && !self.calm)
            }
            _ => ("fine".to_owned(), false),
        };
        json!({"content": [{"type": "text", "text": text}], "isError": fails})
    }
}

fn cursor() -> String {
    format!("page-{}", std::process::id())
}
