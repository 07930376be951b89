//! What error codes mean (JSON-RPC 2.0 section 5.1, and the revisions of the protocol).

use crate::json::{Value, follow};
use crate::message::Era;

/// A JSON-RPC or MCP error code with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode {
    pub code: i64,
    pub meaning: &'static str,
    /// The era that defines it, `None` for both.
    pub era: Option<Era>,
}

/// The member of an error's `data` that only errors of our own have, which are given in place of a server:
/// servers use the same codes.
pub const OWN: &str = "mcpreel";

/// The code of such an error (JSON-RPC 2.0, 5.1: the range of servers' own errors).
pub const OWN_CODE: i32 = -32000;

/// Whether a response is an error that mcpreel gave in place of a server.
pub fn is_own_error(response: Value<'_>) -> bool {
    follow(response, &["error", "data", OWN]).is_some()
}

pub const CODES: &[ErrorCode] = &[
    code(-32700, "parse error", None),
    code(-32600, "invalid request", None),
    code(-32601, "method not found", None),
    code(-32602, "invalid params", None),
    code(-32603, "internal error", None),
    code(-32002, "resource not found", Some(Era::Legacy)),
    code(-32042, "URL elicitation required", Some(Era::Legacy)),
    code(-1, "rejected by the user", Some(Era::Legacy)),
    code(-32020, "header mismatch", Some(Era::Modern)),
    code(
        -32021,
        "missing required client capability",
        Some(Era::Modern),
    ),
    code(-32022, "unsupported protocol version", Some(Era::Modern)),
];

const fn code(code: i64, meaning: &'static str, era: Option<Era>) -> ErrorCode {
    ErrorCode { code, meaning, era }
}

/// What `code` means in `era`; `None` where the protocol says nothing.
pub fn meaning(code: i64, era: Era) -> Option<&'static str> {
    let known = CODES
        .iter()
        .find(|known| known.code == code && known.era.is_none_or(|only| only == era));
    known.map(|known| known.meaning)
}

/// What peers use a code for that the protocol gives no meaning: numbers of SDKs, of other
/// protocols and of drafts.
pub fn elsewhere(code: i64) -> Option<&'static str> {
    let known = ELSEWHERE.iter().find(|(known, _)| *known == code);
    known.map(|(_, meaning)| *meaning)
}

const ELSEWHERE: &[(i64, &str)] = &[
    (
        -32000,
        "connection closed in the SDKs, any server error in JSON-RPC",
    ),
    (-32001, "request timeout in the SDKs"),
    (-32002, "resource not found in MCP up to 2025-11-25"),
    (
        -32003,
        "a missing client capability in drafts of MCP, a rejected transaction in Ethereum",
    ),
    (
        -32004,
        "an unsupported version in drafts of MCP, an unsupported method in Ethereum",
    ),
    (-32005, "a limit that was exceeded in Ethereum"),
    (-32042, "URL elicitation required in MCP 2025-11-25"),
];

/// Whether JSON-RPC reserves `code`: only codes that it or MCP define may be used there.
pub fn is_reserved(code: i64) -> bool {
    (-32768..=-32000).contains(&code)
}
