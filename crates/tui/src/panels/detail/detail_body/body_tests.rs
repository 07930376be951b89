//! The lines of a body in whatever way it is written.

use super::*;
use crate::panels::detail::jobs::{Text, TextRole};
use crate::panels::detail::part::PartKind;
use crate::widget::tree::{Limit, Tree};
use mcpreel_trace::item::ItemKey;
use proptest::prelude::*;

fn part(bytes: &[u8], notes: usize, folded: bool) -> Part {
    let tree = Tree::read(bytes.into(), Limit::PAGE).map(Box::new);
    Part {
        kind: PartKind::Text(TextRole::Message),
        text: Some(Text {
            role: TextRole::Message,
            key: ItemKey::default(),
            head: None,
            size: bytes.len() as u64,
            bytes: bytes.into(),
            tree,
            violations: crate::panels::detail::jobs::Violations::default(),
        }),
        notes: vec!["note".to_owned(); notes],
        folded,
        hits: Vec::new(),
        more_hits: false,
        told: std::collections::BTreeMap::new(),
    }
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let bytes = prop_oneof![
        Just(br#"{"a":[1,{"b":"a long string that has to be wrapped"}],"c":{}}"#.to_vec()),
        Just(b"a line\nand another\n".to_vec()),
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 0..80),
    ];
    let some = (bytes, 0usize..3, any::<bool>());
    let some = some.prop_map(|(bytes, notes, folded)| part(&bytes, notes, folded));
    prop::collection::vec(some, 1..5)
}

fn positions(body: &Body<'_>) -> Vec<Position> {
    std::iter::successors(Some(body.first()), |&at| body.next(at)).collect()
}

#[test]
fn a_line_that_is_gone_is_replaced_by_what_shows_its_place() {
    fn body(parts: &[Part]) -> Body<'_> {
        Body::new(parts, Sides::Both, Representation::Tree, 40)
    }
    let mut parts = vec![part(br#"{"a":{"b":1},"c":2}"#, 1, false)];
    let b = positions(&body(&parts))[2];
    let tree = parts[0].tree_mut().unwrap();
    let a = tree.node_at(0).unwrap();
    tree.set_folded(a, true);
    assert_eq!(body(&parts).snap(b).node(), Some(a));
    let raw = Body::new(&parts, Sides::Both, Representation::Raw, 8);
    let snapped = raw.snap(b);
    assert_eq!(
        snapped.spot,
        Spot::Byte(8),
        "the line of text with the first byte of b"
    );
    parts[0].folded = true;
    assert_eq!(body(&parts).snap(b), Position::head(0));
}

#[test]
fn the_screen_moves_as_little_as_it_has_to() {
    let parts = vec![part(b"[1,2,3,4,5,6,7,8,9]", 0, false)];
    let body = Body::new(&parts, Sides::Both, Representation::Tree, 40);
    let all = positions(&body);
    let scrolled = |cursor: usize, top: usize| {
        let place = Place {
            cursor: all[cursor],
            top: all[top],
        };
        let place = body.scrolled(place, 4);
        all.iter().position(|&at| at == place.top).unwrap()
    };
    assert_eq!(scrolled(3, 0), 0);
    assert_eq!(scrolled(4, 0), 1);
    assert_eq!(scrolled(9, 0), 6);
    assert_eq!(scrolled(2, 5), 2);
    assert_eq!(scrolled(5, 5), 5);
}

proptest! {
    #[test]
    fn lines_lead_forth_and_back(parts in parts(), columns in 1usize..40) {
        for representation in [Representation::Tree, Representation::Raw, Representation::Hex] {
            let body = Body::new(&parts, Sides::Both, representation, columns);
            let all = positions(&body);
            prop_assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] != pair[1]));
            prop_assert_eq!(all.last().copied(), Some(body.last()));
            for (nth, &at) in all.iter().enumerate() {
                prop_assert!(body.line(at).is_some(), "{:?}", at);
                prop_assert_eq!(body.snap(at), at);
                prop_assert_eq!(body.previous(at), nth.checked_sub(1).map(|before| all[before]));
            }
        }
    }

    #[test]
    fn any_position_leads_to_a_line(parts in parts(), part in 0usize..8, at in 0usize..90, columns in 1usize..40) {
        for representation in [Representation::Tree, Representation::Raw, Representation::Hex] {
            let body = Body::new(&parts, Sides::Both, representation, columns);
            for spot in [Spot::Head, Spot::Byte(at), Spot::Note(at)] {
                let cursor = Position { part, spot };
                let place = body.scrolled(Place { cursor, top: cursor }, 5);
                prop_assert!(body.line(place.cursor).is_some());
                prop_assert!(place.top <= place.cursor);
            }
        }
    }
}
