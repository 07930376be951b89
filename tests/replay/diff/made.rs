//! Recordings of sessions that are told line by line, made by the real indexer.

use crate::support::Library;
use crate::support::written::{Session, context, exit};
use mcpreel_store::library::file_stem;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::path::PathBuf;

/// A millisecond.
const MS: u64 = 1_000_000;

/// Two tools, of which one takes a city.
pub const TOOLS: &str = r#"{"tools":[
    {"name":"weather","description":"The weather","inputSchema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","maximum":7}},"required":["city"]},"annotations":{"readOnlyHint":true}},
    {"name":"cities","inputSchema":{"type":"object","properties":{}}}
]}"#;

/// A session.
#[derive(Clone)]
pub struct Story {
    lines: Vec<(StreamId, u64, String)>,
    next: u64,
    t: u64,
    end: EventKind,
    parent: Option<u32>,
    name: &'static str,
}

impl Story {
    /// A session without a message.
    pub fn silent() -> Self {
        Self {
            lines: Vec::new(),
            next: 1,
            t: MS,
            end: exit(0),
            parent: None,
            name: "weather",
        }
    }

    /// A session with its handshake.
    pub fn new() -> Self {
        let asked = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
        let told = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"1.2.0"}}"#;
        Self::silent()
            .result("initialize", asked, told)
            .client(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    /// One in which the weather is asked for.
    pub fn weather() -> Self {
        Self::new()
            .result("tools/list", "{}", TOOLS)
            .call(
                "weather",
                r#"{"city":"Oslo"}"#,
                r#"{"content":[{"type":"text","text":"rain"}],"structuredContent":{"degrees":7,"wind":[1,2]},"isError":false}"#,
            )
    }

    /// The session that these lines tell: `call TOOL ARGUMENTS RESULT`, `says TOOL ARGUMENTS TEXT`,
    /// `result METHOD PARAMS RESULT`, `error METHOD PARAMS ERROR`, `request METHOD PARAMS`, `client LINE`,
    /// `server LINE`, `killed`; at the beginning `silent` or `weather`.
    pub fn told(lines: &str) -> Self {
        lines.trim().lines().fold(Self::new(), |mut story, line| {
            let words: Vec<_> = line.splitn(4, ' ').collect();
            match words[..] {
                ["silent"] => Self::silent(),
                ["weather"] => Self::weather(),
                ["killed"] => {
                    story.end = crate::told::event("exit SIGSEGV");
                    story
                }
                ["call", tool, arguments, result] => story.call(tool, arguments, result),
                ["says", tool, arguments, text] => story.says(tool, arguments, text),
                ["result", method, params, result] => story.result(method, params, result),
                ["error", method, params, error] => {
                    story.exchange(method, params, &format!(r#""error":{error}"#))
                }
                ["request", method, params] => story.request(method, params),
                ["client", ..] => story.client(&line[7..]),
                ["server", ..] => story.server(&line[7..]),
                _ => panic!("{line}"),
            }
        })
    }

    /// It was made from another recording.
    pub fn of(mut self, parent: u32) -> Self {
        self.parent = Some(parent);
        self
    }

    /// A line of the client.
    pub fn client(self, line: &str) -> Self {
        self.line(StreamId::C2S, line)
    }

    /// A line of the server.
    pub fn server(self, line: &str) -> Self {
        self.line(StreamId::S2C, line)
    }

    fn line(mut self, stream: StreamId, line: &str) -> Self {
        self.t += MS;
        let line = line.replace('\n', " ");
        self.lines.push((stream, self.t, line));
        self
    }

    /// A request that is never answered.
    pub fn request(mut self, method: &str, params: &str) -> Self {
        let id = self.next;
        self.next += 1;
        self.client(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ))
    }

    /// A request and its answer, `answer` being a member of the response.
    pub fn exchange(self, method: &str, params: &str, answer: &str) -> Self {
        let id = self.next;
        let asked = self.request(method, params);
        asked.server(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#))
    }

    pub fn result(self, method: &str, params: &str, result: &str) -> Self {
        self.exchange(method, params, &format!(r#""result":{result}"#))
    }

    /// A tool is called.
    pub fn call(self, tool: &str, arguments: &str, result: &str) -> Self {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        self.result("tools/call", &params, result)
    }

    /// A tool is called, and gives one text.
    pub fn says(self, tool: &str, arguments: &str, text: &str) -> Self {
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        self.call(tool, arguments, &result)
    }

    /// Records it in the folder.
    pub fn record(&self, library: &Library, id: u32) -> PathBuf {
        let origin = if self.parent.is_some() {
            "replay"
        } else {
            "live"
        };
        let context = ProcessContext {
            origin: origin.into(),
            parent: self.parent.map(|parent| format!("{parent:08x}")),
            // Ids of recordings are large: the next ten years are enough.
            wall_ns: context(self.name, id & 0xff).wall_ns,
            ..context(self.name, id)
        };
        let stem = file_stem(context.wall_ns, self.name, &context.recording);
        let reel = library.path().join(format!("{stem}.reel"));
        let mut session = Session::begin(&reel, context);
        for (stream, t, line) in &self.lines {
            session.at(*t);
            crate::support::chunk_all(&mut session, *stream, format!("{line}\n").as_bytes());
        }
        session.at(self.t + MS).end_with(self.end.clone());
        session.finish()
    }
}
