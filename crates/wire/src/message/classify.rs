//! From the bytes of a frame to its content.

use super::{Body, Content, Message, Problem, body};
use crate::json::{
    Document, Kind, Node, Outline, Reason, SyntaxError, Value, known, parse_into, parsed_root,
    stops_before_its_end,
};

/// How many messages of a batch are looked at: a hostile line could hold half a million.
pub const MAX_PARTS: usize = 4096;

/// How many of them may be no messages: each is kept, and two bytes are enough to make one.
const MAX_INVALID: usize = 64;

/// Nodes kept for the next frame; more are given back, so that one huge frame does not hold its
/// memory for the rest of a session.
const KEPT_NODES: usize = 1 << 14;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What `frame`, a line with its terminator, holds. Without the terminator it is taken as
/// truncated, and read all the same.
pub fn classify(frame: &[u8]) -> Content {
    Classifier::default().classify(frame)
}

/// What a frame too large to hold contains, by its outline. The spans of its messages are those
/// within the outline. Nothing is said of what the outline leaves out.
pub fn classify_outline(outline: &[u8]) -> Content {
    let mut content = classify(outline);
    content.problems.push(Problem::OutlineOnly);
    content.messages.retain(|message| is_known(&message.body));
    for message in &mut content.messages {
        message.problems.clear();
    }
    content
}

/// The line of `message`, which `value` is.
pub fn line(message: &Message, value: Value<'_>) -> String {
    body::line(value, &message.body)
}

/// Of which messages the [`summary`](Message::summary) is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    OfAll,
    /// Of progress, whose line becomes part of the exchange. Of other messages [`line()`] makes it.
    OfProgress,
}

/// [`classify`] for many frames: memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    nodes: Vec<Node>,
}

impl Classifier {
    /// What `frame` holds; see [`classify`].
    pub fn classify(&mut self, frame: &[u8]) -> Content {
        let content = self.read(frame, Lines::OfAll).0;
        self.give_back();
        content
    }

    /// Gives memory back that only a huge frame needed; to be called when its value is done with.
    pub fn give_back(&mut self) {
        if self.nodes.capacity() > KEPT_NODES {
            self.nodes = Vec::new();
        }
    }

    /// What `frame` holds, and its JSON value: `None` where it has none, or where only its outline
    /// was read.
    pub fn read<'a>(&'a mut self, frame: &'a [u8], lines: Lines) -> (Content, Option<Value<'a>>) {
        let mut content = Content {
            problems: problems_of_line(frame),
            ..Content::default()
        };
        let text = frame.strip_prefix(BYTE_ORDER_MARK).unwrap_or(frame);
        let parsed = parse_into(text, &mut self.nodes).map(|root| read(root, lines, &mut content));
        if let Err(error) = parsed {
            content.problems.push(error.into());
            if matches!(error.reason, Reason::TooDeep { .. }) {
                self.read_outline(text, &mut content);
            }
        }
        shift(&mut content, frame.len() - text.len());
        let root = parsed.is_ok().then(|| parsed_root(text, &self.nodes));
        (content, root)
    }

    /// Reads a text that nests too deeply by its outline, so that at least its ids are known. Its
    /// messages span the whole text.
    fn read_outline(&mut self, text: &[u8], content: &mut Content) {
        match Outline::of(text) {
            Ok(outline) => {
                if let Ok(root) = parse_into(&outline, &mut self.nodes) {
                    read(root, Lines::OfAll, content);
                }
                content.messages.retain(|message| is_known(&message.body));
                for message in &mut content.messages {
                    message.span = 0..text.trim_ascii_end().len();
                    message.problems.clear();
                }
            }
            Err(error) => content.problems.push(error.into()),
        }
    }
}

/// What a frame too large to hold contains, if it has no outline. `terminated` says whether the
/// line ended.
pub fn classify_unread(error: SyntaxError, terminated: bool) -> Content {
    let truncated = (!terminated).then_some(Problem::Truncated);
    Content {
        problems: truncated.into_iter().chain([error.into()]).collect(),
        ..Content::default()
    }
}

/// What is wrong with the line as bytes.
fn problems_of_line(frame: &[u8]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !frame.ends_with(b"\n") {
        problems.push(Problem::Truncated);
    }
    if frame.starts_with(BYTE_ORDER_MARK) {
        problems.push(Problem::ByteOrderMark);
    }
    if frame.ends_with(b"\r\n") {
        problems.push(Problem::CarriageReturn);
    }
    if let Err(error) = std::str::from_utf8(frame) {
        let offset = error.valid_up_to();
        problems.push(Problem::InvalidUtf8 { offset });
    }
    problems
}

fn read(root: Value<'_>, lines: Lines, content: &mut Content) {
    match root.kind() {
        Kind::Object => content.messages.push(body::message(root, 0, lines)),
        Kind::Array => batch(root, lines, content),
        other => content.problems.push(Problem::NotObject {
            found: other.as_str(),
        }),
    }
}

fn batch(root: Value<'_>, lines: Lines, content: &mut Content) {
    content.batch = true;
    let mut invalid = 0;
    for (part, value) in (0u32..).zip(root.elements()).take(MAX_PARTS) {
        let message = body::message(value, part, lines);
        if matches!(message.body, Body::Invalid) {
            invalid += 1;
            if invalid > MAX_INVALID {
                continue;
            }
        }
        content.messages.push(message);
    }
    let problems = &mut content.problems;
    let parts = root.elements().count();
    if parts == 0 {
        problems.push(Problem::EmptyBatch);
    } else if parts > MAX_PARTS {
        let limit = MAX_PARTS;
        problems.push(Problem::BatchTooLong { parts, limit });
    }
    if invalid > MAX_INVALID {
        let limit = MAX_INVALID;
        problems.push(Problem::BatchOfOther { invalid, limit });
    }
}

