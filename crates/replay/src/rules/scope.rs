//! The rules about one exchange, applied.

use super::spot::{Spot, leads};
use super::{Matching, Rule, Side, Sides, What};
use std::borrow::Cow;

/// Longer texts are not normalised: a pattern may read them again and again.
const MAX_TEXT: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct Scope<'r> {
    rules: Vec<&'r Rule>,
}

impl<'r> Scope<'r> {
    pub(super) fn new(rules: Vec<&'r Rule>) -> Self {
        Self { rules }
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// How many there are: looking for one takes as many steps.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether a difference at this place is passed over; `only` is the side that has something
    /// there, `None` where both have.
    pub fn ignores(&self, place: &[Spot], only: Option<Side>) -> bool {
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
    pub fn normalised(&self, place: &[Spot], side: Side, text: &str) -> Option<String> {
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
    pub fn matching(&self, place: &[Spot]) -> Option<&Matching> {
        self.rules.iter().find_map(|rule| match &rule.what {
            What::Match { path, matching } if leads(path, place) => {
                rule.fire();
                Some(matching)
            }
            _ => None,
        })
    }

    /// Whether this place within `_meta` says which request it is.
    pub fn keeps(&self, place: &[Spot]) -> bool {
        let fitting = self.rules.iter().find(|rule| match &rule.what {
            What::Keep { path } => leads(path, place),
            _ => false,
        });
        fitting.inspect(|rule| rule.fire()).is_some()
    }
}
