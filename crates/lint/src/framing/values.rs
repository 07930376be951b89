//! One walk over the values of a message, for all rules that need every one of them.
//!
//! ```text
//!  object ─▶ repeated names          number ─▶ does a double hold it
//!  string ─▶ lone surrogates, and, where people or models are shown it, what it hides
//! ```

use super::rules::{
    CONTROL_CHARACTERS, DUPLICATE_KEY, HIDDEN_UNICODE, LONE_SURROGATE, NUMBER_PRECISION,
};
use super::shown::Scope;
use super::{numbers, text};
use crate::few::Few;
use crate::finding::Findings;
use crate::quote;
use crate::rule::Rule;
use crate::seen::{Part, Seen};
use crate::trail::Trail;
use mcpreel_wire::json::{Kind, Unit, Value};
use mcpreel_wire::text::plural;

/// Places that the findings of one rule in one frame name. A hostile frame could have a million.
const PLACES: usize = 8;

pub(super) fn look(seen: &Seen<'_>, findings: &mut Findings) {
    let mut found = Few::new(PLACES);
    for part in seen.parts() {
        if let Some(value) = part.value {
            Walk {
                part,
                found: &mut found,
            }
            .value(value, &Trail::Top, Scope::Protocol);
        }
    }
    let more = |more| format!(" (and {})", plural(more as u64, "more place"));
    found.give(more, findings);
}

struct Walk<'a, 'f> {
    part: Part<'a>,
    found: &'f mut Few,
}

impl Walk<'_, '_> {
    /// Recursion is bounded by the depth that a value may have.
    fn value(&mut self, value: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        match value.kind() {
            Kind::Object => self.object(value, trail, scope),
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    self.value(element, &Trail::Element(trail, index), scope);
                }
            }
            Kind::String => self.string(value, trail, scope),
            Kind::Number => self.number(value, trail),
            Kind::Bool | Kind::Null => {}
        }
    }

    fn object(&mut self, object: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        for name in object.repeated_names() {
            let named = |(key, _): &(Value<'_>, _)| key.is_str(&name);
            let Some((key, _)) = object.members().find(named) else {
                continue;
            };
            let detail = || format!("\"{}\"", quote::text(&name));
            self.note(&DUPLICATE_KEY, &Trail::Member(trail, key), detail);
        }
        for (key, member) in object.members() {
            let trail = Trail::Member(trail, key);
            if key.has_escapes() {
                self.surrogates(key, &trail);
            }
            self.value(member, &trail, scope.of_member(key, member));
        }
    }

    fn string(&mut self, string: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        if string.has_escapes() {
            self.surrogates(string, trail);
        }
        if scope != Scope::Shown {
            return;
        }
        let remarks = text::look(string);
        let kinds = [
            (&CONTROL_CHARACTERS, remarks.control),
            (&HIDDEN_UNICODE, remarks.hidden),
        ];
        for (rule, remark) in kinds {
            if let Some(remark) = remark {
                self.note(rule, trail, || remark.detail(string));
            }
        }
    }

    fn surrogates(&mut self, string: Value<'_>, trail: &Trail<'_>) {
        let bytes = string.string_bytes().unwrap_or_default();
        let mut escapes = memchr::memchr_iter(b'\\', bytes);
        if !escapes.any(|at| matches!(bytes.get(at + 1..at + 3), Some([b'u', b'd' | b'D']))) {
            return;
        }
        let lone = string.units().find_map(|unit| match unit {
            Unit::LoneSurrogate(code) => Some(code),
            _ => None,
        });
        if let Some(code) = lone {
            let detail = || format!("\\u{code:04x} in {}", quote::bytes(bytes));
            self.note(&LONE_SURROGATE, trail, detail);
        }
    }

    fn number(&mut self, number: Value<'_>, trail: &Trail<'_>) {
        let text = number.number_text().unwrap_or_default();
        if let Some(loss) = numbers::loss(text) {
            let detail = || format!("{}, {loss}", quote::text(text));
            self.note(&NUMBER_PRECISION, trail, detail);
        }
    }

    fn note(&mut self, rule: &'static Rule, trail: &Trail<'_>, detail: impl FnOnce() -> String) {
        let part = self.part;
        self.found
            .note(rule, || part.at(rule, detail()).path(trail.path()));
    }
}
