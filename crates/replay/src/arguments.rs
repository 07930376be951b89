//! The arguments of a request as a text that a person edits, and what that means for the request.
//!
//! Numbers and strings stand there as on the wire, so that whatever is not touched stays what it
//! was; only what a terminal would obey or nobody could see is spelled out as an escape, which
//! means the same. A text that says nothing else than before changes nothing, not a byte.

use mcpreel_wire::json::{Document, Path, Step, SyntaxError, Value};
use mcpreel_wire::text::escape;
use std::fmt::Write as _;

/// Longer requests are not edited by hand.
pub const LONGEST: u64 = 1 << 18;

#[derive(Clone, Debug)]
pub struct Arguments {
    /// Where in the request they stand.
    pub path: Path,
    /// What they say, a member a line.
    pub text: String,
}

/// Why a text is not taken: where it goes wrong, both from 1, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub struct Mistake {
    pub line: usize,
    pub column: usize,
    pub why: &'static str,
}

impl Arguments {
    /// Those of the request `message` of `method`: what a tool or prompt is given, else all
    /// parameters. Why there are none that could be edited.
    pub fn of(message: &[u8], method: &str) -> Result<Self, &'static str> {
        let document = Document::parse(message).map_err(|_| "the request cannot be read")?;
        let params = document.root().get("params");
        let params = params.ok_or("the request has no parameters")?;
        let member = |name: &str| Step::Member(name.into());
        let has_arguments = matches!(method, "tools/call" | "prompts/get") && params.is_object();
        if !has_arguments {
            let path = Path::new(vec![member("params")]);
            let text = pretty(params)?;
            return Ok(Self { path, text });
        }
        let path = Path::new(vec![member("params"), member("arguments")]);
        let text = match params.get("arguments") {
            Some(arguments) => pretty(arguments)?,
            None => "{}".to_owned(),
        };
        Ok(Self { path, text })
    }

    /// `json` as a text that can be edited in place of that of these arguments.
    pub fn with_lines(&self, json: &str) -> Option<String> {
        let document = Document::parse(json.as_bytes()).ok()?;
        pretty(document.root()).ok()
    }

    /// What is to be sent in their place where a person has made `text` of them, on one line;
    /// `None` where that says what was there before.
    pub fn changed(&self, text: &str) -> Result<Option<String>, Mistake> {
        Document::parse(text.as_bytes()).map_err(|error| Mistake::new(text, error))?;
        let new = laid_out(text, false);
        Ok(Some(new).filter(|new| *new != laid_out(&self.text, false)))
    }
}

impl Mistake {
    fn new(text: &str, error: SyntaxError) -> Self {
        let end = text.floor_char_boundary(error.offset);
        let before = &text[..end];
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            why: error.reason.as_str(),
        }
    }
}

/// The value with a member or an element a line, and nothing in it that a terminal would obey.
fn pretty(value: Value<'_>) -> Result<String, &'static str> {
    let text = std::str::from_utf8(value.raw());
    let text = text.map_err(|_| "there are bytes in it that are no text")?;
    Ok(laid_out(text, true))
}

/// A JSON text on one line, or for people: with a member or an element a line, and what they could
/// not see spelled out.
fn laid_out(json: &str, for_people: bool) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut depth, mut in_string, mut is_escaped) = (0, false, false);
    for letter in json.chars() {
        if in_string {
            in_string = letter != '"' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            if for_people {
                spell(letter, &mut out);
            } else {
                out.push(letter);
            }
            continue;
        }
        let line = |depth: usize, out: &mut String| {
            if for_people {
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
        };
        match letter {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                depth += 1;
                out.push(letter);
                line(depth, &mut out);
            }
            '}' | ']' => {
                depth -= 1;
                let content = out.trim_ascii_end().len();
                if out[..content].ends_with(['{', '[']) {
                    out.truncate(content);
                } else {
                    line(depth, &mut out);
                }
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                line(depth, &mut out);
            }
            ':' => out.push_str(if for_people { ": " } else { ":" }),
            _ => {
                in_string = letter == '"';
                out.push(letter);
            }
        }
    }
    out
}

/// A character of a string; as an escape where a terminal would obey it or nobody could see it.
fn spell(letter: char, out: &mut String) {
    let mut buffer = [0; 4];
    if *escape(letter.encode_utf8(&mut buffer)) == *letter.encode_utf8(&mut [0; 4]) {
        return out.push(letter);
    }
    for unit in letter.encode_utf16(&mut [0; 2]) {
        // Writing to a string does not fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Vec<u8> {
        format!(r#"{{"id":1,"params":{{"name":"t","arguments":{arguments}}}}}"#).into_bytes()
    }

    fn arguments(text: &str) -> Arguments {
        Arguments::of(&call(text), "tools/call").unwrap()
    }

    #[test]
    fn they_stand_a_member_a_line_as_on_the_wire_but_for_what_nobody_could_see() {
        let of =
            arguments("{\"b\":1.0,\"a\":[1e2,{}],\"b\":\"\u{9b}2J\u{e0041}\",\"c\":{\"d\":[ ]}}");
        let expected = "{\n  \"b\": 1.0,\n  \"a\": [\n    1e2,\n    {}\n  ],\n  \"b\": \
                        \"\\u009b2J\\udb40\\udc41\",\n  \"c\": {\n    \"d\": []\n  }\n}";
        assert_eq!(of.text, expected);
        assert_eq!(of.changed(&of.text), Ok(None));
    }

    #[test]
    fn a_text_that_says_the_same_changes_nothing() {
        let of = arguments(r#"{"a":1.0,"b":"\u202e"}"#);
        let spelled = " { \"a\":1.0 ,\n\"b\":\"\\u202e\" }\n";
        assert_eq!(of.changed(spelled), Ok(None));
        // Another text of the same number is what somebody may want to try.
        let other = of.changed(&of.text.replace("1.0", "1"));
        assert_eq!(other.unwrap().as_deref(), Some(r#"{"a":1,"b":"\u202e"}"#));
    }

    #[test]
    fn what_is_no_json_is_refused_with_the_place() {
        let of = arguments("{}");
        let mistake = of.changed("{\n  \"é\": tru\n}").unwrap_err();
        assert_eq!((mistake.line, mistake.column), (2, 8));
        let mistake = of.changed("{\"a\": 1").unwrap_err();
        assert_eq!(mistake.line, 1);
        assert!(!mistake.why.is_empty());
        assert!(of.changed("").is_err());
    }

    #[test]
    fn a_tool_without_arguments_can_be_given_some_and_other_requests_are_edited_whole() {
        let none = br#"{"params":{"name":"t"}}"#;
        let of = Arguments::of(none, "tools/call").unwrap();
        assert_eq!((&*of.text, of.changed("{}")), ("{}", Ok(None)));
        let read = Arguments::of(br#"{"params":{"uri":"a:b"}}"#, "resources/read").unwrap();
        assert_eq!(read.path.to_string(), "params");
        assert!(Arguments::of(br#"{"id":1}"#, "ping").is_err());
        assert!(Arguments::of(b"{\"params\":{\"a\":\"\xff\"}}", "ping").is_err());
        assert!(Arguments::of(b"no JSON", "ping").is_err());
    }
}
