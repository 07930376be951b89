//! Whether two values mean the same, with bounded work.

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
    /// Whether numbers are equal only if written alike.
    exact_numbers: bool,
}

#[derive(Debug)]
pub(super) struct Exhausted;

impl Work {
    pub(super) fn new(exact_numbers: bool) -> Self {
        Self {
            left: MAX_WORK,
            exact_numbers,
        }
    }

    pub(super) fn on_value(&mut self) -> Result<(), Exhausted> {
        self.left = self.left.checked_sub(1).ok_or(Exhausted)?;
        Ok(())
    }

    pub(super) fn on_bytes(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let amount = (bytes / BYTES) as u64;
        self.left = self.left.checked_sub(amount).ok_or(Exhausted)?;
        self.on_value()
    }
}

/// Whether two values mean the same. Recursion is bounded by the depth of a document.
pub(super) fn equal(left: Value<'_>, right: Value<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    work.on_value()?;
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
        Kind::Array => elements(left, right, work),
        Kind::Object => members(left, right, work),
    }
}

fn elements(left: Value<'_>, right: Value<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    let (mut left, mut right) = (left.elements(), right.elements());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ok(true),
            (Some(left), Some(right)) if equal(left, right, work)? => {}
            _ => return Ok(false),
        }
    }
}

fn members(left: Value<'_>, right: Value<'_>, work: &mut Work) -> Result<bool, Exhausted> {
    let (left, right) = (Members::of(left, work)?, Members::of(right, work)?);
    if left.order.len() != right.order.len() {
        return Ok(false);
    }
    for (name, value) in left.in_order() {
        match right.get(name) {
            Some(other) if equal(value, other, work)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The members of an object, each name once: the last value counts.
pub(super) struct Members<'d> {
    by_name: HashMap<Cow<'d, str>, Value<'d>>,
    order: Vec<Cow<'d, str>>,
}

impl<'d> Members<'d> {
    pub(super) fn of(object: Value<'d>, work: &mut Work) -> Result<Self, Exhausted> {
        let mut members = Self {
            by_name: HashMap::default(),
            order: Vec::new(),
        };
        for (key, value) in object.members() {
            work.on_value()?;
            let name = key.as_str().unwrap_or_default();
            if members.by_name.insert(name.clone(), value).is_none() {
                members.order.push(name);
            }
        }
        Ok(members)
    }

    pub(super) fn get(&self, name: &str) -> Option<Value<'d>> {
        self.by_name.get(name).copied()
    }

    pub(super) fn in_order(&self) -> impl Iterator<Item = (&Cow<'d, str>, Value<'d>)> {
        self.order.iter().map(|name| (name, self.by_name[name]))
    }
}
