//! Why a text is no filter.

use std::ops::Range;

/// Why a text is no filter, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The bytes that are meant; empty at the end of the text where something is missing.
    pub at: Range<usize>,
    /// One sentence, without a full stop. Holds parts of the text, not escaped.
    pub message: String,
    /// Whether it may only be unfinished.
    pub kind: ErrorKind,
    /// The real name that comes nearest to an unknown one.
    pub nearest: Option<String>,
}

/// Whether typing on can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// It may become a filter by typing on at its end.
    Incomplete,
    /// It will not.
    Invalid,
}

impl QueryError {
    pub(super) fn invalid(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            kind: ErrorKind::Invalid,
            nearest: None,
        }
    }

    pub(super) fn incomplete(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Incomplete,
            ..Self::invalid(at, message)
        }
    }

    /// An unknown name, with the nearest of the known ones if one is near.
    pub(super) fn unknown(
        at: Range<usize>,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        let nearest = nearest(name, known);
        let message = match nearest {
            Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
            None => format!("there is no {what} `{name}`"),
        };
        Self {
            nearest: nearest.map(str::to_owned),
            ..Self::invalid(at, message)
        }
    }
}

/// Below this likeness a suggestion is noise.
const ALIKE: f64 = 0.6;

fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_lowercase();
    known
        .map(|one| (strsim::jaro_winkler(&name, one), one))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, one)| one)
}
