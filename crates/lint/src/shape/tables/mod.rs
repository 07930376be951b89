//! The shapes of every method, a table per revision that says what changed.
//!
//! A new revision is a file here with its table, and a line in `TABLES`.

// Clippy does not look for this in the unit tests' build.
#![cfg_attr(
    not(test),
    expect(
        clippy::enum_glob_use,
        reason = "a table names most of the types, and nothing else by such names"
    )
)]

mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

use super::language::{Case, Change, Field, Method, Shape, Table, Tagged};
use super::types::Type;
use mcpreel_wire::mcp::Revision;
use std::sync::LazyLock;

/// The tables, in the order of [`Revision::ALL`].
const TABLES: [&Table; Revision::ALL.len()] = [
    &v2024_11_05::TABLE,
    &v2025_03_26::TABLE,
    &v2025_06_18::TABLE,
    &v2025_11_25::TABLE,
    &v2026_07_28::TABLE,
];

#[derive(Clone, Debug)]
pub enum Definition {
    Absent,
    Fields(Vec<Field>),
    /// An object that a member tells apart.
    Tagged(Tagged, Vec<Case>),
    Shape(Shape),
}

#[derive(Clone, Debug)]
pub struct Shapes {
    types: Vec<Definition>,
    methods: Vec<Method>,
}

/// The shapes of `revision`: those of its table and of all earlier ones.
pub fn shapes(revision: Revision) -> &'static Shapes {
    static ALL: LazyLock<Vec<Shapes>> = LazyLock::new(|| {
        let mut shapes = Shapes {
            types: vec![Definition::Absent; Type::COUNT],
            methods: Vec::new(),
        };
        let cumulate = |table: &&Table| {
            shapes.change(table);
            shapes.clone()
        };
        TABLES.iter().map(cumulate).collect()
    });
    &ALL[revision as usize]
}

impl Shapes {
    pub fn of(&self, name: Type) -> &Definition {
        &self.types[name as usize]
    }

    /// The params and the result of the method called `name`, also where this revision has it no
    /// more.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    fn change(&mut self, table: &Table) {
        for (name, change) in table.types {
            let known = &mut self.types[*name as usize];
            match (change, known) {
                (Change::Is(shape), known) => *known = fresh(*shape),
                (Change::Has(fields), Definition::Fields(known)) => {
                    for field in *fields {
                        replace(known, *field, |field| field.name);
                    }
                }
                (Change::HasCases(cases), Definition::Tagged(_, known)) => {
                    for case in *cases {
                        replace(known, *case, |case| case.0);
                    }
                }
                // A table that adds to what is not there; see the tests.
                (Change::Has(fields), known) => *known = Definition::Fields(fields.to_vec()),
                (Change::HasCases(_), _) => {}
            }
        }
        for method in table.methods {
            replace(&mut self.methods, *method, |method| method.name);
        }
    }
}

fn fresh(shape: Shape) -> Definition {
    match shape {
        Shape::Fields(fields) => Definition::Fields(fields.to_vec()),
        Shape::Tagged(tagged) => Definition::Tagged(tagged, tagged.cases.to_vec()),
        shape => Definition::Shape(shape),
    }
}

/// Puts `one` in the place of what has the same name, or at the end.
fn replace<T>(all: &mut Vec<T>, one: T, name: impl Fn(&T) -> &'static str) {
    match all.iter().position(|other| name(other) == name(&one)) {
        Some(at) => all[at] = one,
        None => all.push(one),
    }
}

#[cfg(test)]
mod tests;
