//! Two messages as a whole: one that is missing, bytes that are no JSON, a result beside an error.

use super::line::{Excerpt, Label, Verdict};
use super::walk::Walk;
use super::{Change, Class};
use mcpreel_wire::json::{Kind, Value};

impl Walk<'_> {
    /// One of the messages, or both, are not there.
    pub(super) fn one_side_missing(&mut self, left: Option<&[u8]>, right: Option<&[u8]>) {
        let (class, change) = match (left, right) {
            (None, None) => return,
            (Some(_), _) => (self.worse(), Change::Removed),
            (None, Some(_)) => (Class::Added, Change::Added),
        };
        let verdict = Verdict::Differs {
            class,
            change,
            left: left.map(Excerpt::new),
            right: right.map(Excerpt::new),
        };
        self.push(0, Label::Root, verdict);
    }

    /// Two messages of which one is no JSON.
    pub(super) fn bytes(&mut self, left: &[u8], right: &[u8]) {
        self.out.limits.as_bytes = true;
        if left == right {
            return self.push(0, Label::Root, Verdict::Same(Excerpt::unchanged(left)));
        }
        let [left, right] = Excerpt::pair(left, right).map(Some);
        let verdict = Verdict::Differs {
            class: Class::Changed,
            change: Change::Value,
            left,
            right,
        };
        self.push(0, Label::Root, verdict);
    }

    /// Two messages. A result beside an error is one difference, not two.
    pub(super) fn message(&mut self, left: Value<'_>, right: Value<'_>) {
        let (Some((l_word, l)), Some((r_word, r))) = (outcome(left), outcome(right)) else {
            return self.value(0, Label::Root, left, right);
        };
        if l_word == r_word {
            return self.value(0, Label::Root, left, right);
        }
        let class = match r_word {
            "error" => self.worse(),
            _ => Class::Changed,
        };
        self.push(0, Label::Root, Verdict::Within(Kind::Object));
        let verdict = Verdict::Differs {
            class,
            change: Change::Outcome,
            left: Some(Excerpt::of(l)),
            right: Some(Excerpt::of(r)),
        };
        self.push(1, Label::Member(l_word.into()), verdict);
        if self.members(1, left, right, &["result", "error"]).is_err() {
            self.not_compared(1, Label::Root, left, right);
        }
    }
}

/// `result` or `error` of a response.
fn outcome(message: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    let error = message.get("error").filter(|error| !error.is_null());
    match (message.get("result"), error) {
        (Some(result), None) => Some(("result", result)),
        (None, Some(error)) => Some(("error", error)),
        _ => None,
    }
}
