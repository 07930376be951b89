//! The lines of a body in whatever way it is written.

use super::*;
use crate::panels::detail::part::{PartKind, Text, TextRole};
use crate::widget::tree::PAGE;
use mcpreel_trace::item::ItemKey;
use proptest::prelude::*;

fn part(bytes: &[u8], note: bool, folded: bool) -> Part {
    let mut part = Part::head(PartKind::Text(TextRole::Message));
    part.text = Some(Text {
        role: TextRole::Message,
        key: ItemKey::default(),
        head: None,
        size: bytes.len() as u64,
        bytes: bytes.into(),
        tree: Tree::read(bytes.into(), PAGE).map(Box::new),
        violations: crate::panels::detail::violations::Violations::default(),
    });
    part.note = note.then(|| "note".to_owned());
    part.folded = folded;
    part
}

const WAYS: [Representation; 2] = [Representation::Tree, Representation::Raw];

proptest! {
    #[test]
    fn every_line_has_a_place_of_its_own_and_any_place_leads_to_a_line(
        texts in prop::collection::vec((
            prop_oneof![
                Just(b"{\"a\":[1,2,{}],\"b\":\"x\"}".to_vec()),
                Just(b"[[],0]".to_vec()),
                Just(b"7".to_vec()),
                Just(b"{\"words\":\"one two three four five six seven eight nine\",\"b\":0}".to_vec()),
                prop::collection::vec(any::<u8>(), 0..60),
            ],
            any::<bool>(),
            any::<bool>(),
        ), 1..4),
        columns in 1usize..40,
        byte in prop::option::of(0usize..90),
    ) {
        for way in WAYS {
            let mut room = 5;
            let parts = texts.iter().map(|(bytes, note, folded)| {
                let mut part = part(bytes, *note, *folded);
                part.lay_out(way, columns);
                if way == Representation::Tree {
                    part.wrap(columns, &mut room);
                }
                part
            });
            let parts: Vec<_> = parts.collect();
            let body = Body::new(&parts, way);
            let all: Vec<_> = (0..body.len()).map(|line| body.position(line)).collect();
            prop_assert!(all.is_sorted_by(|a, b| a < b), "{:?}", all);
            for (line, position) in all.iter().enumerate() {
                prop_assert!(body.line(line).is_some());
                prop_assert_eq!(body.line_of(*position), line);
            }
            for part in 0..8 {
                let line = body.line_of(Position { part, byte });
                prop_assert!(line < body.len());
            }
        }
    }
}
