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

/// Conditions of all kinds, on what there may be in a session and on what there is not.
const ATOMS: &[&str] = &[
    "seq>5",
    "seq:3..9",
    "seq!=4",
    "seq=7",
    "seq<0",
    "seq<=100000",
    "time>10us",
    "time<=20us",
    "time>-5us",
    "time:3us..30us",
    "has:time",
    "stream:c2s",
    "stream:stderr",
    "stream!=s2c",
    "stream~^s",
    "has:stream",
    "dir:s2c",
    "dir!=s2c",
    "has:dir",
    "kind:request",
    "kind:response",
    "kind=notification",
    "kind:stderr",
    "kind:other",
    "kind:event",
    "kind!=event",
    "kind~re",
    "method:TOOLS",
    "method=tools/call",
    "method=TOOLS/call",
    "method~^t.*l$",
    "method!~tools",
    "method!=ping",
    "has:method",
    "method:\"\"",
    "name:search",
    "name:k",
    "name:é",
    "name=Search_docs",
    "name~k",
    "has:name",
    "name!=x",
    "tool:docs",
    "tool!=greet",
    "has:tool",
    "uri:FILE",
    "has:uri",
    "uri!=x",
    "prompt:greet",
    "has:prompt",
    "id:1",
    "id:\"1\"",
    "id:1.0",
    "id:7",
    "id:ab",
    "id!=1",
    "has:id",
    "id:null",
    "id:-3",
    "id:0",
    "status:ok",
    "status:open",
    "status!=ok",
    "status:late",
    "status:lost",
    "status~err",
    "has:status",
    "status:unanswered",
    "status:cancelled",
    "status:task",
    "status:listening",
    "status:given-up",
    "status:input-required",
    "code:-32602",
    "code=-32602",
    "code=\"-32602\"",
    "code<0",
    "code:-33000..0",
    "code~3",
    "has:code",
    "code!=1",
    "code:-32602.0",
    "latency>3us",
    "latency<=5us",
    "latency:1us..4us",
    "latency!=2us",
    "has:latency",
    "size>100",
    "size<=90",
    "size:10..200",
    "has:size",
    "reqsize>70",
    "has:reqsize",
    "ressize<80",
    "has:ressize",
    "ressize!=0",
    "era:modern",
    "era:legacy",
    "era!=modern",
    "has:era",
    "level:error",
    "level!=error",
    "has:level",
    "logger:db",
    "logger=Db",
    "has:logger",
    "token:7",
    "token:t",
    "token:\"7\"",
    "has:token",
    "token!=7",
    "task:t1",
    "task=T1",
    "has:task",
    "trace:0AF7",
    "has:trace",
    "trace~^0a",
    "finding:id",
    "finding~^frame",
    "finding!=x",
    "has:finding",
    "severity:error",
    "severity!=warning",
    "has:severity",
    "mark:sp",
    "mark:spä",
    "mark=\"\"",
    "mark!=x",
    "has:mark",
    "note:at",
    "note~^look",
    "has:note",
    "text:disk",
    "text=Rust",
    "text~[0-9]{5}",
    "has:text",
    "is:failed",
    "is:open",
    "is:late",
    "is:slow",
    "is:batch",
    "is:truncated",
    "is:marked",
    "is:noted",
    "is:modern",
    "is:legacy",
    "is:notification",
    "is:waiting",
    "params.arguments.q:rust",
    "params.name!=greet",
    "params.arguments.n>6",
    "has:params",
    "has:result",
    "result.content[*].type=text",
    "error.code=-32602",
    "res.isError:true",
    "req.method:ping",
    "_meta.progressToken:7",
    "has:req.a",
    "has:error",
    "params.arguments.q!~x",
    "rust",
    "Rust",
    "disk",
    "café",
    "\"a\\\"b\"",
    "stall",
    "search",
];

pub fn filter() -> impl Strategy<Value = String> {
    let atom = proptest::sample::select(ATOMS).prop_map(str::to_owned);
    atom.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|list| format!("({})", list.join(" "))),
            proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|list| format!("({})", list.join(" OR "))),
            inner.prop_map(|inner| format!("NOT ({inner})")),
        ]
    })
}
