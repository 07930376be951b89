//! Text off the wire and paths of members, safe to be shown: control characters, invisible characters
//! and invalid UTF-8 are written as escapes.

use mcpreel_wire::brief;
use mcpreel_wire::json::{Path, Step, Value};
use mcpreel_wire::text::{escape_bytes, plural};
use regex::Regex;
use std::fmt::Write;

/// An expression of our own.
pub(crate) fn expression(pattern: &str) -> Regex {
    Regex::new(pattern).expect("our expressions are valid")
}

/// Bytes that a finding shows. Without a limit a megabyte of log line would be stored twice.
const SHOWN: usize = 80;

/// The first bytes of `bytes` with everything escaped that is not plainly visible, and how many
/// more there are.
pub fn bytes(bytes: &[u8]) -> String {
    beginning(bytes, bytes.len())
}

/// The first bytes of what is `length` bytes long and begins with `bytes`.
fn beginning(bytes: &[u8], length: usize) -> String {
    let shown = &bytes[..cut(bytes)];
    let mut text = escape_bytes(shown).into_owned();
    let more = length - shown.len();
    if more > 0 {
        text = format!("{text}… ({})", plural(more as u64, "more byte"));
    }
    text
}

/// The same for text, also for one that is kept in [brief].
pub fn text(text: &str) -> String {
    beginning(text.as_bytes(), brief::length(text))
}

/// The place to cut: a character boundary, if the bytes are text there.
fn cut(bytes: &[u8]) -> usize {
    if bytes.len() <= SHOWN {
        return bytes.len();
    }
    let is_continuation = |at: &usize| bytes[*at] & 0xC0 == 0x80;
    let mut ends = (SHOWN - 3..=SHOWN).rev();
    ends.find(|at| !is_continuation(at)).unwrap_or(SHOWN)
}

/// Bytes of names in a path that is written. Without a limit a hostile name would be stored with
/// every finding; what does not fit is left off from the inside, so that the path still leads to
/// what is around the place.
const WRITTEN: usize = 512;

/// The way from a message's top to a value: built on the stack as a walk goes in, written only where
/// something was found.
#[derive(Clone, Copy, Debug)]
pub enum Trail<'t> {
    Top,
    /// A member that is known by its name.
    Member(&'t Trail<'t>, &'static str),
    /// A member with any name.
    Named(&'t Trail<'t>, Value<'t>),
    /// An element, counted from 0.
    Element(&'t Trail<'t>, usize),
    /// The same place, which is of this type.
    Type(&'t Trail<'t>, &'static str),
}

impl Trail<'_> {
    /// The path of members from the message's top, `result.tools[3].name`, read back by
    /// [`Path`]; characters that move a cursor or hide text are written as escapes.
    pub fn path(&self) -> Box<str> {
        let mut steps: Vec<_> = self.outwards().filter_map(Trail::step).collect();
        steps.reverse();
        written(steps)
    }

    /// Whether it leads to, or into, something of the type `name`.
    pub fn is_within(&self, name: &str) -> bool {
        let mut all = self.outwards();
        all.any(|at| matches!(at, Trail::Type(_, of) if *of == name))
    }

    fn outwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |at| match at {
            Trail::Top => None,
            Trail::Member(outer, _)
            | Trail::Named(outer, _)
            | Trail::Element(outer, _)
            | Trail::Type(outer, _) => Some(*outer),
        })
    }

    fn step(&self) -> Option<Step> {
        match self {
            Trail::Member(_, name) => Some(Step::Member((*name).into())),
            Trail::Named(_, name) => Some(Step::Member(name.as_str().unwrap_or_default().into())),
            Trail::Element(_, index) => Some(Step::Element(*index)),
            Trail::Top | Trail::Type(..) => None,
        }
    }
}

/// The path of these steps, as [`Trail::path`] writes it.
pub fn written(mut steps: Vec<Step>) -> Box<str> {
    let mut room = WRITTEN;
    let fitting = steps.iter().take_while(|step| {
        let rest = room.checked_sub(length(step));
        room = rest.unwrap_or_default();
        rest.is_some()
    });
    let fitting = fitting.count();
    steps.truncate(fitting);
    escaped(&Path::new(steps).to_string()).into()
}

fn length(step: &Step) -> usize {
    match step {
        Step::Member(name) => name.len() + 1,
        Step::Element(_) | Step::Every => 4,
    }
}

/// A path in which nothing is invisible. Only names in quotes hold such characters, and there an
/// escape of JSON stands for them.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for char in path.chars() {
        let shown = char.is_ascii_graphic() || char == ' ' || char.escape_debug().len() == 1;
        if shown || matches!(char, '"' | '\\') {
            out.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_or_hides_text_is_left() {
        assert_eq!(bytes(b"\x1b[2Jhi\x07\r"), "\\x1b[2Jhi\\x07\\r");
        assert_eq!(text("a\u{202e}b\u{e0068}"), "a\\u{202e}b\\u{e0068}");
        assert_eq!(bytes(b"ok \xc3\x28 \xff"), "ok \\xc3( \\xff");
        assert_eq!(text("na\u{ef}ve \"x\""), "na\u{ef}ve \"x\"");
    }
}

#[cfg(test)]
mod trail_tests {
    use super::*;
    use mcpreel_wire::json::Document;

    /// The path of the innermost first value.
    fn path(value: Value<'_>, trail: &Trail<'_>) -> Box<str> {
        if let Some((name, inner)) = value.members().next() {
            return path(inner, &Trail::Named(trail, name));
        }
        match value.elements().next() {
            Some(inner) => path(inner, &Trail::Element(trail, 0)),
            None => trail.path(),
        }
    }

    fn of(text: &str) -> Box<str> {
        let document = Document::parse(text.as_bytes()).unwrap();
        let written = path(document.root(), &Trail::Top);
        let read: Path = written.parse().unwrap();
        assert!(read.first(document.root()).is_some(), "{written}");
        written
    }

    #[test]
    fn a_path_leads_back_to_the_place_and_hides_nothing() {
        assert_eq!(
            &*of(r#"{"result":{"tools":[{"name":1}]}}"#),
            "result.tools[0].name"
        );
        assert_eq!(&*of(r#"{"odd key":[1]}"#), r#"["odd key"][0]"#);
        assert_eq!(
            &*of("{\"a\u{202e}b\":{\"\u{e0068}\":1}}"),
            r#"["a\u202eb"]["\udb40\udc68"]"#
        );
        assert_eq!(&*of(r#"{"\u001b[2J":1}"#), r#"["\u001b[2J"]"#);
        assert_eq!(&*of("7"), "");
    }
}
