//! Which exchange of one recording stands for which of another.
//!
//! First those that ask for the same, in the order in which they occur; then those that ask for
//! the same but for what two runs never share; then those of the same method and tool, prompt or
//! resource, in order. What is left only one side has. Nothing but digests is held.

use super::key::{Digest, Digesting, Key};
use super::noise;
use mcpreel_wire::message::Direction;
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Which way the request went, and its method.
    call: Digest,
    name: Digest,
    key: Key,
}

/// An exchange of both sides, or of one: its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

impl Card {
    pub fn new(direction: Direction, method: &str, name: Option<&str>, key: Key) -> Self {
        // The name of a call about a task is the task's id, which is made up anew every time.
        let name = name.filter(|_| !method.starts_with("tasks/"));
        let mut call = Digesting::default();
        call.push(direction.as_str().as_bytes());
        call.push(method.as_bytes());
        let shape = noise::shape(name.unwrap_or_default());
        Self {
            call: call.finish(),
            name: Digest::of(shape.as_bytes()),
            key,
        }
    }
}

/// Aligns two recordings, in the order of the left one; what only the right one has stands before
/// what it came before.
pub fn align(left: &[Card], right: &[Card]) -> Vec<Pair> {
    let mut partners: Vec<Option<usize>> = vec![None; left.len()];
    let mut taken = vec![false; right.len()];
    let ways: [Way; 3] = [
        |card| (card.call, card.key.exact),
        |card| (card.call, card.key.normalised),
        |card| (card.call, card.name),
    ];
    for way in ways {
        match_by(way, left, right, &mut partners, &mut taken);
    }
    in_order(&partners, &taken)
}

/// By what two cards stand for each other.
type Way = fn(&Card) -> (Digest, Digest);

fn match_by(
    way: Way,
    left: &[Card],
    right: &[Card],
    partners: &mut [Option<usize>],
    taken: &mut [bool],
) {
    let mut waiting: HashMap<(Digest, Digest), VecDeque<usize>> = HashMap::new();
    for (at, card) in right.iter().enumerate().filter(|(at, _)| !taken[*at]) {
        waiting.entry(way(card)).or_default().push_back(at);
    }
    for (card, partner) in left.iter().zip(partners).filter(|(_, p)| p.is_none()) {
        let found = waiting.get_mut(&way(card)).and_then(VecDeque::pop_front);
        if let Some(at) = found {
            *partner = Some(at);
            taken[at] = true;
        }
    }
}

fn in_order(partners: &[Option<usize>], taken: &[bool]) -> Vec<Pair> {
    let mut alone = (0..taken.len()).filter(|at| !taken[*at]).peekable();
    let mut pairs = Vec::with_capacity(partners.len());
    for (at, partner) in partners.iter().enumerate() {
        let Some(partner) = *partner else {
            pairs.push(Pair::Left(at));
            continue;
        };
        while let Some(right) = alone.next_if(|right| *right < partner) {
            pairs.push(Pair::Right(right));
        }
        pairs.push(Pair::Both(at, partner));
    }
    pairs.extend(alone.map(Pair::Right));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Terms, key};
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

    fn aligned(left: &[&str], right: &[&str]) -> Vec<Pair> {
        let [left, right] =
            [left, right].map(|side| side.iter().map(|t| card(t)).collect::<Vec<_>>());
        align(&left, &right)
    }

    use Pair::{Both, Left, Right};

    #[test]
    fn what_asks_for_the_same_stands_for_each_other_in_order() {
        assert_eq!(
            aligned(
                &["call a {\"q\":1}", "call a {\"q\":1}", "call a {\"q\":2}"],
                &["call a {\"q\":2}", "call a {\"q\":1}", "call a {\"q\":1}"],
            ),
            [Both(0, 1), Both(1, 2), Both(2, 0)]
        );
    }

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
        let pairs = align(&many, &many);
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
            let pairs = align(&cards(&left), &cards(&right));
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
            let itself = align(&cards(&left), &cards(&left));
            prop_assert!(itself.iter().enumerate().all(|(at, pair)| *pair == Both(at, at)));
        }
    }
}
