//! Messages of our own.

use mcpreel_wire::id::RequestId;
use serde_json::{Value, json};

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;
/// The request is not on record: in the range that implementations may use.
pub const NOT_ON_RECORD: i64 = -32000;
/// The version is not supported (2026-07-28).
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Bytes of a text off the wire that are quoted.
const QUOTED: usize = 200;

/// An error response. An id that may not be one, or that could not be read, is `null`.
pub fn error(id: Option<&RequestId>, code: &str, message: &str, data: Option<Value>) -> Vec<u8> {
    let id = id.map_or("null", RequestId::json);
    let data = data.map_or_else(String::new, |data| format!(",\"data\":{data}"));
    let message = Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
        .into_bytes()
}

pub fn empty(id: &RequestId) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id.json()).into_bytes()
}

/// The cancel of a request of ours.
pub fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    let params = json!({"requestId": id, "reason": reason});
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
        .into_bytes()
}

/// A text off the wire, to be quoted: its beginning.
pub fn quoted(text: &str) -> &str {
    &text[..text.floor_char_boundary(QUOTED)]
}
