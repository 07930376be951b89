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
mod read;
mod scope;
mod spot;
mod write;

pub use read::{Problem, SECTIONS};
pub use scope::Scope;
pub use spot::{Spot, path};
pub use write::{bind_rule, ignore_rule, match_rule};

use mcpreel_config::Position;
use mcpreel_wire::json::{Path, Step};
use regex::Regex;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

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
        self.rules.extend(read::rules(text, path)?);
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
        Scope::new(self.rules.iter().filter(about).collect())
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

#[cfg(test)]
mod tests;
