//! Texts that are JSON themselves, as many tools answer, and texts in base64, as resources have
//! them: compared by what they say.

use super::equal::{Exhausted, equal};
use super::line::Label;
use super::walk::Walk;
use crate::noise;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcpreel_wire::json::{Document, Kind, Value};

impl Walk<'_> {
    /// The texts that two strings in base64 stand for, at a place for such.
    pub(super) fn decoded(&self, [left, right]: &[String; 2]) -> Option<[String; 2]> {
        let is_coded = !self.is_in_text && noise::is_coded(&self.names);
        let text = |coded: &str| {
            let bytes = BASE64.decode(coded).ok()?;
            String::from_utf8(bytes).ok().filter(|text| is_text(text))
        };
        is_coded
            .then(|| Some([text(left)?, text(right)?]))
            .flatten()
    }

    /// Compares two texts that both are an object or both a list, if they are. What stands within
    /// has the place of the text, and its own behind that. Texts in such texts are texts.
    pub(super) fn written(
        &mut self,
        depth: u16,
        label: &Label,
        [left, right]: [Value<'_>; 2],
        [l, r]: &[String; 2],
    ) -> bool {
        if self.is_in_text {
            return false;
        }
        let (Some(l), Some(r)) = (document(l), document(r)) else {
            return false;
        };
        let (l, r) = (l.root(), r.root());
        if l.kind() != r.kind() {
            return false;
        }
        self.is_in_text = true;
        match equal(l, r, &mut self.work) {
            Ok(true) => self.same(depth, label.clone(), left.raw()),
            Ok(false) => self.within(depth, label.clone(), [left, right], |walk| {
                walk.work.on_bytes(left.raw().len() + right.raw().len())?;
                walk.inside(depth, l, r)
            }),
            Err(Exhausted) => self.not_compared(depth, label.clone(), left, right),
        }
        self.is_in_text = false;
        true
    }
}

/// Whether it is a text for people, and not bytes that happen to be one.
fn is_text(text: &str) -> bool {
    let is_shown = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
    text.chars().all(is_shown)
}

/// The object or the list that a text is.
fn document(text: &str) -> Option<Document<'_>> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| Document::parse(text.as_bytes()).ok())?
        .filter(|document| matches!(document.root().kind(), Kind::Object | Kind::Array))
}
