use super::*;
use crate::diff::key::Terms;
use crate::rewrite::Rewrites;
use crate::rules::{Scope, Side};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::id::RequestId;

/// The card of `METHOD NAME PARAMS`.
fn card(text: &str) -> Card {
    let mut words = text.splitn(3, ' ');
    let method = words.next().unwrap_or_default();
    let name = words.next().filter(|name| *name != "-");
    let params = words.next().unwrap_or("{}");
    let message = format!(r#"{{"method":"{method}","params":{params}}}"#);
    let terms = Terms {
        scope: &Scope::default(),
        side: Side::Left,
        rewrites: &Rewrites::NONE,
        wall_ns: None,
    };
    let id = RequestId::from_json("1").expect("an id");
    let mut exchange = Exchange::begun(Direction::ClientToServer, id, method);
    exchange.name = name.map(Into::into);
    Card::new(&exchange, message.as_bytes(), terms, false)
}

/// The places of pairs of two sessions of cards, with `|` between them.
fn pairs(left: &str, right: &str) -> String {
    let cards = [left, right].map(|side| side.split(" | ").map(card).collect());
    let place = |at: Option<usize>| at.map_or("-".to_owned(), |at| at.to_string());
    let pairs = aligned(&cards).into_iter();
    let pairs = pairs.map(|[left, right]| format!("{}={}", place(left), place(right)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// Two sessions, and how they are paired. Another tool with the same arguments is another tool.
const SESSIONS: &str = r#"
list - {"cursor":"x"} | list - {} <> list - {} | list - {"cursor":"y"} <> 0=1 1=0
tasks/get 17 {"taskId":"17"} <> tasks/get 99 {"taskId":"99"} <> 0=0
read file:///tmp/tmpk3jd9x {"u":1} <> read file:///tmp/tmp8fa0b1 {"u":2} <> 0=0
call a {"q":1} | call b {} | call a {"q":3} | ping <> call a {"q":3} | call a {"q":9} | call c {"n":1} | ping <> 0=1 1=- 2=0 -=2 3=3
call a {"name":"a"} <> call b {"name":"b"} <> 0=- -=0"#;

#[test]
fn what_asks_for_the_same_is_paired_first_and_by_name_last() {
    for case in SESSIONS.lines().skip(1) {
        let parts: Vec<_> = case.split(" <> ").collect();
        assert_eq!(pairs(parts[0], parts[1]), parts[2], "{case}");
    }
}
