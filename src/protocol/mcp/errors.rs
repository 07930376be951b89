//! What error codes mean (JSON-RPC 2.0 section 5.1, and the revisions of the protocol).

use crate::protocol::message::Era;

/// A JSON-RPC or MCP error code with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// The number on the wire.
    pub code: i64,
    /// What it says, in a few words.
    pub meaning: &'static str,
    /// The era that defines it, `None` for both.
    pub era: Option<Era>,
}

/// All codes with a meaning.
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
#[must_use]
pub fn meaning(code: i64, era: Era) -> Option<&'static str> {
    let known = CODES
        .iter()
        .find(|known| known.code == code && known.era.is_none_or(|only| only == era));
    known.map(|known| known.meaning)
}

/// Whether JSON-RPC reserves `code`: only codes that it or MCP define may be used there.
#[must_use]
pub fn is_reserved(code: i64) -> bool {
    (-32768..=-32000).contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_their_era_says() {
        assert_eq!(meaning(-32601, Era::Modern), Some("method not found"));
        assert_eq!(meaning(-32002, Era::Legacy), Some("resource not found"));
        assert_eq!(meaning(-32002, Era::Modern), None);
        assert_eq!(
            meaning(-32022, Era::Modern),
            Some("unsupported protocol version")
        );
        assert_eq!(meaning(-32022, Era::Legacy), None);
        assert_eq!(meaning(42, Era::Legacy), None);
        assert!(is_reserved(-32000) && !is_reserved(-31999) && !is_reserved(-1));
    }
}
