//! What a tool says about what it does. A hint that is not there has a value as well.

use super::Comparing;
use crate::compare::{Change, Class, Excerpt};
use mcpreel_wire::json::Value;
use std::collections::BTreeSet;

/// A hint, what it is where nobody says it, and what it means when it becomes true or false.
struct Hint {
    name: &'static str,
    default: bool,
    now_true: &'static str,
    now_false: &'static str,
}

/// The hints of the protocol (Tools, `ToolAnnotations`).
const HINTS: [Hint; 4] = [
    Hint {
        name: "readOnlyHint",
        default: false,
        now_true: "says that it only reads now",
        now_false: "no longer says that it only reads: hosts that ran it unasked may ask, and a \
                    replay calls it only where that is allowed",
    },
    Hint {
        name: "destructiveHint",
        default: true,
        now_true: "may destroy something now",
        now_false: "says that it destroys nothing now",
    },
    Hint {
        name: "idempotentHint",
        default: false,
        now_true: "says that calling it twice does no more than once now",
        now_false: "calling it twice may do more than once now",
    },
    Hint {
        name: "openWorldHint",
        default: true,
        now_true: "may reach beyond its own data now",
        now_false: "says that it stays within its own data now",
    },
];

const MAX_MEMBERS: usize = 100;

impl Comparing<'_> {
    pub(super) fn hints(&mut self, sides: [Option<Value<'_>>; 2]) {
        for hint in &HINTS {
            let values = sides.map(|side| side.and_then(|side| side.get(hint.name)));
            self.within(hint.name, |this| this.hint(hint, values));
        }
        let mut seen: BTreeSet<String> = HINTS.iter().map(|hint| hint.name.into()).collect();
        let members = || sides.into_iter().flatten().flat_map(|side| side.members());
        if members().count() > MAX_MEMBERS {
            return self.too_much("annotations", sides);
        }
        for (name, _) in members() {
            let name = name.as_str().unwrap_or_default().into_owned();
            if seen.insert(name.clone()) {
                let values = sides.map(|side| side.and_then(|side| side.get(&name)));
                self.within(&name, |this| this.other(&name, values));
            }
        }
    }

    fn hint(&mut self, hint: &Hint, values: [Option<Value<'_>>; 2]) {
        let means = |value: Option<Value<'_>>| value.and_then(|value| value.as_bool());
        let [l, r] = values.map(|value| means(value).unwrap_or(hint.default));
        let sides = values.map(|value| value.map(|value| Excerpt::new(value.raw())));
        let (class, change, said) = match (l == r, &sides) {
            (false, _) if r => (Class::Changed, Change::Value, hint.now_true),
            (false, _) => (Class::Changed, Change::Value, hint.now_false),
            // What is said aloud now was so before.
            (true, [None, Some(_)]) => (Class::Noise, Change::Added, "says what was so before"),
            (true, [Some(_), None]) => (Class::Noise, Change::Removed, "no longer says what is so"),
            (true, _) => return,
        };
        self.add(class, change, format!("`{}`: {said}", hint.name), sides);
    }
}
