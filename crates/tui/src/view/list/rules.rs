//! The colour of a row: the first rule that fits.

use crate::app::rules::{Paint, Rule};
use crate::theme::Role;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::Bodies;
use std::borrow::Cow;

pub fn paint(item: &Item, rules: &[Rule]) -> Paint {
    let rule = rules.iter().find(|rule| rule.fits(item, &mut Unknown));
    rule.map_or(Paint::Role(Role::Text), |rule| rule.paint)
}

/// Drawing asks nobody: rules that need bodies are refused before.
struct Unknown;

impl Bodies for Unknown {
    fn request(&mut self) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn response(&mut self) -> Option<Cow<'_, [u8]>> {
        None
    }

    fn in_batch(&mut self) -> bool {
        false
    }

    fn waits_now(&mut self) -> bool {
        false
    }
}
