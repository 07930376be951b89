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
fn rules_keep_ignore_and_normalise() {
    let rules = rules(
        "[[keep]]\npath = 'params._meta.tenant.id'\n\
         [[ignore]]\npath = 'params.arguments.nonce'\n\
         [[normalise]]\npath = 'params.arguments.q'\npattern = 'v\\d+'\nwith = 'v'\n",
    );
    let key = |params: &str| {
        let message = format!(r#"{{"method":"tools/call","params":{params}}}"#);
        on(Side::Right, &rules, &message)
    };
    let tenant = |id| {
        key(&format!(
            r#"{{"_meta":{{"x":{id},"tenant":{{"id":{id}}}}}}}"#
        ))
    };
    assert_ne!(tenant(1), tenant(2));
    assert_eq!(
        key(r#"{"_meta":{"x":2,"tenant":{"id":1,"y":3}}}"#),
        tenant(1)
    );
    assert_ne!(key("{}"), tenant(1));
    let call = |q, nonce| key(&format!(r#"{{"arguments":{{"q":"{q}","nonce":{nonce}}}}}"#));
    assert_eq!(call("a v1", 1).normalised, call("a v22", 2).normalised);
    assert_ne!(call("a v1", 1).exact, call("a v22", 1).exact);
    assert_ne!(call("a v1", 1).exact, call("a v1", 2).exact);
    assert_ne!(call("a v1", 1).normalised, call("b v1", 1).normalised);
    assert_eq!(rules.unfired(), []);
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
