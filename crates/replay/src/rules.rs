//! What a user says about values that may differ: the file `NAME.rules.toml` beside a recording.
//!
//! ```toml
//! [[ignore]]                       # whatever differs here is passed over
//! for = "tool:search"              # calls of a tool, or a method; without: everywhere
//! path = "result.structuredContent.score"
//!
//! [[normalise]]                    # texts are compared as they read after this
//! path = "result.content[*].text"
//! pattern = "req-[0-9a-f]{8}"
//! with = "req-…"                   # nothing without it
//! side = "right"                   # or "left"; without: both
//!
//! [[match]]                        # a list whose order means nothing
//! for = "tool:list_files"
//! path = "result.structuredContent.files"
//! as = "keyed(name)"               # or "set"
//!
//! [[keep]]                         # `_meta` of a request says nothing about which one it is,
//! path = 'params._meta["com.example/tenant"]'                              # but this does
//!
//! [[bind]]                         # what an answer says is what a later request has to say, and
//!                                  # the same wherever it stands
//! answer = "tool:open"
//! from = "result.structuredContent.handle"
//! request = "tool:read"
//! to = "params.arguments.handle"
//! ```
//!
//! * Paths are those of [`Path`]: exact segments, `[*]` for every element; a rule covers what is
//!   at its path and below. The left side is the recorded one, the right side the live one.
//! * Every rule counts how often it changed what was found: one that never did is reported.
//! * A file with anything wrong in it is refused, with the place and the nearest right spelling.

pub mod files;

pub use files::{Problem, SECTIONS};

use mcpreel_config::Position;
use mcpreel_wire::json::{Path, Step};
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Longer texts are not normalised: a pattern may read them again and again.
const MAX_TEXT: usize = 1 << 20;

/// The rules of a comparison, of any number of files.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    /// Where its table begins in the file.
    at: Position,
    what: What,
    /// How often it changed what was found.
    fired: AtomicU64,
}

/// Names a rule among the rules of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleId(usize);

/// Which exchanges a rule is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Calls {
    #[default]
    All,
    Method(Box<str>),
    Tool(Box<str>),
}

/// One of the sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The one to go by: what was recorded.
    Left,
    Right,
}

/// How the elements of two lists are matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    Set,
    Keyed(Box<str>),
}

#[derive(Debug)]
enum What {
    Bind(Bind),
    Ignore(Ignore),
    Keep(Keep),
    Match(Match),
    Normalise(Normalise),
}

/// What an answer says, and where a later request says it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    #[serde(default)]
    pub answer: Calls,
    #[serde(deserialize_with = "files::path_in_answer")]
    pub from: Path,
    #[serde(default)]
    pub request: Calls,
    #[serde(deserialize_with = "files::path_in_request")]
    pub to: Path,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    #[serde(rename = "for", default)]
    calls: Calls,
    #[serde(deserialize_with = "files::path")]
    path: Path,
    /// The side that has something there and the other has not; `None`: whatever differs.
    side: Option<Side>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keep {
    #[serde(rename = "for", default)]
    calls: Calls,
    #[serde(deserialize_with = "files::path_in_meta")]
    path: Path,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    #[serde(rename = "for", default)]
    calls: Calls,
    #[serde(deserialize_with = "files::path")]
    path: Path,
    #[serde(rename = "as")]
    matching: Matching,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Normalise {
    #[serde(rename = "for", default)]
    calls: Calls,
    #[serde(deserialize_with = "files::path")]
    path: Path,
    #[serde(deserialize_with = "files::pattern")]
    pattern: Regex,
    #[serde(default)]
    with: String,
    /// `None`: both.
    side: Option<Side>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfired {
    /// Where it stands: file, line and column. Not escaped.
    pub at: String,
    /// What it says, in short: `ignore result.a of tool:search`. Not escaped.
    pub rule: String,
}

/// The file that holds the rules of a recording or cassette: `NAME.rules.toml` beside it.
pub fn sidecar(recording: &std::path::Path) -> PathBuf {
    recording.with_extension("rules.toml")
}

impl Rules {
    /// Adds the rules of the text of a file, or none where something in it is wrong; `path` is for
    /// the positions.
    pub fn add(&mut self, text: &str, path: &std::path::Path) -> Result<(), Problem> {
        self.rules.extend(files::rules(text, path)?);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules about an exchange of this method, with the tool, prompt or resource `name`.
    pub fn scope(&self, method: &str, name: Option<&str>) -> Scope<'_> {
        let about = |rule: &&Rule| {
            rule.place()
                .is_some_and(|(calls, _)| calls.include(method, name))
        };
        Scope {
            rules: self.rules.iter().filter(about).collect(),
        }
    }

    /// What answers say that later requests have to repeat.
    pub fn binds(&self) -> impl Iterator<Item = (RuleId, &Bind)> {
        let rules = self.rules.iter().enumerate();
        rules.filter_map(|(at, rule)| match &rule.what {
            What::Bind(bind) => Some((RuleId(at), bind)),
            _ => None,
        })
    }

    /// A rule changed something: whoever applies binds says so.
    pub fn fired(&self, rule: RuleId) {
        if let Some(rule) = self.rules.get(rule.0) {
            rule.fire();
        }
    }

    /// The rules that changed nothing.
    pub fn unfired(&self) -> Vec<Unfired> {
        self.unfired_of(|_| true)
    }

    /// The rules about what requests say that changed nothing: the mock looks at requests only.
    pub fn unfired_in_requests(&self) -> Vec<Unfired> {
        self.unfired_of(Rule::is_about_requests)
    }

    fn unfired_of(&self, are_meant: impl Fn(&Rule) -> bool) -> Vec<Unfired> {
        let rules = self.rules.iter().filter(|rule| are_meant(rule));
        let silent = rules.filter(|rule| rule.fired.load(Ordering::Relaxed) == 0);
        let unfired = silent.map(|rule| Unfired {
            at: rule.at.to_string(),
            rule: rule.in_words(),
        });
        unfired.collect()
    }
}

impl Rule {
    fn fire(&self) {
        self.fired.fetch_add(1, Ordering::Relaxed);
    }

    /// The exchanges that it is about, and where in them; a rule that binds is about two.
    fn place(&self) -> Option<(&Calls, &Path)> {
        match &self.what {
            What::Bind(_) => None,
            What::Ignore(rule) => Some((&rule.calls, &rule.path)),
            What::Keep(rule) => Some((&rule.calls, &rule.path)),
            What::Match(rule) => Some((&rule.calls, &rule.path)),
            What::Normalise(rule) => Some((&rule.calls, &rule.path)),
        }
    }

    /// The rule in short: `ignore result.a of tool:search`.
    fn in_words(&self) -> String {
        let place = match self.place() {
            Some((Calls::All, path)) => path.to_string(),
            Some((calls, path)) => format!("{path} of {calls}"),
            None => String::new(),
        };
        match &self.what {
            What::Ignore(_) => format!("ignore {place}"),
            What::Normalise(_) => format!("normalise {place}"),
            What::Keep(_) => format!("keep {place}"),
            What::Match(rule) => match &rule.matching {
                Matching::Set => format!("match {place} as a set"),
                Matching::Keyed(name) => format!("match {place} by {name}"),
            },
            What::Bind(bind) => format!(
                "bind {} of {} to {} of {}",
                bind.to, bind.request, bind.from, bind.answer
            ),
        }
    }

    /// Whether it is about what is at a place in a request.
    fn is_about_requests(&self) -> bool {
        let first = self.place().and_then(|(_, path)| path.steps().first());
        matches!(first, Some(Step::Member(name)) if &**name == "params")
    }
}

impl Calls {
    /// Whether an exchange of this method, with the tool `name`, is among them.
    pub fn include(&self, method: &str, name: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Method(only) => &**only == method,
            Self::Tool(only) => method == "tools/call" && name == Some(&**only),
        }
    }
}

impl fmt::Display for Calls {
    /// As in a rule: `tools/list`, `tool:search`; `any` for all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("any"),
            Self::Method(method) => f.write_str(method),
            Self::Tool(name) => write!(f, "tool:{name}"),
        }
    }
}

