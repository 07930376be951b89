//! Texts that are JSON themselves, as many tools answer: compared by what they say.

use super::equal::{Exhausted, equal};
use super::line::Label;
use super::walk::Walk;
use crate::protocol::json::{Document, Kind, Value};

impl Walk<'_> {
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

/// The object or the list that a text is.
fn document(text: &str) -> Option<Document<'_>> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| Document::parse(text.as_bytes()).ok())?
        .filter(|document| matches!(document.root().kind(), Kind::Object | Kind::Array))
}
