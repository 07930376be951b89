//! Recordings that are known to the byte, and pages of them.

use crate::support::written::Session;
use crate::support::{Library, MCPREEL, text};
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;

/// A session that is being written.
pub struct Made {
    session: Session,
}

impl Made {
    pub fn start(library: &Library) -> Self {
        let session = Session::start(library.path(), "server", 3);
        Self { session }
    }

    /// A message at a moment, milliseconds.
    pub fn say(&mut self, ms: u64, stream: StreamId, message: &Value) {
        self.line(ms, stream, &message.to_string());
    }

    /// A line at a moment, milliseconds.
    pub fn line(&mut self, ms: u64, stream: StreamId, line: &str) {
        self.bytes(ms, stream, format!("{line}\n").as_bytes());
    }

    pub fn bytes(&mut self, ms: u64, stream: StreamId, bytes: &[u8]) {
        self.session.at(ms * MS);
        crate::support::chunk_all(&mut self.session, stream, bytes);
    }

    /// `initialize` and its answer, who is who.
    pub fn handshake(&mut self, client: &str, server: &str) {
        let asked = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": client, "version": "1.0" } } });
        let answered = json!({ "jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": server, "version": "2.0" } } });
        self.say(1, StreamId::C2S, &asked);
        self.say(20, StreamId::S2C, &answered);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.say(21, StreamId::C2S, &ready);
    }

    /// A call of a tool and its answer.
    pub fn call(
        &mut self,
        id: u64,
        (from, to): (u64, u64),
        tool: &str,
        args: &Value,
        result: &Value,
    ) {
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": args, "_meta": { "progressToken": id } } });
        self.say(from, StreamId::C2S, &asked);
        let answered = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.say(to, StreamId::S2C, &answered);
    }

    /// The session ends, and is a recording.
    pub fn end(mut self) -> PathBuf {
        self.session.event(&EventKind::Eof {
            stream: StreamId::C2S,
            by: Closer::Writer,
        });
        self.session.end();
        self.session.finish()
    }
}

/// A text as what a tool answers.
pub fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// What the program makes of a recording.
pub fn page(library: &Library, reel: &Path) -> PathBuf {
    let page = library.path().join("page.html");
    let mut export = Command::new(MCPREEL);
    export
        .arg("export")
        .arg(reel)
        .args(["--raw", "--format", "html", "--force", "-o"]);
    let output = export.arg(&page).output().expect("mcpreel starts");
    assert!(output.status.success(), "{}", text(&output));
    page
}

/// A session with something of everything.
pub fn mixed(library: &Library) -> PathBuf {
    let mut made = Made::start(library);
    made.handshake("a-host", "a-server");
    // The numbers and the two members of one name are to be shown as they stand here.
    made.session.say(r#"
        30 ! listening
        40 > "id":1,"method":"tools/list","params":{}
        45 < "id":1,"result":{"tools":[{"name":"search","inputSchema":{"type":"object","maximum":1.50e+3,"minimum":90071992547409931234,"minimum":0.10}}]}
        50 > "id":2,"method":"tools/call","params":{"name":"search","arguments":{"q":"rust"},"_meta":{"progressToken":2}}
        892 < "id":2,"result":{"content":[{"type":"text","text":"found nothing of the needle"}]}
        1000 > "id":3,"method":"tools/call","params":{"name":"report","arguments":{},"_meta":{"progressToken":3}}
        1500 < "method":"notifications/progress","params":{"progressToken":3,"progress":1,"total":4,"message":"halfway"}
        1600 ! meanwhile
        2000 < "id":3,"result":{"content":[{"type":"text","text":"a report"}]}
        2100 > "id":4,"method":"tools/call","params":{"name":"search","arguments":{"q":"more"},"_meta":{"progressToken":4}}
        2110 < "id":4,"result":{"content":[{"type":"text","text":"quota exceeded"}],"isError":true}
        2200 < a line that is no JSON
        2300 > "id":5,"method":"tools/call","params":{"name":"last","arguments":{},"_meta":{"progressToken":5}}
        2305 < "id":5,"result":{"content":[{"type":"text","text":"bye"}]}
    "#);
    made.end()
}
