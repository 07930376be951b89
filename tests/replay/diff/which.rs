//! Which recordings and exchanges are compared, and by which rules.

use super::made::Story;
use super::{LEFT, RIGHT, code, compare, diff, recorded, text};
use crate::support::Library;

#[test]
fn two_exchanges_are_compared_whatever_they_ask_for() {
    let library = recorded(
        &Story::new().says("weather", "{}", "rain"),
        &Story::new()
            .says("weather", "{}", "rain")
            .says("weather", r#"{"days":2}"#, "sun"),
    );
    // The handshake has three frames.
    let same = diff(&library, &["7f3a#4", "c04d#5"]);
    assert_eq!(code(&same), 0, "{}", text(&same.stdout));
    let other = diff(&library, &["7f3a#4", "c04d#6"]);
    assert_eq!(code(&other), 1);
    let told = text(&other.stdout);
    for part in [
        "c04d#6 answers differently from 7f3a#4: ",
        r#""rain""#,
        r#""sun""#,
    ] {
        assert!(told.contains(part), "{told}");
    }
    let within = diff(&library, &["c04d#4", "c04d#6"]);
    assert_eq!(code(&within), 1, "of one recording");
    for args in [
        &["7f3a#4", "c04d"][..],
        &["7f3a", "c04d#4"],
        &["7f3a#3", "c04d#4"],
        &["7f3a#99", "c04d#4"],
        &["7f3a#4", "c04d#4", "--only", "tool:weather"],
        &["7f3a#4"],
        // A recording is always the same as itself: a script would take that for an answer.
        &["c04d", "@"],
        &["7f3a#4", "7f3a#4"],
    ] {
        assert_eq!(code(&diff(&library, args)), 2, "{args:?}");
    }
}

#[test]
fn two_servers_are_told_apart_before_their_differences() {
    let library = Library::new();
    Story::weather().record(&library, LEFT);
    let other = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}"#;
    let asked = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let story = Story::silent().result("initialize", asked, other);
    story.record(&library, RIGHT);
    let told = text(&diff(&library, &["7f3a", "c04d"]).stdout);
    assert!(
        told.starts_with("the servers differ, weather and files: "),
        "{told}"
    );
}

