//! The messages that the benches exchange: proper JSON-RPC, of an exact size.

use serde_json::{Value, json};

/// Where the eight digits of the id stand in calls and their answers.
const ID: std::ops::Range<usize> = 22..30;

/// The first id: all have eight digits.
pub const FIRST_ID: u64 = 10_000_000;

/// Bytes of the answers to everything but an echo.
pub const SHORT: usize = 200;

/// The name of the tool that only answers. It stands where [`is_echo`] looks for it.
const ECHO: &str = r#","method":"tools/call","params":{"name":"echo","arguments":{"text":""#;

/// A call of the tool `echo`, `size` bytes with its terminator.
pub fn echo(size: usize) -> Vec<u8> {
    padded(
        &format!(r#"{{"jsonrpc":"2.0","id":{FIRST_ID}{ECHO}"#),
        r#""}}}"#,
        size,
    )
}

/// The answer to a call, `size` bytes with its terminator.
pub fn answer(size: usize) -> Vec<u8> {
    padded(
        &format!(
            r#"{{"jsonrpc":"2.0","id":{FIRST_ID},"result":{{"content":[{{"type":"text","text":""#
        ),
        r#""}]}}"#,
        size,
    )
}

/// Tools that [`tools_result`] lists.
const TOOLS: usize = 20;

/// A question for the tools.
pub fn list_tools() -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
}

