//! MCP carried from one transport to another.
//!
//! ```text
//!  host ──lines──▶ to_http ──requests──▶ server behind a URL
//!  client ──requests──▶ to_stdio ──lines──▶ server processes
//! ```
//!
//! * [`to_http`]: lines become requests of streamable HTTP (all revisions), or of HTTP+SSE
//!   (2024-11-05) where the server has nothing else; `request_headers`: what a message says in its
//!   headers as well;
//! * [`to_stdio`]: requests of streamable HTTP become lines, for a process per session;
//! * `client`, `connection`: HTTP/1.1 on a socket.
//!
//! Messages pass as they are, but for line breaks: a message over HTTP may have some, a line has none.

mod client;
mod connection;
mod request_headers;
pub mod to_http;
pub mod to_stdio;

pub use client::{Client, Headers};

use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::errors::{OWN, OWN_CODE as BRIDGE_ERROR};
use mcpreel_wire::text::words_of;
use serde_json::json;

/// The response with this error, the JSON of which is given.
fn error_response(id: Option<&RequestId>, error: &str) -> Vec<u8> {
    let id = id.map_or("null", RequestId::json);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

/// The JSON of an error of our own.
fn own_error(code: i32, message: &str) -> String {
    json!({"code": code, "message": message, "data": {OWN: "bridge"}}).to_string()
}

/// The first characters of a body that is no message, for an error; of an HTML or XML page its words.
fn beginning_of(bytes: &[u8]) -> String {
    const CHARACTERS: usize = 200;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    let text = match text.trim() {
        page if page.starts_with('<') => words_of(page),
        text => text.to_owned(),
    };
    text.chars().take(CHARACTERS).collect()
}

/// Bytes of a body in which text is looked for.
const LOOKED_AT: usize = 64 << 10;
