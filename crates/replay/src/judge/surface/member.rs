//! What an element says about itself.

use super::{Comparing, List, spot};
use crate::compare::{Change, Class, Excerpt, Verdict, compare_values};
use mcpreel_wire::json::{Path, Value};
use std::collections::BTreeSet;

/// Members that are looked at of one element.
const MAX_MEMBERS: usize = 1000;

impl Comparing<'_> {
    /// Both sides have the element, and it is not the same.
    pub(super) fn element(&mut self, left: Value<'_>, right: Value<'_>) {
        let mut seen = BTreeSet::new();
        let members = || left.members().chain(right.members());
        if members().count() > MAX_MEMBERS {
            return self.too_much("it", [Some(left), Some(right)]);
        }
        for (name, _) in members() {
            let name = name.as_str().unwrap_or_default();
            if !seen.insert(name.to_string()) {
                continue;
            }
            let sides = [left.get(&name), right.get(&name)];
            self.within(&name, |this| match (this.list, &*name) {
                (List::Tools, "inputSchema") => this.input(sides),
                (List::Tools, "outputSchema") => this.output(sides),
                (List::Tools, "annotations") => this.hints(sides),
                (List::Tools, "execution") => this.execution(sides),
                (List::Prompts, "arguments") => this.arguments(sides),
                _ => this.other(&name, sides),
            });
        }
        if left.kind() != right.kind() {
            let sides = [left, right].map(|side| Some(Excerpt::new(side.raw())));
            let sentence = "is of another type".to_owned();
            self.add(Class::Breaking, Change::Type, sentence, sides);
        }
    }

    /// What is worth a word because it is another text: nobody fails by it.
    pub(super) fn other(&mut self, name: &str, sides: [Option<Value<'_>>; 2]) {
        let excerpts = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
        match sides {
            [Some(left), Some(right)] => self.values(name, left, right),
            [Some(_), None] => {
                let sentence = format!("no `{name}` any more");
                self.add(Class::Changed, Change::Removed, sentence, excerpts);
            }
            [None, Some(_)] => {
                let sentence = format!("`{name}` is new");
                self.add(Class::Added, Change::Added, sentence, excerpts);
            }
            [None, None] => {}
        }
    }

    /// What is not looked at may as well be another one.
    pub(super) fn too_much(&mut self, name: &str, sides: [Option<Value<'_>>; 2]) {
        let sentence = format!("there is too much in `{name}` to compare it all");
        let sides = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
        self.add(Class::Changed, Change::Value, sentence, sides);
    }

    fn values(&mut self, name: &str, left: Value<'_>, right: Value<'_>) {
        let found = compare_values(self.terms, &self.place, left, right);
        self.out.passed_over += found.passed_over;
        if found.limits.not_compared > 0 {
            self.too_much(name, [Some(left), Some(right)]);
        }
        for (at, class) in found.differences() {
            let Verdict::Differs {
                change,
                left,
                right,
                ..
            } = found.lines[at].verdict.clone()
            else {
                continue;
            };
            let inner = found.path(at);
            let sentence = said(name, &inner, change);
            let length = self.place.len();
            self.place.extend(inner.steps().iter().filter_map(spot));
            self.add(class.max(Class::Changed), change, sentence, [left, right]);
            self.place.truncate(length);
        }
    }
}

/// What became of the value at `inner` of the member `name`.
fn said(name: &str, inner: &Path, change: Change) -> String {
    let dot = match inner.steps().first() {
        Some(mcpreel_wire::json::Step::Member(_)) => ".",
        _ => "",
    };
    match change {
        Change::Added => format!("`{name}{dot}{inner}` is new"),
        Change::Removed => format!("no `{name}{dot}{inner}` any more"),
        Change::Order => format!("`{name}{dot}{inner}` is in another order"),
        _ => format!("another `{name}{dot}{inner}`"),
    }
}
