//! Cassettes that somebody else has written.

use crate::process::{Case, Replayed, SAME, stream};
use crate::support::peer;
use std::process::Stdio;

/// A replay of a cassette with these lines, against a server that does as it is told, and what was
/// sent.
fn replay(lines: &[&str], script: &[&str]) -> (Replayed, String) {
    let case = Case::new(&[]);
    let file = case.library.path().join("by-hand.jsonl");
    let text = [&[r#"{"cassette":1}"#], lines, &[r#"{"t":0,"k":"end"}"#]].concat();
    std::fs::write(&file, text.join("\n") + "\n").unwrap();
    let mut command = case.library.mcpreel("replay");
    command.arg(&file).args(["--timeout", "20s", "--"]);
    command.arg(peer()).arg("script").args(script);
    let replayed = Replayed::of(&command.stdin(Stdio::null()).output().unwrap());
    let sent = stream(&case.library, &case.made(), "c2s");
    (replayed, String::from_utf8(sent).unwrap())
}

fn request(n: u64, id: u64, seen: &str) -> String {
    format!(
        r#"{{"n":{n},"t":0,"d":"c2s","k":"req",{seen}"raw":{{"jsonrpc":"2.0","id":{id},"method":"a"}}}}"#
    )
}

fn result(n: u64, id: u64) -> String {
    format!(
        r#"{{"n":{n},"t":0,"d":"s2c","k":"res","raw":{{"jsonrpc":"2.0","id":{id},"result":{{}}}}}}"#
    )
}

/// Once requests that were in flight together were sent one after the other, since the lines of
/// the file stand one after the other and its clock stands still.
#[test]
fn what_the_client_had_not_seen_is_not_waited_for() {
    let lines = [
        request(1, 1, ""),
        result(2, 1),
        request(3, 2, r#""seen":0,"#),
        result(4, 2),
        request(5, 3, r#""seen":0,"#),
        result(6, 3),
        request(7, 4, r#""seen":4,"#),
        result(8, 4),
        request(9, 5, ""),
        result(10, 5),
    ];
    let lines = lines.each_ref().map(String::as_str);
    // The server answers nothing before it has three requests; then, before it has the fourth, not
    // the third; and the last one has seen everything.
    let script = [
        r#"< "id":1"#,
        r#"< "id":2"#,
        r#"< "id":3"#,
        "> result 2",
        "> result 1",
        r#"< "id":4"#,
        "> result 4",
        "> result 3",
        r#"< "id":5"#,
        "> result 5",
    ];
    replay(&lines, &script).0.is(0, &[SAME]);
}

/// The lines of the client go out in their order, whatever each of them had seen.
#[test]
fn no_frame_of_the_client_overtakes_another_one() {
    let lines = [
        request(1, 1, ""),
        result(2, 1),
        request(3, 2, ""),
        request(4, 3, r#""seen":0,"#),
        result(5, 2),
        result(6, 3),
    ];
    let lines = lines.each_ref().map(String::as_str);
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< "id":2"#,
        r#"< "id":3"#,
        "> result 2",
        "> result 3",
    ];
    let (replayed, sent) = replay(&lines, &script);
    replayed.is(0, &[SAME]);
    let ids = sent.lines().map(|line| &line[22..23]);
    assert_eq!(ids.collect::<String>(), "123", "{sent}");
}
