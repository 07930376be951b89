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
    calls: Calls,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one to go by: what was recorded.
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Both,
    Only(Side),
}

/// How the elements of two lists are matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    Set,
    Keyed(Box<str>),
}

/// What an answer says, and where a later request says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    pub answer: Calls,
    pub from: Path,
    pub request: Calls,
    pub to: Path,
}

#[derive(Debug)]
enum What {
    Ignore {
        path: Path,
        sides: Sides,
    },
    Normalise {
        path: Path,
        pattern: Regex,
        with: Box<str>,
        sides: Sides,
    },
    Match {
        path: Path,
        matching: Matching,
    },
    Keep {
        path: Path,
    },
    Bind(Bind),
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
    /// Adds the rules of the text of a file; `path` is for the positions. All that is wrong with
    /// it, or nothing.
    pub fn add(&mut self, text: &str, path: &std::path::Path) -> Result<(), Vec<Problem>> {
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
        let about = |rule: &&Rule| rule.calls.include(method, name);
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

    /// The rules about what requests say that changed nothing: who only looks at requests has no use
    /// for the others.
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

    /// The rule in short: `ignore result.a of tool:search`.
    fn in_words(&self) -> String {
        let of = match &self.calls {
            Calls::All => String::new(),
            calls => format!(" of {calls}"),
        };
        match &self.what {
            What::Ignore { path, .. } => format!("ignore {path}{of}"),
            What::Normalise { path, .. } => format!("normalise {path}{of}"),
            What::Match { path, matching } => match matching {
                Matching::Set => format!("match {path}{of} as a set"),
                Matching::Keyed(name) => format!("match {path}{of} by {name}"),
            },
            What::Keep { path } => format!("keep {path}{of}"),
            What::Bind(bind) => {
                let Bind {
                    answer,
                    from,
                    request,
                    to,
                } = bind;
                format!("bind {to} of {request} to {from} of {answer}")
            }
        }
    }

    /// Whether it is about what is at a place in a request.
    fn is_about_requests(&self) -> bool {
        let path = match &self.what {
            What::Ignore { path, .. }
            | What::Normalise { path, .. }
            | What::Match { path, .. }
            | What::Keep { path } => path,
            What::Bind(_) => return false,
        };
        matches!(path.steps().first(), Some(Step::Member(name)) if &**name == "params")
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

    /// Whether a difference at this place is passed over; `only` is the side that has something
    /// there, `None` where both have.
    pub fn ignores(&self, place: &[Step], only: Option<Side>) -> bool {
        let fitting = self.rules.iter().find(|rule| match &rule.what {
            What::Ignore { path, sides } => {
                let about = match sides {
                    Sides::Both => true,
                    Sides::Only(side) => only == Some(*side),
                };
                about && leads(path, place)
            }
            _ => false,
        });
        fitting.inspect(|rule| rule.fire()).is_some()
    }

    /// The text at a place as it is compared; `None` where no rule changes it.
    pub fn normalised(&self, place: &[Step], side: Side, text: &str) -> Option<String> {
        let mut changed: Option<String> = None;
        for rule in &self.rules {
            let What::Normalise {
                path,
                pattern,
                with,
                sides,
            } = &rule.what
            else {
                continue;
            };
            let now = changed.as_deref().unwrap_or(text);
            let about = matches!(sides, Sides::Both) || *sides == Sides::Only(side);
            if !about || now.len() > MAX_TEXT || !leads(path, place) {
                continue;
            }
            if let Cow::Owned(replaced) = pattern.replace_all(now, &**with) {
                rule.fire();
                changed = Some(replaced);
            }
        }
        changed
    }

    /// How the lists at a place are matched, where a rule says so.
    pub fn matching(&self, place: &[Step]) -> Option<&Matching> {
        self.rules.iter().find_map(|rule| match &rule.what {
            What::Match { path, matching } if leads(path, place) => {
                rule.fire();
                Some(matching)
            }
            _ => None,
        })
    }

    /// Whether this place within `_meta` says which request it is.
    pub fn keeps(&self, place: &[Step]) -> bool {
        let fitting = self.rules.iter().find(|rule| match &rule.what {
            What::Keep { path } => leads(path, place),
            _ => false,
        });
        fitting.inspect(|rule| rule.fire()).is_some()
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
