//! The arguments of a prompt: texts by name, some of them required.

use super::Comparing;
use crate::compare::{Change, Class, Excerpt};
use mcpreel_wire::json::Value;

/// Arguments that are looked at: each is looked for on the other side.
const MAX_ARGUMENTS: usize = 500;

impl Comparing<'_> {
    pub(super) fn arguments(&mut self, sides: [Option<Value<'_>>; 2]) {
        let [l, r] = sides.map(|side| {
            let all = side.into_iter().flat_map(|side| side.elements());
            let named = all.map(|argument| (name(argument), argument));
            named.take(MAX_ARGUMENTS + 1).collect::<Vec<_>>()
        });
        if l.len().max(r.len()) > MAX_ARGUMENTS {
            return self.too_much("arguments", sides);
        }
        for (name, left) in &l {
            let right = r.iter().find(|(other, _)| other == name);
            if let Some((_, right)) = right {
                self.argument(name, *left, *right);
                continue;
            }
            let sentence = format!("argument `{name}` is gone");
            let sides = [Some(Excerpt::new(left.raw())), None];
            self.add(Class::Breaking, Change::Removed, sentence, sides);
        }
        for (name, right) in r
            .iter()
            .filter(|(name, _)| l.iter().all(|(n, _)| n != name))
        {
            let (class, kind) = if required(*right) {
                (Class::Breaking, "required")
            } else {
                (Class::Added, "optional")
            };
            let sentence = format!("argument `{name}` is new and {kind}");
            let sides = [None, Some(Excerpt::new(right.raw()))];
            self.add(class, Change::Added, sentence, sides);
        }
    }

    fn argument(&mut self, name: &str, left: Value<'_>, right: Value<'_>) {
        let (class, said) = match (required(left), required(right)) {
            (false, true) => (Class::Breaking, "is required now"),
            (true, false) => (Class::Added, "is optional now"),
            _ if self.work.same(Some(left), Some(right)) => return,
            _ => (Class::Changed, "is described in another way"),
        };
        let sides = [left, right].map(|side| Some(Excerpt::new(side.raw())));
        let sentence = format!("argument `{name}` {said}");
        self.add(class, Change::Value, sentence, sides);
    }
}

fn name(argument: Value<'_>) -> Box<str> {
    let name = argument.get("name").and_then(|name| name.as_str());
    name.unwrap_or_default().into()
}

fn required(argument: Value<'_>) -> bool {
    let required = argument.get("required").and_then(|value| value.as_bool());
    required.unwrap_or(false)
}
