use super::*;

/// The texts that may stand at the `|` of `text`, with what they would replace.
fn at(text: &str) -> (String, Vec<&'static str>, Option<Field>) {
    let caret = text.find('|').expect("the caret is shown");
    let text = text.replace('|', "");
    let completion = complete(&text, caret);
    let texts = completion.candidates.into_iter().map(|(text, _)| text);
    let replaced = text[completion.replace].to_owned();
    (replaced, texts.collect(), completion.wants_values_of)
}

#[test]
fn names_flags_operators_and_words_are_offered_where_they_may_stand() {
    for (text, replaced, offered) in [
        ("lat|", "lat", &["latency"][..]),
        ("a -lat|", "lat", &["latency"]),
        ("(met|", "met", &["method"]),
        ("is:fa|", "fa", &["failed"]),
        ("is:fa|iled b", "failed", &["failed"]),
        ("has:par|", "par", &["params"]),
        ("status:un|", "un", &["unanswered"]),
        ("-status=tool|", "tool", &["tool-error"]),
        ("metod:x method[ ) is:fa|", "fa", &["failed"]),
        ("id|", "", &[":", "=", "!="]),
        ("\"a la|", "", &[]),
        ("method:\"a la|", "\"a la", &[]),
        (
            "params.a|",
            "",
            &[":", "=", "!=", "!~", "~", "<=", ">=", "<", ">"],
        ),
        ("nothing|", "nothing", &[]),
    ] {
        let (found, texts, _) = at(text);
        assert_eq!(
            (found.as_str(), texts.as_slice()),
            (replaced, offered),
            "{text}"
        );
    }
    assert!(at("|").1.contains(&"is:"));
    assert!(at("a |").1.contains(&"latency"));
    assert_eq!(at("is:|").1.len(), crate::query::ast::Flag::ALL.len());
}

#[test]
fn values_that_were_seen_are_asked_for() {
    assert_eq!(at("method:to|").2, Some(Field::Method));
    assert_eq!(at("tool=|").2, Some(Field::Tool));
    assert_eq!(at("status:|").2, Some(Field::Status), "how often each");
    assert_eq!(at("severity:|").2, Some(Field::Severity));
    for text in ["latency>|", "text:|", "params.a:|", "met|"] {
        assert_eq!(at(text).2, None, "{text}");
    }
}

#[test]
fn values_that_were_seen_are_written_so_that_they_read_back() {
    for (field, value, written) in [
        (Field::Method, "tools/call", "tools/call"),
        (Field::Name, "two words", "\"two words\""),
        (Field::Name, "a\"b", r#""a\"b""#),
        (Field::Code, "-32602", "-32602"),
        (Field::Id, "7", "7"),
    ] {
        assert_eq!(value_text(field, value), written, "{value}");
    }
}
