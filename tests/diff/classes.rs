//! How bad each kind of difference is, and what is no difference.

use super::made::Story;
use super::{Compared, compared};

/// A session in which one call is answered so.
fn answered(result: &str) -> Story {
    Story::new().call("weather", "{}", result)
}

fn beside(left: &str, right: &str, args: &[&str]) -> Compared {
    compared(&answered(left), &answered(right), args)
}

#[test]
fn a_session_beside_itself_has_no_difference() {
    let found = compared(&Story::weather(), &Story::weather(), &[]);
    assert_eq!((found.code, found.said()), (0, vec![]));
    assert_eq!(found.summary()["compared"], 3);
    assert_eq!(found.summary()["same"], 3);
}

#[test]
fn spelling_order_of_members_and_form_of_numbers_are_no_difference() {
    let found = beside(
        r#"{"content":[],"structuredContent":{"a":1,"b":"é","c":1e2}}"#,
        r#"{"structuredContent": {"c":100.0, "b":"\u00e9", "a":1.0}, "content": []}"#,
        &[],
    );
    assert_eq!((found.code, found.said()), (0, vec![]));
    let exact = beside(r#"{"a":1}"#, r#"{"a":1.0}"#, &["--exact-numbers"]);
    assert_eq!(
        (exact.code, exact.said()),
        (1, vec!["changed result.a".into()])
    );
}

#[test]
fn each_kind_of_difference_has_its_class() {
    for (left, right, said) in [
        (r#"{"a":1}"#, r#"{"a":2}"#, "changed result.a"),
        (
            r#"{"a":"x\ny"}"#,
            r#"{"a":"x\nz"}"#,
            "changed result.a line 2",
        ),
        (
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            "breaking result.a string instead of number",
        ),
        (r#"{"a":1}"#, "{}", "breaking result.a"),
        ("{}", r#"{"a":1}"#, "added result.a"),
        (r#"{"a":[1,2]}"#, r#"{"a":[1,2,3]}"#, "added result.a[2]"),
        (r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, "changed result.a[1]"),
        (
            "{}",
            r#"{"isError":true}"#,
            "breaking result.isError the call fails now",
        ),
    ] {
        let found = beside(left, right, &[]);
        assert_eq!(found.said(), [said], "{left} {right}");
        assert_eq!(found.code, i32::from(!said.starts_with("added")), "{said}");
    }
}

#[test]
fn an_error_instead_of_a_result_is_breaking_and_the_reverse_is_not() {
    let ok = answered("{}");
    let error = Story::new().exchange(
        "tools/call",
        r#"{"name":"weather","arguments":{}}"#,
        r#""error":{"code":-32603,"message":"no"}"#,
    );
    let found = compared(&ok, &error, &[]);
    assert_eq!(
        found.said(),
        ["breaking result an error instead of a result"]
    );
    let found = compared(&error, &ok, &[]);
    assert_eq!(found.said(), ["changed error a result instead of an error"]);
    let silent = Story::new().request("tools/call", r#"{"name":"weather","arguments":{}}"#);
    let found = compared(&ok, &silent, &[]);
    assert_eq!(found.said(), ["breaking  no answer any more"]);
}

#[test]
fn what_differs_between_any_two_runs_is_noise() {
    let found = beside(
        r#"{"content":[{"type":"text","text":"done in 12 ms at 2026-11-20T15:17:03Z, /tmp/tmpk3jd9x"}],"id":"123e4567-e89b-12d3-a456-426614174000","pid":7}"#,
        r#"{"content":[{"type":"text","text":"done in 90 ms at 2026-11-21T09:00:00Z, /tmp/tmp8fa0b1"}],"id":"00000000-e89b-12d3-a456-426614174000","pid":8}"#,
        &[],
    );
    assert_eq!(
        (found.code, found.count("noise")),
        (0, 3),
        "{:?}",
        found.said()
    );
    assert_eq!(found.count("changed"), 0);
}

#[test]
fn an_order_that_should_not_matter_is_told_and_does_not_fail() {
    let list = |names: [&str; 2]| {
        let [a, b] = names.map(|name| format!(r#"{{"uri":"x:{name}","name":"{name}"}}"#));
        Story::new().result(
            "resources/list",
            "{}",
            &format!(r#"{{"resources":[{a},{b}]}}"#),
        )
    };
    let found = compared(&list(["a", "b"]), &list(["b", "a"]), &[]);
    assert_eq!(found.count("order"), 1, "{:?}", found.said());
    assert_eq!(found.code, 0);
}

#[test]
fn an_answer_may_be_late_unless_there_is_a_budget() {
    let quick = Story::new().taking(10).says("weather", "{}", "rain");
    let slow = Story::new().taking(400).says("weather", "{}", "rain");
    assert_eq!(compared(&quick, &slow, &[]).said(), [""; 0]);
    for (budget, late) in [
        ("200ms", true),
        ("500ms", false),
        ("2x", true),
        ("50x", false),
    ] {
        let args = ["--latency-budget", budget, "--fail-on", "latency"];
        let found = compared(&quick, &slow, &args);
        assert_eq!(found.count("latency"), u64::from(late), "{budget}");
        assert_eq!(found.code, i32::from(late), "{budget}");
    }
    let args = ["--latency-budget", "200ms"];
    assert_eq!(
        compared(&quick, &slow, &args).code,
        0,
        "changed is what fails"
    );
}

#[test]
fn notifications_are_counted_and_logs_only_where_they_are_wanted() {
    let plain = Story::weather();
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let found = compared(&plain.clone().server(log), &plain, &[]);
    assert_eq!(found.said(), [""; 0]);
    let found = compared(&plain.clone().server(log), &plain, &["--strict-logs"]);
    assert_eq!(found.said(), ["changed notifications/message remark"]);
    let found = compared(&plain.clone().server(changed), &plain, &[]);
    assert_eq!(
        found.said(),
        ["changed notifications/tools/list_changed remark"]
    );
    let found = compared(&plain, &plain.clone().server(changed), &[]);
    assert_eq!(
        found.said(),
        ["added notifications/tools/list_changed remark"]
    );
}

#[test]
fn what_the_server_asks_is_compared_as_well() {
    let asks = |message: &str| {
        Story::new()
            .server(&format!(
                r#"{{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{{"message":"{message}"}}}}"#
            ))
            .client(r#"{"jsonrpc":"2.0","id":"s1","result":{"action":"cancel"}}"#)
    };
    let found = compared(&asks("which city"), &asks("which town"), &[]);
    assert_eq!(found.said(), ["changed params.message"]);
    let found = compared(&asks("which city"), &Story::new(), &[]);
    assert_eq!(found.said(), ["changed elicitation/create never-asked"]);
}
