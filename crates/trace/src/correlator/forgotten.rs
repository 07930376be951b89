//! Requests that were forgotten before their answer came: what comes for them is no stray.

use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::Direction;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Ids and tokens of such requests that are told from those that nobody used. Once there were more,
/// nothing that fits no request is called unknown any longer.
const TOLD: usize = 16_384;

#[derive(Clone, Copy, Debug, Hash)]
pub(super) enum Forgot {
    Id,
    Token,
}

/// The requests that were forgotten, by digests.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    digests: HashSet<u64>,
    order: VecDeque<u64>,
    is_incomplete: bool,
}

impl Forgotten {
    /// A request of this direction, with this id or token, is forgotten.
    pub(super) fn add(&mut self, what: (Forgot, Direction, &RequestId)) {
        let digest = digest(what);
        if self.digests.insert(digest) {
            self.order.push_back(digest);
        }
        if self.order.len() > TOLD
            && let Some(oldest) = self.order.pop_front()
        {
            self.digests.remove(&oldest);
            self.is_incomplete = true;
        }
    }

    /// Whether it is one of them, or may be.
    pub(super) fn may_have(&self, what: (Forgot, Direction, &RequestId)) -> bool {
        self.is_incomplete || !self.digests.is_empty() && self.digests.contains(&digest(what))
    }
}

fn digest(what: (Forgot, Direction, &RequestId)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_is_told_from_what_never_was_as_long_as_there_is_room() {
        let mut forgotten = Forgotten::default();
        let ids: Vec<_> = (0..=TOLD + 1)
            .map(|n| RequestId::string(&n.to_string()))
            .collect();
        let of = |id| (Forgot::Id, Direction::ClientToServer, id);
        for id in &ids[..TOLD] {
            forgotten.add(of(id));
        }
        assert!(forgotten.may_have(of(&ids[0])) && !forgotten.may_have(of(&ids[TOLD])));
        assert!(!forgotten.may_have((Forgot::Token, Direction::ClientToServer, &ids[0])));
        assert!(!forgotten.may_have((Forgot::Id, Direction::ServerToClient, &ids[0])));
        forgotten.add(of(&ids[TOLD]));
        assert_eq!(forgotten.digests.len(), TOLD);
        assert!(forgotten.may_have(of(&ids[0])) && forgotten.may_have(of(&ids[TOLD + 1])));
    }
}
