//! What holds of any two answers.

use super::*;
use crate::compare::Change;
use proptest::prelude::*;

/// Values with few names and few leaves, so that two of them share parts.
fn json() -> impl Strategy<Value = String> {
    with_arrays_of(4)
}

/// The same with arrays of fewer elements than `most`.
fn with_arrays_of(most: usize) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        (0u8..3).prop_map(|number| number.to_string()),
        "[ab]{0,2}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 20, 4, move |inner| {
        let member =
            ("[abc]", inner.clone()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..most).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn an_exchange_beside_itself_has_no_difference(value in json()) {
        let told = result(&value);
        let report = judged(&told, &told);
        prop_assert_eq!((report.exit_code(), report.same), (0, 1));
        // Nor has one that is written in another way.
        let spaced = result(&value.replace(',', " ,\n").replace(':', " : "));
        prop_assert_eq!(judged(&told, &spaced).worst(), None);
    }

    // Of longer arrays one may say in several ways what came in between.
    #[test]
    fn added_on_one_side_is_removed_on_the_other(
        left in with_arrays_of(2),
        right in with_arrays_of(2),
    ) {
        let changes = |one: &str, other: &str, wanted: Change| {
            let report = judged(&result(one), &result(other));
            let mut paths: Vec<_> = report.accounts.iter()
                .flat_map(|account| &account.differences)
                .filter(|difference| difference.change == wanted)
                .map(|difference| (difference.path.clone(), difference.left.clone().or(difference.right.clone())))
                .collect();
            paths.sort();
            paths
        };
        prop_assert_eq!(changes(&left, &right, Change::Added), changes(&right, &left, Change::Removed));
    }

    #[test]
    fn one_planted_change_is_found_where_it_is(
        before in prop::collection::vec(json(), 0..4),
        after in prop::collection::vec(json(), 0..4),
        deep in 0usize..6,
        kind in 0usize..4,
    ) {
        let (left, right, class) = [
            ("\"planted\"", "\"changed\"", Class::Changed),
            ("41", "\"planted\"", Class::Breaking),
            ("{\"planted\":1,\"x\":2}", "{\"x\":2}", Class::Breaking),
            ("{\"x\":2}", "{\"planted\":1,\"x\":2}", Class::Added),
        ][kind];
        let plant = |leaf: &str| {
            let mut value = leaf.to_owned();
            for _ in 0..deep {
                value = format!("{{\"d\":{value}}}");
            }
            let mut all = before.clone();
            all.push(value);
            all.extend(after.clone());
            let members: Vec<_> = all.iter().enumerate().map(|(at, value)| format!("\"m{at}\":{value}")).collect();
            result(&format!("{{{}}}", members.join(",")))
        };
        let report = judged(&plant(left), &plant(right));
        let end = if kind < 2 { "" } else { ".planted" };
        let path = format!("result.m{}{}{end}", before.len(), ".d".repeat(deep));
        let found: Vec<_> = report.accounts.iter()
            .flat_map(|account| &account.differences)
            .map(|difference| (difference.path.to_string(), difference.class))
            .collect();
        prop_assert_eq!(found, [(path, class)]);
    }
}
