//! What a server lists, page by page.

use super::*;

fn listed(names: &[&str], next: Option<&str>) -> String {
    let tools: Vec<_> = names
        .iter()
        .map(|name| format!(r#"{{"name":"{name}"}}"#))
        .collect();
    let next = next.map_or_else(String::new, |next| format!(r#","nextCursor":"{next}""#));
    format!(r#"{{"tools":[{}]{next}}}"#, tools.join(","))
}

fn offers(report: &Report) -> Vec<String> {
    let line = |offer: &report::Offer| {
        let note = offer.difference.note.as_deref().unwrap_or_default();
        format!("{} {} {note}", offer.difference.class.as_str(), offer.name)
    };
    report.offers.iter().map(line).collect()
}

/// A list as its pages, each with the names on it.
fn pages(cut: &[&[&str]]) -> Vec<Told> {
    let last = cut.len() - 1;
    let page = |(at, names): (usize, &&[&str])| {
        let (cursor, next) = (
            format!("c{at}{}", cut.len()),
            format!("c{}{}", at + 1, cut.len()),
        );
        let cursor = (at > 0).then_some(cursor.as_str());
        let next = (at < last).then_some(next.as_str());
        page("tools/list", cursor, &listed(names, next))
    };
    cut.iter().enumerate().map(page).collect()
}

/// Two lists, as a comparison of recordings gives them to the judge.
fn lists(left: &[&[&str]], right: &[&[&str]]) -> Report {
    let mut judge = Judge::default();
    let (left, right) = (pages(left), pages(right));
    for at in 0..left.len().max(right.len()) {
        let seq = at as u64 + 1;
        match (left.get(at), right.get(at)) {
            (Some(l), Some(r)) => drop(judge.both(&l.occurrence(seq), &r.occurrence(seq))),
            (Some(l), None) => drop(judge.missing(&l.occurrence(seq), Missing::Removed)),
            (None, Some(r)) => drop(judge.more(&r.occurrence(seq))),
            (None, None) => {}
        }
    }
    judge.finish()
}

#[test]
fn a_list_is_one_however_it_is_cut_into_pages() {
    let whole: &[&[&str]] = &[&["a", "b", "c"]];
    for cut in [
        &[&["a", "b"][..], &["c"]][..],
        &[&["a"], &["b"], &["c"]],
        &[&["a"], &["b", "c"], &[]],
    ] {
        for (left, right) in [(whole, cut), (cut, whole), (cut, cut)] {
            let report = lists(left, right);
            assert_eq!(offers(&report), [""; 0], "{left:?} {right:?}");
            assert_eq!(
                report.exit_code(),
                0,
                "{left:?} {right:?} {:?}",
                report.accounts
            );
        }
        let report = lists(cut, &[&["a"], &["c"]]);
        assert_eq!(offers(&report), ["breaking b is gone"], "{cut:?}");
        assert_eq!(report.exit_code(), 1);
    }
}

#[test]
fn what_is_on_a_page_that_nobody_asked_for_is_not_gone() {
    let left = page("tools/list", None, &listed(&["a", "b"], None));
    let right = page("tools/list", None, &listed(&["a"], Some("x")));
    let mut judge = Judge::default();
    // The other pages may still come.
    assert_eq!(judge.both(&left.occurrence(1), &right.occurrence(1)), None);
    let report = judge.finish();
    assert_eq!(
        offers(&report),
        ["changed b is not on the pages that were asked for"]
    );
}

#[test]
fn a_list_that_is_asked_for_again_differs_once() {
    let mut judge = Judge::default();
    let left = page("tools/list", None, &listed(&["a", "b"], None));
    let right = page("tools/list", None, &listed(&["a"], None));
    for seq in [1, 5, 9] {
        judge.both(&left.occurrence(seq), &right.occurrence(seq));
    }
    let report = judge.finish();
    assert_eq!(offers(&report), ["breaking b is gone"]);
    assert_eq!(
        (report.offers[0].times, report.count(Class::Breaking)),
        (3, 1)
    );
}

#[test]
fn an_error_in_place_of_a_list_is_breaking() {
    let left = page("tools/list", None, &listed(&["a"], None));
    let right = Told {
        response: Some(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#.into()),
        ..left.clone()
    };
    let report = judged(&left, &right);
    assert_eq!(
        lines(&report),
        ["result breaking an error instead of a result"]
    );
    assert_eq!(offers(&report), [""; 0]);
}
