//! What a tool takes and gives.

use super::schema::{self, Effect, Found, Role};
use super::{Comparing, spot};
use crate::compare::{Change, Class, Excerpt};
use mcpreel_wire::json::Value;

impl Comparing<'_> {
    pub(super) fn input(&mut self, sides: [Option<Value<'_>>; 2]) {
        self.schemas(Role::Input, sides);
    }

    pub(super) fn output(&mut self, sides: [Option<Value<'_>>; 2]) {
        let excerpts = sides.map(excerpt);
        match sides {
            [Some(_), Some(_)] => self.schemas(Role::Output, sides),
            [Some(_), None] => {
                let sentence = "gives no structured content that is described any more";
                self.add(
                    Class::Breaking,
                    Change::Removed,
                    sentence.to_owned(),
                    excerpts,
                );
            }
            [None, _] => {
                let sentence = "describes its structured content now".to_owned();
                self.add(Class::Added, Change::Added, sentence, excerpts);
            }
        }
    }

    fn schemas(&mut self, role: Role, [left, right]: [Option<Value<'_>>; 2]) {
        let outcome = schema::compare(role, left, right, &mut self.work);
        for found in outcome.found {
            self.found(role, found);
        }
        for (effect, times) in outcome.more {
            self.out.counts.add(class(role, effect), times);
        }
    }

    fn found(&mut self, role: Role, found: Found) {
        let length = self.place.len();
        self.place.extend(found.steps.iter().filter_map(spot));
        let sides = found.sides.map(|side| side.map(|raw| Excerpt::new(&raw)));
        let change = match &sides {
            [None, Some(_)] => Change::Added,
            [Some(_), None] => Change::Removed,
            _ => Change::Value,
        };
        let word = match role {
            Role::Input => "input",
            Role::Output => "output",
        };
        let sentence = match found.effect {
            Effect::Narrowed => format!("{word} narrowed: {}", found.sentence),
            Effect::Widened => format!("{word} widened: {}", found.sentence),
            _ => format!("{word}: {}", found.sentence),
        };
        self.add(class(role, found.effect), change, sentence, sides);
        self.place.truncate(length);
    }

    /// Whether the tool may be, or has to be, called as a task (2025-11-25).
    pub(super) fn execution(&mut self, sides: [Option<Value<'_>>; 2]) {
        let support = |side: Option<Value<'_>>| {
            let word = side?.get("taskSupport")?.as_str()?.into_owned();
            Some(word)
        };
        let [l, r] = sides.map(|side| support(side).unwrap_or_else(|| "forbidden".to_owned()));
        if l == r {
            return self.other("execution", sides);
        }
        let (class, said) = match (l.as_str(), r.as_str()) {
            (_, "required") => (Class::Breaking, "has to be called as a task now"),
            (_, "forbidden") => (Class::Breaking, "may no longer be called as a task"),
            ("required", "optional") => (Class::Added, "need not be called as a task any more"),
            ("forbidden", "optional") => (Class::Added, "may be called as a task now"),
            _ => (Class::Changed, "another `taskSupport`"),
        };
        self.within("taskSupport", |this| {
            this.add(class, Change::Value, said.to_owned(), sides.map(excerpt));
        });
    }
}

fn excerpt(side: Option<Value<'_>>) -> Option<Excerpt> {
    side.map(|value| Excerpt::new(value.raw()))
}

/// Who calls a tool gives what its input takes, and gets what its output may be.
fn class(role: Role, effect: Effect) -> Class {
    match (role, effect) {
        (Role::Input, Effect::Narrowed) | (Role::Output, Effect::Widened | Effect::Dropped) => {
            Class::Breaking
        }
        (Role::Input, Effect::Widened)
        | (Role::Output, Effect::Narrowed)
        | (_, Effect::Offered) => Class::Added,
        (Role::Input, Effect::Dropped) | (_, Effect::Changed) => Class::Changed,
    }
}
