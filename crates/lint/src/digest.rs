//! What tells values apart that need not be kept themselves.

use foldhash::quality::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;

/// Of this process, so that nobody can make two values with one digest. What was made with it is of no
/// use to another.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// A number that is the same for what is the same, and for hardly anything else.
pub(super) fn of(what: impl Hash) -> u64 {
    SEED.hash_one(what)
}

/// Makes such a number bit by bit.
pub(super) fn hasher() -> impl Hasher {
    SEED.build_hasher()
}
