//! Sessions told in rows, as the scenarios of pairing and the cases of rules have them.
//!
//! A row is `[when, stream, what]`: milliseconds, or first and last byte apart; `c2s`, `s2c`,
//! `stderr` or `event`; and what came. What is no short form is the line itself.
//!
//! | short form | stands for |
//! |---|---|
//! | `request 1 tools/call {"name":"a"}` | a request with this id, method and params |
//! | `notify notifications/progress {…}` | a notification |
//! | `result 1 {…}`, `error 1 -32602` | a response |
//! | `partial …` | the rest without its newline |
//! | `crlf …` | the rest ended by CR LF |
//! | `hex efbbbf7b7d0a` | these bytes |
//! | `outline …` | the rest, read by its outline only |
//! | `repeat 1500 …` | as many frames of the rest |
//! | `fill(1000)`, `fill(9,ab)` anywhere in a line | as many `x`, or `ab`; the rest may have more |
//! | `eof c2s writer`, `exit 0`, `exit SIGSEGV`, `spawn-failed 127`, `recovered` | an event |
//! | `{"kind":"stall-began",…}` | any event, as recordings have it |

use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;
use serde::Deserialize;

/// When, on which stream, what.
pub type Row = (When, String, String);

/// Milliseconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum When {
    At(u64),
    FromTo(u64, u64),
}

/// The stream of that name.
pub fn stream_id(word: &str) -> StreamId {
    let mut streams = StreamId::STDIO.into_iter();
    let found = streams.find(|stream| stream.as_str() == word);
    found.unwrap_or_else(|| panic!("no stream {word}"))
}

/// The event that `what` stands for.
pub fn event(what: &str) -> EventKind {
    if what.starts_with('{') {
        return serde_json::from_str(what).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    let words: Vec<_> = what.split(' ').collect();
    match words[..] {
        ["eof", stream, by] => EventKind::Eof {
            stream: stream_id(stream),
            by: match by {
                "writer" => Closer::Writer,
                "reader" => Closer::Reader,
                _ => panic!("no closer {by}"),
            },
        },
        ["exit", how] => EventKind::Exit {
            code: how.parse().ok(),
            signal: how.starts_with("SIG").then(|| how.to_owned()),
            max_rss_bytes: 0,
            user_ns: 0,
            system_ns: 0,
        },
        ["spawn-failed", code] => EventKind::SpawnFailed {
            exit_code: code.parse().unwrap(),
            message: "not found".to_owned(),
            searched: None,
        },
        ["recovered"] => EventKind::Recovered { frames: 1 },
        _ => panic!("no event {what}"),
    }
}

/// The bytes that `what` stands for, its terminator included.
pub fn bytes(what: &str) -> Vec<u8> {
    if let Some(digits) = what.strip_prefix("hex ") {
        let pairs = digits.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        return pairs.map(byte).collect();
    }
    let forms = [("partial ", ""), ("crlf ", "\r\n"), ("", "\n")];
    let found = forms
        .into_iter()
        .find_map(|(form, end)| Some((what.strip_prefix(form)?, end)));
    let (what, end) = found.unwrap();
    (filled(&line(what)) + end).into_bytes()
}

fn filled(line: &str) -> String {
    let mut pieces = line.split("fill(");
    let mut filled = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (what, after) = piece.split_once(')').unwrap();
        let (times, text) = what.split_once(',').unwrap_or((what, "x"));
        filled.push_str(&text.repeat(times.parse().unwrap()));
        filled.push_str(after);
    }
    filled
}

/// The line that a short form stands for.
pub fn line(what: &str) -> String {
    let mut words = what.splitn(2, ' ');
    let (form, rest) = (words.next().unwrap(), words.next().unwrap_or(""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let member = |name: &str, json: &str| match json {
        "" => String::new(),
        _ => format!(r#","{name}":{json}"#),
    };
    match form {
        "request" => {
            let (method, params) = more.split_once(' ').unwrap_or((more, ""));
            let params = member("params", params);
            format!(r#"{{"jsonrpc":"2.0","id":{first},"method":"{method}"{params}}}"#)
        }
        "notify" => {
            let params = member("params", more);
            format!(r#"{{"jsonrpc":"2.0","method":"{first}"{params}}}"#)
        }
        "result" => {
            let result = if more.is_empty() { "{}" } else { more };
            format!(r#"{{"jsonrpc":"2.0","id":{first},"result":{result}}}"#)
        }
        "error" => {
            format!(r#"{{"jsonrpc":"2.0","id":{first},"error":{{"code":{more},"message":"no"}}}}"#)
        }
        _ => what.to_owned(),
    }
}
