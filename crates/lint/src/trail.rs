//! Where a walk over a message stands: built on the stack as the walk goes in, written only where
//! something was found.

use mcpreel_wire::json::{Path, Step, Value};
use std::fmt::Write;

/// Bytes of names in a path that is written. Without a limit a hostile name would be stored with
/// every finding; what does not fit is left off from the inside, so that the path still leads to
/// what is around the place.
const WRITTEN: usize = 512;

/// The way from a message's top to a value.
#[derive(Clone, Copy, Debug)]
pub enum Trail<'t> {
    Top,
    /// A member, by its name, of what the trail leads to.
    Member(&'t Trail<'t>, Value<'t>),
    /// An element, counted from 0, of what the trail leads to.
    Element(&'t Trail<'t>, usize),
}

impl Trail<'_> {
    /// The path of members from the message's top, `result.tools[3].name`, read back by
    /// [`Path`]; characters that move a cursor or hide text are written as escapes.
    pub fn path(&self) -> Box<str> {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Self::Top => break,
                Self::Member(outer, name) => {
                    steps.push(Step::Member(name.as_str().unwrap_or_default().into()));
                    outer
                }
                Self::Element(outer, index) => {
                    steps.push(Step::Element(*index));
                    outer
                }
            };
        }
        steps.reverse();
        written(steps)
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
    use mcpreel_wire::json::Document;

    /// The path of the innermost first value.
    fn path(value: Value<'_>, trail: &Trail<'_>) -> Box<str> {
        if let Some((name, inner)) = value.members().next() {
            return path(inner, &Trail::Member(trail, name));
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

    #[test]
    fn a_long_path_ends_at_what_is_around_the_place() {
        let long = "x".repeat(WRITTEN);
        assert_eq!(&*of(&format!(r#"{{"params":{{"{long}":1}}}}"#)), "params");
    }
}
