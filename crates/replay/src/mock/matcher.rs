//! Which recorded request a live one stands for, and what comes nearest to one that stands for
//! none. Pure.
//!
//! ```text
//!  entries with the digest of the request:   a a a a a
//!                                                ▲ cursor   ▶ the first unused from here
//!                                              ▲            ▶ the first unused before it
//!                                                    ▲      ▶ the last one again
//! ```

use super::index::Index;
use crate::diff;
use crate::diff::key::Terms;
use crate::diff::{Class, Half, compare_by, key};
use crate::gaps;
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Scope, Side};
use compact_str::CompactString;
use mcpreel_redact::token::names_in;
use mcpreel_trace::exchange::PROBE;
use mcpreel_wire::json::{Document, Value, canonical, follow};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::{Body, classify};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The recorded request that a live one stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub entry: usize,
    pub repeats: bool,
    /// Whether the two differ in what no two runs share.
    pub normalised: bool,
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
        ["method", "name", "params", "used", "round"][self as usize]
    }

    pub(super) fn in_words(self) -> &'static str {
        [
            "no such request is on record",
            "nothing of this name is on record",
            "not on record with these params",
            "what is on record has been used",
            "the recorded client did not go on from there",
        ][self as usize]
    }
}

#[derive(Debug)]
pub struct Matcher {
    /// The entries that were not served yet, each by the digests of its exact and of its
    /// normalised params.
    unused: BTreeSet<(u64, usize)>,
    /// The last entry of each digest, used or not.
    last: HashMap<u64, usize>,
    used: Vec<bool>,
    /// The place after the last entry that was served.
    cursor: usize,
    highest: Option<usize>,
    once: bool,
}

impl Matcher {
    pub fn new(index: &Index, once: bool) -> Self {
        let entries = index.entries.iter().enumerate();
        let fresh = entries.filter(|(_, entry)| !entry.is_retry);
        let all = fresh.flat_map(|(number, entry)| entry.digests.map(|digest| (digest, number)));
        Self {
            unused: all.clone().collect(),
            last: all.collect(),
            used: vec![false; index.entries.len()],
            cursor: 0,
            highest: None,
            once,
        }
    }

    /// The recorded request that `wanted` stands for.
    pub fn find(&self, index: &Index, wanted: &Wanted) -> Result<Match, Reason> {
        let subject = &wanted.subject;
        let found = self.find_by(wanted.digests(), subject.is_reusable());
        found.map_err(|all_used| {
            let mut subjects = index.entries.iter().map(|entry| &entry.subject);
            match all_used {
                true => Reason::Used,
                false if subjects.clone().any(|it| it == subject) => Reason::Params,
                false if subjects.any(|it| it.method == subject.method) => Reason::Name,
                false => Reason::Method,
            }
        })
    }

    /// The entry with one of `digests`; without one, whether there is one that was used.
    fn find_by(&self, digests: [u64; 2], is_reusable: bool) -> Result<Match, bool> {
        let mut all_used = false;
        for (digest, normalised) in digests.into_iter().zip([false, true]) {
            let next = |from| (self.unused.range((digest, from)..=(digest, usize::MAX))).next();
            let unused = next(self.cursor).or_else(|| next(0));
            let last = || self.last.get(&digest).copied();
            let Some(entry) = unused.map(|(_, number)| *number).or_else(last) else {
                continue;
            };
            let repeats = unused.is_none();
            if repeats && self.once && !is_reusable {
                all_used = true;
                continue;
            }
            return Ok(Match {
                entry,
                repeats,
                normalised,
            });
        }
        Err(all_used)
    }

    /// Marks an entry as served. Returns whether it comes out of recorded order.
    pub fn take(&mut self, index: &Index, number: usize) -> bool {
        let first = !std::mem::replace(&mut self.used[number], true);
        let entry = &index.entries[number];
        for digest in entry.digests {
            self.unused.remove(&(digest, number));
        }
        if entry.subject.is_reusable() {
            return false;
        }
        self.cursor = number + 1;
        let earlier = self.highest.is_some_and(|highest| number < highest);
        self.highest = self.highest.max(Some(number));
        first && earlier
    }

    pub fn is_used(&self, entry: usize) -> bool {
        self.used[entry]
    }

