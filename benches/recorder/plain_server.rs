//! A server as people write one: it parses every line into a value, makes an answer of it, and
//! writes that as a line of its own.

use serde_json::{Value, json};
use std::io::{self, BufRead as _, Write as _};

/// The first argument that makes this server of this executable.
pub const ARGUMENT: &str = "serve-plainly";

/// Serves until the client closes.
pub fn serve() -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if let Some(answer) = answer(&message) {
            writeln!(output, "{}", serde_json::to_string(&answer)?)?;
        }
    }
    Ok(())
}

/// What it answers; `None` to a notification.
pub fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result(message)}))
}

fn result(request: &Value) -> Value {
    if request["method"] == "initialize" {
        return json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        });
    }
    let text = &request["params"]["arguments"]["text"];
    json!({"content": [{"type": "text", "text": text}]})
}
