//! Members that an object has twice.

use super::Problem;
use crate::protocol::json::Value;
use std::borrow::Cow;

/// Up to how many members are compared with each other before sorting pays.
const FEW: usize = 16;

/// How many repeated names one object reports: a hostile line must not become a longer list.
const MAX_REPORTED: usize = 8;

/// Adds a problem for each name that `object` has more than once; nothing for other values.
pub(super) fn report(object: Value<'_>, problems: &mut Vec<Problem>) {
    if !surely_distinct(object) {
        let mut names: Vec<Cow<'_, str>> = object
            .members()
            .filter_map(|(key, _)| key.as_str())
            .collect();
        names.sort_unstable();
        let equal = names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        problems.extend(equal.take(MAX_REPORTED).map(|same| Problem::DuplicateKey {
            key: same[0].as_ref().into(),
        }));
    }
}

/// Whether a look at the bytes is enough to say that no name repeats.
fn surely_distinct(object: Value<'_>) -> bool {
    let mut seen: [&[u8]; FEW] = [b""; FEW];
    for (index, (key, _)) in object.members().enumerate() {
        let name = key.string_bytes().unwrap_or_default();
        if index == FEW || key.has_escapes() || seen[..index].contains(&name) {
            return false;
        }
        seen[index] = name;
    }
    true
}
