//! `lint`: what is wrong, for people and for machines.

use super::{mcpreel, sample, stdout};
use crate::support::{Library, wait_for};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

fn exit(library: &Library, args: &[&str]) -> Option<i32> {
    mcpreel(library, args).status.code()
}

#[test]
fn an_error_fails_and_what_is_passed_over_does_not() {
    let library = Library::new();
    let (noisy, calm) = (sample("noisy-stdout"), sample("well-behaved"));
    assert_eq!(exit(&library, &["lint", &noisy]), Some(1));
    assert_eq!(exit(&library, &["lint", &calm]), Some(0));
    assert_eq!(exit(&library, &["lint", &calm, &noisy]), Some(1));
    assert_eq!(
        exit(&library, &["lint", &noisy, "--fail-on", "never"]),
        Some(0)
    );
    let rows = library.json(&["lint", &noisy, "--fail-on", "never"]);
    let mut args = vec!["lint", &noisy, "--fail-on", "note"];
    for row in &rows {
        args.extend(["--allow", row["rule"].as_str().expect("a rule")]);
    }
    assert_eq!(exit(&library, &args), Some(0));
    assert!(stdout(&library, &args).contains("nothing found"));
}

/// Cassettes in a folder were once passed over in silence.
#[test]
fn a_folder_is_its_recordings_and_its_cassettes() {
    let library = Library::new();
    let folder = library.path().join("both");
    std::fs::create_dir(&folder).unwrap();
    let copy = folder.join("calm.reel");
    std::fs::copy(sample("well-behaved"), copy).unwrap();
    let folder = folder.to_str().unwrap();
    assert_eq!(exit(&library, &["lint", folder]), Some(0));
    let tape = format!("{folder}/noisy.jsonl");
    let noisy = sample("noisy-stdout");
    exit(
        &library,
        &["export", &noisy, "--format", "jsonl", "-o", &tape],
    );
    assert_eq!(exit(&library, &["lint", folder]), Some(1));
}

#[test]
fn the_configuration_allows_as_well_and_an_unknown_rule_there_is_told() {
    let library = Library::new();
    let config = library.path().join(".config/mcpreel/config.toml");
    std::fs::create_dir_all(config.parent().expect("it has one")).expect("it can be made");
    std::fs::write(
        &config,
        "[lint]\nallow = ['frame-not-json', 'frame-nonsense']\n",
    )
    .expect("it can be written");
    let mut lint = library.mcpreel("lint");
    lint.env("HOME", library.path())
        .args([&sample("noisy-stdout"), "--json"]);
    let output = lint.output().expect("mcpreel starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("frame-not-json"), "{text}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("config.toml:2:28: there is no rule `frame-nonsense`"),
        "{said}"
    );
}

