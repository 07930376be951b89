//! A small text that says what a text too large to hold is about, from its beginning and its end.
//!
//! ```text
//! {"result":{"tools":[{"name":"a","descr…   …ns":false}]},"jsonrpc":"2.0","id":8}
//!  └ what is whole in the beginning                       └ members of the end that hold no others
//!
//! {"jsonrpc":"2.0","id":8,"result":{"tools":[{"name":"a","description":"…"},"…"]}}
//! ```
//!
//! Values that are whole are kept as they are. An array or a string that goes on ends in `…`; a
//! string that is compared with others (an id, a name) is left out if it goes on.

use super::document::{Document, Stopped};
use super::scan::{self, Chars, Reason, SyntaxError};
use super::value::{Kind, Value};

/// Bytes of the beginning and of the end that are kept of a text that comes in chunks.
const KEPT: usize = 64 << 10;

/// Nodes of the beginning that are read.
const NODES: usize = 1 << 16;

/// Characters that are shown of a string that goes on.
const SHOWN_CHARS: usize = 4096;

/// Bytes of the end in which a member is looked for, commas at which one may begin (strings may
/// hold commas too), and members that are looked for.
const END: usize = 4096;
const TRIED: usize = 16;
const MEMBERS: usize = 8;

const ELLIPSIS: &str = "…";

/// Members whose values are compared: the beginning of one is another value.
const COMPARED: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "name",
    "uri",
    "code",
    "taskId",
    "progressToken",
    "requestId",
    "requestState",
    "io.modelcontextprotocol/subscriptionId",
];

/// The outline of a text that comes in chunks. Between the beginning and the end nothing is
/// looked at.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    beginning: Vec<u8>,
    end: Vec<u8>,
    length: usize,
}

impl Outline {
    /// The outline of a text that is all there.
    pub fn of(text: &[u8]) -> Result<Vec<u8>, SyntaxError> {
        let mut outline = Self::default();
        outline.push(text);
        outline.finish()
    }

    pub fn push(&mut self, chunk: &[u8]) {
        let room = KEPT - self.beginning.len();
        self.beginning
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        let last = &chunk[chunk.len().saturating_sub(KEPT)..];
        if self.end.len() + last.len() > 2 * KEPT {
            let gone = (self.end.len() + last.len() - KEPT).min(self.end.len());
            self.end.drain(..gone);
        }
        self.end.extend_from_slice(last);
        self.length += chunk.len();
    }

    /// The first 64 KiB of the text.
    pub fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// The outline, with the byte order mark and the line terminator of the text; or why the text
    /// is no JSON, as far as its beginning and its last character say so.
    pub fn finish(self) -> Result<Vec<u8>, SyntaxError> {
        let mark = b"\xef\xbb\xbf";
        let (mark, text) = match self.beginning.strip_prefix(mark) {
            Some(text) => (&mark[..], text),
            None => (&[][..], &self.beginning[..]),
        };
        if let (_, Some(Stopped::At(error))) = Document::read_prefix(text, NODES) {
            let is_cut = error.reason == Reason::End && self.length > self.beginning.len();
            if !is_cut && !matches!(error.reason, Reason::TooDeep { .. }) {
                return Err(error);
            }
        }
        let close = match text.trim_ascii_start().first() {
            Some(b'{') => &b"}"[..],
            Some(b'[') => b"]",
            _ => b"",
        };
        if !self.end.trim_ascii_end().ends_with(close) {
            return scan::error(self.length, Reason::End);
        }
        let terminator = match &self.end[self.end.trim_ascii_end().len()..] {
            [.., b'\r', b'\n'] => &b"\r\n"[..],
            [.., b'\n'] => b"\n",
            _ => b"",
        };
        Ok([mark, &known(text, &self.end), terminator].concat())
    }
}

/// What is known of a text with this `beginning` and, unless it is empty, this `end`, as JSON of
/// its own.
pub(crate) fn known(beginning: &[u8], end: &[u8]) -> Vec<u8> {
    let (document, stopped) = Document::read_prefix(beginning, NODES);
    let Some(document) = document else {
        return b"{}".to_vec();
    };
    let root = document.root();
    if stopped.is_none() || !matches!(root.kind(), Kind::Object | Kind::Array) {
        return root.raw().to_vec();
    }
    let (outer, rest) = last_members(end);
    let (inner, _) = last_members(rest);
    let mut out = Vec::new();
    write_open(root, &[outer, inner], &mut out);
    out
}

/// Whether `beginning` ends before the text that it is the beginning of is broken or over.
pub(crate) fn stops_before_its_end(beginning: &[u8]) -> bool {
    let (_, stopped) = Document::read_prefix(beginning, NODES);
    matches!(stopped, Some(Stopped::At(error)) if error.offset < beginning.len())
}

