//! Rows, folds, moves, paths and hits.

use super::*;
use crate::widget::pieces::{self, Piece};
use mcpreel_wire::text;
use proptest::prelude::*;
use std::fmt::Write as _;

fn tree(text: &str) -> Tree {
    Tree::read(text.as_bytes().into(), Limit::PAGE).unwrap()
}

fn show(tree: &Tree) -> String {
    show_hits(tree, &[])
}

fn show_hits(tree: &Tree, hits: Hits<'_>) -> String {
    let mut shown = String::new();
    for row in (0..tree.rows()).map(|row| tree.row(row, 40, hits).unwrap()) {
        let sign = match row.sign {
            Sign::Leaf => ' ',
            Sign::Folded => '▸',
            Sign::Unfolded => '▾',
        };
        let indent = "  ".repeat(row.depth.into());
        let (key, value) = (join(&row.key), join(&row.value));
        writeln!(shown, "{indent}{sign} {key} ({}) {value}", row.count).unwrap();
    }
    shown
}

fn join(pieces: &[Piece]) -> String {
    let show = |piece: &Piece| {
        let (open, close) = if piece.hit { ("«", "»") } else { ("", "") };
        format!("{open}{}{close}", piece.text)
    };
    pieces.iter().map(show).collect()
}

fn find(tree: &Tree, path: &str) -> NodeId {
    (0..tree.nodes())
        .map(NodeId::new)
        .find(|&node| tree.path(node).to_string() == path)
        .unwrap_or_else(|| panic!("{path} is not there"))
}

