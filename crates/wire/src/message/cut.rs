//! A message of which only a part is there: its beginning, or its beginning and its end.
//!
//! ```text
//! {"result":{"tools":[{"name":"a","descr…   …ns":false}]},"jsonrpc":"2.0","id":8}
//!  └ members that are whole                               └ members of the end that hold no others
//! ```
//!
//! What is whole of it is put together, so that it is known which message it is. The rest is left
//! out, and nothing is said of what is not there.

use super::{Body, Content, Problem, classify};
use crate::json::{Document, Stopped, Value};

/// Commas at which a member of the end may begin: strings may hold commas too.
const TRIED: usize = 16;

/// Bytes of the end in which a member is looked for, and members that are looked for.
const END: usize = 4096;
const MEMBERS: usize = 8;

/// Nodes of the beginning that are read: what says which message it is comes early.
const NODES: usize = 1 << 16;

/// What `frame` holds, of whose text a part is missing. Nothing else is wrong with it, for all that
/// is known.
pub fn classify_cut(frame: &[u8]) -> Content {
    let text = frame.trim_ascii();
    let mut content = match Document::parse(text) {
        Ok(_) => classify(frame),
        Err(_) => classify(&what_is_whole(text)),
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
fn is_known(body: &Body) -> bool {
    match body {
        Body::Response(response) => response.id.is_some(),
        Body::Invalid => false,
        Body::Request(_) | Body::Notification(_) => true,
    }
}

/// The members of the message that are there as a whole, as a line of JSON.
fn what_is_whole(text: &[u8]) -> Vec<u8> {
    let (document, stopped) = Document::read_prefix(text, NODES);
    // A text that can be read to where it stops has no end: what closes there is something within.
    let has_end = matches!(stopped, Some(Stopped::At(error)) if error.offset < text.len());
    let (end, rest) = ending(if has_end { text } else { &[] });
    // Of two that are called alike the later one counts: that of the beginning.
    let mut members: Vec<_> = end.into_iter().map(<[u8]>::to_vec).collect();
    let mut open = None;
    if let Some(root) = document.as_ref().map(Document::root) {
        for (name, value) in root.members() {
            // A number at the very end may go on.
            let is_whole = value.span().end < text.len() && is_json(value);
            open = (!is_whole).then_some((name.raw(), value));
            if is_whole {
                members.push(member(name.raw(), value.raw()));
            }
        }
    }
    let (inner, _) = ending(rest);
    if let Some((name, value)) = open.filter(|(name, value)| !name.is_empty() && value.is_object())
    {
        members.push(member(name, &within(value, &inner)));
    }
    [&b"{"[..], &members.join(&b','), b"}\n"].concat()
}

fn member(name: &[u8], value: &[u8]) -> Vec<u8> {
    [name, b":", value].concat()
}

fn is_json(value: Value<'_>) -> bool {
    Document::parse(value.raw()).is_ok()
}

/// What is whole of an object that is not, with the members at its `end`.
fn within(object: Value<'_>, end: &[&[u8]]) -> Vec<u8> {
    let goes_on = object.span().end;
    let is_whole = |value: Value<'_>| value.span().end < goes_on && is_json(value);
    let whole = object.members().filter(|(_, value)| is_whole(*value));
    let whole = whole.map(|(name, value)| member(name.raw(), value.raw()));
    let members: Vec<_> = whole
        .chain(end.iter().map(|member| member.to_vec()))
        .collect();
    [&b"{"[..], &members.join(&b','), b"}"].concat()
}

/// The last members of the object that `text` is the end of, as long as they hold no others, and
/// what comes before them.
fn ending(text: &[u8]) -> (Vec<&[u8]>, &[u8]) {
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
    let commas = commas.map(|comma| from + comma);
    let member = |comma: usize| (&text[..comma], &text[comma + 1..]);
    commas.map(member).find(|(_, member)| is_plain(member))
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
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"json"#,
        ] {
            assert!(read(line).is_empty(), "{line}");
        }
    }
}
