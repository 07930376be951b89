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
//! * A rule that never changed what was found is reported, unless it binds.
//! * A file with anything wrong in it is refused, with the place and the nearest right spelling.

pub mod files;

pub use files::{Problem, SECTIONS};

use mcpreel_config::Position;
use mcpreel_wire::json::{Path, Step};
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longer texts are not normalised: a pattern may read them again and again.
const MAX_TEXT: usize = 1 << 20;

/// The rules of a comparison, of any number of files.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Values of answers that later requests have to repeat.
    pub binds: Vec<Bind>,
}

#[derive(Debug)]
struct Rule {
    /// Where its table begins in the file.
    at: Position,
    what: What,
    about: Written,
    /// Whether it changed what was found.
    fired: AtomicBool,
}

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

/// A value of an answer, and where a later request repeats it.
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

/// The effect of a rule at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Ignore,
    Keep,
    Match,
    Normalise,
}

/// A rule about a place, as it is written; which keys it may have depends on what it does.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(rename = "for")]
    calls: Calls,
    #[serde(deserialize_with = "files::path")]
    path: Option<Path>,
    /// To ignore: the side that has something there and the other has not. `None`: whatever
    /// differs, both.
    side: Option<Side>,
    #[serde(rename = "as")]
    matching: Option<Matching>,
    #[serde(deserialize_with = "files::pattern")]
    pattern: Option<Regex>,
    with: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfired {
    /// Where it stands: file, line and column. Not escaped.
    pub at: String,
    /// The rule in short: `ignore result.a`. Not escaped.
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
        let (rules, binds) = files::rules(text, path)?;
        self.rules.extend(rules);
        self.binds.extend(binds);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.rules.len() + self.binds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rules about an exchange of this method, with the tool, prompt or resource `name`.
    pub fn scope(&self, method: &str, name: Option<&str>) -> Scope<'_> {
        let about = |rule: &&Rule| rule.about.calls.include(method, name);
        Scope {
            rules: self.rules.iter().filter(about).collect(),
        }
    }

    /// The rules that changed nothing.
    pub fn unfired(&self) -> Vec<Unfired> {
        let rules = self.rules.iter();
        let silent = rules.filter(|rule| !rule.fired.load(Ordering::Relaxed));
        let unfired = silent.map(|rule| Unfired {
            at: rule.at.to_string(),
            rule: rule.in_words(),
        });
        unfired.collect()
    }
}

impl Rule {
    fn fire(&self) {
        self.fired.store(true, Ordering::Relaxed);
    }

    /// The rule in short: `ignore result.a`.
    fn in_words(&self) -> String {
        let path = self.about.path.as_ref().map(Path::to_string);
        let what = SECTIONS[self.what as usize];
        format!("{what} {}", path.unwrap_or_default())
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

/// The rules about one exchange.
#[derive(Clone, Debug, Default)]
pub struct Scope<'r> {
    rules: Vec<&'r Rule>,
}

impl Scope<'_> {
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules of a kind about a place.
    fn about<'s>(&'s self, what: What, place: &'s [Step]) -> impl Iterator<Item = &'s Rule> {
        let rules = self.rules.iter().copied();
        rules.filter(move |rule| {
            let path = rule.about.path.as_ref();
            rule.what == what && path.is_some_and(|path| leads(path, place))
        })
    }

    /// Whether a difference at this place is passed over; `only` is the side that has something
    /// there, `None` where both have.
    pub fn ignores(&self, place: &[Step], only: Option<Side>) -> bool {
        let mut rules = self.about(What::Ignore, place);
        let fits = |rule: &&Rule| rule.about.side.is_none() || rule.about.side == only;
        rules.find(fits).inspect(|rule| rule.fire()).is_some()
    }

    /// The text at a place as it is compared; `None` where no rule changes it.
    pub fn normalised(&self, place: &[Step], side: Side, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        for rule in self.about(What::Normalise, place) {
            let now = changed.as_deref().unwrap_or(text);
            let is_meant = rule.about.side.is_none_or(|only| only == side);
            if let Some(pattern) = rule.about.pattern.as_ref().filter(|_| is_meant)
                && now.len() <= MAX_TEXT
                && let Cow::Owned(replaced) = pattern.replace_all(now, &*rule.about.with)
            {
                rule.fire();
                changed = Some(replaced);
            }
        }
        changed
    }

    /// How the lists at a place are matched, where a rule says so.
    pub fn matching<'s>(&'s self, place: &'s [Step]) -> Option<&'s Matching> {
        let rule = self.about(What::Match, place).next()?;
        rule.fire();
        rule.about.matching.as_ref()
    }

    /// Whether this place within `_meta` says which request it is.
    pub fn keeps(&self, place: &[Step]) -> bool {
        let rule = self.about(What::Keep, place).next();
        rule.inspect(|rule| rule.fire()).is_some()
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
