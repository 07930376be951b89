//! Sides of an exchange in a few words, and what is said of two of them.

use super::*;
use proptest::prelude::*;

const NOW: u64 = 1_795_000_000_000_000_000;

/// A side of an exchange, in a few words.
#[derive(Clone)]
struct Told {
    request: String,
    response: Option<String>,
    status: Status,
    size: Option<u64>,
}

impl Told {
    fn occurrence(&self, method: &'static str) -> Occurrence<'_> {
        Occurrence {
            seq: Some(Seq(1)),
            method,
            name: None,
            request: Some(self.request.as_bytes()),
            response: self.response.as_deref().map(str::as_bytes),
            size: self.size,
            status: self.status,
            latency_ns: Some(1_000_000),
            wall_ns: Some(NOW),
        }
    }
}

fn answered(response: Option<String>) -> Told {
    Told {
        request: r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#.into(),
        response,
        status: Status::Ok,
        size: None,
    }
}

fn result(result: &str) -> Told {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    answered(Some(answer))
}

fn judged(left: &Told, right: &Told) -> Report {
    let mut judge = Judge::default();
    judge.both(
        &left.occurrence("tools/call"),
        &right.occurrence("tools/call"),
    );
    judge.finish()
}

/// `PATH CLASS NOTE`, one for each difference.
fn lines(report: &Report) -> Vec<String> {
    let accounts = report.accounts.iter();
    let all = accounts.flat_map(|account| &account.differences);
    all.map(|one| {
        let note = one.note.as_deref().unwrap_or("–");
        format!("{} {} {note}", one.path, one.class.as_str())
    })
    .collect()
}

#[test]
fn what_was_cancelled_may_be_answered_or_not() {
    let ok = result("{}");
    let silent = |status| Told {
        status,
        ..answered(None)
    };
    for (status, said) in [
        (Status::Cancelled, &[][..]),
        (Status::Late, &[]),
        (Status::Lost, &[" breaking no answer any more"]),
    ] {
        assert_eq!(lines(&judged(&ok, &silent(status))), said, "{status:?}");
    }
}

#[test]
fn nothing_in_a_request_is_breaking_and_what_a_client_says_of_itself_is_noise() {
    let asked = |params: &str| Told {
        request: format!(r#"{{"id":7,"method":"tools/call","params":{params}}}"#),
        ..result("{}")
    };
    let report = judged(
        &asked(r#"{"name":"a","arguments":{"q":1,"r":2},"_meta":{"client":"x","y":1}}"#),
        &asked(r#"{"name":"a","arguments":{"q":"1"},"_meta":{"client":"z"}}"#),
    );
    let said = [
        "params.arguments.q changed string instead of number",
        "params.arguments.r changed –",
        "params._meta.client noise –",
        "params._meta.y noise –",
    ];
    assert_eq!(lines(&report), said);
}

#[test]
fn what_is_not_tried_decides_how_it_ends() {
    for (why, code) in [
        (Missing::NeverAnswered, 1),
        (Missing::NeverAsked, 1),
        (Missing::Removed, 1),
        (Missing::Skipped(Skip::NotNeeded), 0),
        (Missing::Skipped(Skip::Unreached("x".into())), 0),
        (Missing::Skipped(Skip::Redacted(vec!["s".into()])), 3),
        (Missing::Refused("rm".into()), 7),
    ] {
        let (mut judge, ok) = (Judge::default(), result("{}"));
        judge.both(&ok.occurrence("x/y"), &ok.occurrence("x/y"));
        judge.missing(&ok.occurrence("x/y"), why.clone());
        assert_eq!(judge.finish().exit_code(), code, "{why:?}");
    }
}

/// A list as its pages, each with the names on it.
fn pages(cut: &[&[&str]]) -> Vec<Told> {
    let cursor = |at: usize, is_there: bool, name| {
        let cursor = is_there.then(|| format!(r#""{name}":"c{at}of{}","#, cut.len()));
        cursor.unwrap_or_default()
    };
    let page = |(at, names): (usize, &&[&str])| {
        let tools = names.iter().map(|name| format!(r#"{{"name":"{name}"}}"#));
        let tools = tools.collect::<Vec<_>>().join(",");
        let next = cursor(at + 1, at + 1 < cut.len(), "nextCursor");
        let asked = cursor(at, at > 0, "cursor");
        Told {
            request: format!(r#"{{"id":1,"params":{{{asked}"x":1}}}}"#),
            ..result(&format!(r#"{{{next}"tools":[{tools}]}}"#))
        }
    };
    cut.iter().enumerate().map(page).collect()
}

/// The exit code and what is said of two lists that were asked for so often.
fn lists(left: &[&[&str]], right: &[&[&str]], times: usize) -> (u8, Vec<String>) {
    let mut judge = Judge::default();
    let (left, right) = (pages(left), pages(right));
    for at in (0..times).flat_map(|_| 0..left.len().max(right.len())) {
        let [l, r] = [&left, &right].map(|side| side.get(at).map(|it| it.occurrence("tools/list")));
        match (l, r) {
            (Some(l), Some(r)) => drop(judge.both(&l, &r)),
            (Some(l), None) => drop(judge.missing(&l, Missing::Removed)),
            (None, Some(r)) => drop(judge.more(&r)),
            (None, None) => {}
        }
    }
    let report = judge.finish();
    let said = report.offers.iter().map(|offer| {
        let note = offer.difference.note.as_deref().unwrap_or_default();
        format!("{} {note} {}", offer.name, offer.times)
    });
    (report.exit_code(), said.collect())
}

#[test]
fn a_list_is_one_however_it_is_cut_into_pages_and_often_asked_for() {
    let whole: &[&[&str]] = &[&["a", "b", "c"]];
    for cut in [
        whole,
        &[&["a", "b"][..], &["c"]],
        &[&["a"], &["b"], &["c"]],
        &[&["a"], &["b", "c"], &[]],
    ] {
        for (left, right) in [(whole, cut), (cut, whole), (cut, cut)] {
            assert_eq!(lists(left, right, 1), (0, vec![]), "{left:?} {right:?}");
        }
        let gone = (1, vec!["b is gone 1".into()]);
        assert_eq!(lists(cut, &[&["a"], &["c"]], 1), gone, "{cut:?}");
    }
    let gone = (1, vec!["b is gone 3".into()]);
    assert_eq!(lists(&[&["a", "b"]], &[&["a"]], 3), gone);
}

/// `CLASS TEXT`, one for each thing that is said of the notifications of both sides.
fn noticed(left: &[&str], right: &[&str]) -> Vec<String> {
    let mut judge = Judge::default();
    let [left, right] = [(Which::Left, left), (Which::Right, right)].map(|(side, messages)| {
        let mut notices = Notices::default();
        for (message, at) in messages.iter().zip(1..) {
            judge.notice(&mut notices, side, Seq(at), message.as_bytes(), Some(NOW));
        }
        notices
    });
    judge.notices(&left, &right);
    let report = judge.finish();
    let accounts = report.accounts.iter();
    let remarks = accounts.filter_map(|account| match &account.outcome {
        Outcome::Remark(remark) => Some(format!("{} {}", remark.class.as_str(), remark.text)),
        _ => None,
    });
    remarks.collect()
}

#[test]
fn notifications_are_compared_without_their_order() {
    let updated = |uri: &str| {
        format!(r#"{{"method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#)
    };
    let changed = r#"{"method":"notifications/tools/list_changed"}"#;
    let progress = r#"{"method":"notifications/progress","params":{"progressToken":1}}"#;
    let (one, same) = (
        updated("file:///tmp/tmpk3jd9x"),
        updated("file:///tmp/tmp8fa0b1"),
    );
    let nothing: [&str; 0] = [];
    assert_eq!(
        noticed(&[changed, &one], &[&same, changed, progress]),
        nothing
    );
    assert_eq!(
        noticed(&[changed, changed], &[changed, &one, &same, "no JSON"]),
        [
            "changed came once, was twice",
            "added comes twice, and did not before"
        ]
    );
    let no_more = "changed came once, and does no more";
    assert_eq!(noticed(&[changed], &[]), [no_more]);
}

#[test]
fn hostile_answers_are_compared_within_bounds_and_it_is_told() {
    let list = |value: u32| {
        let all: Vec<_> = (0..30_000).map(|at| format!("\"{at}\":{value}")).collect();
        result(&format!("{{{}}}", all.join(",")))
    };
    let report = judged(&list(1), &list(2));
    let account = &report.accounts[0];
    let kept = account.differences.len();
    assert_eq!(kept, diff_report::MAX_DIFFERENCES);
    let all = report.counts.failing(Threshold::From(Class::Noise));
    assert_eq!(kept as u64 + account.more, all);
    assert!(report.left_out.values > 19_000);
    let twice = result(r#"{"a":1,"a":2}"#);
    let other = judged(&twice, &result(r#"{"a":1}"#));
    assert_eq!(lines(&other), ["result.a changed –"]);
    let report = judged(&result("{\"\u{202e}\\u001b[31m\":1}"), &result("{}"));
    let path = &report.accounts[0].differences[0].path;
    assert!(!path.contains(['\u{202e}', '\u{1b}']), "{path}");
    let of = |size| Told {
        size: Some(size),
        ..answered(Some(String::new()))
    };
    for (size, code) in [(1, 0), (2, 1)] {
        let report = judged(&of(1), &of(size));
        assert_eq!((report.exit_code(), report.left_out.outlines), (code, 1));
    }
}

proptest! {
    #[test]
    fn one_planted_change_is_found_where_it_is(
        before in prop::collection::vec("[0-9]|\\[1,\"a\"\\]|\\{\"x\":null\\}", 0..4),
        after in prop::collection::vec("[0-9]|\\[2,3\\]", 0..4),
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
            let value = (0..deep).fold(leaf.to_owned(), |value, _| format!("{{\"d\":{value}}}"));
            let all = before.iter().chain([&value]).chain(&after).enumerate();
            let members: Vec<_> = all.map(|(at, value)| format!("\"m{at}\":{value}")).collect();
            result(&format!("{{{}}}", members.join(",")))
        };
        let end = if kind < 2 { "" } else { ".planted" };
        let path = format!("result.m{}{}{end} {}", before.len(), ".d".repeat(deep), class.as_str());
        let found = lines(&judged(&plant(left), &plant(right)));
        prop_assert_eq!(found.len(), 1);
        prop_assert!(found[0].starts_with(&path));
    }
}