/// Writes a container that goes on. Of two members that are called alike the later one counts: that
/// of the beginning.
fn write_open(open: Value<'_>, ends: &[Vec<&[u8]>], out: &mut Vec<u8>) {
    let goes_on = open.span().end;
    let mut items: Vec<Vec<u8>> = Vec::new();
    if open.is_object() {
        items.extend(ends.iter().take(1).flatten().map(|member| member.to_vec()));
    }
    for (name, value) in open.members() {
        let value = shown(Some(name), value, goes_on, ends);
        items.extend(value.map(|value| [name.raw(), b":", &value].concat()));
    }
    for element in open.elements() {
        items.extend(shown(None, element, goes_on, &[]));
    }
    if open.is_object() {
        out.extend([&b"{"[..], &items.join(&b','), b"}"].concat());
    } else {
        items.push(format!("\"{ELLIPSIS}\"").into_bytes());
        out.extend([&b"["[..], &items.join(&b','), b"]"].concat());
    }
}

/// A value of a container that was read as far as `goes_on`; `None` where it is left out.
fn shown(
    name: Option<Value<'_>>,
    value: Value<'_>,
    goes_on: usize,
    ends: &[Vec<&[u8]>],
) -> Option<Vec<u8>> {
    if value.span().end < goes_on || Document::parse(value.raw()).is_ok() {
        return Some(value.raw().to_vec());
    }
    let mut out = Vec::new();
    match value.kind() {
        Kind::Object | Kind::Array => {
            write_open(value, ends.get(1..).unwrap_or_default(), &mut out);
        }
        Kind::String => {
            let is_compared = |name: Value<'_>| COMPARED.iter().any(|it| name.is_str(it));
            if name.is_some_and(is_compared) {
                return None;
            }
            // The last two characters may be halves of what they are.
            let characters: Vec<char> = Chars::new(&value.raw()[1..]).collect();
            let shown = characters.len().saturating_sub(2).min(SHOWN_CHARS);
            let text: String = characters[..shown].iter().collect();
            scan::quote(&(text + ELLIPSIS), &mut out);
        }
        Kind::Null | Kind::Bool | Kind::Number => return None,
    }
    Some(out)
}

/// The last members of the object that `text` is the end of, as long as they hold no others, and
/// what comes before them.
fn last_members(text: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let Some(mut rest) = text.trim_ascii_end().strip_suffix(b"}") else {
        return (Vec::new(), &[]);
    };
    let mut members = Vec::new();
    while members.len() < MEMBERS
        && let Some((before, member)) = last_member(rest)
    {
        members.push(member);
        rest = before;
    }
    members.reverse();
    (members, rest)
}

fn last_member(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let from = text.len().saturating_sub(END);
    let commas = memchr::memrchr_iter(b',', &text[from..]).take(TRIED);
    let mut members = commas.map(|comma| (&text[..from + comma], &text[from + comma + 1..]));
    members.find(|(_, member)| is_plain(member))
}

/// Whether `text` is one member whose value holds no others.
fn is_plain(text: &[u8]) -> bool {
    let object = [b"{", text, b"}"].concat();
    Document::parse(&object).is_ok_and(|document| {
        let mut members = document.root().members();
        let is_scalar = |value: Value<'_>| !value.is_object() && value.elements().next().is_none();
        let first = members.next().is_some_and(|(_, value)| is_scalar(value));
        first && members.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> String {
        let mut outline = Outline::default();
        text.as_bytes()
            .chunks(50_000)
            .for_each(|chunk| outline.push(chunk));
        let outline = String::from_utf8(outline.finish().unwrap()).unwrap();
        assert!(outline.len() < 200_000);
        Document::parse(outline.as_bytes()).unwrap_or_else(|error| panic!("{error}: {outline}"));
        outline
    }

    #[test]
    fn a_long_message_is_known_by_its_beginning_and_its_end() {
        let long = "x".repeat(2_000_000);
        let front = outline(&format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"write","arguments":{{"text":"{long}"}}}}}}"#
        ));
        assert!(front.starts_with(
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"write","arguments":{"text":"xxx"#
        ));
        assert!(front.ends_with("xxx…\"}}}"));
        let back = outline(&format!(
            r#"{{"result":{{"content":[{{"text":"{long}"}}],"isError":true}},"jsonrpc":"2.0","id":8}}"#
        ));
        assert!(back.starts_with(r#"{"jsonrpc":"2.0","id":8,"result":{"isError":true,"#));
        let list = outline(&format!(
            "{{\"id\":1,\"result\":{{\"tools\":[{}{{}}]}}}}\r\n",
            "{},".repeat(100_000)
        ));
        assert!(
            list.ends_with(",\"…\"]}}\r\n"),
            "{}",
            &list[list.len() - 20..]
        );
    }

    #[test]
    fn a_value_that_is_compared_is_whole_or_left_out() {
        let long = "x".repeat(200_000);
        let text = format!(r#"{{"method":"m","params":{{"uri":"{long}"}},"id":1}}"#);
        assert_eq!(outline(&text), r#"{"id":1,"method":"m","params":{}}"#);
    }
}
