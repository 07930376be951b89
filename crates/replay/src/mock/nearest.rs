//! Of a request that stands for nothing on record: what comes nearest, and where it differs.

use super::index::Index;
use super::wanted::{self, Wanted};
use crate::compare::{Class, Half, Side, Terms, compare_by};
use crate::rules::{Rules, Scope};

/// Where in `_meta` it is said that an answer is only the nearest.
pub const MARK: &str = "mcpreel/nearest";

pub const NAMED: usize = 3;

/// Candidates that are compared: a recording can have a hundred thousand calls of one tool, and
/// a host can ask all day.
const COMPARED: usize = 64;

/// Bytes of a request that is compared.
const LARGEST: usize = 1 << 20;

/// Bytes of all that is compared, the request as often as it is.
const BYTES: usize = 4 << 20;

const PATH: usize = 256;

const PATHS: usize = 10;

/// A recorded request that comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub entry: u32,
    pub distance: usize,
    /// Where; not all if they are many.
    pub paths: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// Recorded requests with the same method and name, or, where there are none, of the same
    /// method.
    pub candidates: usize,
    /// How many of them were compared.
    pub compared: usize,
    /// Whether they have the same name.
    pub same_name: bool,
    /// The nearest, [`NAMED`] at most.
    pub near: Vec<Near>,
}

/// What comes nearest to `wanted`, from `cursor` on first. `text` gives the text of the params of
/// an entry.
pub fn nearest(
    index: &Index,
    wanted: &Wanted,
    cursor: u32,
    rules: &Rules,
    mut text: impl FnMut(u32) -> Option<String>,
) -> Nearest {
    let (same_name, candidates) = candidates(index, wanted, cursor);
    let mut found = Nearest {
        candidates: candidates.len(),
        same_name,
        ..Nearest::default()
    };
    let mut left = BYTES;
    let size = wanted.texts.exact.len();
    if size > LARGEST {
        return found;
    }
    let scope = rules.scope(&wanted.method, wanted.name.as_deref());
    for entry in candidates.into_iter().take(COMPARED) {
        let Some(text) = text(entry) else { continue };
        let Some(rest) = left.checked_sub(text.len() + size) else {
            break;
        };
        left = rest;
        found.compared += 1;
        let (distance, paths) = distance(&text, &wanted.texts.exact, &scope);
        found.near.push(Near {
            entry,
            distance,
            paths,
        });
    }
    found.near.sort_by_key(|near| (near.distance, near.entry));
    found.near.truncate(NAMED);
    found
}

fn candidates(index: &Index, wanted: &Wanted, cursor: u32) -> (bool, Vec<u32>) {
    let (name, method) = (wanted.name_digest(), wanted.method_digest());
    let around = || {
        let entries = index.entries.iter().zip(0_u32..);
        let (before, after): (Vec<_>, Vec<_>) = entries
            .filter(|(entry, _)| entry.method == method && !entry.hidden)
            .partition(|(_, at)| *at < cursor);
        after.into_iter().chain(before)
    };
    let named: Vec<_> = around()
        .filter(|(entry, _)| entry.name == name)
        .map(|(_, at)| at)
        .collect();
    if named.is_empty() {
        return (false, around().map(|(_, at)| at).collect());
    }
    (true, named)
}

/// Where the params of a request differ from those of one that it was taken for, by their texts.
pub fn noise(recorded: &str, wanted: &Wanted, rules: &Rules) -> Vec<String> {
    let scope = rules.scope(&wanted.method, wanted.name.as_deref());
    let live = &wanted.texts.exact;
    if recorded.len().max(live.len()) > LARGEST {
        return Vec::new();
    }
    differing(recorded, live, &scope, |_, _| true).1
}

/// In how many places two texts of params differ in earnest, and in which.
fn distance(recorded: &str, live: &str, scope: &Scope<'_>) -> (usize, Vec<String>) {
    differing(recorded, live, scope, |class, path| {
        class != Class::Noise || wanted::is_handed_out(path)
    })
}

/// In how many places of those that `counts` they differ, and in which.
fn differing(
    recorded: &str,
    live: &str,
    scope: &Scope<'_>,
    counts: impl Fn(Class, &str) -> bool,
) -> (usize, Vec<String>) {
    // Paths are those of the message.
    let [recorded, live] = [recorded, live].map(|params| format!("{{\"params\":{params}}}"));
    let [recorded, live] = [&recorded, &live].map(|text| Side {
        text: Some(text.as_bytes()),
        wall_ns: None,
    });
    let terms = Terms {
        scope: scope.clone(),
        ..Terms::default()
    };
    let found = compare_by(&terms, Half::Request, recorded, live);
    let (mut distance, mut paths) = (0, Vec::new());
    for (at, class) in found.differences() {
        let path = found.path(at).to_string();
        if !counts(class, &path) {
            continue;
        }
        distance += 1;
        if paths.len() < PATHS {
            paths.push(shortened(path));
        }
    }
    (distance, paths)
}

fn shortened(mut path: String) -> String {
    if path.len() > PATH {
        let end = path.floor_char_boundary(PATH);
        path.truncate(end);
        path.push('…');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_the_number_of_places_that_differ() {
        let of = |recorded, live| distance(recorded, live, &Scope::default());
        assert_eq!(of(r#"{"a":1}"#, r#"{"a":1.0}"#), (0, Vec::new()));
        let (count, paths) = of(r#"{"a":1,"b":[1,2]}"#, r#"{"a":2,"b":[1,3],"c":0}"#);
        assert_eq!(count, 3);
        assert_eq!(paths, ["params.a", "params.b[1]", "params.c"]);
        let task = |id| format!("{{\"taskId\":\"{id}\",\"requestedAt\":\"{id}\"}}");
        let one = task("8f1c9e52-6a52-4a0c-9d1c-2f6a0f6f1d11");
        let other = task("00000000-6a52-4a0c-9d1c-2f6a0f6f1d11");
        let found = distance(&one, &other, &Scope::default());
        assert_eq!(found, (1, vec!["params.taskId".to_owned()]));
    }

    #[test]
    fn long_paths_and_long_lists_of_them_are_cut() {
        let members = |value: u8| {
            let members: Vec<_> = (0..50).map(|n| format!("\"{n}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        };
        let (count, paths) = distance(&members(1), &members(2), &Scope::default());
        assert_eq!((count, paths.len()), (50, PATHS));
        let long = |value: u8| format!("{{\"{}\":{value}}}", "é".repeat(500));
        let (_, paths) = distance(&long(1), &long(2), &Scope::default());
        assert!(
            paths[0].len() <= PATH + 3 && paths[0].ends_with('…'),
            "{}",
            paths[0]
        );
    }
}
