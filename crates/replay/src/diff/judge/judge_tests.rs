//! Sides of an exchange in a few words, and what is said of two of them.

use super::*;
use crate::diff::Offer;
use mcpreel_trace::frame::Seq;
use proptest::prelude::*;

const NOW: u64 = 1_795_000_000_000_000_000;

/// A side of an exchange, in a few words.
#[derive(Clone)]
struct Told {
    method: &'static str,
    name: Option<&'static str>,
    request: String,
    response: Option<String>,
    status: Status,
    latency_ns: u64,
    outline: Option<Digest>,
}

impl Told {
    fn occurrence(&self, seq: u64) -> Occurrence<'_> {
        Occurrence {
            seq: Some(Seq(seq)),
            method: self.method,
            name: self.name,
            request: Some(self.request.as_bytes()),
            response: self.response.as_deref().map(str::as_bytes),
            outline: self.outline,
            status: self.status,
            latency_ns: Some(self.latency_ns),
            wall_ns: Some(NOW),
        }
    }
}

fn answered(response: Option<String>) -> Told {
    Told {
        method: "tools/call",
        name: Some("a"),
        request: r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#.into(),
        response,
        status: Status::Ok,
        latency_ns: 1_000_000,
        outline: None,
    }
}

fn result(result: &str) -> Told {
    answered(Some(format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#
    )))
}

