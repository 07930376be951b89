//! Params and results of every method against the shapes of its revision, and what stands in
//! places whose meaning the shapes know: URIs, base64, `_meta`.
//!
//! ```text
//!  message ─▶ pick: which shape? ─▶ check: value against shape ─▶ report ─▶ findings
//!                     └──── tables: a file per revision ────┘
//! ```
//!
//! * [`language`], [`types`], [`tables`]: the shapes, as data;
//! * [`check`], [`place`]: holding a value against a shape, and where it stands;
//! * `pick`: which shape a message should have, by method, direction, revision, `resultType` and
//!   task;
//! * `report`, `rules`: what is told, a few findings of each rule per message;
//! * `base64`, `uri`, `meta`: grammars.
//!
//! Where no handshake was seen, a message is held against every revision with a handshake, and
//! nothing is said about its shape if it fits one of them.

pub mod check;
pub mod language;
pub mod place;
pub mod tables;
pub mod types;

mod base64;
mod meta;
mod pick;
mod report;
mod rules;
mod uri;

use super::family::Family;
use super::finding::Findings;
use super::rule::{Revisions, Rule};
use super::seen::{Part, Seen};
use check::{Checker, Visitor};
use mcpreel_wire::message::Era;
use pick::{Picked, Tasks};
use place::Place;
use report::Report;
use tables::shapes;

/// The family of these rules. It remembers of which method tasks were made.
#[derive(Debug, Default)]
pub struct Shape {
    tasks: Tasks,
}

impl Family for Shape {
    fn name(&self) -> &'static str {
        "shape"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            self.tasks.learn(&part);
            self.part(&part, findings);
        }
    }
}

impl Shape {
    fn part(&self, part: &Part<'_>, findings: &mut Findings) {
        let revision = pick::revision(part);
        let Some(picked) = pick::pick(part, revision, &self.tasks) else {
            return;
        };
        let mut checker = Checker {
            shapes: shapes(revision),
            visitor: Report::new(part, revision, picked.rule),
        };
        held(&mut checker, &picked);
        let report = checker.visitor;
        let guessed = part.era() == Era::Legacy && part.seen.known.agreed().is_none();
        let certain = !(guessed && report.is_misshapen() && self.fits_another(part));
        report.tell(certain, findings);
    }

    /// Whether the message has the shape that some revision with a handshake asks for.
    fn fits_another(&self, part: &Part<'_>) -> bool {
        Revisions::LEGACY.iter().any(|revision| {
            let Some(picked) = pick::pick(part, revision, &self.tasks) else {
                return false;
            };
            let mut checker = Checker {
                shapes: shapes(revision),
                visitor: Count(0),
            };
            held(&mut checker, &picked);
            checker.visitor.0 == 0
        })
    }
}

/// Holds a message against the shape that was picked for it.
fn held<V: Visitor>(checker: &mut Checker<'_, V>, picked: &Picked<'_>) {
    let place = Place::top(picked.member);
    match picked.value {
        Some(value) => {
            checker.check(&language::Shape::Of(picked.base), &place, value);
            checker.check(&picked.shape, &place, value);
        }
        None if is_needed(checker, &picked.shape) => {
            checker.visitor.wrong(&place, &|| "is missing".to_owned());
        }
        None => {}
    }
}

/// Whether a message without params lacks something.
fn is_needed<V>(checker: &Checker<'_, V>, shape: &language::Shape) -> bool {
    let has_required = |fields: &[language::Field]| fields.iter().any(|field| field.required);
    match shape {
        language::Shape::Fields(fields) => has_required(fields),
        language::Shape::Of(name) => match checker.shapes.of(*name) {
            tables::Known::Fields(fields) => has_required(fields),
            tables::Known::Tagged(tagged, _) => tagged.default.is_none_or(|_| !tagged.open),
            tables::Known::Shape(shape) => !matches!(shape, language::Shape::Any),
            tables::Known::Absent => false,
        },
        _ => false,
    }
}

struct Count(usize);

impl Visitor for Count {
    fn wrong(&mut self, _: &Place<'_>, _: &dyn Fn() -> String) {
        self.0 += 1;
    }
}

#[cfg(test)]
mod tests;
