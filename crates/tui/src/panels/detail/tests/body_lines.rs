//! Bodies: the tree, the other ways of writing them, long strings and long messages.

use super::*;
use crate::panels::detail::{Representation, Sides};

#[test]
fn keys_fold_and_walk_the_tree_and_the_path_follows() {
    let mut hand = Hand::calls();
    hand.press("j j j j");
    assert_eq!(hand.path(), "params.arguments");
    hand.press("l");
    assert_eq!(hand.path(), "params.arguments.q");
    hand.press("h h");
    assert!(
        hand.pane()
            .contains(r#"▸ arguments (2) {"q":"rust async","tags"#)
    );
    hand.press("h");
    assert_eq!(hand.path(), "params");
    hand.press("j j Space j j");
    assert_eq!(hand.path(), "params.arguments.tags");
    hand.press("k k k k h h");
    assert_eq!(
        hand.path(),
        "",
        "what is in the request itself leads to its heading"
    );
    hand.press("Space");
    assert!(hand.pane().contains("▸ request"));
    hand.press("l j l j");
    assert_eq!(hand.path(), "params.name");
    hand.press("o a");
    assert_eq!(hand.path(), "params.name");
    hand.press("o 1");
    assert_eq!(hand.path(), "params", "the cursor goes to what hides it");
}

#[test]
fn another_way_of_writing_keeps_the_place() {
    let mut hand = Hand::calls();
    hand.press("G");
    assert_eq!(hand.path(), "result.isError");
    hand.press("r");
    assert_eq!(hand.detail().representation, Representation::Raw);
    assert!(hand.pane().contains(" raw "), "{}", hand.pane());
    let under_cursor = |hand: &Hand| {
        let shown = hand.detail().shown.as_deref().unwrap();
        let body = hand.detail().body().unwrap();
        format!("{:?}", body.line(body.line_of(shown.at.cursor)).unwrap())
    };
    assert!(
        under_cursor(&hand).contains("isError"),
        "{}",
        under_cursor(&hand)
    );
    hand.press("r");
    assert!(under_cursor(&hand).contains("0000:"));
    hand.press("r");
    assert!(hand.path().starts_with("result."), "{}", hand.path());
    hand.press("b");
    assert_eq!(hand.detail().sides, Sides::Request);
    let pane = hand.pane();
    assert!(
        pane.contains("▾ request") && !pane.contains("▾ response"),
        "{pane}"
    );
    hand.press("b");
    assert!(!hand.pane().contains("▾ request"));
}

#[test]
fn strings_open_in_full() {
    let mut hand = Hand::calls();
    hand.press("b b");
    let mut open = |path: &str| {
        hand.press("g");
        while hand.path() != path {
            hand.press("j");
        }
        hand.press("Enter");
        let text = hand.overlay();
        hand.press("Esc");
        text
    };
    assert_eq!(
        open("result.content[0].text"),
        "result.content[0].text · text · 24 B\nfirst line\n    second \\x1b[31m"
    );
    let json = open("result.content[1].text");
    assert!(
        json.contains("JSON") && json.contains("▾ quota (2)"),
        "{json}"
    );
    let image = open("result.content[2].data");
    assert!(image.contains("image/png, "), "{image}");
}

#[test]
fn what_is_no_message_is_shown_with_the_place_where_reading_stopped() {
    let mut hand = Hand::open(
        &[
            (1, "<[INFO] up"),
            (2, r#"<{"jsonrpc":"2.0","id":3,"res"#),
            (3, "!warn \u{202e}x"),
        ],
        (120, 30),
    );
    hand.select(1);
    assert!(
        hand.pane().contains("no JSON: expected a value at byte 1"),
        "{}",
        hand.pane()
    );
    hand.select(2);
    let pane = hand.pane();
    assert!(pane.contains("id      3"), "{pane}");
    assert!(pane.contains("no JSON from here on: unescaped"), "{pane}");
    hand.select(3);
    assert!(hand.pane().contains("warn \\u{202e}x"), "{}", hand.pane());
}

#[test]
fn of_a_long_message_the_beginning_is_shown_and_more_on_demand() {
    let text = "x".repeat(1000);
    let items: Vec<_> = (0..2_000)
        .map(|_| format!(r#"{{"text":"{text}"}}"#))
        .collect();
    let line = format!(
        r#"<{{"jsonrpc":"2.0","id":1,"result":[{}]}}"#,
        items.join(",")
    );
    let call = r#">{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut hand = Hand::open(&[(1, call), (2, &line)], (120, 30));
    hand.select(1);
    hand.press("G");
    assert!(
        hand.pane()
            .contains("the first 1.0 MB of 2.0 MB · L loads more"),
        "{}",
        hand.pane()
    );
    hand.press("Enter");
    assert!(!hand.pane().contains("loads more"), "{}", hand.pane());
    hand.press("G k");
    assert_eq!(hand.path(), "result[1998]");
}

#[test]
fn what_is_searched_for_is_marked_unfolded_and_gone_to() {
    let mut hand = Hand::calls();
    hand.press("j j j j Space / q u o t a Enter");
    assert_eq!(hand.path(), "result.content[1].text");
    let marked = |hand: &Hand| {
        let shown = hand.detail().shown.as_deref().unwrap();
        let hits = shown.parts.iter().map(|part| part.hits.len());
        hits.collect::<Vec<_>>()
    };
    assert_eq!(marked(&hand), [0, 0, 1]);
    hand.press("k");
    hand.record(&[(990, "!something else")]);
    assert_eq!(
        hand.path(),
        "result.content[1].type",
        "only a new search moves the cursor"
    );
    hand.press("g / R U S T Enter");
    assert_eq!(
        marked(&hand),
        [0, 0, 0],
        "capitals are looked for as capitals"
    );
    hand.press("/ r u s t Enter");
    assert_eq!(hand.path(), "params.arguments.q", "what was folded is open");
    hand.press("r");
    assert_eq!(marked(&hand), [0, 1, 0]);
}