fn page(method: &'static str, cursor: Option<&str>, result: &str) -> Told {
    let params = cursor.map_or_else(String::new, |cursor| format!(r#""cursor":"{cursor}""#));
    Told {
        method,
        name: None,
        request: format!(r#"{{"id":1,"method":"{method}","params":{{{params}}}}}"#),
        ..self::result(result)
    }
}

fn judged_by(rules: &str, options: Options, left: &Told, right: &Told) -> Report {
    let mut all = Rules::default();
    all.add(rules, std::path::Path::new("r"))
        .expect("the rules are right");
    let mut judge = Judge::new(all, options);
    let worst = judge.both(&left.occurrence(4), &right.occurrence(6));
    let report = judge.finish();
    assert_eq!(report.worst(), worst);
    report
}

fn judged(left: &Told, right: &Told) -> Report {
    judged_by("", Options::default(), left, right)
}

/// `PATH CLASS NOTE`, one for each difference.
fn lines(report: &Report) -> Vec<String> {
    let line = |difference: &Difference| {
        let Difference {
            path, class, note, ..
        } = difference;
        let note = note.as_deref().unwrap_or("–");
        format!("{path} {} {note}", class.as_str())
    };
    let accounts = report.accounts.iter();
    accounts
        .flat_map(|account| account.differences.iter().map(line))
        .collect()
}

#[test]
fn what_was_cancelled_may_be_answered_or_not() {
    let ok = result("{}");
    let cancelled = |status| Told {
        status,
        ..answered(None)
    };
    for (left, right) in [
        (cancelled(Status::Cancelled), ok.clone()),
        (ok.clone(), cancelled(Status::Cancelled)),
        (
            Told {
                status: Status::Late,
                ..ok.clone()
            },
            answered(None),
        ),
    ] {
        assert_eq!(lines(&judged(&left, &right)), [""; 0]);
    }
    let lost = cancelled(Status::Lost);
    assert_eq!(judged(&ok, &lost).worst(), Some(Class::Breaking));
}

#[test]
fn a_request_may_be_asked_in_another_way_but_nothing_in_it_is_breaking() {
    let asked = |params: &str| Told {
        request: format!(r#"{{"id":7,"method":"tools/call","params":{params}}}"#),
        ..result("{}")
    };
    let report = judged(
        &asked(r#"{"name":"a","arguments":{"q":1,"r":2},"_meta":{"client":"x","y":1}}"#),
        &asked(r#"{"name":"a","arguments":{"q":"1"},"_meta":{"client":"z"}}"#),
    );
    assert_eq!(
        lines(&report),
        [
            "params.arguments.q changed string instead of number",
            "params.arguments.r changed –",
            "params._meta.client noise –",
            "params._meta.y noise –",
        ]
    );
}

#[test]
fn sets_take_elements_out_of_order_and_still_find_what_differs() {
    let rules = "[[match]]\npath = 'result.l'\nas = 'set'\n";
    for (left, right, expected) in [
        ("[1,2,3]", "[3,1,2]", &[][..]),
        ("[1,1,2]", "[2,1,1]", &[]),
        ("[1,1,2]", "[2,1,2]", &["result.l[1] changed –"]),
        ("[1,2]", "[2]", &["result.l[0] changed –"]),
        ("[1]", "[2,1]", &["result.l[0] added –"]),
    ] {
        let [left, right] = [left, right].map(|list| result(&format!(r#"{{"l":{list}}}"#)));
        let report = judged_by(rules, Options::default(), &left, &right);
        assert_eq!(lines(&report), expected);
    }
}

#[test]
fn what_is_not_tried_decides_how_it_ends() {
    let ok = result("{}");
    let exit = |why| {
        let mut judge = Judge::default();
        judge.both(&ok.occurrence(1), &ok.occurrence(1));
        judge.missing(&ok.occurrence(3), why);
        let report = judge.finish();
        (report.exit_code(), report.worst())
    };
    assert_eq!(exit(Missing::NeverAnswered), (1, Some(Class::Breaking)));
    assert_eq!(exit(Missing::NeverAsked), (1, Some(Class::Changed)));
    assert_eq!(exit(Missing::Removed), (1, Some(Class::Changed)));
    assert_eq!(exit(Missing::Skipped(Skip::NotNeeded)), (0, None));
    assert_eq!(
        exit(Missing::Skipped(Skip::Unreached("x".into()))),
        (0, None)
    );
    assert_eq!(
        exit(Missing::Skipped(Skip::Redacted(vec!["s".into()]))),
        (3, None)
    );
    assert_eq!(exit(Missing::Refused("rm".into())), (7, None));
}

fn listed(names: &[&str], next: Option<&str>) -> String {
    let tools: Vec<_> = names
        .iter()
        .map(|name| format!(r#"{{"name":"{name}"}}"#))
        .collect();
    let next = next.map_or_else(String::new, |next| format!(r#","nextCursor":"{next}""#));
    format!(r#"{{"tools":[{}]{next}}}"#, tools.join(","))
}

fn offers(report: &Report) -> Vec<String> {
    let line = |offer: &Offer| {
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

fn notices(judge: &Judge, side: Which, messages: &[&str]) -> Notices {
    let mut notices = Notices::default();
    for (message, at) in messages.iter().zip(1..) {
        judge.notice(&mut notices, side, Seq(at), message.as_bytes(), Some(NOW));
    }
    notices
}

const CHANGED: &str = r#"{"method":"notifications/tools/list_changed"}"#;
const UPDATED: &str =
    r#"{"method":"notifications/resources/updated","params":{"uri":"file:///tmp/tmpk3jd9x"}}"#;
const UPDATED_TOO: &str =
    r#"{"method":"notifications/resources/updated","params":{"uri":"file:///tmp/tmp8fa0b1"}}"#;
const ELSEWHERE: &str = r#"{"method":"notifications/resources/updated","params":{"uri":"x:y"}}"#;
const LOG: &str = r#"{"method":"notifications/message","params":{"level":"info","data":"x"}}"#;
const PROGRESS: &str = r#"{"method":"notifications/progress","params":{"progressToken":1}}"#;

/// `CLASS METHOD TEXT`, one for each.
fn noticed(left: &[&str], right: &[&str]) -> Vec<String> {
    let mut judge = Judge::default();
    let left = notices(&judge, Which::Left, left);
    let right = notices(&judge, Which::Right, right);
    judge.notices(&left, &right);
    let report = judge.finish();
    let line = |account: &Account| {
        let Outcome::Remark(remark) = &account.outcome else {
            panic!("{account:?}");
        };
        format!(
            "{} {} {}",
            remark.class.as_str(),
            remark.method,
            remark.text
        )
    };
    report.accounts.iter().map(line).collect()
}

#[test]
fn notifications_are_compared_without_their_order() {
    assert_eq!(
        noticed(
            &[CHANGED, UPDATED, ELSEWHERE],
            &[ELSEWHERE, UPDATED_TOO, CHANGED]
        ),
        [""; 0]
    );
    assert_eq!(
        noticed(
            &[CHANGED, CHANGED, UPDATED],
            &[CHANGED, PROGRESS, LOG, "no JSON"]
        ),
        [
            "changed notifications/tools/list_changed came once, was twice",
            "changed notifications/resources/updated came once, and does no more",
        ]
    );
    assert_eq!(
        noticed(&[], &[UPDATED, UPDATED_TOO, UPDATED]),
        ["added notifications/resources/updated comes 3 times, and did not before"]
    );
}

#[test]
fn hostile_answers_are_compared_within_bounds_and_it_is_told() {
    let list = |value: u32| {
        let all: Vec<_> = (0..30_000).map(|at| format!("\"{at}\":{value}")).collect();
        result(&format!("{{{}}}", all.join(",")))
    };
    let report = judged(&list(1), &list(2));
    let account = &report.accounts[0];
    assert_eq!(account.differences.len(), diff_report::MAX_DIFFERENCES);
    assert_eq!(
        account.differences.len() as u64 + account.more,
        report.counts.failing(Threshold::From(Class::Noise))
    );
    assert!(report.left_out.values > 19_000);
    assert_eq!(report.exit_code(), 1);
    let deep = |leaf: &str| {
        answered(Some(format!(
            "{}{leaf}{}",
            "[".repeat(600),
            "]".repeat(600)
        )))
    };
    assert_eq!(judged(&deep("1"), &deep("2")).exit_code(), 1);
    assert_eq!(judged(&deep("1"), &deep("1")).exit_code(), 0);
    let twice = result(r#"{"a":1,"a":2}"#);
    assert_eq!(lines(&judged(&twice, &result(r#"{"a":2}"#))), [""; 0]);
    assert_eq!(
        lines(&judged(&twice, &result(r#"{"a":1}"#))),
        ["result.a changed –"]
    );
    let evil = result("{\"\u{202e}\\u001b[31m\":1}");
    let report = judged(&evil, &result("{}"));
    let path = &report.accounts[0].differences[0].path;
    assert!(!path.contains(['\u{202e}', '\u{1b}']), "{path}");
    let long = result(&format!(r#"{{"{}":1}}"#, "n".repeat(100_000)));
    let report = judged(&long, &result("{}"));
    let difference = &report.accounts[0].differences[0];
    assert!(difference.path.len() <= 256);
}

#[test]
fn what_is_too_long_is_compared_by_its_digest() {
    let of = |whole: &str| Told {
        outline: Some(Digest::of(whole.as_bytes())),
        ..answered(Some(String::new()))
    };
    assert_eq!(judged(&of("x"), &of("x")).exit_code(), 0);
    let report = judged(&of("x"), &of("y"));
    assert_eq!((report.exit_code(), report.left_out.outlines), (1, 1));
    assert!(lines(&report)[0].contains("too long"));
}

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