#[test]
fn what_an_answer_has_more_counts_for_the_verdict_and_calls_of_one_side_do_not() {
    let call = r#"{"name":"weather","arguments":{}}"#;
    let answer = |more| format!(r#"{{"content":[],"structuredContent":{{"a":1{more}}}}}"#);
    let library = recorded(
        &Story::new().result("tools/call", call, &answer("")),
        &Story::new()
            .result("tools/call", call, &answer(r#","b":2"#))
            .says("weather", r#"{"days":2}"#, "sun"),
    );
    let told = text(&diff(&library, &["7f3a", "c04d"]).stdout);
    let verdict = "c04d does all that 7f3a does, and more: ";
    assert!(told.starts_with(verdict), "{told}");
    assert!(told.contains("1 call only on the right"), "{told}");
}

#[test]
fn a_replay_is_compared_with_what_it_replays() {
    let library = Library::new();
    Story::weather().record(&library, LEFT);
    Story::weather()
        .says("weather", "{}", "more")
        .of(LEFT)
        .record(&library, RIGHT);
    let output = diff(&library, &["c04d", "--json"]);
    let told = text(&output.stdout);
    assert_eq!(code(&output), 0, "{told}");
    let summary: serde_json::Value =
        serde_json::from_str(told.lines().next().expect("a summary")).expect("JSON");
    assert_eq!(summary["left"]["id"], "7f3a0001");
    assert_eq!(
        (&summary["counts"]["unpaired"], &summary["same"]),
        (&1.into(), &3.into())
    );
    // A session that went on longer fails on neither side.
    for (sides, side) in [(["7f3a", "c04d"], "right"), (["c04d", "7f3a"], "left")] {
        let output = diff(&library, &sides);
        let told = text(&output.stdout);
        assert_eq!(code(&output), 0, "{told}");
        let verdict = format!("1 call only on the {side} (tools/call weather); 3 exchanges");
        assert!(told.contains(&verdict), "{told}");
    }
    let gone = Library::new();
    Story::weather().of(LEFT).record(&gone, RIGHT);
    for (library, id, why) in [
        (&library, "7f3a", "is no replay"),
        (&gone, "c04d", "its original 7f3a0001 is not there"),
    ] {
        let output = diff(library, &[id]);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains(why), "{why}");
    }
}

/// Once replays of that name were passed over without a word.
#[test]
fn a_name_means_the_session_and_a_newer_replay_of_it_is_told() {
    let library = Library::new();
    Story::weather().record(&library, LEFT);
    Story::weather().of(LEFT).record(&library, RIGHT);
    let output = library.mcpreel("show").arg("weather").output();
    let output = output.expect("mcpreel starts");
    assert!(text(&output.stdout).starts_with("7f3a"), "{output:?}");
    assert!(text(&output.stderr).contains("c04d"), "{output:?}");
}

#[test]
fn rules_pass_over_what_they_say_and_those_that_do_nothing_are_told() {
    let left = Story::new().call("weather", "{}", r#"{"a":1,"b":1}"#);
    let right = Story::new().call("weather", "{}", r#"{"a":2,"b":1}"#);
    let library = recorded(&left, &right);
    let rule = "[[ignore]]\nfor = \"tool:weather\"\npath = \"result.a\"\n";
    let file = library.path().join("my.toml");
    let unused = "\n[[ignore]]\npath = \"result.z\"\n";
    std::fs::write(&file, format!("{rule}{unused}")).expect("it can be written");
    let args = ["--rules", file.to_str().expect("it is text")];
    let found = compare(&library, &args);
    assert_eq!((found.code, found.said()), (0, vec![]));
    let unfired = &found.rows[1];
    assert_eq!(unfired["kind"], "unfired");
    assert_eq!(unfired["rule"], "ignore result.z");
    let told = text(&diff(&library, &["7f3a", "c04d", args[0], args[1]]).stdout);
    assert!(told.contains("1 difference ignored by rules"), "{told}");
    assert!(told.contains("changed nothing: ignore result.z"), "{told}");
}

/// Once a value was known as redacted only where the other recording had it in the frame of the
/// same number.
#[test]
fn what_is_redacted_is_known_as_such_wherever_its_counterpart_stands() {
    let asks = |key: &str| format!(r#"{{"city":"Oslo","apiKey":"{key}"}}"#);
    let (hidden, plain) = ("‹secret:1›", "kY7zQ2mW9xR4tB8nV3cL");
    let library = recorded(
        &Story::new().says("weather", &asks(hidden), &format!("rain for {hidden}")),
        &Story::new()
            .client(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
            .says("weather", &asks(plain), &format!("rain for {plain}")),
    );
    for args in [&["7f3a#4", "c04d#5"], &["7f3a", "c04d"]] {
        let output = diff(&library, args);
        let told = text(&output.stdout);
        assert_eq!(code(&output), 0, "{told}");
        assert!(told.contains("2 values redacted"), "{told}");
        assert!(told.contains("same"), "{told}");
    }
}

/// Once it was called by the id of what is made of it for as long as it is compared.
#[test]
fn a_cassette_is_called_by_its_file() {
    let library = recorded(
        &Story::weather(),
        &Story::new().result("tools/list", "{}", "{}"),
    );
    let cassette = library.path().join("it's.jsonl");
    let mut export = library.mcpreel("export");
    export.args(["7f3a", "--raw", "-o"]).arg(&cassette);
    assert!(export.status().expect("mcpreel starts").success());
    let output = diff(&library, &[&cassette.display().to_string(), "c04d"]);
    let told = text(&output.stdout);
    let first = told.lines().next().unwrap_or_default();
    assert!(
        first.contains("c04d") && first.contains("it's.jsonl"),
        "{told}"
    );
    assert!(told.contains("left   it's.jsonl"), "{told}");
}
