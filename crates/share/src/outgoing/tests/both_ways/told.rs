//! Sessions in which something secret is said in many places.

use super::super::TOKEN;
use super::{PASSWORD, PIN};
use crate::written::{Session, context, exit, recorded_as};
use mcpreel_store::annotate;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{Seq, StreamId};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::Path;
/// Where something secret is said.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Argument,
    Password,
    Number,
    NestedText,
    Base64,
    Answer,
    Structured,
    Long,
    Fault,
    ToolFault,
    Name,
    Id,
    Key,
    Progress,
    Trace,
}

const PLACES: [Place; 15] = [
    Place::Argument,
    Place::Password,
    Place::Number,
    Place::NestedText,
    Place::Base64,
    Place::Answer,
    Place::Structured,
    Place::Long,
    Place::Fault,
    Place::ToolFault,
    Place::Name,
    Place::Id,
    Place::Key,
    Place::Progress,
    Place::Trace,
];

#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Calls about which there is nothing to say.
    Plain(usize),
    /// A call of the tool with this number.
    Secret(Place, usize),
    Again(usize),
    Cancelled,
    Unanswered,
    Waiting(u64),
    Duplicate,
    Unlisted,
    Unfitting,
    Long,
    Log(bool),
    Stderr(bool),
    Odd,
    Batch(bool),
    Ask(bool),
    List(bool),
    Event(bool),
    Note,
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let any = proptest::sample::select(PLACES.to_vec());
    // A secret in a call is what can be told apart; the others are rare, so that this happens.
    let step = prop_oneof![
        30 => (10..60_usize).prop_map(Step::Plain),
        12 => (any, 0..4_usize).prop_map(|(place, tool)| Step::Secret(place, tool)),
        2 => (0..3_usize).prop_map(Step::Again),
        1 => Just(Step::Cancelled),
        1 => Just(Step::Unanswered),
        1 => (1..50_u64).prop_map(Step::Waiting),
        1 => Just(Step::Duplicate),
        1 => Just(Step::Unlisted),
        1 => Just(Step::Unfitting),
        1 => Just(Step::Long),
        2 => proptest::bool::weighted(0.2).prop_map(Step::Log),
        2 => proptest::bool::weighted(0.2).prop_map(Step::Stderr),
        1 => Just(Step::Odd),
        1 => proptest::bool::weighted(0.2).prop_map(Step::Batch),
        1 => proptest::bool::weighted(0.2).prop_map(Step::Ask),
        1 => proptest::bool::weighted(0.2).prop_map(Step::List),
        1 => proptest::bool::weighted(0.2).prop_map(Step::Event),
        1 => Just(Step::Note),
    ];
    proptest::collection::vec(step, 1..16)
}

struct Told<'s> {
    session: &'s mut Session,
    next: u64,
    t: u64,
    notes: Vec<u64>,
    frames: u64,
}

