use crate::query::Query;

#[test]
fn a_filter_writes_itself_as_one_would_type_it() {
    for (text, written) in [
        ("", ""),
        ("is:failed", "is:failed"),
        ("NOT  is:failed AND a", "-is:failed a"),
        ("(a OR b) c", "(a OR b) c"),
        ("a OR (b c)", "a OR b c"),
        ("latency>500ms", "latency>500ms"),
        ("latency:100ms..2000ms", "latency:100ms..2s"),
        ("time>90s", "time>01:30"),
        ("time>1:02:04.5", "time>1:02:04.5"),
        ("time>-300s", "time>-5m"),
        ("size>1500000", "size>1500kB"),
        ("name:\"a b\"", "name:\"a b\""),
        ("name:\"ab\"", "name:ab"),
        ("name:\":\"", "name:\":\""),
        ("id:\"7\" id:7", "id:\"7\" id:7"),
        ("\"OR\" \"-x\" \"a:b\"", "\"OR\" \"-x\" \"a:b\""),
        (r#"_meta["io.x/y"].z:1"#, r#"_meta["io.x/y"].z:1"#),
        ("params:x", "params:x"),
        ("params[0].a[*]=x", "params[0].a[*]=x"),
        (r#"name~"^\d \\d""#, r#"name~"^\\d \\d""#),
    ] {
        let query = Query::parse(text).unwrap();
        assert_eq!(query.to_string(), written, "{text}");
        assert_eq!(Query::parse(written), Ok(query), "{text}");
    }
}
