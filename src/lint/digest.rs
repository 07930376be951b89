//! What tells values apart that need not be kept themselves.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A number that is the same for what is the same, and for hardly anything else.
pub(super) fn of(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