impl Told<'_> {
    fn line(&mut self, stream: StreamId, line: &str) {
        self.t += 1_000_000;
        self.session.at(self.t);
        self.session.chunk(stream, format!("{line}\n").as_bytes());
        self.frames += 1;
    }

    fn ask(&mut self, id: &str, name: &str, arguments: &str, rest: &str) {
        self.line(StreamId::C2S, &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}{rest}}}}}"#
        ));
    }

    fn answer(&mut self, id: &str, result: &str) {
        self.line(
            StreamId::S2C,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},{result}}}"#),
        );
    }

    fn id(&mut self) -> String {
        self.next += 1;
        self.next.to_string()
    }

    fn call(&mut self, tool: usize, text: &str, result: &str) {
        let id = self.id();
        let arguments = format!(r#"{{"text":"{text}"}}"#);
        self.ask(&id, &format!("tool_{tool}"), &arguments, "");
        self.answer(&id, result);
    }

    fn row(&mut self, nth: usize, row: &str) {
        let quoted = serde_json::to_string(row).unwrap();
        let text = &quoted[1..quoted.len() - 1];
        match nth % 2 {
            0 => self.call(3, text, &plain("done")),
            _ => self.call(3, "row", &plain(text)),
        }
    }

    fn list(&mut self, hint: &str) {
        let id = self.id();
        self.line(
            StreamId::C2S,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#),
        );
        let text = [
            r#"{"type":"string","maxLength":50}"#,
            r#"{"type":"string"}"#,
        ];
        let mut tools = String::new();
        for tool in 0..4 {
            let comma = if tool > 0 { "," } else { "" };
            // What stands in place of a secret is not all ASCII.
            let note = [r#"{"type":"string","pattern":"^[ -~]*$"}"#, text[1]][tool % 2];
            let _ = write!(
                tools,
                r#"{comma}{{"name":"tool_{tool}","description":"Does {hint}.","inputSchema":{{"type":"object","properties":{{"text":{},"pin":{{"type":"integer"}}}}}},"outputSchema":{{"type":"object","properties":{{"note":{note}}}}}}}"#,
                text[tool / 2]
            );
        }
        self.answer(&id, &format!(r#""result":{{"tools":[{tools}]}}"#));
    }

    fn secret(&mut self, place: Place, tool: usize) {
        let plain = plain("done");
        let mut id = self.id();
        let mut name = format!("tool_{tool}");
        let (mut arguments, mut rest) = (r#"{"text":"go on"}"#.to_owned(), String::new());
        let mut result = plain;
        match place {
            Place::Argument => arguments = format!(r#"{{"text":"use {TOKEN} now"}}"#),
            Place::Password => arguments = format!(r#"{{"text":"x","password":"{PASSWORD}"}}"#),
            Place::Number => arguments = format!(r#"{{"text":"x","pin":{PIN}}}"#),
            Place::NestedText => {
                arguments = format!(r#"{{"text":"{{\"password\":\"{PASSWORD}\"}}"}}"#);
            }
            // `https://u:wandering-heron-42x@h`
            Place::Base64 => {
                arguments = r#"{"text":"d2FuZGVyaW5nLWhlcm9uLTQyeA=="}"#.to_owned();
            }
            Place::Answer => result = plain_with(&format!("it is {TOKEN}")),
            Place::Structured => {
                result = format!(
                    r#""result":{{"content":[],"structuredContent":{{"note":"it is {TOKEN}"}}}}"#
                );
            }
            Place::Long => result = plain_with(&format!("{TOKEN} {}", "long ".repeat(1000))),
            Place::Fault => {
                result = format!(r#""error":{{"code":-32000,"message":"no {TOKEN} here"}}"#);
            }
            Place::ToolFault => {
                result = format!(
                    r#""result":{{"content":[{{"type":"text","text":"bad {TOKEN}"}}],"isError":true}}"#
                );
            }
            Place::Name => name = TOKEN.to_owned(),
            Place::Id => id = format!("\"{TOKEN}-{id}\""),
            Place::Key => arguments = format!(r#"{{"{TOKEN}":"x"}}"#),
            Place::Progress => rest = format!(r#","_meta":{{"progressToken":"{TOKEN}-{id}"}}"#),
            Place::Trace => {
                rest = format!(
                    r#","_meta":{{"traceparent":"00-{TOKEN}-00f067aa0ba902b7-01","token":"{TOKEN}"}}"#
                );
            }
        }
        self.ask(&id, &name, &arguments, &rest);
        if matches!(place, Place::Progress) {
            let note = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"{TOKEN}-{id}","progress":1}}}}"#
            );
            self.line(StreamId::S2C, &note);
        }
        self.answer(&id, &result);
    }

    fn step(&mut self, step: Step) {
        let said = |is_secret| if is_secret { TOKEN } else { "nothing" };
        match step {
            Step::Plain(calls) => {
                for n in 0..calls {
                    self.call(n % 4, &format!("row {n}"), &plain_with("it is so"));
                }
            }
            Step::Secret(place, tool) => self.secret(place, tool),
            Step::Again(n) => self.call(1, ["go on", "row 1", TOKEN][n], &plain("again")),
            Step::Cancelled => self.cancelled(),
            Step::Unanswered => {
                self.go_on();
            }
            Step::Waiting(seconds) => {
                let id = self.go_on();
                self.t += seconds * 1_000_000_000;
                self.call(1, "go on", &plain("meanwhile"));
                self.answer(&id, &plain("late"));
            }
            Step::Duplicate => {
                let last = self.next.to_string();
                self.answer(&last, &plain("twice"));
            }
            Step::Unlisted => {
                let id = self.id();
                self.ask(&id, "nobody_knows", "{}", "");
                self.answer(&id, &plain("done"));
            }
            Step::Unfitting => self.call(0, &"too long ".repeat(9), &plain_with("it is so")),
            Step::Long => self.call(1, "go on", &plain_with(&"hello ".repeat(1000))),
            Step::Log(is_secret) => self.log(said(is_secret)),
            Step::Stderr(is_secret) => {
                let line = format!("listening for {}", said(is_secret));
                self.line(StreamId::STDERR, &line);
            }
            Step::Odd => self.line(StreamId::S2C, "Starting up … {"),
            Step::Batch(is_secret) => self.batch(said(is_secret)),
            Step::Ask(is_secret) => self.asked(said(is_secret)),
            Step::List(is_secret) => self.list(said(is_secret)),
            Step::Event(is_secret) => {
                let message = format!("said {}", said(is_secret));
                self.session.event(&EventKind::Warning { message });
            }
            Step::Note => self.notes.push(self.frames),
        }
    }

    /// A call that waits for its answer.
    fn go_on(&mut self) -> String {
        let id = self.id();
        self.ask(&id, "tool_1", r#"{"text":"go on"}"#, "");
        id
    }

    fn cancelled(&mut self) {
        let id = self.id();
        self.ask(&id, "tool_1", r#"{"text":"row 1"}"#, "");
        self.t += 7_000_000_000;
        let note = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        self.line(StreamId::C2S, &note);
    }

    fn log(&mut self, said: &str) {
        let note = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{said}"}}}}"#
        );
        self.line(StreamId::S2C, &note);
    }

    fn batch(&mut self, said: &str) {
        let (one, other) = (self.id(), self.id());
        let line = format!(
            r#"[{{"jsonrpc":"2.0","id":{one},"method":"tools/call","params":{{"name":"tool_1","arguments":{{"text":"{said}"}}}}}},{{"jsonrpc":"2.0","id":{other},"method":"ping"}}]"#
        );
        self.line(StreamId::C2S, &line);
        self.answer(&other, r#""result":{}"#);
        self.answer(&one, &plain("done"));
    }

    fn asked(&mut self, said: &str) {
        let id = self.go_on();
        let asked = self.id();
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{asked},"method":"sampling/createMessage","params":{{"messages":[{{"role":"user","content":{{"type":"text","text":"{said}"}}}}],"maxTokens":9}}}}"#
        );
        self.line(StreamId::S2C, &line);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{asked},"result":{{"role":"assistant","model":"m","content":{{"type":"text","text":"ok"}}}}}}"#
        );
        self.line(StreamId::C2S, &line);
        self.answer(&id, &plain("done"));
    }
}

fn plain(text: &str) -> String {
    format!(r#""result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

fn plain_with(text: &str) -> String {
    format!(
        r#""result":{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"note":"so"}}}}"#
    )
}

const OPENING: [(StreamId, &str); 3] = [
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    ),
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ),
];

/// Calls in front of what is told, and behind it: enough for a copy of the rest to be worth while.
pub const PLAIN: usize = 50;

/// Records a session of these steps in `dir`; whoever started it gave a password.
pub fn told(dir: &Path, steps: &[Step]) -> std::path::PathBuf {
    told_with(dir, steps, (&[], false))
}

/// The same with rows between the first step and the others: in calls and their answers by turns,
/// or on lines of their own.
pub fn told_with(
    dir: &Path,
    steps: &[Step],
    (rows, own_lines): (&[(StreamId, String)], bool),
) -> std::path::PathBuf {
    let context = ProcessContext {
        argv: ["server", "--password", PASSWORD]
            .map(str::to_owned)
            .to_vec(),
        ..context("told", 0x7f3a_9c21)
    };
    let mut notes = Vec::new();
    let reel = recorded_as(&dir.join("told.reel"), context, |session| {
        let mut told = Told {
            session,
            next: 0,
            t: 0,
            notes: Vec::new(),
            frames: 0,
        };
        for (stream, line) in OPENING {
            told.line(stream, line);
        }
        told.list("something");
        let (first, rest) = steps.split_at(steps.len().min(1));
        for step in first {
            told.step(*step);
        }
        for (nth, (stream, row)) in rows.iter().enumerate() {
            if own_lines {
                told.line(*stream, row);
            } else {
                told.row(nth, row);
            }
        }
        for step in rest {
            told.step(*step);
        }
        notes = told.notes;
        session.end_with(exit(0));
    });
    for frame in notes {
        let note = format!("see {PASSWORD}");
        annotate::set_note(&reel, Some(Seq(frame)), Some(&note)).unwrap();
        annotate::set_mark(&reel, Seq(frame), Some("odd")).unwrap();
    }
    reel
}
