//! How much a difference matters.

use super::line::{Excerpt, Label, Verdict};
use super::walk::Walk;
use super::{Change, Class, Half};
use crate::noise;
use crate::rules::Side;
use mcpreel_wire::json::Value;

impl Walk<'_> {
    pub(super) fn scalar(
        &mut self,
        depth: u16,
        label: Label,
        change: Change,
        left: Value<'_>,
        right: Value<'_>,
    ) {
        let class = if self.beside().is_noise(left, right) {
            Class::Noise
        } else if change == Change::Type || self.is_outcome(Some(left), right) {
            self.worse()
        } else {
            Class::Changed
        };
        let [left, right] = match change {
            Change::Value => Excerpt::pair(left.raw(), right.raw()),
            _ => [Excerpt::of(left), Excerpt::of(right)],
        };
        let verdict = Verdict::Differs {
            class,
            change,
            left: Some(left),
            right: Some(right),
        };
        self.push(depth, label, verdict);
    }

    /// Two strings, with what they read as by the rules.
    pub(super) fn text(
        &mut self,
        depth: u16,
        label: Label,
        [left, right]: [Value<'_>; 2],
        texts: &[String; 2],
    ) {
        let [l, r] = texts;
        let as_they_are = left.is_str(l) && right.is_str(r);
        if as_they_are || !self.beside().same_shape(l, r) {
            return self.scalar(depth, label, Change::Value, left, right);
        }
        if l == r {
            self.out.passed_over += 1;
            return;
        }
        let [left, right] = Excerpt::pair(left.raw(), right.raw()).map(Some);
        let verdict = Verdict::Differs {
            class: Class::Noise,
            change: Change::Value,
            left,
            right,
        };
        self.push(depth, label, verdict);
    }

    /// Only the left side has it. `relied_on` says whether somebody asks for it by name.
    pub(super) fn removed(&mut self, depth: u16, label: Label, value: Value<'_>, relied_on: bool) {
        if self.is_passed_over(Side::Left) {
            return;
        }
        let class = match &label {
            Label::Member(_) if noise::may_be_missing(&self.names) => Class::Noise,
            _ if relied_on => self.worse(),
            _ => Class::Changed,
        };
        let verdict = Verdict::Differs {
            class,
            change: Change::Removed,
            left: Some(Excerpt::of(value)),
            right: None,
        };
        self.push(depth, label, verdict);
    }

    pub(super) fn added(&mut self, depth: u16, label: Label, value: Value<'_>) {
        if self.is_passed_over(Side::Right) {
            return;
        }
        let class = match &label {
            Label::Member(_) if noise::may_be_missing(&self.names) => Class::Noise,
            Label::Member(_) if self.is_outcome(None, value) => self.worse(),
            _ => Class::Added,
        };
        let verdict = Verdict::Differs {
            class,
            change: Change::Added,
            left: None,
            right: Some(Excerpt::of(value)),
        };
        self.push(depth, label, verdict);
    }

    /// Whether what only one side has is not looked at here.
    fn is_passed_over(&mut self, only: Side) -> bool {
        let ignored = self.terms.scope.ignores(&self.place, Some(only));
        self.out.passed_over += u64::from(ignored);
        ignored || self.is_elsewhere()
    }

    /// Whether the change means that the right side no longer answers as the left one did:
    /// `isError` came up, or the result is of another type.
    fn is_outcome(&self, left: Option<Value<'_>>, right: Value<'_>) -> bool {
        let [result, member] = self.names.as_slice() else {
            return false;
        };
        let was = left.and_then(|left| left.as_bool()).unwrap_or(false);
        &**result == "result"
            && match &**member {
                "isError" => !was && right.as_bool() == Some(true),
                "resultType" => left.is_some() || !right.is_str("complete"),
                _ => false,
            }
    }

    pub(super) fn worse(&self) -> Class {
        match self.half {
            Half::Request => Class::Changed,
            Half::Response => Class::Breaking,
        }
    }
}
