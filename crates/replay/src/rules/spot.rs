//! Where in a message something stands, and which rules lead there.

use mcpreel_wire::json::{Path, Step};

/// A step on the way to a value that two sides have, or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    Member(Box<str>),
    /// An element, by its place on the left, or where that has none on the right.
    Element(usize),
}

pub fn path(place: &[Spot]) -> Path {
    let step = |spot: &Spot| match spot {
        Spot::Member(name) => Step::Member(name.clone()),
        Spot::Element(at) => Step::Element(*at),
    };
    Path::new(place.iter().map(step).collect())
}

/// Whether `path` leads exactly to `place`.
pub(super) fn leads(path: &Path, place: &[Spot]) -> bool {
    let steps = path.steps();
    steps.len() == place.len() && steps.iter().zip(place).all(|(step, spot)| fits(step, spot))
}

fn fits(step: &Step, spot: &Spot) -> bool {
    match (step, spot) {
        (Step::Every, _) => true,
        (Step::Member(name), Spot::Member(other)) => name == other,
        (Step::Element(at), Spot::Element(other)) => at == other,
        _ => false,
    }
}
