//! One exchange beside another.

use super::*;

#[test]
fn how_an_exchange_ended_comes_first() {
    let ok = result(r#"{"content":[],"isError":false,"z":1}"#);
    let fails = result(r#"{"content":[1],"isError":true,"z":"1"}"#);
    let error = answered(Some(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#.into(),
    ));
    let none = answered(None);
    for (left, right, expected) in [
        (
            &ok,
            &error,
            &["result breaking an error instead of a result"][..],
        ),
        (&error, &ok, &["error changed a result instead of an error"]),
        (&ok, &none, &[" breaking no answer any more"]),
        (&none, &ok, &[" added an answer, where there was none"]),
        (
            &ok,
            &fails,
            &[
                "result.isError breaking the call fails now",
                "result.z breaking string instead of number",
                "result.content[0] added –",
            ],
        ),
    ] {
        assert_eq!(lines(&judged(left, right)), expected);
    }
    let other = answered(Some(
        r#"{"jsonrpc":"2.0","id":1,"error":{"message":"y","code":-2}}"#.into(),
    ));
    let found = lines(&judged(&error, &other));
    assert_eq!(found, ["error.code changed –", "error.message changed –"]);
    assert_eq!(judged(&none, &none).exit_code(), 0);
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
fn numbers_may_be_compared_as_they_are_written() {
    let (one, other) = (
        result(r#"{"a":1,"b":[1]}"#),
        result(r#"{"a":1.0,"b":[1e0]}"#),
    );
    assert_eq!(judged(&one, &other).exit_code(), 0);
    let exact = Options {
        exact_numbers: true,
        ..Options::default()
    };
    let report = judged_by("", exact, &one, &other);
    assert_eq!(
        lines(&report),
        ["result.a changed –", "result.b[0] changed –"]
    );
}

#[test]
fn rules_change_what_is_found_and_are_counted() {
    let left = result(
        r#"{"structuredContent":{"load":1,"files":[{"n":"a","s":1},{"n":"b","s":2}],"tags":["x","y"]},"content":[{"text":"req-1 ok"}]}"#,
    );
    let right = result(
        r#"{"structuredContent":{"load":2,"files":[{"n":"b","s":2},{"n":"a","s":3}],"tags":["y","x"]},"content":[{"text":"req-2 ok"}]}"#,
    );
    let rules = "[[ignore]]\nfor = 'tool:a'\npath = 'result.structuredContent.load'\n\
        [[match]]\npath = 'result.structuredContent.files'\nas = 'keyed(n)'\n\
        [[match]]\npath = 'result.structuredContent.tags'\nas = 'set'\n\
        [[normalise]]\npath = 'result.content[*].text'\npattern = 'req-\\d+'\n\
        [[ignore]]\nfor = 'tool:b'\npath = 'result.structuredContent.load'\n";
    let report = judged_by(rules, Options::default(), &left, &right);
    assert_eq!(
        lines(&report),
        ["result.structuredContent.files[0].s changed –"]
    );
    assert_eq!(report.passed_over, 2);
    let unfired: Vec<_> = report
        .unfired
        .iter()
        .map(|rule| rule.rule.as_str())
        .collect();
    assert_eq!(unfired, ["ignore result.structuredContent.load of tool:b"]);
    let without = judged(&left, &right);
    assert!(without.count(Class::Changed) > 3, "{:?}", lines(&without));
}

#[test]
fn a_list_that_has_no_such_member_is_told() {
    let rules = "[[match]]\npath = 'result.l'\nas = 'keyed(n)'\n";
    let (left, right) = (
        result(r#"{"l":[{"n":1},{}]}"#),
        result(r#"{"l":[{"n":2},{}]}"#),
    );
    let report = judged_by(rules, Options::default(), &left, &right);
    assert_eq!(lines(&report), ["result.l[0].n changed –"]);
    assert_eq!(report.unlooked.unkeyed, 1);
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
fn paths_of_a_workspace_that_lies_elsewhere_are_noise() {
    let options = || Options {
        rewrites: Rewrites::new([("/home/ada/w".to_owned(), "/w".to_owned())]),
        ..Options::default()
    };
    let (left, right) = (
        result(r#"{"p":"/home/ada/w/x"}"#),
        result(r#"{"p":"/w/x"}"#),
    );
    let noise = judged_by("", options(), &left, &right);
    assert_eq!(lines(&noise), ["result.p noise –"]);
    assert_eq!(noise.exit_code(), 0);
    let other = judged_by("", options(), &left, &result(r#"{"p":"/w/y"}"#));
    assert_eq!(other.exit_code(), 1);
    assert_eq!(judged(&left, &right).exit_code(), 1);
}

#[test]
fn an_answer_may_be_late_unless_there_is_a_budget() {
    let took = |ms: u64| Told {
        latency_ns: ms * 1_000_000,
        ..result("{}")
    };
    let late = |budget, was, is| {
        let options = Options {
            latency_budget: budget,
            fail_on: Threshold::From(Class::Latency),
            ..Options::default()
        };
        judged_by("", options, &took(was), &took(is)).exit_code() == 1
    };
    assert!(!late(None, 1, 60_000));
    assert!(late(Some(Budget::Absolute(50_000_000)), 100, 51));
    assert!(!late(Some(Budget::Absolute(50_000_000)), 1, 50));
    assert!(late(Some(Budget::Times(2.0)), 100, 201));
    assert!(!late(Some(Budget::Times(2.0)), 100, 200));
    assert!(!late(Some(Budget::Times(2.0)), 1, 9), "nobody notices");
    let options = Options {
        latency_budget: Some(Budget::Times(2.0)),
        ..Options::default()
    };
    let report = judged_by("", options, &took(100), &took(300));
    assert_eq!(report.count(Class::Latency), 1);
    assert_eq!(report.exit_code(), 0, "it is below the threshold");
    let note = report.accounts[0].differences[0].note.as_deref();
    assert!(
        note.is_some_and(|note| note.contains("300") && note.contains("100")),
        "{note:?}"
    );
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

#[test]
fn progress_that_ends_elsewhere_is_a_difference() {
    let with = |done: u32| {
        let mut told = result("{}");
        for at in 1..=done {
            let message = format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":1,"progress":{at},"total":3}}}}"#
            );
            told.progress.add(message.as_bytes());
        }
        told
    };
    assert_eq!(judged(&with(3), &with(3)).exit_code(), 0);
    let report = judged(&with(3), &with(2));
    assert_eq!(lines(&report), [" changed progress ends before its total"]);
}
