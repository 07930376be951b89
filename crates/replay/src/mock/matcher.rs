//! Which recorded request a live one stands for, and what comes nearest to one that stands for
//! none. Pure.
//!
//! ```text
//!  entries with the digest of the request:   a a a a a
//!                                                ▲ cursor   ▶ the first unused from here
//!                                              ▲            ▶ the first unused before it
//!                                                    ▲      ▶ the last one again
//! ```

use super::index::{Entry, Index};
use super::params::{HANDED_OUT, Wanted, is_reusable};
use crate::diff::{Class, Half, Side, Terms, compare_by};
use crate::rules::{Rules, Scope};
use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Exact,
    Normalised,
}

/// The recorded request that a live one stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub entry: u32,
    pub tier: Tier,
    pub repeats: bool,
}

/// Why a request is not on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No request of this method.
    Method,
    /// No request about this tool, prompt or resource.
    Name,
    Params,
    /// All that are on record have been used.
    Used,
    /// The recorded client did not go on from there.
    Round,
}

impl Reason {
    /// `method`, `name`, `params`, `used` or `round`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Name => "name",
            Self::Params => "params",
            Self::Used => "used",
            Self::Round => "round",
        }
    }
}

#[derive(Debug)]
pub struct Matcher {
    exact: Tried,
    normalised: Tried,
    used: Vec<bool>,
    /// The place after the last entry that was served.
    cursor: u32,
    highest: Option<u32>,
    once: bool,
}

impl Matcher {
    pub fn new(index: &Index, once: bool) -> Self {
        Self {
            exact: Tried::new(index, |entry| entry.exact),
            normalised: Tried::new(index, |entry| entry.normalised),
            used: vec![false; index.entries.len()],
            cursor: 0,
            highest: None,
            once,
        }
    }

    /// The recorded request that `wanted` stands for.
    pub fn find(&self, index: &Index, wanted: &Wanted) -> Result<Match, Reason> {
        let tiers = [
            (Tier::Exact, &self.exact, wanted.exact),
            (Tier::Normalised, &self.normalised, wanted.normalised),
        ];
        let mut all_used = false;
        for (tier, tried, digest) in tiers {
            let Some((entry, repeats)) = tried.pick(digest, self.cursor) else {
                continue;
            };
            if repeats && self.once && !is_reusable(&wanted.method) {
                all_used = true;
                continue;
            }
            return Ok(Match {
                entry,
                tier,
                repeats,
            });
        }
        Err(if all_used {
            Reason::Used
        } else {
            reason(index, wanted)
        })
    }

    /// Marks an entry as served. Returns whether it comes out of recorded order.
    pub fn take(&mut self, index: &Index, number: u32) -> bool {
        let first = !std::mem::replace(&mut self.used[number as usize], true);
        let entry = index.entry(number);
        self.exact.unused.remove(&(entry.exact, number));
        self.normalised.unused.remove(&(entry.normalised, number));
        if entry.reusable {
            return false;
        }
        self.cursor = number + 1;
        let earlier = self.highest.is_some_and(|highest| number < highest);
        self.highest = self.highest.max(Some(number));
        first && earlier
    }

    pub fn is_used(&self, entry: u32) -> bool {
        self.used[entry as usize]
    }

    /// The place after the last entry that was served.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }
}

fn reason(index: &Index, wanted: &Wanted) -> Reason {
    let (name, method) = (wanted.name_digest(), wanted.method_digest());
    let mut entries = index.entries.iter();
    if entries.clone().any(|entry| entry.name == name) {
        Reason::Params
    } else if entries.any(|entry| entry.method == method) {
        Reason::Name
    } else {
        Reason::Method
    }
}

/// The entries by one of their digests.
#[derive(Debug)]
struct Tried {
    unused: BTreeSet<(u64, u32)>,
    /// The last entry of each digest, used or not.
    last: HashMap<u64, u32>,
}

impl Tried {
    fn new(index: &Index, digest: impl Fn(&Entry) -> u64) -> Self {
        let fresh = index.numbered().filter(|(_, entry)| !entry.is_retry);
        let all = fresh.map(|(number, entry)| (digest(entry), number));
        Self {
            unused: all.clone().collect(),
            last: all.collect(),
        }
    }

    /// The entry with `digest` that is next from `cursor`, and whether it was used before.
    fn pick(&self, digest: u64, cursor: u32) -> Option<(u32, bool)> {
        let next = |from| {
            self.unused
                .range((digest, from)..=(digest, u32::MAX))
                .next()
        };
        match next(cursor).or_else(|| next(0)) {
            Some((_, number)) => Some((*number, false)),
            None => self.last.get(&digest).map(|number| (*number, true)),
        }
    }
}

/// The member of `_meta` in which an answer says that it is only the nearest.
pub const MARK: &str = "mcpreel/nearest";

/// Nearest requests that a miss names.
pub const NAMED: usize = 3;

