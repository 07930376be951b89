//! Properties: which there are, which are required, and whether others may be there.

use super::view::{Parts, View};
use super::{Comparing, Effect, Role};
use mcpreel_wire::json::{Step, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The keywords that say what else may be there, the first one that a schema has counts.
const REST: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

impl<'d> Comparing<'d, '_> {
    pub(super) fn objects(&mut self, sides: [&Parts<'d>; 2]) {
        let [l, r] = sides.map(|side| members(side, "properties"));
        let required = sides.map(required);
        let closed = [0, 1].map(|at| self.is_closed(sides[at], at));
        for (name, left) in &l {
            match r.get(name) {
                Some(right) => {
                    let steps = property(name);
                    self.within(&steps, name, |this| {
                        this.schemas(Some(*left), Some(*right));
                    });
                }
                None => self.removed(name, *left, closed[1]),
            }
        }
        for (name, right) in r.iter().filter(|(name, _)| !l.contains_key(*name)) {
            if !required[1].contains(name) {
                self.offered(name, *right);
            }
        }
        self.required(&required, &l, sides);
        self.rest(sides, closed);
        self.patterns(sides);
    }

    fn removed(&mut self, name: &str, left: Value<'d>, closed: bool) {
        let (effect, said) = match (self.role, closed) {
            (Role::Input, true) => (Effect::Narrowed, "is refused now"),
            (Role::Input, false) => (
                Effect::Dropped,
                "is no longer described, and may have no effect any more",
            ),
            (Role::Output, _) => (Effect::Widened, "is no longer promised"),
        };
        self.within(&property(name), name, |this| {
            this.add(effect, said, [Some(left), None]);
        });
    }

    fn offered(&mut self, name: &str, right: Value<'d>) {
        let said = match self.role {
            Role::Input => "is a new optional property",
            Role::Output => "is a new property that may be there",
        };
        self.within(&property(name), name, |this| {
            this.add(Effect::Offered, said, [None, Some(right)]);
        });
    }

    fn required(
        &mut self,
        [left, right]: &[BTreeSet<Box<str>>; 2],
        known: &BTreeMap<Box<str>, Value<'d>>,
        sides: [&Parts<'d>; 2],
    ) {
        let lists = sides.map(|side| side.get("required"));
        for name in right.difference(left) {
            let said = match (self.role, known.contains_key(name)) {
                (Role::Input, true) => "is required now",
                (Role::Input, false) => "is a new required property",
                (Role::Output, true) => "is always there now",
                (Role::Output, false) => "is a new property that is always there",
            };
            let effect = match (self.role, known.contains_key(name)) {
                // Nobody relied on what was not there.
                (Role::Output, false) => Effect::Offered,
                _ => Effect::Narrowed,
            };
            self.at_required(name, effect, said, lists);
        }
        for name in left.difference(right) {
            // Of one that is gone altogether that has been said.
            let stays = members(sides[1], "properties").contains_key(name);
            let said = match self.role {
                _ if !stays && known.contains_key(name) => continue,
                Role::Input => "is optional now",
                Role::Output => "may be missing now",
            };
            self.at_required(name, Effect::Widened, said, lists);
        }
    }

    fn at_required(
        &mut self,
        name: &str,
        effect: Effect,
        said: &str,
        lists: [Option<Value<'d>>; 2],
    ) {
        let steps = [Step::Member("required".into())];
        self.within(&steps, name, |this| this.add(effect, said, lists));
    }

    fn rest(&mut self, sides: [&Parts<'d>; 2], closed: [bool; 2]) {
        let [l, r] = sides.map(|side| REST.iter().find_map(|keyword| side.get(keyword)));
        let keyword = |side: &Parts<'d>| REST.into_iter().find(|word| side.get(word).is_some());
        let keyword = sides.iter().find_map(|side| keyword(side));
        let Some(keyword) = keyword else { return };
        match closed {
            [true, true] => {}
            [false, true] => {
                let said = "other properties are refused now";
                self.at(keyword, |this| this.add(Effect::Narrowed, said, [l, r]));
            }
            [true, false] => {
                let said = "other properties may be there now";
                self.at(keyword, |this| this.add(Effect::Widened, said, [l, r]));
            }
            [false, false] => {
                let steps = [Step::Member(keyword.into())];
                self.within(&steps, "*", |this| this.schemas(l, r));
            }
        }
    }

    fn patterns(&mut self, sides: [&Parts<'d>; 2]) {
        let [l, r] = sides.map(|side| members(side, "patternProperties"));
        let steps = |name: &str| ["patternProperties", name].map(|name| Step::Member(name.into()));
        for (name, left) in &l {
            let (steps, subject) = (steps(name), format!("(/{name}/)"));
            let right = r.get(name).copied();
            self.within(&steps, &subject, |this| {
                if right.is_some() {
                    return this.schemas(Some(*left), right);
                }
                let said = "properties with such names are no longer described";
                this.add(Effect::Changed, said, [Some(*left), None]);
            });
        }
        for (name, right) in r.iter().filter(|(name, _)| !l.contains_key(*name)) {
            let (steps, subject) = (steps(name), format!("(/{name}/)"));
            self.within(&steps, &subject, |this| {
                let said = "properties with such names are described now";
                this.add(Effect::Changed, said, [None, Some(*right)]);
            });
        }
    }

    /// Whether properties that are not described are refused.
    fn is_closed(&mut self, side: &Parts<'d>, at: usize) -> bool {
        let rest = REST.iter().find_map(|keyword| side.get(keyword));
        rest.is_some_and(|rest| matches!(self.view(Some(rest), at), View::Never))
    }
}

fn property(name: &str) -> [Step; 2] {
    ["properties", name].map(|name| Step::Member(name.into()))
}

/// The members of a keyword of all parts; of two with the same name the first part's.
fn members<'d>(side: &Parts<'d>, keyword: &str) -> BTreeMap<Box<str>, Value<'d>> {
    let mut members = BTreeMap::new();
    for object in side.all(keyword) {
        let mut own = BTreeMap::new();
        for (name, value) in object.members() {
            let name: Box<str> = name.as_str().unwrap_or_default().into();
            own.insert(name, value);
        }
        for (name, value) in own {
            members.entry(name).or_insert(value);
        }
    }
    members
}

fn required(side: &Parts<'_>) -> BTreeSet<Box<str>> {
    let lists = side.all("required");
    let names = lists.flat_map(|list| list.elements());
    names
        .filter_map(|name| name.as_str().map(Into::into))
        .collect()
}