/// The rules about one exchange.
#[derive(Clone, Debug, Default)]
pub struct Scope<'r> {
    rules: Vec<&'r Rule>,
}

impl Scope<'_> {
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// How many there are: looking for one takes as many steps.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// What the first rule gives that fits, which has fired then.
    fn first<'s, T>(&'s self, fits: impl Fn(&'s What) -> Option<T>) -> Option<T> {
        let mut rules = self.rules.iter();
        rules.find_map(|rule| fits(&rule.what).inspect(|_| rule.fire()))
    }

    /// Whether a difference at this place is passed over; `only` is the side that has something
    /// there, `None` where both have.
    pub fn ignores(&self, place: &[Step], only: Option<Side>) -> bool {
        let fitting = self.first(|what| match what {
            What::Ignore(rule) if rule.side.is_none() || rule.side == only => {
                leads(&rule.path, place).then_some(())
            }
            _ => None,
        });
        fitting.is_some()
    }

    /// The text at a place as it is compared; `None` where no rule changes it.
    pub fn normalised(&self, place: &[Step], side: Side, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        for rule in &self.rules {
            let What::Normalise(what) = &rule.what else {
                continue;
            };
            let now = changed.as_deref().unwrap_or(text);
            let is_about = what.side.is_none_or(|only| only == side) && now.len() <= MAX_TEXT;
            if is_about
                && leads(&what.path, place)
                && let Cow::Owned(replaced) = what.pattern.replace_all(now, &*what.with)
            {
                rule.fire();
                changed = Some(replaced);
            }
        }
        changed
    }

    /// How the lists at a place are matched, where a rule says so.
    pub fn matching(&self, place: &[Step]) -> Option<&Matching> {
        self.first(|what| match what {
            What::Match(rule) if leads(&rule.path, place) => Some(&rule.matching),
            _ => None,
        })
    }

    /// Whether this place within `_meta` says which request it is.
    pub fn keeps(&self, place: &[Step]) -> bool {
        let fitting = self.first(|what| match what {
            What::Keep(rule) => leads(&rule.path, place).then_some(()),
            _ => None,
        });
        fitting.is_some()
    }
}

/// Whether `path` leads exactly to `place`, in which an element is known by its place on the left,
/// or on the right where the left has none.
fn leads(path: &Path, place: &[Step]) -> bool {
    let fits = |(step, spot): (&Step, &Step)| *step == Step::Every || step == spot;
    path.steps().len() == place.len() && path.steps().iter().zip(place).all(fits)
}

#[cfg(test)]
mod rules_tests;
