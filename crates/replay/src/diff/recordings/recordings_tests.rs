use super::*;
use crate::diff::key::{Terms, key};
use crate::rewrite::Rewrites;
use crate::rules::{Scope, Side};
use mcpreel_wire::json::Document;
use proptest::prelude::*;

fn card(text: &str) -> Card {
    let mut words = text.splitn(3, ' ');
    let method = words.next().unwrap_or_default();
    let name = words.next().filter(|name| *name != "-");
    let params = words.next().unwrap_or("{}");
    let message = format!(r#"{{"method":"{method}","params":{params}}}"#);
    let document = Document::parse(message.as_bytes()).expect("JSON");
    let (scope, rewrites) = (Scope::default(), Rewrites::NONE);
    let terms = Terms {
        scope: &scope,
        side: Side::Left,
        rewrites: &rewrites,
        wall_ns: None,
    };
    let key = key(document.root(), terms);
    Card::new(Direction::ClientToServer, method, name, key)
}

fn align(left: Vec<Card>, right: Vec<Card>) -> Vec<Pair> {
    let numbered = |cards: Vec<Card>| (1..).map(ExchangeId).zip(cards).collect();
    super::aligned(&[numbered(left), numbered(right)])
}

fn aligned(left: &[&str], right: &[&str]) -> Vec<Pair> {
    let [left, right] = [left, right].map(|side| side.iter().map(|t| card(t)).collect::<Vec<_>>());
    align(left, right)
}

use Pair::{Both, Left, Right};

#[test]
fn what_two_runs_never_share_comes_before_the_name() {
    assert_eq!(
        aligned(
            &["list - {\"cursor\":\"x\"}", "list - {}"],
            &["list - {}", "list - {\"cursor\":\"y\"}"],
        ),
        [Both(0, 1), Both(1, 0)]
    );
    assert_eq!(
        aligned(
            &["tasks/get 17 {\"taskId\":\"17\"}"],
            &["tasks/get 99 {\"taskId\":\"99\"}"]
        ),
        [Both(0, 0)]
    );
    assert_eq!(
        aligned(
            &["resources/read file:///tmp/tmpk3jd9x {\"uri\":\"file:///tmp/tmpk3jd9x\"}"],
            &["resources/read file:///tmp/tmp8fa0b1 {\"uri\":\"file:///tmp/tmp8fa0b1\"}"],
        ),
        [Both(0, 0)]
    );
}

#[test]
fn what_is_left_is_paired_by_name_and_the_rest_stands_alone() {
    assert_eq!(
        aligned(
            &[
                "call a {\"q\":1}",
                "call b {\"name\":\"b\"}",
                "call a {\"q\":3}",
                "ping"
            ],
            &[
                "call a {\"q\":3}",
                "call a {\"q\":9}",
                "call c {\"name\":\"c\"}",
                "ping"
            ],
        ),
        [Both(0, 1), Left(1), Both(2, 0), Right(2), Both(3, 3)]
    );
    // Another tool with the same arguments is another tool.
    assert_eq!(
        aligned(&["call a {\"name\":\"a\"}"], &["call b {\"name\":\"b\"}"]),
        [Left(0), Right(0)]
    );
    assert_eq!(aligned(&[], &["ping"]), [Right(0)]);
}

#[test]
fn a_hundred_thousand_exchanges_a_side_are_aligned() {
    let one = card("call a {\"q\":1}");
    let many = vec![one; 100_000];
    let pairs = align(many.clone(), many);
    assert!(
        pairs
            .iter()
            .enumerate()
            .all(|(at, pair)| *pair == Both(at, at))
    );
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
        let pairs = align(cards(&left), cards(&right));
        let mut lefts: Vec<_> = Vec::new();
        let mut rights: Vec<_> = Vec::new();
        for pair in &pairs {
            match *pair {
                Both(l, r) => { lefts.push(l); rights.push(r); }
                Left(l) => lefts.push(l),
                Right(r) => rights.push(r),
            }
        }
        rights.sort_unstable();
        prop_assert!(lefts.into_iter().eq(0..left.len()));
        prop_assert!(rights.into_iter().eq(0..right.len()));
        let itself = align(cards(&left), cards(&left));
        prop_assert!(itself.iter().enumerate().all(|(at, pair)| *pair == Both(at, at)));
    }
}