/// Makes offsets count from the start of the frame, where something was skipped before the text.
fn shift(content: &mut Content, skipped: usize) {
    for message in &mut content.messages {
        message.span.start += skipped;
        message.span.end += skipped;
    }
    for problem in &mut content.problems {
        if let Problem::NotJson { offset, .. } = problem {
            *offset += skipped;
        }
    }
}

impl From<SyntaxError> for Problem {
    fn from(error: SyntaxError) -> Self {
        match error.reason {
            Reason::Empty => Self::Blank,
            Reason::TooDeep { limit } => Self::TooDeep { limit },
            reason => Self::NotJson {
                offset: error.offset,
                reason: reason.as_str(),
            },
        }
    }
}

// A message of which only a part is on record: its beginning, or its beginning and its end.
//
// What is whole of it is put together, so that it is known which message it is. The rest is left
// out, and nothing is said of what is not there.

/// What `frame` holds, of whose text a part is missing. Nothing else is wrong with it, for all that
/// is known.
pub fn classify_cut(frame: &[u8]) -> Content {
    let text = frame.trim_ascii();
    let mut content = if Document::parse(text).is_ok() {
        classify(frame)
    } else {
        // A text that can be read to where it stops has no end: what closes there is within.
        let end = if stops_before_its_end(text) {
            text
        } else {
            &[]
        };
        classify(&[&known(text, end)[..], b"\n"].concat())
    };
    content.problems = vec![Problem::Shortened];
    content.messages.retain(|message| is_known(&message.body));
    for message in &mut content.messages {
        message.problems.clear();
        message.span = 0..frame.trim_ascii_end().len();
    }
    content
}

/// Whether it is known which message it is: an answer says that by its id.
pub(super) fn is_known(body: &Body) -> bool {
    match body {
        Body::Response(response) => response.id.is_some(),
        Body::Invalid => false,
        Body::Request(_) | Body::Notification(_) => true,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod cut_tests {
    use super::*;
    use crate::message::Outcome;

    /// `REQUEST method id`, `RESPONSE id outcome` of what can be told of a line.
    fn read(line: &str) -> Vec<String> {
        let content = classify_cut(line.as_bytes());
        assert_eq!(content.problems, [Problem::Shortened], "{line}");
        let told = content.messages.iter().map(|message| {
            assert!(message.problems.is_empty(), "{line}");
            assert_eq!(message.span, 0..line.trim_end().len());
            match &message.body {
                Body::Request(it) => format!("{} {} {:?}", it.method, it.id.json(), it.name),
                Body::Response(it) => {
                    let id = it.id.as_ref().map(|id| id.json().to_owned());
                    let outcome = match &it.outcome {
                        Outcome::Result { identity } => match identity {
                            Some(it) => format!("{:?}", it.protocol_version),
                            None => "result".to_owned(),
                        },
                        other => format!("{other:?}"),
                    };
                    format!("{} {outcome}", id.unwrap_or_default())
                }
                Body::Notification(it) => it.method.to_string(),
                Body::Invalid => "nothing".to_owned(),
            }
        });
        told.collect()
    }

    #[test]
    fn which_message_it_is_is_told_from_its_beginning_or_its_end() {
        const CUT: &str = "Gets a fo...[14696 chars truncated]...red";
        for (line, expected) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":8,"result":{{"tools":[{{"name":"a","d":"{CUT}":["city"]}}]}}}}"#),
                "8 result",
            ),
            (
                format!(r#"{{"result":{{"tools":[{{"name":"a","d":"{CUT}":["a,b"]}}]}},"jsonrpc":"2.0","id":"8,1"}}"#),
                r#""8,1" result"#,
            ),
            (
                format!(r#"{{"result":{{"content":[{{"text":"{CUT}","x":[1]}}],"isError":true}},"jsonrpc":"2.0","id":3}}"#),
                "3 ToolError",
            ),
            (
                format!(r#"{{"result":{{"content":[{{"text":"{CUT}"x"}}],"isError":true}},"jsonrpc":"2.0","id":3}}"#),
                "3 ToolError",
            ),
            (
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","instructions":"Cal"#.into(),
                r#"0 Some("2025-06-18")"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"draw","arguments":{"a":"x"#.into(),
                r#"tools/call 4 Some("draw")"#,
            ),
            // What closes last is something within.
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","id":5}"#.into(),
                "1 result",
            ),
            // All of it is JSON.
            (
                format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"content":"{CUT}"}}}}"#),
                "5 result",
            ),
        ] {
            assert_eq!(read(&format!("{line}\n")), [expected], "{line}");
        }
    }

    #[test]
    fn nothing_is_guessed_of_what_is_not_there() {
        for line in [
            "",
            "{",
            "}",
            "no JSON",
            r#"{"jsonrpc":"2.0","id":8"#,
            r#"{"jsonrpc":"2.0","id":8,"resu"#,
            r#"...red":["city"]}]}}"#,
            r#"{"result":{"tools":[{"description":"Gets a fo"#,
        ] {
            assert!(read(line).is_empty(), "{line}");
        }
    }
}
