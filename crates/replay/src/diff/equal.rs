//! Whether two values mean the same, with bounded work; the members of two objects, side by side.

use foldhash::HashMap;
use mcpreel_wire::json::{Kind, Value};
use std::borrow::Cow;

/// Work that a comparison does: values looked at, and one for every [`BYTES`] of text. Without a
/// limit a message of 100 MB, nested so that everything is looked at again on every level, would
/// take minutes.
const MAX_WORK: u64 = 8_000_000;

/// Bytes of text that count as one value.
const BYTES: usize = 32;

/// How much may still be done, and what counts as equal.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
    exact_numbers: bool,
}

#[derive(Debug)]
pub(super) struct Exhausted;

/// A value of the left side and the one of the right side.
pub(super) type Sides<'d> = [Option<Value<'d>>; 2];

impl Work {
    pub(super) fn new(exact_numbers: bool) -> Self {
        Self {
            left: MAX_WORK,
            exact_numbers,
        }
    }

    fn on_values(&mut self, values: usize) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(values as u64).ok_or(Exhausted)?;
        Ok(())
    }

    pub(super) fn on_bytes(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.on_values(bytes / BYTES + 1)
    }

    pub(super) fn members<'d>(
        &mut self,
        left: Value<'d>,
        right: Value<'d>,
    ) -> Result<Vec<(Cow<'d, str>, Sides<'d>)>, Exhausted> {
        let all = members([Some(left), Some(right)]);
        self.on_values(2 * all.len())?;
        Ok(all)
    }
}

/// Whether two values mean the same. Recursion is bounded by the depth of a document.
pub(super) fn equal(left: Value<'_>, right: Value<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    work.on_values(1)?;
    if left.kind() != right.kind() {
        return Ok(false);
    }
    let (a, b) = (left.raw(), right.raw());
    if a.len() == b.len() {
        work.on_bytes(a.len())?;
        if a == b {
            return Ok(true);
        }
    }
    match left.kind() {
        Kind::Null | Kind::Bool => Ok(false),
        Kind::Number => Ok(!work.exact_numbers && left.number() == right.number()),
        Kind::String => {
            work.on_bytes(a.len())?;
            let spelled = left.has_escapes() || right.has_escapes();
            Ok(spelled && left.units().eq(right.units()))
        }
        Kind::Array => {
            let (mut left, mut right) = (left.elements(), right.elements());
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ok(true),
                    (Some(left), Some(right)) if equal(left, right, work)? => {}
                    _ => return Ok(false),
                }
            }
        }
        Kind::Object => {
            for (_, sides) in work.members(left, right)? {
                match sides {
                    [Some(left), Some(right)] if equal(left, right, work)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
    }
}

/// The members of two objects by their names, in the order of the left one; what only the right one
/// has comes last. Of several members of one name the last counts.
pub(super) fn members(objects: Sides<'_>) -> Vec<(Cow<'_, str>, Sides<'_>)> {
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::default();
    let mut all: Vec<(Cow<'_, str>, Sides<'_>)> = Vec::new();
    for (side, object) in objects.into_iter().enumerate() {
        for (name, value) in object.into_iter().flat_map(|object| object.members()) {
            let name = name.as_str().unwrap_or_default();
            let at = *places.entry(name.clone()).or_insert(all.len());
            if at == all.len() {
                all.push((name, [None; 2]));
            }
            all[at].1[side] = Some(value);
        }
    }
    all
}
