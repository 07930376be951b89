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

/// The first characters of a body that is no message, for an error. Of an HTML or XML page, the text without
/// tags; its title where there is no other.
fn beginning_of(bytes: &[u8]) -> String {
    const CHARACTERS: usize = 200;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    let mut text = text.trim().to_owned();
    if text.starts_with('<') {
        let words = words_of(&text, &["style", "script", "title"]);
        text = if words.is_empty() {
            words_of(&text, &["style", "script"])
        } else {
            words
        };
    }
    text.chars().take(CHARACTERS).collect()
}

/// Bytes of a body in which text is looked for.
const LOOKED_AT: usize = 64 << 10;

/// The words of a page of HTML or XML, without tags and the content of `hidden` elements.
fn words_of(page: &str, hidden: &[&str]) -> String {
    let lower = page.to_ascii_lowercase();
    let (mut text, mut at) = (String::new(), 0);
    while let Some(tag) = page[at..].find('<').map(|found| at + found) {
        text.push_str(&page[at..tag]);
        text.push(' ');
        let end_of_tag = |from: usize| page[from..].find('>').map(|found| from + found + 1);
        let Some(end) = end_of_tag(tag) else {
            at = page.len();
            break;
        };
        let is_hidden = |name: &&&str| {
            lower[tag + 1..end]
                .strip_prefix(**name)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let closing = hidden.iter().find(is_hidden).and_then(|name| {
            let found = lower[end..].find(&format!("</{name}"))?;
            end_of_tag(end + found)
        });
        at = closing.unwrap_or(end);
    }
    text.push_str(&page[at..]);
    let words: Vec<_> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    for (entity, character) in ENTITIES {
        text = text.replace(entity, character);
    }
    text
}

const ENTITIES: [(&str, &str); 6] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&amp;", "&"),
];

#[cfg(test)]
mod tests {
    use super::beginning_of;

    #[test]
    fn of_a_page_an_error_has_the_words() {
        for (page, words) in [
            (
                "<!DOCTYPE html><html><head><title>502</title><style>b { c: d }</style></head>\n<BODY>\n<h1>502 Bad Gateway</h1><hr>a &amp; b</body></html>",
                "502 Bad Gateway a & b",
            ),
            (
                "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>",
                "AccessDenied",
            ),
            ("<title>502 Bad Gateway</title>", "502 Bad Gateway"),
            ("<html", ""),
            ("<script>while (1) {}", "while (1) {}"),
            (" {\"a\": \"<b>\"} ", "{\"a\": \"<b>\"}"),
        ] {
            assert_eq!(beginning_of(page.as_bytes()), words);
        }
    }
}
