//! What the client had seen when it spoke is what a line says of that.

use crate::cassette::written;
use crate::cassette::{faults, taken};

/// Three requests of which none waits for an answer, as a hand without a clock may write them.
const IN_FLIGHT: [&str; 6] = [
    r#"{"n":1,"t":0,"d":"c2s","k":"req","m":"a","raw":{"jsonrpc":"2.0","id":1,"method":"a"}}"#,
    r#"{"n":2,"t":0,"d":"s2c","k":"res","re":1,"raw":{"jsonrpc":"2.0","id":1,"result":{}}}"#,
    r#"{"n":3,"t":0,"d":"c2s","k":"req","m":"b","seen":0,"raw":{"jsonrpc":"2.0","id":2,"method":"b"}}"#,
    r#"{"n":4,"t":0,"d":"s2c","k":"res","re":3,"raw":{"jsonrpc":"2.0","id":2,"result":{}}}"#,
    r#"{"n":5,"t":0,"d":"c2s","k":"req","m":"c","seen":2,"raw":{"jsonrpc":"2.0","id":3,"method":"c"}}"#,
    r#"{"n":6,"t":0,"d":"s2c","k":"res","re":5,"raw":{"jsonrpc":"2.0","id":3,"result":{}}}"#,
];

fn file(header: &str, lines: &[&str]) -> String {
    let end = r#"{"t":0,"k":"end"}"#;
    [&[header], lines, &[end]].concat().join("\n") + "\n"
}

#[test]
fn what_the_client_had_seen_comes_back_where_no_time_tells_it() {
    let file = file(r#"{"cassette":1}"#, &IN_FLIGHT);
    assert_eq!(faults(file.as_bytes()), [""; 0]);
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let again = written(taken(dir.path(), file.as_bytes()).reel());
    let again = String::from_utf8(again).expect("it is UTF-8");
    let frames: Vec<_> = again
        .lines()
        .filter(|line| line.contains("\"n\":"))
        .collect();
    assert_eq!(frames, IN_FLIGHT);
}

#[test]
fn a_frame_that_is_none_of_the_server_before_it_is_told_and_passed_over() {
    let told = |header: &str, seen: &str| {
        let line = IN_FLIGHT[4].replace("\"seen\":2", &format!("\"seen\":{seen}"));
        let lines = [&IN_FLIGHT[..4], &[&line], &IN_FLIGHT[5..]].concat();
        faults(file(header, &lines).as_bytes())
    };
    let whole = r#"{"cassette":1}"#;
    for seen in ["0", "2", "4"] {
        assert_eq!(told(whole, seen), [""; 0], "{seen}");
    }
    for seen in ["1", "3", "5", "6", "99", "-1", "2.0", "null", "\"2\"", "{}"] {
        let expected = format!(
            "line 6: its `seen` names no frame of the server before it: {seen}; passed over"
        );
        assert_eq!(told(whole, seen), [expected]);
    }
    // A part of a recording may name what is not in it.
    let part = r#"{"cassette":1,"selection":{"query":"is:failed"}}"#;
    assert_eq!(told(part, "3"), [""; 0]);
}
