//! Folds, moves, paths and hits.

use super::*;
use proptest::prelude::*;

fn tree(text: &str) -> Tree {
    Tree::read(text.as_bytes().into(), PAGE).unwrap()
}

fn find(tree: &Tree, path: &str) -> NodeId {
    (0..tree.nodes())
        .map(NodeId::new)
        .find(|&node| tree.path(node).to_string() == path)
        .unwrap_or_else(|| panic!("{path} is not there"))
}

#[test]
fn folding_hides_and_unfolding_shows() {
    let mut tree = tree(r#"{"a":{"b":{"c":1}},"d":2}"#);
    let (a, b, c) = (find(&tree, "a"), find(&tree, "a.b"), find(&tree, "a.b.c"));
    assert_eq!(tree.rows(), 4);
    tree.set_folded(b, true);
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
    let envelope: Vec<_> = tree
        .members_of(NodeId::ROOT)
        .map(|(_, node)| node)
        .take(2)
        .collect();
    tree.hide(envelope.clone());
    assert_eq!(tree.rows(), 2);
    tree.reveal(envelope[1]);
    assert_eq!(tree.rows(), 3);
}

#[test]
fn the_beginning_of_a_text_is_shown_with_the_reason() {
    let tree = tree(r#"{"id":3,"result":{"text":"as far as"#);
    assert!(matches!(tree.stopped(), Some(Stopped::At(_))));
    let text = find(&tree, "result.text");
    assert_eq!(tree.string(text).as_deref(), Some("as far as"));
    for line in ["[INFO] up", "Listening on 3000", "7 apples", ""] {
        assert!(Tree::read(line.as_bytes().into(), PAGE).is_none(), "{line}");
    }
}

/// A quarter of a million nodes: what a person may do with them is done at once. A debug build
/// gets more time than a screen would allow; quadratic work would take minutes.
#[test]
fn a_huge_array_folds_and_moves_without_effort() {
    let text = format!("[{}0]", "[0],".repeat(125_000));
    let mut tree = Tree::read(text.as_bytes().into(), usize::MAX).unwrap();
    assert_eq!((tree.nodes(), tree.rows()), (250_002, 250_001));
    for row in (0..200_000).step_by(1000) {
        let node = tree.node_at(row).unwrap();
        assert_eq!(tree.row_of(node), row);
    }
    let first = tree.node_at(0).unwrap();
    tree.set_folded(first, true);
    assert_eq!(tree.rows(), 250_000);
    tree.fold_to(1);
    assert_eq!(tree.rows(), 125_001);
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
            prop_assert_eq!(found.span(), tree.node(node).value.clone());
            prop_assert_eq!(tree.node_at_offset(tree.start(node)), node);
        }
    }

    #[test]
    fn folds_and_rows_agree(value in json(), toggles: Vec<prop::sample::Index>) {
        let mut tree = tree(&value.to_string());
        for toggle in toggles {
            let node = NodeId::new(toggle.index(tree.nodes()));
            tree.set_folded(node, !tree.is_folded(node));
        }
        for row in 0..tree.rows() {
            let node = tree.node_at(row).unwrap();
            prop_assert_eq!(tree.row_of(node), row);
            if let Some(parent) = tree.parent(node) {
                prop_assert!(tree.row_of(parent) < row);
            }
        }
    }
}

#[test]
fn nodes_in_a_string_have_places_in_the_bytes_and_values_of_their_own() {
    let text = r#"{"a":[{"text":" {\"q\":\"a\\n\u00e9\",\u0022n\":[1,true]}","z":1}]}"#;
    let tree = tree(text);
    for (path, value) in [
        ("a[0].text.q", "\"a\\né\""),
        ("a[0].text.n[1]", "true"),
        ("a[0].z", "1"),
    ] {
        let node = find(&tree, path);
        assert_eq!(String::from_utf8_lossy(&tree.raw(node)), value);
        assert_eq!(tree.node_at_offset(tree.start(node)), node, "{path}");
    }
}

#[test]
fn json_in_a_string_that_breaks_off_is_there_as_far_as_it_goes_and_more_than_enough_is_told() {
    let whole = r#"{"text":"{\"a\":[1,2,{\"b\":\"x\"}]}"}"#;
    for end in 20..whole.len() - 2 {
        let tree = tree(&whole[..end]);
        assert!(tree.nodes() > 2, "{}", &whole[..end]);
        assert!(tree.stopped().is_some());
    }
    let limited = Tree::read(whole.as_bytes().into(), 4).unwrap();
    let stopped = limited.stopped();
    assert!(
        matches!(stopped, Some(Stopped::Enough { .. })),
        "{stopped:?}"
    );
    assert!(tree(r#"{"text":"{\"a\":1} and more"}"#).nodes() == 2);
}

#[test]
fn the_text_of_an_answer_is_unfolded_however_many_rows_it_has() {
    let rows = vec!["{}"; 100].join(",");
    let mut tree = tree(&format!(
        r#"{{"result":{{"content":[{{"text":"[{rows}]"}}]}}}}"#
    ));
    tree.fold_to_fit(40);
    assert_eq!(tree.rows(), 104);
}
