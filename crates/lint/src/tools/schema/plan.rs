//! The graph of a schema: which part applies which others, to the same value or to what is in it.

mod drawing;
mod weight;

use super::skipped::Skipped;
use serde_json::Value;

/// Bytes that a value takes in memory beside its text, as a member of an object, about.
pub const VALUE_SIZE: u64 = 80;

/// One schema of the schemas that a schema consists of.
#[derive(Debug, Default)]
pub struct Part {
    /// Parts that are applied to the same value.
    pub here: Vec<usize>,
    /// Parts of which at most one is applied to each value inside.
    pub one_inside: Vec<usize>,
    /// Parts that are all applied to each value inside.
    pub all_inside: Vec<usize>,
    /// What is done at a value, beside all that.
    pub steps: u64,
    /// What is done with each byte of a text.
    pub per_byte: u64,
    /// Expressions that a text is matched with by going back.
    pub backtracking: u64,
    /// Parts applied to the same value, too, of which each may fail while the value still fits:
    /// the validator keeps what each finds wrong, with a copy of the value.
    pub alternatives: Vec<usize>,
    /// Errors that the validator may find at a value.
    pub errors: u64,
    /// Bytes of the schema that it copies into them.
    pub error_bytes: u64,
    /// Errors that copy names or more out of the value, wherever they stand.
    pub copies: u64,
}

/// The graph of a schema; part 0 is the schema itself.
#[derive(Debug, Default)]
pub struct Plan {
    pub parts: Vec<Part>,
    /// The first `$ref` that leads out of the schema.
    pub external: Option<String>,
    /// Why the graph is not the whole truth, so that nothing can be checked by it.
    pub incomplete: Option<Skipped>,
}

impl Plan {
    pub fn of(schema: &Value) -> Self {
        drawing::of(schema)
    }

    /// Whether it may be judged as a schema: not where an expression in it could take too long.
    pub fn readable(&self) -> Result<(), Skipped> {
        match self.incomplete {
            Some(reason @ (Skipped::Pattern | Skipped::ManyParts)) => Err(reason),
            _ => Ok(()),
        }
    }

    /// Whether values may be checked by it.
    pub fn usable(&self) -> Result<(), Skipped> {
        match (self.incomplete, &self.external) {
            (Some(reason), _) => Err(reason),
            (None, Some(_)) => Err(Skipped::External),
            (None, None) => Ok(()),
        }
    }
}
