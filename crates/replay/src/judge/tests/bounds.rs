//! What is large, deep or hostile, and what to do about a difference.

use super::*;

#[test]
fn hostile_answers_are_compared_within_bounds_and_it_is_told() {
    let list = |value: u32| {
        let all: Vec<_> = (0..30_000).map(|at| format!("\"{at}\":{value}")).collect();
        result(&format!("{{{}}}", all.join(",")))
    };
    let report = judged(&list(1), &list(2));
    let account = &report.accounts[0];
    assert_eq!(account.differences.len(), report::MAX_DIFFERENCES);
    assert_eq!(
        account.differences.len() as u64 + account.more,
        report.counts.failing(Threshold::From(Class::Noise))
    );
    assert!(report.unlooked.values > 19_000);
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
    assert!(difference.path.len() <= report::MAX_SHOWN && difference.rule.is_none());
}

#[test]
fn what_is_too_long_is_compared_by_its_outline_and_its_digest() {
    let of = |shown: &str, whole: &str| Told {
        outline: Some(Digest::of(whole.as_bytes())),
        ..result(shown)
    };
    assert_eq!(judged(&of("{}", "x"), &of("{}", "x")).exit_code(), 0);
    let report = judged(&of("{}", "x"), &of("{}", "y"));
    assert_eq!(report.exit_code(), 1);
    assert!(lines(&report)[0].contains("the outline is the same, the rest is not"));
    let report = judged(&of("[1]", "x"), &of("[2]", "y"));
    assert_eq!(lines(&report), ["result[0] changed –"]);
    assert_eq!(report.unlooked.outlines, 1);
}

#[test]
fn a_rule_to_add_passes_over_what_it_was_written_for() {
    let (left, right) = (
        result(r#"{"structuredContent":{"odd name":{"x":[1,2]}}}"#),
        result(r#"{"structuredContent":{"odd name":{"x":[1,3]}}}"#),
    );
    let report = judged(&left, &right);
    let rule = report.accounts[0].differences[0].rule.as_deref();
    let rule = rule.expect("there is one");
    assert!(rule.contains("tool:a") && rule.contains("[1]"), "{rule}");
    let report = judged_by(rule, Options::default(), &left, &right);
    assert_eq!((report.exit_code(), report.passed_over), (0, 1));
    assert_eq!(report.unfired, []);
}