#[test]
fn code_scanning_gets_sarif() {
    let library = Library::new();
    let args = [
        "lint",
        &sample("noisy-stdout"),
        &sample("crash"),
        "--format",
        "sarif",
    ];
    let sarif: Value = serde_json::from_str(&stdout(
        &library,
        &[&args[..], &["--fail-on", "never"]].concat(),
    ))
    .expect("it is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
    assert_eq!(rules.len(), mcpreel_lint::catalogue().len());
    let results = run["results"].as_array().expect("a list");
    assert!(results.len() >= 2);
    for result in results {
        assert!(
            rules.iter().any(|rule| rule["id"] == result["ruleId"]),
            "{result}"
        );
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let place = place.as_str().expect("a place");
        assert!(
            place.starts_with("file:///") && place.contains("/recordings/"),
            "{place}"
        );
    }
}

/// The recording in one of the formats for machines.
fn report(library: &Library, recording: &str, format: &str) -> String {
    let args = ["lint", recording, "--format", format, "--fail-on", "never"];
    String::from_utf8(mcpreel(library, &args).stdout).expect("it is text")
}

/// A recording with as many findings of as many rules, each with this text, beside those of a
/// sample: what another version of mcpreel, or a stranger, may have written into a file.
fn with_findings(library: &Library, rules: usize, each: usize, text: &str) -> String {
    let copy = library.path().join("copy.reel");
    std::fs::copy(sample("well-behaved"), &copy).expect("it can be copied");
    // Otherwise what is derived would be derived anew by whoever reads it.
    stdout(library, &["reindex", &copy.to_string_lossy()]);
    let conn = rusqlite::Connection::open(&copy).expect("it can be opened");
    let insert = "INSERT INTO finding (rule, severity, frame, path, detail)
        VALUES (?1, ?2, 1, ?3, ?3)";
    conn.execute_batch("BEGIN").expect("it can be written");
    for rule in 0..rules {
        let severity = ["error", "warning", "note"][rule % 3];
        for _ in 0..each {
            let values = (format!("rule-{rule:03}{text}"), severity, text);
            conn.execute(insert, values).expect("it can be written");
        }
    }
    conn.execute_batch("COMMIT").expect("it can be written");
    copy.to_string_lossy().into_owned()
}

#[test]
fn reports_for_machines_have_no_more_than_is_taken_and_say_what_is_left_out() {
    let library = Library::new();
    let recording = with_findings(&library, 60, 120, "x");
    let found = library
        .json(&["lint", &recording, "--fail-on", "never"])
        .len();
    assert!(found >= 60 * 120);

    let sarif: Value = serde_json::from_str(&report(&library, &recording, "sarif")).expect("JSON");
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().expect("a list");
    assert!(results.len() >= 60 * 100);
    // The worst come first, and one rule leaves room for the others.
    assert!(
        results[..2000]
            .iter()
            .all(|result| result["level"] == "error")
    );
    let of_first = results.iter().filter(|it| it["ruleId"] == "rule-000x");
    assert_eq!(of_first.count(), 100);
    let said = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    let said = without_spaces(said.as_str().expect("a text"));
    assert!(
        said.starts_with(&format!("{}findingsleftout", found - results.len())),
        "{said}"
    );

    let github = report(&library, &recording, "github");
    for command in ["error", "warning", "notice"] {
        let begin = format!("::{command} ");
        let lines: Vec<_> = github
            .lines()
            .filter(|line| line.starts_with(&begin))
            .collect();
        assert_eq!(lines.len(), 10, "{github}");
        assert!(lines[0].ends_with("(and 119 more)"), "{}", lines[0]);
    }
    let errors = format!("::and{}morefindings,", (20 - 9) * 120);
    assert!(without_spaces(&github).contains(&errors), "{github}");

    let junit = report(&library, &recording, "junit");
    let cases = mcpreel_lint::catalogue().len() + 60;
    assert_eq!(junit.matches("<testcase ").count(), cases);
    assert!(junit.contains(&format!("tests=\"{cases}\"")));
    assert_eq!(junit.matches("and 100 more findings").count(), 60);
}

/// The text without the spaces between words and digits.
fn without_spaces(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

#[test]
fn nothing_that_a_recording_says_is_obeyed_or_goes_on_for_ever() {
    let library = Library::new();
    let evil = "\u{1b}]0;x\u{7}\r\n::error::%0A\u{202e}]]><a b='\"'>&\u{ffff}\0";
    let recording = with_findings(&library, 3, 2, &evil.repeat(2000));
    for format in ["sarif", "github", "junit"] {
        let text = report(&library, &recording, format);
        let odd = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{ffff}');
        assert_eq!(text.chars().find(odd), None, "{format}");
        let lines = text.lines().filter(|line| line.contains("rule-00"));
        let longest = lines.map(str::len).max();
        assert!(
            format == "sarif" || longest < Some(9000),
            "{format}: {text}"
        );
    }
    // What a reader makes of the escapes of JSON is as harmless.
    let sarif: Value = serde_json::from_str(&report(&library, &recording, "sarif")).expect("JSON");
    let mut texts = Vec::new();
    every_text(&sarif, &mut texts);
    assert!(texts.iter().any(|text| text.starts_with("rule-000")));
    for text in texts {
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(text.len() < 9000, "{text}");
    }
    let github = report(&library, &recording, "github");
    let is_command = |line: &str| line.starts_with("::") && line.matches("::").count() >= 2;
    assert!(github.lines().all(is_command), "{github}");
}

fn every_text<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|one| every_text(one, texts)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            texts.push(name);
            every_text(value, texts);
        }),
        _ => {}
    }
}

#[test]
fn what_is_overdue_in_a_live_session_is_told_though_nobody_has_found_it() {
    let library = Library::new();
    let mut session = library.run_sh("sed -u 's/.*//;d'; cat");
    let mut session = session
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the recorder starts");
    let mut stdin = session.stdin.take().expect("it is piped");
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#).expect("it is read");
    wait_for("the recording", || {
        library.files("reel").first().map(|_| ())
    });
    let slow = wait_for("a request that is open for a second", || {
        let rows = library.json(&["lint", "@", "--fail-on", "never"]);
        rows.into_iter().find(|row| row["rule"] == "request-slow")
    });
    assert_eq!((&slow["frame"], &slow["request"]), (&json!(1), &json!(1)));
    let text = stdout(&library, &["lint", "@", "--fail-on", "never"]);
    assert!(text.contains("(right now)"), "{text}");
    let stored = library.json(&["show", "@", "--findings"]);
    assert!(
        stored.iter().all(|row| row["rule"] != "request-slow"),
        "{stored:?}"
    );
    // The length was once that of what had come, and an open call had no age.
    let text = stdout(&library, &["show", "@"]);
    let line = |with: &str| {
        text.lines()
            .find(|line| line.contains(with))
            .expect("it is there")
    };
    assert!(!line("started ").contains(" 0.0 s long"), "{text}");
    assert!(line("→ tools/list").contains("  >"), "{text}");
    assert!(stdout(&library, &["show", "@#1"]).contains("without an answer"));
    assert!(stdout(&library, &["stats", "@"]).contains("  >"));
    drop(stdin);
    session.wait().expect("it ends");
}
