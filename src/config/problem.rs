//! What can be wrong with the configuration file.

use super::file::Position;
use std::path::PathBuf;

/// What is wrong with the file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It exists, but cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no TOML; nothing in it is used.
    #[error("{at}: {message}")]
    Syntax {
        /// Where.
        at: Position,
        /// What the parser says.
        message: String,
    },
    /// A key that is not known; the others are used.
    #[error("{at}: unknown key `{key}`{}", did_you_mean(*nearest, known))]
    UnknownKey {
        /// Where.
        at: Position,
        /// The key.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<&'static str>,
        /// All that are known there.
        known: &'static [&'static str],
    },
    /// A value of the wrong type; the others are used.
    #[error("{at}: `{key}` is {found}, expected {expected}")]
    WrongType {
        /// Where.
        at: Position,
        /// The key.
        key: String,
        /// The TOML type that was found.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

impl Problem {
    /// Whether something that was set is not in force: more than a warning.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::UnknownKey { .. })
    }
}

fn did_you_mean(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(key) => format!(", did you mean `{key}`?"),
        None => format!(", known are {}", known.join(", ")),
    }
}

/// A key that is none of those `known`.
pub(super) fn unknown_key(key: &str, known: &'static [&'static str], at: Position) -> Problem {
    // Below this likeness a suggestion is a guess that sends people the wrong way.
    const ALIKE: f64 = 0.6;
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(known, key);
    let nearest = known
        .iter()
        .copied()
        .filter(|known| likeness(known) >= ALIKE)
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    Problem::UnknownKey {
        at,
        key: key.to_owned(),
        nearest,
        known,
    }
}
