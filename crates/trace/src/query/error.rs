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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// It may become a filter by typing on at its end.
    Incomplete,
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
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Self {
        let nearest = nearest(name, known.clone());
        let message = match nearest {
            Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
            None => format!("there is no {what} `{name}`; {}", way_out(known)),
        };
        Self {
            nearest: nearest.map(str::to_owned),
            ..Self::invalid(at, message)
        }
    }
}

/// Names that are told in a sentence at most; of more the first ones.
const TOLD: usize = 4;

/// Some of what there is, so that nobody has to guess.
fn way_out(mut known: impl Iterator<Item = &'static str>) -> String {
    let told: Vec<_> = known.by_ref().take(TOLD).collect();
    let others = known.count();
    match others {
        0 => format!("there are {}", told.join(", ")),
        others => format!("there are {} and {others} more", told.join(", ")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_name_is_near_some_real_ones_are_told() {
        let known = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
        let of = |name| QueryError::unknown(0..1, "field", name, known.into_iter());
        assert!(
            of("qqq")
                .message
                .ends_with("there are alpha, beta, gamma, delta and 2 more")
        );
        assert!(of("alhpa").message.ends_with("did you mean `alpha`?"));
    }
}
