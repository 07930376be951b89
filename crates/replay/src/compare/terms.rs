//! By what two messages are compared.

use crate::rewrite::Rewrites;
use crate::rules::Scope;

/// By what two messages are compared; the default is for showing them side by side.
#[derive(Clone, Debug)]
pub struct Terms<'r> {
    /// The rules about these messages.
    pub scope: Scope<'r>,
    /// Paths of the left side that stand for others on the right.
    pub rewrites: &'r Rewrites,
    /// Whether numbers are equal only if written alike.
    pub exact_numbers: bool,
    /// Whether values that are the same are left out of the lines.
    pub differences_only: bool,
    /// Values that are not compared, because somebody else does: the members on the way to each.
    pub elsewhere: &'r [&'r [&'r str]],
}

static NO_REWRITES: Rewrites = Rewrites::NONE;

impl Default for Terms<'_> {
    fn default() -> Self {
        Self {
            scope: Scope::default(),
            rewrites: &NO_REWRITES,
            exact_numbers: false,
            differences_only: false,
            elsewhere: &[],
        }
    }
}
