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
use serde_json::json;

/// The code of an error that the bridge answers in place of a server (JSON-RPC 2.0, 5.1: the range of
/// servers' own errors).
const BRIDGE_ERROR: i32 = -32000;

/// An error response of our own.
fn error_response(id: Option<&RequestId>, code: i32, message: &str) -> Vec<u8> {
    let id = id.map_or("null", RequestId::json);
    let error = json!({"code": code, "message": message});
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}
