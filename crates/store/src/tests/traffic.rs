//! Random sessions, and filters about what is in them.

use super::written_session::Session;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use proptest::prelude::*;

/// Something that happens in a session. Numbers choose ids, names and the like.
#[derive(Clone, Debug)]
pub enum Act {
    /// A call of the client with this id and method.
    Call(u8, u8),
    ModernCall(u8),
    Ask(u8, u8),
    /// An answer of the server to this id.
    Answer(u8, u8),
    /// An answer of the client to this id.
    Reply(u8),
    Progress(u8),
    Cancel(u8),
    Log(u8),
    Listed,
    Task(u8),
    Odd(u8),
    Stderr,
    Noise(u8),
    /// Several in one frame, of the client or of the server.
    Batch(Vec<Act>),
    Stall,
}

const IDS: [&str; 5] = ["1", r#""1""#, "1.0", "7", r#""a\u0062""#];
const CALLS: [(&str, &str); 8] = [
    (
        "tools/call",
        r#"{"name":"Search_docs","arguments":{"q":"rust","n":7},"_meta":{"progressToken":7}}"#,
    ),
    (
        "tools/call",
        r#"{"name":"K\u212aé","arguments":{"q":"caf\u00e9 \"x\""},"_meta":{"progressToken":"t","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#,
    ),
    ("resources/read", r#"{"uri":"file:///a.md"}"#),
    ("prompts/get", r#"{"name":"greet"}"#),
    (
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}"#,
    ),
    ("tasks/get", r#"{"taskId":"T1"}"#),
    ("subscriptions/listen", r#"{"notifications":{}}"#),
    ("server/discover", "{}"),
];
const ASKS: [&str; 2] = ["sampling/createMessage", "elicitation/create"];
const OUTCOMES: [&str; 7] = [
    r#""result":{"content":[{"type":"text","text":"Rust"}]}"#,
    r#""result":{"content":[],"isError":true}"#,
    r#""error":{"code":-32602,"message":"no"}"#,
    r#""error":{"code":"-32602","message":"odd"}"#,
    r#""error":{"code":-3.2602e4,"message":"odd"}"#,
    r#""result":{"task":{"taskId":"T1","status":"working"}}"#,
    r#""result":{"resultType":"input_required","inputRequests":{}}"#,
];
const ODDS: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    r#"{"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1}}"#,
    r#" {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a.md"}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"notifications/message","params":{"level":"error"}}"#,
];
const NOISE: [&[u8]; 4] = [b"not json", b"{\"a\":1}", b"[]", b"\xff\xfe caf\xc3\xa9"];

fn at<T: Copy>(list: &[T], nth: u8) -> T {
    list[usize::from(nth) % list.len()]
}

impl Act {
    fn is_of_client(&self) -> bool {
        match self {
            Self::Call(..) | Self::ModernCall(_) | Self::Reply(_) | Self::Cancel(_) => true,
            Self::Batch(acts) => acts.first().is_some_and(Self::is_of_client),
            _ => false,
        }
    }

    fn text(&self) -> Vec<u8> {
        let text = match self {
            Self::Call(id, method) => {
                let (method, params) = at(&CALLS, *method);
                request(*id, method, params)
            }
            Self::ModernCall(id) => request(
                *id,
                "tools/call",
                r#"{"name":"modern","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
            ),
            Self::Ask(id, method) => request(*id, at(&ASKS, *method), "{}"),
            Self::Answer(id, outcome) => answer(*id, at(&OUTCOMES, *outcome)),
            Self::Reply(id) => answer(*id, r#""result":{"role":"user"}"#),
            Self::Progress(n) => {
                let token = at(&["7", "7.0", r#""t""#, r#""x""#], *n);
                notification(
                    "notifications/progress",
                    &format!(r#"{{"progressToken":{token},"progress":{n}}}"#),
                )
            }
            Self::Cancel(id) => {
                let id = at(&IDS, *id);
                notification(
                    "notifications/cancelled",
                    &format!(r#"{{"requestId":{id}}}"#),
                )
            }
            Self::Log(n) => {
                let level = at(&["error", "info"], *n);
                notification(
                    "notifications/message",
                    &format!(r#"{{"level":"{level}","logger":"Db","data":"disk \u0041"}}"#),
                )
            }
            Self::Listed => notification("notifications/tools/list_changed", "{}"),
            Self::Task(n) => {
                let status = at(&["working", "completed", "failed"], *n);
                notification(
                    "notifications/tasks/status",
                    &format!(r#"{{"taskId":"T1","status":"{status}"}}"#),
                )
            }
            Self::Odd(n) => at(&ODDS, *n).to_owned(),
            Self::Stderr => "Warning: disk \u{e9}".to_owned(),
            Self::Noise(n) => return at(&NOISE, *n).to_vec(),
            Self::Batch(acts) => {
                let texts: Vec<_> = acts.iter().map(Self::text).collect();
                let mut batch = b"[".to_vec();
                batch.extend(texts.join(&b","[..]));
                batch.push(b']');
                return batch;
            }
            Self::Stall => String::new(),
        };
        text.into_bytes()
    }
}

fn request(id: u8, method: &str, params: &str) -> String {
    let id = at(&IDS, id);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn answer(id: u8, outcome: &str) -> String {
    let id = at(&IDS, id);
    format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#)
}

fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Writes what happens into the spool of `session`.
pub fn play(acts: &[Act], session: &mut Session) {
    for act in acts {
        if let Act::Stall = act {
            let stream = StreamId::S2C;
            session.event(&EventKind::StallBegan { stream, bytes: 7 });
            continue;
        }
        let stream = match act {
            Act::Stderr => StreamId::STDERR,
            act if act.is_of_client() => StreamId::C2S,
            _ => StreamId::S2C,
        };
        let mut line = act.text();
        line.push(b'\n');
        session.chunk(stream, &line);
    }
}

pub fn act() -> impl Strategy<Value = Act> {
    let plain = prop_oneof![
        8 => (0_u8..5, 0_u8..8).prop_map(|(id, method)| Act::Call(id, method)),
        2 => (0_u8..5).prop_map(Act::ModernCall),
        2 => (0_u8..5, 0_u8..2).prop_map(|(id, method)| Act::Ask(id, method)),
        8 => (0_u8..5, 0_u8..7).prop_map(|(id, outcome)| Act::Answer(id, outcome)),
        2 => (0_u8..5).prop_map(Act::Reply),
        2 => (0_u8..4).prop_map(Act::Progress),
        1 => (0_u8..5).prop_map(Act::Cancel),
        2 => (0_u8..2).prop_map(Act::Log),
        1 => Just(Act::Listed),
        1 => (0_u8..3).prop_map(Act::Task),
        3 => (0_u8..6).prop_map(Act::Odd),
    ];
    let plain = plain.boxed();
    prop_oneof![
        20 => plain.clone(),
        2 => Just(Act::Stderr),
        1 => (0_u8..4).prop_map(Act::Noise),
        2 => proptest::collection::vec(plain, 0..3).prop_map(Act::Batch),
        1 => Just(Act::Stall),
    ]
}
