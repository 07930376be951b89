//! Values against JSON schemas that a stranger wrote: compiled when first needed, never fetched
//! from anywhere, and never more work than was allowed beforehand.
//!
//! ```text
//!  text ─▶ serde_json::Value ─▶ Plan ─▶ Costs ─▶ jsonschema::Validator
//!           (bytes, depth)      (refs,   (work per level     │
//!                                patterns) of a value)       ▼
//!  value ─▶ Instance, with its Profile ───── allowed? ───▶ violations, with their paths
//! ```
//!
//! The validator cannot be interrupted, so that the work is estimated before: [`plan`] draws the
//! graph of a schema, [`cost`] counts how often a value's levels would be visited at most,
//! [`pattern`] weighs regular expressions. What would take too long is [`Skipped`], with the
//! reason; nothing is ever said about it that was not checked.

mod check;
mod cost;
mod dialect;
mod instance;
mod nodes;
mod pattern;
mod plan;
mod skipped;

pub use check::{Checker, Violation, plan};
pub use dialect::{Judged, judge};
pub use plan::Plan;
pub use skipped::Skipped;

use serde_json::Value;

/// Bytes of a schema that are looked at. Compiling takes up to 10 ms for as many: a larger one
/// would hold the indexer up.
pub const SCHEMA_BYTES: usize = 64 * 1024;

/// Bytes of a value that is checked. Reading alone takes a millisecond per 200 KB.
pub const VALUE_BYTES: usize = 256 * 1024;

/// The value of a JSON text. Whoever gives it a text has looked at its length.
pub fn value(text: &[u8]) -> Result<Value, Skipped> {
    serde_json::from_slice(text).map_err(|_| Skipped::Unreadable)
}

pub fn schema(text: &[u8]) -> Result<Value, Skipped> {
    if text.len() > SCHEMA_BYTES {
        return Err(Skipped::LargeSchema);
    }
    value(text)
}

#[cfg(test)]
mod tests;
