//! A conversation of any length between a client and a server, made from a seed.
//!
//! What flows is what such sessions are made of: calls of forty tools with their results, one in
//! twenty a tool error and one in a hundred an error, progress, log messages, other notifications,
//! lines on stderr, noise on stdout, questions of the server. A few calls stay open at any time.

use super::dice::Dice;
use mcpreel_trace::frame::StreamId;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// A word that stands in one result of ten thousand, for those who search.
pub const RARE: &str = "zanzibar";

/// Calls that are open at once.
const AT_ONCE: usize = 6;

const OPENING: [(StreamId, &str); 5] = [
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"generated-client","version":"1.0"}}}"#,
    ),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{},"resources":{}},"serverInfo":{"name":"generated-server","version":"1.0"}}}"#,
    ),
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    ),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search_docs_0","inputSchema":{"type":"object"}}]}}"#,
    ),
];

const VERBS: [&str; 8] = [
    "search", "read", "write", "list", "plan", "fetch", "compare", "delete",
];
const NOUNS: [&str; 5] = ["docs", "file", "forecast", "ticket", "image"];

/// Plain words.
const TAME: [&str; 12] = [
    "rust", "async", "weather", "tomorrow", "quota", "index", "north", "window", "engine",
    "parser", "signal", "river",
];

/// What a careless or hostile peer sends: escapes, wide and combined characters, other ways of
/// writing, things that are not shown.
const WILD: [&str; 12] = [
    "日本語のテキスト",
    "👩‍👩‍👧‍👦🇳🇴",
    "e\u{301}\u{323}\u{300}\u{302}",
    "\u{202e}gnp.exe",
    "السلام عليكم",
    "\\u001b[2J\\u001b[31mred",
    "\\u0000\\r\\n\\t",
    "\u{200b}\u{feff}\u{2066}",
    "\u{9b}31m",
    "<script>alert(1)</script>",
    "ﷺ𝔘𝔫𝔦",
    "a-very-long-word-that-has-no-place-where-it-could-be-broken-and-goes-on-and-on",
];

/// A line of a stream, its terminator included.
pub struct Line {
    pub stream: StreamId,
    /// Nanoseconds since the start.
    pub t: u64,
    pub bytes: Vec<u8>,
}

/// The lines of a conversation; it has no end.
pub struct Conversation {
    dice: Dice,
    wild: bool,
    t: u64,
    next_id: u64,
    open: Vec<Call>,
    next: VecDeque<(StreamId, Vec<u8>)>,
}

struct Call {
    id: u64,
    steps: u64,
}

impl Conversation {
    /// One in which everybody behaves, mostly.
    pub fn tame(seed: u64) -> Self {
        Self::new(seed, false)
    }

    /// One in which anything may stand anywhere.
    pub fn wild(seed: u64) -> Self {
        Self::new(seed, true)
    }

    fn new(seed: u64, wild: bool) -> Self {
        // Whoever shows a wild one shows names that nobody expects, from the first line on.
        let name = if wild { WILD[3] } else { "generated-server" };
        let line = |(stream, text): &(StreamId, &str)| {
            let text = text.replace("generated-server", name);
            (*stream, format!("{text}\n").into_bytes())
        };
        Self {
            dice: Dice(seed),
            wild,
            t: 0,
            next_id: 2,
            open: Vec::new(),
            next: OPENING.iter().map(line).collect(),
        }
    }

    fn invent(&mut self) -> (StreamId, Vec<u8>) {
        let (stream, mut text) = match self.dice.below(1000) {
            0..340 if self.open.len() < AT_ONCE => (StreamId::C2S, self.call()),
            0..720 => (StreamId::S2C, self.answer_or_call()),
            720..820 => (StreamId::S2C, self.progress()),
            820..900 => (StreamId::S2C, self.log()),
            900..930 => (StreamId::S2C, self.changed()),
            930..990 => (StreamId::STDERR, self.words(2, 20)),
            990..995 => (StreamId::S2C, self.noise()),
            _ => return self.question(),
        };
        text.push('\n');
        (stream, text.into_bytes())
    }

