//! What was declared, and what of it was used.

use super::State;
use mcpreel_wire::mcp::capabilities;
use mcpreel_wire::mcp::{Revision, methods};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    ByClient,
    ByServer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityUse {
    /// The path of members that declares it: `resources.subscribe`. Not yet escaped.
    pub path: String,
    pub declared: bool,
    /// Whether a method that needs it was used.
    pub used: bool,
}

/// The capabilities of a side, by path.
pub(super) fn capabilities(state: &State, by: Declared) -> Vec<CapabilityUse> {
    let (peer, known) = match by {
        Declared::ByClient => (&state.session.client, capabilities::CLIENT),
        Declared::ByServer => (&state.session.server, capabilities::SERVER),
    };
    let declared = capabilities::Declared::read(peer.capabilities.as_deref());
    let used = used(state, by);
    let known = known.iter().map(|capability| capability.path);
    let known: BTreeSet<&str> = known.collect();
    let paths: BTreeSet<&str> = declared
        .iter()
        .chain(used.iter().copied().filter(|path| known.contains(path)))
        .collect();
    paths
        .into_iter()
        .map(|path| CapabilityUse {
            declared: declared.has(path),
            used: used.contains(path),
            path: path.to_owned(),
        })
        .collect()
}

/// What the methods that were used need of the side that offers them: of requests the one that
/// receives them, of notifications the one that sends them, unless it is the other one's to
/// declare.
fn used(state: &State, by: Declared) -> BTreeSet<&'static str> {
    let known = match by {
        Declared::ByClient => capabilities::CLIENT,
        Declared::ByServer => capabilities::SERVER,
    };
    let version = state.session.version().and_then(Revision::judging);
    let mut used = BTreeSet::new();
    for &(name, to_server) in &state.used {
        let Some(method) = methods::find(name) else {
            continue;
        };
        let usage = match version {
            Some(version) => method.used_in(version),
            None => method.uses().next(),
        };
        let Some(path) = usage.and_then(|usage| usage.capability) else {
            continue;
        };
        let offered_by_server = (method.kind == methods::Kind::Request) == to_server;
        let by_server = by == Declared::ByServer;
        if offered_by_server == by_server && known.iter().any(|one| one.path == path) {
            // Who uses a part uses the whole.
            used.extend(path.match_indices('.').map(|(at, _)| &path[..at]));
            used.insert(path);
        }
    }
    used
}
