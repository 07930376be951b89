//! What sides can declare. Unknown capabilities are allowed.

use super::Revision::{
    self, V2024_11_05 as A, V2025_03_26 as B, V2025_06_18 as C, V2025_11_25 as D, V2026_07_28 as E,
};

/// A capability that a side can declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The path of members that declares it: `resources.subscribe`.
    pub path: &'static str,
    /// The first revision that has it.
    pub from: Revision,
    /// The last revision that has it, or the newest one known.
    pub to: Revision,
}

const fn since(path: &'static str, from: Revision, to: Revision) -> Capability {
    Capability { path, from, to }
}

/// What clients can declare.
pub const CLIENT: &[Capability] = &[
    since("experimental", A, E),
    since("extensions", E, E),
    since("roots", A, E),
    since("roots.listChanged", A, D),
    since("sampling", A, E),
    since("sampling.tools", D, E),
    since("sampling.context", D, E),
    since("elicitation", C, E),
    since("elicitation.form", D, E),
    since("elicitation.url", D, E),
    since("tasks", D, D),
    since("tasks.list", D, D),
    since("tasks.cancel", D, D),
    since("tasks.requests.sampling.createMessage", D, D),
    since("tasks.requests.elicitation.create", D, D),
];

/// What servers can declare.
pub const SERVER: &[Capability] = &[
    since("experimental", A, E),
    since("extensions", E, E),
    since("logging", A, E),
    since("completions", B, E),
    since("prompts", A, E),
    since("prompts.listChanged", A, E),
    since("resources", A, E),
    since("resources.subscribe", A, E),
    since("resources.listChanged", A, E),
    since("tools", A, E),
    since("tools.listChanged", A, E),
    since("tasks", D, D),
    since("tasks.list", D, D),
    since("tasks.cancel", D, D),
    since("tasks.requests.tools.call", D, D),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::mcp::methods::{METHODS, Method};

    #[test]
    fn every_capability_that_a_method_needs_can_be_declared() {
        for usage in METHODS.iter().flat_map(Method::uses) {
            let Some(needed) = usage.capability else {
                continue;
            };
            let mut all = CLIENT.iter().chain(SERVER);
            assert!(
                all.any(|known| known.path == needed && known.from <= usage.from),
                "{needed}"
            );
        }
    }
}