    fn call(&mut self) -> String {
        let id = self.next_id;
        self.next_id += 1;
        let steps = self.dice.below(100) + 1;
        self.open.push(Call { id, steps });
        let what = match self.dice.below(10) {
            0 => format!(
                r#""resources/read","params":{{"uri":"file:///srv/notes/{}/{}.md""#,
                self.dice.below(40),
                self.word()
            ),
            1 => r#""tools/list","params":{"#.to_owned(),
            2 if self.wild => {
                let (method, tool) = (self.word(), self.word());
                format!(r#""{method}","params":{{"name":"{tool}","uri":"{tool}""#)
            }
            _ => format!(
                r#""tools/call","params":{{"name":"{}_{}_{}","arguments":{{"q":"{}","limit":{},"options":{{"deep":true,"path":"/srv/{}"}}}},"_meta":{{"progressToken":{id}}}"#,
                VERBS[self.dice.length_below(VERBS.len())],
                NOUNS[self.dice.length_below(NOUNS.len())],
                id % 3,
                self.words(1, 6),
                self.dice.below(100),
                self.word(),
            ),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{what}}}}}"#)
    }

    fn answer_or_call(&mut self) -> String {
        if self.open.is_empty() {
            return self.log();
        }
        let at = self.dice.length_below(self.open.len());
        let id = self.open.swap_remove(at).id;
        let rare = if self.dice.below(10_000) == 0 {
            RARE
        } else {
            ""
        };
        match self.dice.below(100) {
            0 => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-3260{},"message":"{}"}}}}"#,
                self.dice.below(4),
                self.words(2, 8)
            ),
            1..=5 => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{}"}}],"isError":true}}}}"#,
                self.words(3, 12)
            ),
            _ => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{} {rare}"}}],"structuredContent":{{"hits":{},"took":0.{}}}}}}}"#,
                self.words(10, 120),
                self.dice.below(1000),
                self.dice.below(1000),
            ),
        }
    }

    fn progress(&mut self) -> String {
        let message = self.word();
        let Some(call) = self.open.last() else {
            return self.log();
        };
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{},"total":100,"message":"{message}"}}}}"#,
            call.id, call.steps
        )
    }

    fn log(&mut self) -> String {
        let level = ["debug", "info", "warning", "error"][self.dice.length_below(4)];
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","logger":"{}","data":"{}"}}}}"#,
            self.word(),
            self.words(3, 15)
        )
    }

    fn changed(&mut self) -> String {
        let what = NOUNS[self.dice.length_below(NOUNS.len())];
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"file:///srv/{what}.md"}}}}"#
        )
    }

    fn noise(&mut self) -> String {
        match self.dice.below(if self.wild { 6 } else { 1 }) {
            1 => String::from("\u{1b}]0;title\u{7}\u{1b}[?1049l"),
            2 => "[".repeat(300),
            3 => String::new(),
            4 => format!(r#"[{{"jsonrpc":"2.0","id":{},"result":{{}}}},7]"#, self.t),
            5 => String::from(r#"{"jsonrpc":"2.0","id":null,"result":1,"error":2}"#),
            _ => format!("DEBUG: {}", self.words(3, 9)),
        }
    }

    /// The server asks, and the client answers at once.
    fn question(&mut self) -> (StreamId, Vec<u8>) {
        let id = self.next_id;
        self.next_id += 1;
        let question = format!(
            r#"{{"jsonrpc":"2.0","id":"q{id}","method":"elicitation/create","params":{{"message":"{}","requestedSchema":{{"type":"object"}}}}}}"#,
            self.words(3, 8)
        );
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"q{id}","result":{{"action":"accept"}}}}"#);
        self.next
            .push_back((StreamId::C2S, format!("{answer}\n").into_bytes()));
        (StreamId::S2C, format!("{question}\n").into_bytes())
    }

    fn word(&mut self) -> &'static str {
        if self.wild && self.dice.below(3) == 0 {
            WILD[self.dice.length_below(WILD.len())]
        } else {
            TAME[self.dice.length_below(TAME.len())]
        }
    }

    fn words(&mut self, least: u64, below: u64) -> String {
        let count = least + self.dice.below(below - least);
        let mut text = String::new();
        for nth in 0..count {
            let space = if nth == 0 { "" } else { " " };
            let word = self.word();
            let _ = write!(text, "{space}{word}");
        }
        text
    }
}

impl Iterator for Conversation {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        self.t += 1000 + self.dice.below(2_000_000);
        let (stream, bytes) = match self.next.pop_front() {
            Some(next) => next,
            None => self.invent(),
        };
        Some(Line {
            stream,
            t: self.t,
            bytes,
        })
    }
}
