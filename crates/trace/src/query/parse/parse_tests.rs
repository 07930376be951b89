use super::*;
use crate::query::ast::Value;

fn parse(text: &str) -> Query {
    Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The texts of this kind in `cases.json`.
fn cases(kind: &str) -> Vec<String> {
    let mut all: serde_json::Value = serde_json::from_str(include_str!("cases.json")).unwrap();
    serde_json::from_value(all[kind].take()).unwrap()
}

fn refused(text: &str) -> QueryError {
    Query::parse(text).expect_err(text)
}

fn value_of(text: &str) -> Value {
    match parse(text).expr {
        Some(Expr::Compare { value, .. }) => value,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn conditions_bind_in_the_order_not_and_or() {
    for (text, same) in [
        ("a b OR c", "(a b) OR c"),
        ("a AND b c", "a b c"),
        ("a OR b c", "a OR (b AND c)"),
        ("-a b", "(-a) b"),
        ("NOT a OR b", "(NOT a) OR b"),
        ("NOT (a OR b)", "-(a OR b)"),
        ("a(b)", "a b"),
    ] {
        assert_eq!(parse(text), parse(same), "{text}");
    }
    assert_ne!(parse("(a OR b) c"), parse("a OR b c"));
}

#[test]
fn a_filter_that_goes_on_is_told_from_one_that_is_wrong() {
    for text in cases("unfinished") {
        assert!(refused(&text).may_be_unfinished(&text), "{text}");
    }
    for text in cases("wrong") {
        assert!(!refused(&text).may_be_unfinished(&text), "{text}");
    }
}

#[test]
fn words_that_mean_something_else_than_their_text_are_no_texts() {
    // Once these were looked for, and found nothing or too much.
    for (text, at) in [
        ("a or b", 2..4),
        ("a And b", 2..5),
        ("not a", 0..3),
        ("'a b'", 0..1),
    ] {
        assert_eq!(refused(text).at, at, "{text}");
    }
    assert_eq!(refused("tool:'a b'").at, 5..6);
    assert_ne!(parse("\"or\""), parse("\"'a\""));
    for (text, same) in [
        ("tool-error", "status:tool-error"),
        ("since>3s", "time>3s"),
        ("-has:since direction:c2s", "-has:time dir:c2s"),
    ] {
        assert_eq!(parse(text), parse(same), "{text}");
    }
    assert!(refused("is:fial").message.contains(&Flag::WORDS.join(", ")));
    assert!(
        refused("metod:x")
            .message
            .contains(&Field::WORDS.join(", "))
    );
}

#[test]
fn errors_name_the_place_and_the_nearest_real_name() {
    for (text, at, nearest) in [
        ("a metod:x", 2..7, Some("method")),
        ("is:faild ", 3..8, Some("failed")),
        ("has:latencie ", 4..12, Some("latency")),
        ("parms.a:1", 0..5, Some("params")),
        ("qqqq:1", 0..4, None),
        ("é latency>x", 11..12, None),
    ] {
        let error = refused(text);
        assert_eq!(
            (error.at, error.nearest.as_deref()),
            (at, nearest),
            "{text}"
        );
    }
    let error = refused("latency:fast");
    assert!(error.message.contains("500ms"), "{error}");
}

#[test]
fn addresses_and_names_of_code_are_text() {
    for text in cases("text") {
        assert_eq!(
            parse(&text).expr,
            Some(Expr::Text((*text).into())),
            "{text}"
        );
    }
    assert_eq!(
        parse("\"metod:x\"").expr,
        Some(Expr::Text("metod:x".into()))
    );
}

#[test]
fn values_are_read_by_the_type_of_their_field() {
    let ms = 1_000_000;
    for (text, value) in [
        ("seq:5", Value::Number(5)),
        ("seq:100..200", Value::Range(100..=200)),
        ("latency>1.5s", Value::Number(1500 * ms)),
        ("latency>\"500 ms\"", Value::Number(500 * ms)),
        ("latency:842ms", Value::Range(842 * ms..=843 * ms - 1)),
        ("latency=842ms", Value::Number(842 * ms)),
        ("latency:100ms..2s", Value::Range(100 * ms..=2000 * ms)),
        ("latency>3µs", Value::Number(3000)),
        ("latency>1m", Value::Number(60_000 * ms)),
        ("latency>1h", Value::Number(3_600_000 * ms)),
        ("size>1MB", Value::Number(1_000_000)),
        ("size>1MiB", Value::Number(1 << 20)),
        ("size>1000", Value::Number(1000)),
        ("size:1.9kB", Value::Range(1900..=1999)),
        ("time>12:04", Value::Number(724_000 * ms)),
        ("time>1:02:04.5", Value::Number(3_724_500 * ms)),
        ("time>90s", Value::Number(90_000 * ms)),
        (
            "time:12:00..12:30",
            Value::Range(720_000 * ms..=750_000 * ms),
        ),
        ("time>-5m", Value::Ago(300_000_000_000)),
        ("id:7", Value::Json("7".into())),
        ("code:-32602", Value::Json("-32602".into())),
        ("code:-32099..-32000", Value::Range(-32099..=-32000)),
        ("params.a:1e3", Value::Json("1e3".into())),
    ] {
        assert_eq!(value_of(text), value, "{text}");
    }
    for (text, inner, quoted) in [
        ("id:\"7\"", "7", true),
        ("id:abc", "abc", false),
        ("method:\"7\"", "7", false),
        ("name~^(a|b)$", "^(a|b)$", false),
        (r#"params.a~"\d\"\\d""#, r#"\d"\d"#, false),
        ("uri:../x", "../x", false),
        ("status:OK", "ok", false),
    ] {
        let text_value = Value::Text {
            text: inner.into(),
            quoted,
        };
        assert_eq!(value_of(text), text_value, "{text}");
    }
}

#[test]
fn length_and_depth_are_limited_with_a_clear_error() {
    let deep = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Query::parse(&deep(MAX_DEPTH)).is_ok());
    assert!(refused(&deep(MAX_DEPTH + 1)).message.contains("64"));
    assert!(Query::parse(&"a ".repeat(MAX_BYTES / 2)).is_ok());
    assert!(refused(&"é".repeat(MAX_BYTES)).message.contains("4096"));
}