    /// The entries nearest to `wanted`, at most three: of its name if there are any, else of its
    /// method, those after the last one served first. `exact` gives the text of the params of an
    /// entry.
    pub fn nearest(
        &self,
        index: &Index,
        wanted: &Wanted,
        rules: &Rules,
        exact: impl Fn(usize) -> Option<String>,
    ) -> Vec<Near> {
        let subject = &wanted.subject;
        let mut all: Vec<_> = index.entries.iter().enumerate().collect();
        all.retain(|(_, it)| it.subject.method == subject.method && !it.is_retry);
        let same_name = all.iter().any(|(_, entry)| entry.subject == *subject);
        all.retain(|(_, entry)| !same_name || entry.subject == *subject);
        all.sort_by_key(|(number, _)| *number < self.cursor);
        let scope = rules.scope(&subject.method, subject.name.as_deref());
        let compared = all.iter().take(COMPARED).filter_map(|(entry, _)| {
            let recorded = exact(*entry)?;
            let (distance, paths) = distance(&recorded, &wanted.exact, &scope);
            let mut near = Near {
                entry: *entry,
                distance,
                paths,
                unbound: BTreeSet::new(),
            };
            if gaps::hidden(recorded.as_bytes(), wanted.exact.as_bytes()).is_some() {
                names_in(recorded.as_bytes(), PATHS, &mut near.unbound);
                near.distance = 0;
            }
            Some(near)
        });
        let mut near: Vec<_> = compared.collect();
        near.sort_by_key(|near| (near.distance, near.entry));
        near.truncate(NAMED);
        near
    }
}

/// The member of `_meta` in which an answer says that it is only the nearest.
pub const MARK: &str = "mcpreel/nearest";

/// Nearest requests that a miss names.
const NAMED: usize = 3;

/// Candidates that are compared: a recording can have a hundred thousand calls of one tool, and
/// a host can ask all day.
const COMPARED: usize = 64;

/// Differing places that are named.
const PATHS: usize = 10;

/// A recorded request that comes near a live one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub entry: usize,
    /// The number of places in which the params differ.
    pub distance: usize,
    /// These places, the first ones.
    pub paths: Vec<String>,
    /// The placeholders that stand for what the live one has, where they differ in nothing else.
    pub unbound: BTreeSet<String>,
}

/// In how many places two texts of params differ in earnest, and in which.
fn distance(recorded: &str, live: &str, scope: &Scope<'_>) -> (usize, Vec<String>) {
    // Paths are those of the message.
    let [recorded, live] = [recorded, live].map(|params| format!("{{\"params\":{params}}}"));
    let [recorded, live] = [&recorded, &live].map(|text| diff::Side {
        text: Some(text.as_bytes()),
        wall_ns: None,
    });
    let terms = diff::Terms {
        scope: scope.clone(),
        ..diff::Terms::default()
    };
    let found = compare_by(&terms, Half::Request, recorded, live);
    let paths = found.differences().filter_map(|(at, class)| {
        let path = found.path(at).to_string();
        // What a server has handed out matters, though it differs between any two runs.
        let name = path.strip_prefix("params.").unwrap_or_default();
        (class != Class::Noise || HANDED_OUT.contains(&name)).then_some(path)
    });
    let mut paths: Vec<_> = paths.collect();
    let distance = paths.len();
    paths.truncate(PATHS);
    (distance, paths)
}

/// Params that a server has handed out: another value is another request.
pub const HANDED_OUT: [&str; 4] = ["cursor", "taskId", "requestState", "elicitationId"];

/// A method and its tool, prompt or resource. Not escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub method: CompactString,
    pub name: Option<CompactString>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.method),
            None => f.write_str(&self.method),
        }
    }
}

impl Subject {
    /// Whether the request can always be repeated.
    pub fn is_reusable(&self) -> bool {
        matches!(&*self.method, "initialize" | "server/discover" | "ping") || is_list(&self.method)
    }
}

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list"
    )
}

#[derive(Clone, Debug)]
pub struct Wanted {
    pub subject: Subject,
    /// The params in canonical form, without `_meta`.
    pub exact: String,
    /// The same without values that no two runs share, and without what rules take away.
    pub normalised: String,
}

