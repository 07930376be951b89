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

use mcpreel_lint::{Finding, Linter};
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::event::{Closer, Event, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::json::Outline;
use mcpreel_wire::message::{Classifier, Content, Lines, classify_cut, classify_outline};
use serde::Deserialize;
use std::collections::BTreeMap;

/// When, on which stream, what.
pub type Row = (When, String, String);

/// Milliseconds.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
pub enum When {
    At(u64),
    FromTo(u64, u64),
}

const MS: u64 = 1_000_000;

/// All that follows from a session.
#[derive(Default)]
pub struct Derived {
    pub messages: Vec<MessageRecord>,
    /// Each once, by id.
    pub exchanges: Vec<Exchange>,
    pub findings: Vec<Finding>,
}

/// One session being told.
#[derive(Default)]
pub struct Telling {
    analysis: Analysis,
    linter: Linter,
    classifier: Classifier,
    seq: u64,
    offsets: BTreeMap<u16, u64>,
    all: Derived,
    latest: BTreeMap<ExchangeId, Exchange>,
}

impl Telling {
    /// Tells one row.
    pub fn row(&mut self, (when, stream, what): &Row) {
        let (first, last) = match *when {
            When::At(t) => (Moment(t * MS), Moment(t * MS)),
            When::FromTo(first, last) => (Moment(first * MS), Moment(last * MS)),
        };
        if stream == "event" {
            let event = Event {
                t: last,
                after_seq: Seq(self.seq),
                kind: event(what),
            };
            self.analysis.event(&event);
            self.linter.event(&self.analysis, &event);
            return;
        }
        let (times, what) = match what
            .strip_prefix("repeat ")
            .and_then(|it| it.split_once(' '))
        {
            Some((times, what)) => (times.parse().unwrap(), what),
            None => (1, what.as_str()),
        };
        let (outline, what) = match what.strip_prefix("outline ") {
            Some(rest) => (true, rest),
            None => (false, what),
        };
        let raw = bytes(what);
        for _ in 0..times {
            self.frame(stream_id(stream), (first, last), &raw, outline);
        }
    }

    fn frame(
        &mut self,
        stream: StreamId,
        (t_first, t_last): (Moment, Moment),
        raw: &[u8],
        outline: bool,
    ) {
        self.seq += 1;
        let offset = self.offsets.entry(stream.0).or_default();
        let head = FrameHead {
            seq: Seq(self.seq),
            stream,
            offset: *offset,
            t_first,
            t_last,
            size: raw.len() as u64,
        };
        *offset += head.size;
        let is_shortened = self.analysis.is_shortened(stream);
        let (content, root) = match stream.messages() {
            Some(_) if is_shortened => (classify_cut(raw), None),
            Some(_) if outline => (classify_outline(&Outline::of(raw).unwrap()), None),
            Some(_) => self.classifier.read(raw, Lines::OfAll),
            None => (Content::default(), None),
        };
        self.analysis.frame(&head, &content);
        self.linter
            .frame(&self.analysis, &head, raw, &content, root);
    }

    /// Takes what was derived since the last time, as an indexer does at the end of a batch.
    pub fn take(&mut self) {
        let batch = self.analysis.take();
        self.all.messages.extend(batch.messages);
        self.all.findings.extend(self.linter.take());
        let exchanges = batch.exchanges.into_iter();
        self.latest.extend(exchanges.map(|one| (one.id, one)));
    }

    /// The recording is over, or at least nothing more is told of it.
    pub fn end(mut self, is_live: bool) -> Derived {
        if !is_live {
            self.analysis.finish();
            self.linter.finish(&self.analysis);
        }
        self.take();
        self.all.exchanges = self.latest.into_values().collect();
        self.all
    }
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
