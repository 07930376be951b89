//! Keywords of which nobody can say which one is stricter, and those that are looked at nowhere
//! else.

use super::view::Parts;
use super::{Comparing, Effect};
use mcpreel_wire::json::Value;

/// Keywords that have been looked at, and those that say nothing about values.
const JUDGED: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "$id",
    "id",
    "$schema",
    "$comment",
    "allOf",
    "anyOf",
    "oneOf",
    "type",
    "enum",
    "const",
    "pattern",
    "format",
    "multipleOf",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "items",
    "prefixItems",
    "additionalItems",
];

impl<'d> Comparing<'d, '_> {
    /// `pattern`, `format` and the like: whether one is stricter than another nobody can say.
    pub(super) fn texts(&mut self, sides: [&Parts<'d>; 2]) {
        for keyword in ["pattern", "format", "multipleOf"] {
            let [l, r] = sides.map(|side| side.get(keyword));
            if self.same([l, r]) {
                continue;
            }
            let strict = keyword != "format";
            let (effect, said) = match (l, r) {
                (None, _) if strict => (Effect::Narrowed, "there is a `KEYWORD` now"),
                (_, None) if strict => (Effect::Widened, "there is no `KEYWORD` any more"),
                _ => (Effect::Changed, "another `KEYWORD`"),
            };
            let sentence = said.replace("KEYWORD", keyword);
            self.at(keyword, |this| this.add(effect, &sentence, [l, r]));
        }
        let [l, r] = sides.map(|side| side.get("uniqueItems"));
        let unique = |side: Option<Value<'_>>| side.and_then(|v| v.as_bool()).unwrap_or(false);
        match (unique(l), unique(r)) {
            (false, true) => self.add(Effect::Narrowed, "elements may not repeat", [l, r]),
            (true, false) => self.add(Effect::Widened, "elements may repeat", [l, r]),
            _ => {}
        }
    }

    /// Keywords that are looked at nowhere else.
    pub(super) fn others(&mut self, sides: [&Parts<'d>; 2]) {
        let [l, r] = sides;
        let mut names = l.names();
        names.extend(r.names());
        names.sort();
        names.dedup();
        for name in names {
            let keyword = &*name;
            if JUDGED.contains(&keyword) {
                continue;
            }
            let both = sides.map(|side| side.get(keyword));
            if self.same(both) {
                continue;
            }
            let sentence = match both {
                [None, _] => format!("`{keyword}` is new"),
                [_, None] => format!("no `{keyword}` any more"),
                _ => format!("another `{keyword}`"),
            };
            self.at(keyword, |this| this.add(Effect::Changed, &sentence, both));
        }
    }
}
