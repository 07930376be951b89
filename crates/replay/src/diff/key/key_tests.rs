use super::*;
use mcpreel_wire::json::Document;

const NOW: u64 = 1_795_000_000_000_000_000;

fn of(params: &str) -> [Digest; 2] {
    let message = format!(r#"{{"id":1,"method":"tools/call","params":{params}}}"#);
    let terms = Terms {
        scope: &Scope::default(),
        side: Side::Right,
        rewrites: &Rewrites::NONE,
        wall_ns: Some(NOW),
        is_exact: true,
    };
    let document = Document::parse(message.as_bytes()).expect("JSON");
    [true, false].map(|is_exact| digest(document.root(), Terms { is_exact, ..terms }))
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
        assert_ne!(of(other)[0], one[0], "{other}");
        assert_ne!(of(other)[1], one[1], "{other}");
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
        assert_ne!(of(one)[0], of(other)[0], "{one}");
        assert_eq!(of(one)[1], of(other)[1], "{one}");
    }
    let (one, other) = (
        r#"{"arguments":{"cursor":"a"}}"#,
        r#"{"arguments":{"cursor":"b"}}"#,
    );
    assert_ne!(of(one)[1], of(other)[1]);
    // Whether there is a cursor at all is another thing.
    assert_ne!(of(r#"{"cursor":"a"}"#)[1], of("{}")[1]);
}