/// The answer to [`list_tools`]: each tool with a schema of both sides.
pub fn tools_result() -> Vec<u8> {
    let text = json!({"type": "string", "minLength": 1});
    let row = json!({
        "type": "object", "additionalProperties": false, "required": ["id", "name"],
        "properties": {
            "id": {"type": "integer"}, "name": text,
            "score": {"type": "number", "minimum": 0, "maximum": 1},
        },
    });
    let tool = |number: usize| {
        json!({
            "name": format!("search_{number}"), "description": "Searches.",
            "inputSchema": {
                "type": "object", "additionalProperties": false, "required": ["query"],
                "properties": {
                    "query": text, "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                    "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
                    "order": {"enum": ["newest", "oldest"]},
                    "options": {"type": "object", "properties": {
                        "exact": {"type": "boolean"}, "language": {"anyOf": [text, {"type": "null"}]},
                    }},
                },
            },
            "outputSchema": {
                "type": "object", "required": ["total", "rows"],
                "properties": {
                    "total": {"type": "integer"}, "note": text,
                    "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
                },
                "$defs": {"row": row},
            },
        })
    };
    let tools: Vec<_> = (0..TOOLS).map(tool).collect();
    line(&json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": tools}}))
}

/// The same, where the first tool says this of itself.
pub fn tools_result_with(said: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(&tools_result()).into_owned();
    let is = format!(r#""description":"{said} "#);
    text.replacen(r#""description":""#, &is, 1).into_bytes()
}

/// A call of a tool that [`tools_result`] lists, `size` bytes with its terminator.
pub fn search(size: usize) -> Vec<u8> {
    let head = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"search_7","#,
            r#""arguments":{{"limit":10,"tags":["a","b","c"],"order":"newest","#,
            r#""options":{{"exact":true,"language":"en"}},"query":""#
        ),
        FIRST_ID
    );
    padded(&head, r#""}}}"#, size)
}

/// The answer to [`search`], `size` bytes with its terminator.
pub fn found(size: usize) -> Vec<u8> {
    padded(&found_head(), r#""}}}"#, size)
}

/// The same with a secret in it.
pub fn found_secret(size: usize) -> Vec<u8> {
    let head = format!("{}log in with {SECRET} ", found_head());
    padded(&head, r#""}}}"#, size)
}

fn found_head() -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":"2"}}],"#,
            r#""structuredContent":{{"total":2,"rows":[{{"id":1,"name":"one","score":0.5}},"#,
            r#"{{"id":2,"name":"two","score":1}}],"note":""#
        ),
        FIRST_ID
    )
}

/// What nobody else is to know.
pub const SECRET: &str = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";

/// A log notification with a secret, `size` bytes with its terminator.
pub fn log_secret(size: usize) -> Vec<u8> {
    let head = format!("{LOG}log in with {SECRET} ");
    padded(&head, r#""}}}"#, size)
}

/// A line of stderr with a secret, `size` bytes with its terminator.
pub fn stderr_secret(size: usize) -> Vec<u8> {
    padded(&format!("INFO log in with {SECRET} "), "", size)
}

const LOG: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","#,
    r#""logger":"bench","data":{"elapsed_ms":12.5,"attempt":3,"tags":["a","b"],"text":""#
);

/// A log notification, `size` bytes with its terminator.
pub fn notification(size: usize) -> Vec<u8> {
    padded(LOG, r#""}}}"#, size)
}

/// Gives the call or answer `message` the id `id`, a number of eight digits.
pub fn set_id(message: &mut [u8], id: u64) {
    message[ID].copy_from_slice(format!("{id:08}").as_bytes());
}

/// Gives `answer` the id of `call`.
pub fn answer_to(answer: &mut [u8], call: &[u8]) {
    answer[ID].copy_from_slice(&call[ID]);
}

/// Whether `line` is a call made by [`echo`].
pub fn is_echo(line: &[u8]) -> bool {
    line.get(ID.end..)
        .is_some_and(|rest| rest.starts_with(ECHO.as_bytes()))
}

/// What a server is told to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Send `lines` notifications whose sizes repeat, `together` in one write, then an answer.
    Flood {
        lines: usize,
        sizes: Vec<usize>,
        together: usize,
    },
    /// Answer with so many bytes in one line.
    Large { bytes: usize },
}

impl Order {
    /// The order as a call.
    pub fn call(&self) -> Vec<u8> {
        let (name, arguments) = match self {
            Self::Flood {
                lines,
                sizes,
                together,
            } => (
                "flood",
                json!({"lines": lines, "sizes": sizes, "together": together}),
            ),
            Self::Large { bytes } => ("large", json!({"bytes": bytes})),
        };
        let call = json!({
            "jsonrpc": "2.0", "id": FIRST_ID, "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        });
        line(&call)
    }

    /// Reads what [`Self::call`] wrote.
    pub fn parse(call: &Value) -> Option<Self> {
        let arguments = &call["params"]["arguments"];
        let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
        match call["params"]["name"].as_str()? {
            "flood" => Some(Self::Flood {
                lines: number(&arguments["lines"])?,
                sizes: arguments["sizes"]
                    .as_array()?
                    .iter()
                    .filter_map(number)
                    .collect(),
                together: number(&arguments["together"])?,
            }),
            "large" => Some(Self::Large {
                bytes: number(&arguments["bytes"])?,
            }),
            _ => None,
        }
    }

    /// Bytes that come back, the answer included.
    pub fn response_bytes(&self) -> usize {
        match self {
            Self::Flood { lines, sizes, .. } => {
                sizes.iter().cycle().take(*lines).sum::<usize>() + SHORT
            }
            Self::Large { bytes } => *bytes,
        }
    }
}

/// The opening of a session.
pub fn initialize() -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }))
}

/// The answer to [`initialize`].
pub fn initialized_result() -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0", "id": 1,
        "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        },
    }))
}

/// The same, where the server says how it is to be used.
pub fn initialized_result_with(said: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(&initialized_result()).into_owned();
    let instructions = format!(r#""result":{{"instructions":"log in with {said}","#);
    text.replacen(r#""result":{"#, &instructions, 1)
        .into_bytes()
}

/// What the client says after the answer to [`initialize`].
pub fn initialized() -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

/// The server's last words: when it ended, on the wall clock.
pub fn farewell(wall_ns: u64) -> Vec<u8> {
    line(&json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": {"ended_ns": wall_ns}},
    }))
}

/// The time in a [`farewell`].
pub fn ended_ns(line: &[u8]) -> Option<u64> {
    let line: Value = serde_json::from_slice(line).ok()?;
    line["params"]["data"]["ended_ns"].as_u64()
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn padded(head: &str, tail: &str, size: usize) -> Vec<u8> {
    let text = "The quick brown fox jumps over the lazy dog, twice a day. ";
    let room = size.saturating_sub(head.len() + tail.len() + 1);
    let filling = text.bytes().cycle().take(room);
    let line = head
        .bytes()
        .chain(filling)
        .chain(tail.bytes())
        .chain([b'\n']);
    line.collect()
}
