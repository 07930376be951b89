use super::*;
use crate::rules::Rules;
use mcpreel_wire::json::Document;

const NOW: u64 = 1_795_000_000_000_000_000;

fn rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    let path = std::path::Path::new("r");
    rules.add(text, path).expect("the rules are right");
    rules
}

fn on(side: Side, rules: &Rules, message: &str) -> Key {
    let scope = rules.scope("tools/call", Some("a"));
    let rewrites = Rewrites::new([("/home/ada".to_owned(), "/w".to_owned())]);
    let terms = Terms {
        scope: &scope,
        side,
        rewrites: &rewrites,
        wall_ns: Some(NOW),
    };
    let document = Document::parse(message.as_bytes()).expect("JSON");
    Key::of(document.root(), terms)
}

fn of(params: &str) -> Key {
    let message = format!(r#"{{"id":1,"method":"tools/call","params":{params}}}"#);
    on(Side::Right, &Rules::default(), &message)
}

#[test]
fn what_asks_for_the_same_has_one_key() {
    let one = of(r#"{"name":"a","arguments":{"q":1.0,"z":[{"é":null}]}}"#);
    for same in [
        r#"{"arguments":{"z":[{"\u00e9":null}],"q":1},"name":"a"}"#,
        r#"{"name":"b","name":"a","arguments":{"q":10e-1,"z":[{"é":null}]}}"#,
        r#"{"name":"a","arguments":{"q":1,"z":[{"é":null}]},"_meta":{"progressToken":7}}"#,
    ] {
        assert_eq!(of(same), one, "{same}");
    }
    for other in [
        r#"{"name":"a","arguments":{"q":"1","z":[{"é":null}]}}"#,
        r#"{"name":"a","arguments":{"q":1,"z":[{"é":null},null]}}"#,
        r#"{"name":"a","arguments":{"q":1,"z":{"é":null}}}"#,
        r#"{"name":"ab","arguments":{"q":1,"z":[{"é":null}]}}"#,
        r#"{"name":"a","arguments":{"q":1,"z":[{"é":null}],"_meta":1}}"#,
    ] {
        assert_ne!(of(other).exact, one.exact, "{other}");
        assert_ne!(of(other).normalised, one.normalised, "{other}");
    }
}

#[test]
fn what_two_runs_never_share_is_in_the_exact_digest_only() {
    for (one, other) in [
        (r#"{"cursor":"a"}"#, r#"{"cursor":"b"}"#),
        (r#"{"requestState":"a"}"#, r#"{"requestState":"b"}"#),
        (
            r#"{"arguments":{"f":"/tmp/tmpa1b2c3/x"}}"#,
            r#"{"arguments":{"f":"/tmp/tmpz9y8x7/x"}}"#,
        ),
        (
            r#"{"arguments":{"at":1795000001}}"#,
            r#"{"arguments":{"at":1795000002}}"#,
        ),
    ] {
        assert_ne!(of(one).exact, of(other).exact, "{one}");
        assert_eq!(of(one).normalised, of(other).normalised, "{one}");
    }
    let (one, other) = (
        r#"{"arguments":{"cursor":"a"}}"#,
        r#"{"arguments":{"cursor":"b"}}"#,
    );
    assert_ne!(of(one).normalised, of(other).normalised);
    // Whether there is a cursor at all is another thing.
    assert_ne!(of(r#"{"cursor":"a"}"#).normalised, of("{}").normalised);
}

#[test]
fn the_text_says_what_the_digest_covers() {
    let text = |level, params: &str| {
        let document = Document::parse(params.as_bytes()).expect("JSON");
        let rules = rules("[[keep]]\npath = 'params._meta.t'\n");
        let scope = rules.scope("tools/call", None);
        let terms = Terms {
            scope: &scope,
            side: Side::Right,
            rewrites: &Rewrites::NONE,
            wall_ns: None,
        };
        super::text(Some(document.root()), level, terms)
    };
    let params = r#"{"name":"a","cursor":"x","_meta":{"u":1,"t":[1.0]},"arguments":{"b":[],"a":"2026-11-20T15:17:03Z"}}"#;
    assert_eq!(
        text(Level::Exact, params),
        r#"{"params._meta.t":[1],"arguments":{"a":"2026-11-20T15:17:03Z","b":[]},"cursor":"x","name":"a"}"#
    );
    assert_eq!(
        text(Level::Normalised, params),
        r#"{"params._meta.t":[1],"arguments":{"a":"\u0000time\u0000","b":[]},"cursor":…,"name":"a"}"#
    );
    assert_eq!(text(Level::Exact, "[1,{}]"), "[1,{}]");
}
