use super::*;
use crate::diff::key::{Key, Terms};
use crate::rewrite::Rewrites;
use crate::rules::Scope;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Document;
use proptest::prelude::*;

/// The card of `METHOD NAME PARAMS`.
fn card(text: &str) -> Card {
    let mut words = text.splitn(3, ' ');
    let method = words.next().unwrap_or_default();
    let name = words.next().filter(|name| *name != "-");
    let params = words.next().unwrap_or("{}");
    let message = format!(r#"{{"method":"{method}","params":{params}}}"#);
    let document = Document::parse(message.as_bytes()).expect("JSON");
    let terms = Terms {
        scope: &Scope::default(),
        side: Side::Left,
        rewrites: &Rewrites::NONE,
        wall_ns: None,
    };
    let id = RequestId::from_json("1").expect("an id");
    let exchange = Exchange::begun(Direction::ClientToServer, id, method);
    Card::new(&exchange, name, Key::of(document.root(), terms))
}

fn pairs(left: &[&str], right: &[&str]) -> Vec<Places> {
    aligned(&[left, right].map(|side| side.iter().map(|text| card(text)).collect()))
}

#[test]
fn what_asks_for_the_same_is_paired_first_and_by_name_last() {
    let (list, more) = ("list - {}", r#"list - {"cursor":"x"}"#);
    let temporary = |name| format!(r#"read file:///tmp/{name} {{"uri":"file:///tmp/{name}"}}"#);
    let (one, other) = (temporary("tmpk3jd9x"), temporary("tmp8fa0b1"));
    for (left, right, expected) in [
        (
            &[more, list][..],
            &[list, r#"list - {"cursor":"y"}"#][..],
            &[[Some(0), Some(1)], [Some(1), Some(0)]][..],
        ),
        (
            &[r#"tasks/get 17 {"taskId":"17"}"#],
            &[r#"tasks/get 99 {"taskId":"99"}"#],
            &[[Some(0), Some(0)]],
        ),
        (&[&*one], &[&*other], &[[Some(0), Some(0)]]),
        (
            &["call a {\"q\":1}", "call b {}", "call a {\"q\":3}", "ping"],
            &[
                "call a {\"q\":3}",
                "call a {\"q\":9}",
                "call c {\"n\":1}",
                "ping",
            ],
            &[
                [Some(0), Some(1)],
                [Some(1), None],
                [Some(2), Some(0)],
                [None, Some(2)],
                [Some(3), Some(3)],
            ],
        ),
        // Another tool with the same arguments is another tool.
        (
            &[r#"call a {"name":"a"}"#],
            &[r#"call b {"name":"b"}"#],
            &[[Some(0), None], [None, Some(0)]],
        ),
    ] {
        assert_eq!(pairs(left, right), expected, "{left:?} {right:?}");
    }
}

proptest! {
    #[test]
    fn every_exchange_appears_once(
        left in prop::collection::vec(("[ab]", "[xy]", 0u8..3), 0..12),
        right in prop::collection::vec(("[ab]", "[xy]", 0u8..3), 0..12),
    ) {
        let cards = |side: &[(String, String, u8)]| -> Vec<_> {
            let text = |(method, name, q): &(String, String, u8)| {
                card(&format!("{method} {name} {{\"q\":{q}}}"))
            };
            side.iter().map(text).collect()
        };
        let pairs = aligned(&[cards(&left), cards(&right)]);
        let mut rights: Vec<_> = pairs.iter().filter_map(|pair| pair[1]).collect();
        rights.sort_unstable();
        prop_assert!(pairs.iter().filter_map(|pair| pair[0]).eq(0..left.len()));
        prop_assert!(rights.into_iter().eq(0..right.len()));
        let itself = aligned(&[cards(&left), cards(&left)]);
        prop_assert!(itself.iter().enumerate().all(|(at, pair)| *pair == [Some(at); 2]));
    }
}