/// Candidates that are compared: a recording can have a hundred thousand calls of one tool, and
/// a host can ask all day.
const COMPARED: usize = 64;

/// Bytes of params that are compared in all.
const BYTES: usize = 4 << 20;

/// Differing places that are named, and bytes of each.
const PATHS: usize = 10;
const PATH: usize = 256;

/// A recorded request that comes near a live one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub entry: u32,
    /// The number of places in which the params differ.
    pub distance: usize,
    /// These places, the first ones.
    pub paths: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The number of recorded requests with the same method and name, or, where there are none, of
    /// the same method.
    pub candidates: usize,
    pub same_name: bool,
    /// The nearest, [`NAMED`] at most.
    pub near: Vec<Near>,
}

/// The entries nearest to `wanted`, from `cursor` on first. `text` gives the text of the params of
/// an entry.
pub fn nearest(
    index: &Index,
    wanted: &Wanted,
    cursor: u32,
    rules: &Rules,
    text: impl Fn(u32) -> Option<String>,
) -> Nearest {
    let (name, method) = (wanted.name_digest(), wanted.method_digest());
    let of_method = index.numbered();
    let of_method = of_method.filter(|(_, it)| it.method == method && !it.is_retry);
    let mut all: Vec<_> = of_method.collect();
    let same_name = all.iter().any(|(_, entry)| entry.name == name);
    all.retain(|(_, entry)| !same_name || entry.name == name);
    all.sort_by_key(|(number, _)| *number < cursor);
    let scope = rules.scope(&wanted.method, wanted.name.as_deref());
    let (mut near, mut left) = (Vec::new(), BYTES);
    for (entry, _) in all.iter().take(COMPARED) {
        let Some(text) = text(*entry) else { continue };
        let Some(rest) = left.checked_sub(text.len() + wanted.texts.exact.len()) else {
            break;
        };
        left = rest;
        let (distance, paths) = distance(&text, &wanted.texts.exact, &scope);
        near.push(Near {
            entry: *entry,
            distance,
            paths,
        });
    }
    near.sort_by_key(|near| (near.distance, near.entry));
    near.truncate(NAMED);
    Nearest {
        candidates: all.len(),
        same_name,
        near,
    }
}

/// In how many places two texts of params differ in earnest, and in which.
fn distance(recorded: &str, live: &str, scope: &Scope<'_>) -> (usize, Vec<String>) {
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
        let mut path = found.path(at).to_string();
        // What a server has handed out matters, though it differs between any two runs.
        let name = path.strip_prefix("params.").unwrap_or_default();
        if class == Class::Noise && !HANDED_OUT.contains(&name) {
            continue;
        }
        distance += 1;
        if paths.len() < PATHS {
            path.truncate(path.floor_char_boundary(PATH));
            paths.push(path);
        }
    }
    (distance, paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::index::{NONE, Outcome};
    use crate::mock::reel::Place;
    use mcpreel_trace::frame::Seq;

    /// Entries with these digests, in this order.
    fn index(digests: &[u64]) -> Index {
        let entries = digests.iter().zip(1_u64..);
        let entry = |(digest, seq): (&u64, u64)| Entry {
            request: Place::new(Seq(seq), 0),
            response: None,
            exact: *digest,
            normalised: *digest / 10,
            name: 0,
            method: 0,
            next: NONE,
            outcome: Outcome::Answer,
            reusable: false,
            is_retry: false,
        };
        Index {
            entries: entries.map(entry).collect(),
            ..Index::default()
        }
    }

    /// The entries that requests with these digests get, one after the other.
    fn served(index: &Index, asked: &[u64]) -> Vec<Option<u32>> {
        let mut matcher = Matcher::new(index, false);
        let mut serve = |digest: &u64| {
            let wanted = Wanted {
                exact: *digest,
                normalised: *digest / 10,
                ..Wanted::new("tools/call", None, None, &Rules::default())
            };
            let found = matcher.find(index, &wanted).ok()?;
            matcher.take(index, found.entry);
            Some(found.entry)
        };
        asked.iter().map(&mut serve).collect()
    }

    #[test]
    fn the_next_unused_one_then_an_earlier_one_then_the_last_one_again() {
        let index = index(&[10, 20, 10, 30, 10]);
        let got = |asked: &[u64]| served(&index, asked).into_iter().map(Option::unwrap);
        assert!(got(&[10, 10, 10, 10, 10]).eq([0, 2, 4, 4, 4]));
        assert!(got(&[20, 10, 10, 10, 10]).eq([1, 2, 4, 0, 4]));
        assert!(got(&[30, 10, 10, 20, 10]).eq([3, 4, 0, 1, 2]));
        // Exact matches first, even used ones, then normalised ones.
        assert!(got(&[11, 11, 11, 11, 20]).eq([0, 2, 4, 4, 1]));
        assert_eq!(served(&index, &[50]), [None]);
    }

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
}
