//! How the command ends.

use super::made::Story;
use super::{code, compared, diff, recorded, text};
use mcpreel_trace::event::EventKind;
use serde_json::json;

#[test]
fn the_threshold_decides_what_fails() {
    let base = Story::new().call("weather", "{}", r#"{"a":1}"#);
    let other = Story::new().call("weather", "{}", r#"{"a":2}"#);
    for (fail_on, code) in [("breaking", 0), ("changed", 1), ("noise", 1), ("never", 0)] {
        let found = compared(&base, &other, &["--fail-on", fail_on]);
        assert_eq!(found.code, code, "{fail_on}");
        assert_eq!(found.summary()["exit_code"], json!(code));
    }
    let noise = Story::new().call("weather", "{}", r#"{"a":1,"nextCursor":"x"}"#);
    let noisier = Story::new().call("weather", "{}", r#"{"a":1,"nextCursor":"y"}"#);
    assert_eq!(compared(&noise, &noisier, &[]).code, 0);
    assert_eq!(compared(&noise, &noisier, &["--fail-on", "noise"]).code, 1);
}

#[test]
fn nothing_compared_is_never_a_success() {
    let (none, some) = (Story::silent, Story::weather);
    let asks = |method: &str| none().result(method, "{}", "{}");
    let only = &["--only", "tool:nothing"][..];
    let never = &["--fail-on", "never"][..];
    for (left, right, args, why) in [
        (none(), none(), &[][..], "neither recording has a request"),
        (none(), some(), &[], "the left recording has no request"),
        (some(), none(), &[], "the right recording has no request"),
        (some(), some(), only, "the filter fits no request"),
        (
            asks("ping"),
            asks("tools/list"),
            never,
            "no request of one recording stands for any of the other",
        ),
    ] {
        let found = compared(&left, &right, args);
        assert_eq!(found.code, 3, "{why}");
        let verdict = found.summary()["verdict"].as_str().expect("a sentence");
        assert_eq!(verdict, format!("nothing was compared: {why}"));
        assert_eq!(found.rows[1]["kind"], "trouble");
    }
}

#[test]
fn wrong_arguments_and_rules_are_usage() {
    let library = recorded(&Story::weather(), &Story::weather());
    let file = library.path().join("bad.toml");
    std::fs::write(
        &file,
        "[[ignor]]\npath = 'result.a'\n\n[[match]]\npath = 'x'\nas = 'set'\n",
    )
    .expect("it can be written");
    let file = file.to_str().expect("it is text");
    for (args, why) in [
        (&["--rules", file][..], "did you mean `ignore`?"),
        (&["--rules", file], "bad.toml:1:3"),
        (&["--rules", "/nonexistent.toml"], "cannot be read"),
        (&["--only", "tool:("], "--only, column"),
        (&["--latency-budget", "2"], "500ms"),
        (&["--fail-on", "bad"], "breaking"),
        (&["--rewrite", "x"], "/home/ada/work=/tmp/copy"),
        (&["--format", "xml"], "junit"),
    ] {
        let output = diff(&library, &[&["7f3a", "c04d"], args].concat());
        let said = text(&output.stderr);
        assert_eq!(code(&output), 2, "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(code(&diff(&library, &["7f3a", "nothing"])), 2);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let library = recorded(&Story::weather(), &Story::weather());
    let broken = library.path().join("broken.reel");
    std::fs::write(&broken, "no recording").expect("it can be written");
    let broken = broken.to_str().expect("it is text");
    assert_eq!(code(&diff(&library, &["7f3a", broken])), 3);
    assert_eq!(code(&diff(&library, &[broken, "7f3a"])), 3);
}

#[test]
fn a_server_that_goes_down_where_it_did_not_is_breaking() {
    let killed = EventKind::Exit {
        code: None,
        signal: Some("SIGSEGV".into()),
        max_rss_bytes: 1,
        user_ns: 1,
        system_ns: 1,
    };
    let found = compared(
        &Story::weather(),
        &Story::weather().ending(killed.clone()),
        &[],
    );
    assert_eq!((found.code, found.count("breaking")), (1, 1));
    let said = found.rows[1]["text"].as_str().expect("a sentence");
    assert!(
        said.contains("SIGSEGV") && said.contains("exit code 0"),
        "{said}"
    );
    let better = compared(&Story::weather().ending(killed), &Story::weather(), &[]);
    assert_eq!((better.count("breaking"), better.count("changed")), (0, 1));
}