impl Wanted {
    /// A request that was recorded (the left side) or came live (the right one).
    pub fn new(subject: Subject, params: Option<Value<'_>>, rules: &Rules, side: Side) -> Self {
        let (exact, normalised) = match &*subject.method {
            "initialize" => ("{}".to_owned(), "{}".to_owned()),
            // One version is served, another is refused.
            PROBE => {
                let version = params.and_then(|it| follow(it, &["_meta", keys::PROTOCOL_VERSION]));
                let version = version.map_or("{}".to_owned(), canonical);
                (version, "{}".to_owned())
            }
            method if is_list(method) => {
                let cursor = params.and_then(|params| params.get("cursor"));
                let cursor = cursor.map(|cursor| format!("\"cursor\":{}", canonical(cursor)));
                let text = format!("{{{}}}", cursor.unwrap_or_default());
                (text.clone(), text)
            }
            method => {
                let (scope, rewrites) =
                    (rules.scope(method, subject.name.as_deref()), Rewrites::NONE);
                let terms = Terms {
                    scope: &scope,
                    side,
                    rewrites: &rewrites,
                    wall_ns: None,
                    is_exact: false,
                };
                let mut normalised = key::text(params, terms);
                for name in HANDED_OUT {
                    if let Some(value) = params.and_then(|params| params.get(name)) {
                        // Writing to a string does not fail.
                        let _ = write!(normalised, " {name}={}", canonical(value));
                    }
                }
                let is_exact = true;
                (key::text(params, Terms { is_exact, ..terms }), normalised)
            }
        };
        Self {
            subject,
            exact,
            normalised,
        }
    }

    /// The recorded request on `line`; `None` where there is none.
    pub fn recorded(line: &[u8], rules: &Rules) -> Option<Self> {
        let document = Document::parse(line).ok()?;
        let Body::Request(request) = classify(line).messages.pop()?.body else {
            return None;
        };
        let subject = Subject {
            method: request.method,
            name: request.name,
        };
        let params = document.root().get("params");
        Some(Self::new(subject, params, rules, Side::Left))
    }

    /// Digests of the exact and the normalised text, the same within one process.
    pub fn digests(&self) -> [u64; 2] {
        [(0, &self.exact), (1, &self.normalised)].map(|level| {
            let mut hasher = DefaultHasher::new();
            (&self.subject.method, level).hash(&mut hasher);
            hasher.finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Subject;
    use super::*;
    use crate::mock::index::{Entry, Outcome};
    use mcpreel_trace::clock::Moment;
    use mcpreel_trace::frame::Seq;

    /// Entries with these digests, in this order.
    fn index(digests: &[u64]) -> Index {
        let entries = digests.iter().zip(1_u64..);
        let entry = |(digest, seq): (&u64, u64)| Entry {
            subject: Subject {
                method: "tools/call".into(),
                name: None,
            },
            digests: [*digest, *digest / 10],
            request: Seq(seq),
            response: None,
            asked_at: Moment(0),
            answered_at: [Moment(0); 2],
            outcome: Outcome::Answer,
            is_retry: false,
            next_round: None,
        };
        Index {
            entries: entries.map(entry).collect(),
            ..Index::default()
        }
    }

    /// The entries that requests with these digests get, one after the other.
    fn served(index: &Index, asked: &[u64]) -> Vec<Option<usize>> {
        let mut matcher = Matcher::new(index, false);
        let mut serve = |digest: &u64| {
            let found = matcher.find_by([*digest, *digest / 10], false).ok()?;
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

#[cfg(test)]
mod params_tests {
    use super::*;

    #[test]
    fn values_that_were_handed_out_have_to_come_back_as_they_were() {
        let texts = |params: &str| {
            let document = Document::parse(params.as_bytes()).unwrap();
            let subject = Subject {
                method: "tasks/get".into(),
                name: None,
            };
            Wanted::new(
                subject,
                Some(document.root()),
                &Rules::default(),
                Side::Left,
            )
        };
        let (one, other) = (texts(r#"{"taskId":"a-1"}"#), texts(r#"{"taskId":"a-2"}"#));
        assert_ne!(one.normalised, other.normalised);
        let at = |time: &str| texts(&format!("{{\"taskId\":1,\"since\":\"{time}\"}}"));
        let (one, other) = (at("2026-11-20T15:17:03Z"), at("2026-11-21T09:00:00Z"));
        assert_ne!(one.exact, other.exact);
        assert_eq!(one.normalised, other.normalised);
    }
}
