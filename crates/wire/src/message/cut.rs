//! A message of which only a part is on record: its beginning, or its beginning and its end.
//!
//! What is whole of it is put together, so that it is known which message it is. The rest is left
//! out, and nothing is said of what is not there.

use super::{Body, Content, Problem, classify};
use crate::json::{Document, known, stops_before_its_end};

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
        ] {
            assert!(read(line).is_empty(), "{line}");
        }
    }
}
