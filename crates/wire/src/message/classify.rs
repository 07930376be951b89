//! From the bytes of a frame to its content.

use super::cut::is_known;
use super::{Body, Content, Message, Problem, body};
use crate::json::{Kind, Node, Outline, Reason, SyntaxError, Value, parse_into, parsed_root};

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

#[cfg(test)]
mod tests;
