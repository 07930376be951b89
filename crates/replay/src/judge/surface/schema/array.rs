//! Elements of arrays.

use super::Comparing;
use super::view::Parts;
use mcpreel_wire::json::{Kind, Step, Value};

impl<'d> Comparing<'d, '_> {
    pub(super) fn arrays(&mut self, sides: [&Parts<'d>; 2]) {
        let places = sides.map(places);
        let longest = places.iter().map(|(places, _)| places.len()).max();
        for at in 0..longest.unwrap_or(0) {
            // Beyond the places of one side its rule for the rest counts.
            let [l, r] = [0, 1].map(|side| {
                let (places, rest) = &places[side];
                places.get(at).copied().or(*rest)
            });
            let steps = [Step::Member("prefixItems".into()), Step::Element(at)];
            self.within(&steps, &format!("[{at}]"), |this| this.schemas(l, r));
        }
        let [l, r] = [0, 1].map(|side| places[side].1);
        if l.is_some() || r.is_some() {
            let steps = [Step::Member("items".into())];
            self.within(&steps, "[]", |this| this.schemas(l, r));
        }
    }
}

/// The schemas of the first elements, and that of the rest: `prefixItems` and `items`, or in older
/// dialects `items` and `additionalItems`.
fn places<'d>(side: &Parts<'d>) -> (Vec<Value<'d>>, Option<Value<'d>>) {
    let items = side.get("items");
    if let Some(items) = items.filter(|items| items.kind() == Kind::Array) {
        return (items.elements().collect(), side.get("additionalItems"));
    }
    let places = side.get("prefixItems");
    let places = places.into_iter().flat_map(|places| places.elements());
    (places.collect(), items)
}