#[test]
fn rows_are_those_of_the_wire() {
    let tree = tree(r#"{"b":1.0,"a":[true,null],"b":"x\u001b\n","odd \"key":{},"":[]}"#);
    insta::assert_snapshot!(show(&tree), @r#"
      b (0) 1.0
    ▾ a (2) 
        [0] (0) true
        [1] (0) null
      b (0) "x\u001b\n"
      "odd \"key" (0) {}
      "" (0) []
    "#);
}

#[test]
fn a_value_without_children_is_a_row_itself() {
    assert_eq!(show(&tree("7")), "   (0) 7\n");
    assert_eq!(show(&tree("[]")), "   (0) []\n");
    assert_eq!(tree("[]").path(NodeId::ROOT).to_string(), "");
}

#[test]
fn what_is_folded_has_a_preview() {
    let mut tree = tree(
        r#"{"content":[{"type":"text","text":"quota exceeded"}],"deep":[[[[1]]]],"long":["0123456789012345678901234567890123456789"]}"#,
    );
    tree.fold_to(1);
    insta::assert_snapshot!(show(&tree), @r#"
    ▸ content (1) [{type:"text", text:"quota exceeded"}]
    ▸ deep (1) [[[[…]]]]
    ▸ long (1) ["0123456789012345678901234567890123456…
    "#);
}

#[test]
fn hostile_text_is_escaped_in_names_values_and_previews() {
    let mut tree = Tree::read(
        b"{\"k\x7f\":\"\xff\xc2\x9b\",\"o\":{\"\xe2\x80\xae\":[\"\x7f\"]}}"[..].into(),
        Limit::PAGE,
    )
    .unwrap();
    tree.fold_to(1);
    insta::assert_snapshot!(show(&tree), @r#"
      "k\x7f" (0) "\xff\u{9b}"
    ▸ o (1) {"\u{202e}":["\x7f"]}
    "#);
}

#[test]
fn folding_hides_and_unfolding_shows() {
    let mut tree = tree(r#"{"a":{"b":{"c":1}},"d":2}"#);
    let (a, b, c) = (find(&tree, "a"), find(&tree, "a.b"), find(&tree, "a.b.c"));
    assert_eq!(tree.rows(), 4);
    tree.toggle(b);
    assert_eq!((tree.rows(), tree.row_of(c)), (3, tree.row_of(b)));
    tree.set_folded(a, true);
    assert_eq!((tree.rows(), tree.row_of(c)), (2, 0));
    assert_eq!(tree.parent(b), Some(a));
    tree.reveal(c);
    assert_eq!((tree.rows(), tree.node_at(2)), (4, Some(c)));
    assert_eq!(tree.parent(a), None);
    tree.set_folded(c, true);
    assert!(!tree.is_folded(c), "a leaf does not fold");
}

#[test]
fn as_many_levels_are_unfolded_as_fit() {
    let mut tree = tree(r#"{"a":{"b":{"c":[1,2,3,4]}},"d":2}"#);
    let rows_for = |tree: &mut Tree, rows| {
        tree.fold_to_fit(rows);
        tree.rows()
    };
    assert_eq!(rows_for(&mut tree, 0), 3, "two levels are always shown");
    assert_eq!(rows_for(&mut tree, 7), 4);
    assert_eq!(rows_for(&mut tree, 8), 8);
}

#[test]
fn hidden_rows_are_shown_when_something_is_found_in_them() {
    let mut tree = tree(r#"{"jsonrpc":"2.0","method":"m","params":{"a":1}}"#);
    let envelope: Vec<_> = tree.members().map(|(_, node)| node).take(2).collect();
    tree.hide(envelope.clone());
    assert_eq!(tree.rows(), 2);
    tree.reveal(envelope[1]);
    assert_eq!(tree.rows(), 3);
}

#[test]
fn hits_lead_to_rows_and_are_marked_in_them() {
    let text = r#"{"needle":{"a":"no"},"b":["a needle here",{"c":"needles"}]}"#;
    let mut tree = tree(text);
    let found: Vec<_> = text
        .match_indices("needle")
        .map(|(at, hit)| at..at + hit.len())
        .collect();
    let nodes = tree.nodes_of(&found);
    let paths: Vec<_> = nodes
        .iter()
        .map(|&node| tree.path(node).to_string())
        .collect();
    assert_eq!(paths, ["needle", "b[0]", "b[1].c"]);
    tree.set_folded(find(&tree, "b[1]"), true);
    insta::assert_snapshot!(show_hits(&tree, &found), @r#"
    ▾ «needle» (1) 
        a (0) "no"
    ▾ b (2) 
        [0] (0) "a «needle» here"
      ▸ [1] (1) «{c:"needles"}»
    "#);
}

#[test]
fn the_beginning_of_a_text_is_shown_with_the_reason() {
    let tree = tree(r#"{"id":3,"result":{"text":"as far as"#);
    assert!(show(&tree).contains("\"as far as\n"), "{}", show(&tree));
    assert!(matches!(tree.stopped(), Some(Stopped::At(_))));
    let text = find(&tree, "result.text");
    assert_eq!(tree.string(text).as_deref(), Some("as far as"));
    for line in ["[INFO] up", "Listening on 3000", "7 apples", ""] {
        assert!(
            Tree::read(line.as_bytes().into(), Limit::PAGE).is_none(),
            "{line}"
        );
    }
}

#[test]
fn long_values_are_cut_and_say_their_size() {
    let tree = tree(&format!(r#"{{"data":"{}"}}"#, "x".repeat(1_000_000)));
    let row = tree.row(0, 40, &[]).unwrap();
    assert_eq!(row.more, Some(1_000_002));
    assert!(pieces::width(&row.value) < 1000);
}

/// A quarter of a million nodes: what a person may do with them is done at once. A debug build
/// gets more time than a screen would allow; quadratic work would take minutes.
#[test]
fn a_huge_array_folds_and_moves_without_effort() {
    let text = format!("[{}0]", "[0],".repeat(125_000));
    let mut tree = Tree::read(text.as_bytes().into(), Limit(usize::MAX)).unwrap();
    assert_eq!((tree.nodes(), tree.rows()), (250_002, 250_001));
    for row in (0..200_000).step_by(1000) {
        let node = tree.node_at(row).unwrap();
        assert_eq!(tree.row_of(node), row);
        tree.row(row, 40, &[]).unwrap();
    }
    let first = tree.node_at(0).unwrap();
    tree.toggle(first);
    assert_eq!(tree.rows(), 250_000);
    tree.fold_to(1);
    assert_eq!(tree.rows(), 125_001);
    assert_eq!(tree.preview(NodeId::ROOT, 10), "[[0], [0]…");
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into)
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_path_leads_to_its_node(value in json()) {
        let text = value.to_string();
        let tree = tree(&text);
        let document = Document::parse(text.as_bytes()).unwrap();
        for node in (0..tree.nodes()).map(NodeId::new) {
            let found = tree.path(node).first(document.root()).unwrap();
            prop_assert_eq!(found.span(), tree.span(node));
            prop_assert_eq!(tree.node_at_offset(tree.node(node).start()), node);
        }
    }

    #[test]
    fn folds_and_rows_agree(value in json(), toggles: Vec<prop::sample::Index>) {
        let mut tree = tree(&value.to_string());
        for toggle in toggles {
            tree.toggle(NodeId::new(toggle.index(tree.nodes())));
        }
        for row in 0..tree.rows() {
            let node = tree.node_at(row).unwrap();
            prop_assert_eq!(tree.row_of(node), row);
            let shown = tree.row(row, 20, &[]).unwrap();
            let text: String = shown.key.iter().chain(&shown.value).map(|p| &*p.text).collect();
            prop_assert_eq!(&*text::escape(&text), &*text);
            if let Some(parent) = tree.parent(node) {
                prop_assert!(tree.row_of(parent) < row);
            }
        }
    }
}
