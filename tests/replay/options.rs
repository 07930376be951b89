//! What the command line chooses: how strict, by which rules, in which form.

use crate::process::{Case, Replayed, Row, SAME};
use serde_json::Value;

const ROWS: [Row<'static>; 2] = [
    (0, "c2s", r#"request 1 tools/call {"name":"a"}"#),
    (
        1,
        "s2c",
        r#"result 1 {"structuredContent":{"n":1,"mood":"good"}}"#,
    ),
];

const ALL: &str = "--allow-side-effects";

/// A server that says this.
fn says(structured: &str) -> [String; 2] {
    let result = format!(r#"> result 1 {{"structuredContent":{structured}}}"#);
    ["< tools/call".to_owned(), result]
}

fn replay(case: &Case, options: &[&str], structured: &str) -> Replayed {
    let script = says(structured);
    let options: Vec<_> = [ALL].iter().chain(options).copied().collect();
    case.replay(&options, &[&script[0], &script[1]])
}

#[test]
fn how_strict_it_is_decides_how_it_ends() {
    let case = Case::new(&ROWS);
    let changed = r#"{"n":1,"mood":"bad"}"#;
    replay(&case, &[], changed).is(1, &["mood", r#"was  "good""#, r#"is   "bad""#]);
    replay(&case, &["--fail-on", "breaking"], changed).is(0, &["--fail-on breaking"]);
    let spelled = r#"{"n":1.0,"mood":"good"}"#;
    replay(&case, &[], spelled).is(0, &[SAME]);
    replay(&case, &["--exact-numbers"], spelled).is(1, &["structuredContent.n"]);
    let same = r#"{"n":1,"mood":"good"}"#;
    let late = ["--latency-budget", "0.001ms"];
    replay(&case, &late, same).is(0, &["latency"]);
    let late = ["--latency-budget", "0.001ms", "--fail-on", "latency"];
    replay(&case, &late, same).is(1, &["latency"]);
}

/// Once that was a success: the handshake was as it had been.
#[test]
fn a_part_that_needs_what_is_left_out_is_no_success() {
    let rows = [
        (0, "c2s", "request 0 initialize {}"),
        (1, "s2c", "result 0 {}"),
        (2, "c2s", r#"request 1 tools/call {"name":"open"}"#),
        (
            3,
            "s2c",
            r#"result 1 {"content":[{"type":"text","text":"h-37c25f9c"}]}"#,
        ),
        (
            4,
            "c2s",
            r#"request 2 tools/call {"name":"read","arguments":{"handle":"h-37c25f9c"}}"#,
        ),
        (5, "s2c", r#"result 2 {"content":[]}"#),
    ];
    let case = Case::new(&rows);
    let script = ["< initialize", "> result 0 {}"];
    let only = |filter| case.replay(&[ALL, "--only", filter], &script);
    only("tool:read").is(
        3,
        &[
            "nothing that fits --only could be tried",
            "needs the answer of #3 open",
            "--until",
        ],
    );
    only("method:initialize").is(0, &[SAME]);
}

#[test]
fn rules_pass_over_what_may_differ_from_wherever_they_are() {
    let case = Case::new(&ROWS);
    let rule = "[[ignore]]\nfor = \"tool:a\"\npath = \"result.structuredContent.mood\"\n";
    let file = case.library.path().join("mine.toml");
    std::fs::write(&file, rule).unwrap();
    let changed = r#"{"n":1,"mood":"bad"}"#;
    let named = ["--rules", file.to_str().unwrap()];
    replay(&case, &named, changed).is(0, &["1 rule of"]);
    replay(&case, &named, r#"{"n":2,"mood":"bad"}"#).is(1, &["structuredContent.n"]);
    // One that changes nothing is told.
    replay(&case, &named, r#"{"n":1,"mood":"good"}"#).is(0, &["changed nothing", "mood"]);
    std::fs::rename(&file, case.recording.with_extension("rules.toml")).unwrap();
    replay(&case, &[], changed).is(0, &["1 rule of"]);
}

#[test]
fn a_bad_file_of_rules_is_refused_before_anything_is_started() {
    let case = Case::new(&ROWS);
    let file = case.library.path().join("mine.toml");
    std::fs::write(&file, "[[ignor]]\npath = \"result.a\"\n").unwrap();
    let replayed = replay(&case, &["--rules", file.to_str().unwrap()], "{}");
    assert_eq!(replayed.code, Some(2), "{replayed:?}");
    assert!(replayed.err.contains("ignore"), "{replayed:?}");
    assert_eq!(case.library.files("reel").len(), 1, "nothing was started");
}

#[test]
fn programs_get_an_object_per_line() {
    let case = Case::new(&ROWS);
    let replayed = replay(&case, &["--format", "json"], r#"{"n":1,"mood":"bad"}"#);
    assert_eq!(replayed.code, Some(1), "{replayed:?}");
    let lines: Vec<Value> = replayed
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| lines.iter().find(|line| line["kind"] == kind).unwrap();
    assert_eq!(of("summary")["exit_code"], 1);
    let difference = of("difference");
    assert_eq!(difference["class"], "changed");
    assert_eq!(difference["left"], 1);
    assert_eq!(difference["path"], "result.structuredContent.mood");
    assert!(
        difference["open"][0]
            .as_str()
            .unwrap()
            .starts_with("mcpreel open")
    );
    let replay = of("replay");
    assert_eq!(
        (&replay["sent"], &replay["answered"]),
        (&1.into(), &1.into())
    );
    let made = case.made();
    assert_eq!(replay["path"], made.to_str().unwrap());
}

#[test]
fn test_reports_and_annotations_have_what_failed() {
    let case = Case::new(&ROWS);
    let bad = r#"{"n":1,"mood":"bad"}"#;
    let junit = replay(&case, &["--format", "junit"], bad);
    junit.is(
        1,
        &["<testsuites name=\"mcpreel replay\"", "<failure", "mood"],
    );
    let github = replay(&case, &["--format", "github"], bad);
    github.is(1, &["::error ", "mood"]);
    // Without a call allowed, the way out is on stderr: these have no place for it.
    let refused = case.replay(&["--format", "github"], &[]);
    assert_eq!(refused.code, Some(7), "{refused:?}");
    assert!(refused.err.contains("1 call: a (#1)"), "{refused:?}");
}

/// Once every run was a test of its own, and what was refused had passed.
#[test]
fn test_reports_are_about_the_same_tests_in_every_run_and_annotations_about_the_cassette() {
    let case = Case::new(&ROWS);
    let refused = case.replay(&["--format", "junit"], &[]);
    refused.is(
        7,
        &[
            "<testsuite name=\"told\"",
            "classname=\"told\" name=\"tools/call a\"><skipped message=\"not tried\">",
            "skipped=\"1\"",
        ],
    );
    let folder = case.library.path().canonicalize().unwrap();
    let cassette = folder.join("shop.jsonl");
    let mut export = case.library.mcpreel("export");
    export
        .arg(&case.recording)
        .args(["--raw", "-o"])
        .arg(&cassette);
    assert!(export.status().unwrap().success());
    let told = |format: &str| {
        let mut command = case.library.mcpreel("replay");
        command.args(["--allow-side-effects", "--format", format]);
        command.arg(&cassette).args(["--", "false"]);
        command
            .current_dir(&folder)
            .stdin(std::process::Stdio::null());
        Replayed::of(&command.output().unwrap()).out
    };
    let junit = told("junit");
    assert!(junit.contains("<testsuite name=\"shop.jsonl\""), "{junit}");
    let github = told("github");
    assert!(github.contains("::error file=shop.jsonl,"), "{github}");
}
