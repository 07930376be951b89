//! `minimise`: the fewest messages with which it still fails.

use crate::process::{Case, Replayed, Row, stream};
use crate::support::{peer, send, wait_for};
use mcpreel_replay::minimise::Units;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const TOOLS: &str = r#"result 2 {"tools":[
    {"name":"look","annotations":{"readOnlyHint":true}},
    {"name":"open","annotations":{"readOnlyHint":true}},
    {"name":"use","annotations":{"readOnlyHint":true}},
    {"name":"close","annotations":{"readOnlyHint":true}},
    {"name":"poison","annotations":{"readOnlyHint":true}},
    {"name":"trip"}]}"#;

/// A session of the legacy era that calls these tools, each answered, with these arguments.
fn legacy(calls: &[(&str, &str)]) -> Vec<(u64, &'static str, String)> {
    let mut rows: Vec<_> = [
        ("c2s", r#"request 1 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#),
        ("s2c", r#"result 1 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#),
        ("c2s", "notify notifications/initialized"),
        ("c2s", "request 2 tools/list"),
        ("s2c", &TOOLS.replace('\n', " ")),
    ].into_iter().zip(0..).map(|((stream, what), t)| (t, stream, what.to_owned())).collect();
    for ((tool, arguments), id) in calls.iter().zip(3_u64..) {
        let call =
            format!(r#"request {id} tools/call {{"name":"{tool}","arguments":{arguments}}}"#);
        let text = if *tool == "open" {
            "h-4711aw9x2"
        } else {
            "then"
        };
        let answer = format!(r#"result {id} {{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        rows.extend([(id * 2, "c2s", call), (id * 2 + 1, "s2c", answer)]);
    }
    rows
}

fn case(rows: &[(u64, &'static str, String)]) -> Case {
    let rows = rows.iter();
    let rows: Vec<Row<'_>> = rows
        .map(|(t, stream, what)| (*t, *stream, &**what))
        .collect();
    Case::new(&rows)
}

/// `mcpreel minimise OPTIONS RECORDING -- peer recall ARGUMENTS`.
fn command(case: &Case, options: &[&str], server: &[&str]) -> Command {
    let mut command = case.library.mcpreel("minimise");
    command.args(options).arg(&case.recording).arg("--");
    command.arg(peer()).arg("recall").args(server);
    command.stdin(Stdio::null());
    command
}

fn minimise(case: &Case, options: &[&str], server: &[&str]) -> Replayed {
    Replayed::of(&command(case, options, server).output().unwrap())
}

/// The same as one JSON object.
fn minimised(case: &Case, options: &[&str], server: &[&str]) -> Value {
    let options: Vec<_> = options.iter().copied().chain(["--json"]).collect();
    let said = minimise(case, &options, server);
    assert_eq!(said.code, Some(0), "{said:?}");
    serde_json::from_str(&said.out).unwrap()
}

/// Methods and names of what was kept.
fn kept(found: &Value) -> Vec<String> {
    let kept = found["kept"].as_array().unwrap().iter();
    kept.map(|message| match message["name"].as_str() {
        Some(name) => name.to_owned(),
        None => message["method"].as_str().unwrap().to_owned(),
    })
    .collect()
}

const HANDSHAKE: [&str; 2] = ["initialize", "notifications/initialized"];

/// Nothing is in the folder but the recording and what was made of it.
#[track_caller]
fn nothing_else(case: &Case, made: usize) {
    let all = std::fs::read_dir(case.library.path()).unwrap().flatten();
    let mut paths: Vec<_> = all.map(|file| file.path()).collect();
    let is = |path: &Path, ending: &str| path.extension().is_some_and(|it| it == ending);
    paths.retain(|path| !path.ends_with("starts") && !is(path, "toml"));
    assert_eq!(paths.len(), 1 + made, "{paths:?}");
    assert!(paths.iter().all(|path| is(path, "reel")), "{paths:?}");
}

/// How often the server was started.
fn started(starts: &Path) -> usize {
    let text = std::fs::read_to_string(starts).unwrap_or_default();
    text.matches('.').count()
}

const TRIP: [&str; 4] = [
    "--fails",
    "tool:trip status:tool-error",
    "--allow-tool",
    "trip",
];

#[test]
fn two_calls_far_apart_of_forty_are_found_and_the_result_is_a_recording_like_any_other() {
    let mut calls = vec![("look", "{}"); 40];
    calls[4] = ("poison", "{}");
    calls[33] = ("trip", r#"{"deep":true}"#);
    let case = case(&legacy(&calls));
    let said = minimise(&case, &TRIP, &[]);
    said.is(
        0,
        &[
            "kept       4 of 43 messages",
            "no other one can be left out",
            "trip",
            "it failed each time",
        ],
    );
    assert!(said.err.contains("each run calls tools"), "{said:?}");
    nothing_else(&case, 1);
    let made = case.made();
    let summary = case.library.json(&["show", made.to_str().unwrap()]);
    assert_eq!(summary[0]["origin"], "minimised");
    assert_eq!(summary[0]["parent"], "7f3a9c21");
    let sent = String::from_utf8(stream(&case.library, &made, "c2s")).unwrap();
    let ids: Vec<_> = sent
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["id"].as_u64())
        .collect();
    assert_eq!(ids, [1, 7, 36]);

    // The command that was told plays it, and shows the same again. Which tools only read the result
    // knows without their list; the word of a file, which may be anybody's, does not count.
    let told = said
        .out
        .lines()
        .find_map(|line| line.strip_prefix("again"))
        .unwrap();
    let words: Vec<_> = told.split_whitespace().collect();
    let ["mcpreel", "replay", id, "--allow-tool", "trip"] = &words[..] else {
        panic!("{words:?}");
    };
    let tape = case.library.path().join("tape.jsonl");
    let mut export = case.library.mcpreel("export");
    export.args([id, "--raw", "--format", "jsonl", "-o"]);
    assert!(export.arg(&tape).status().unwrap().success());
    let tape = tape.to_str().unwrap();
    for (recording, options, code, said) in [
        (*id, &["--allow-tool", "trip"][..], 0, crate::process::SAME),
        (id, &[], 7, "trip (#"),
        (
            tape,
            &["--run-recorded-command", "--allow-tool", "trip"],
            7,
            "poison only reads by",
        ),
    ] {
        let mut command = case.library.mcpreel("replay");
        command.arg(recording).args(options).stdin(Stdio::null());
        Replayed::of(&command.output().unwrap()).is(code, &[said]);
    }
}

#[test]
fn who_gives_a_handle_back_keeps_the_call_that_made_it_and_so_does_a_page() {
    let handle = r#"{"handle":"h-4711aw9x2"}"#;
    let mut calls = vec![("look", "{}"); 20];
    calls[3] = ("open", "{}");
    calls[9] = ("use", handle);
    calls[18] = ("close", handle);
    let mut rows = legacy(&calls);
    let more = [
        ("c2s", "request 50 resources/list"),
        ("s2c", r#"result 50 {"resources":[],"nextCursor":"p2"}"#),
        ("c2s", r#"request 51 tools/call {"name":"look"}"#),
        ("s2c", "result 51"),
        ("c2s", r#"request 52 resources/list {"cursor":"p2"}"#),
        ("s2c", r#"result 52 {"resources":[]}"#),
    ];
    rows.extend(
        more.into_iter()
            .zip(100..)
            .map(|((stream, what), t)| (t, stream, what.into())),
    );
    let case = case(&rows);
    let found = minimised(&case, &["--fails", "tool:close status:tool-error"], &[]);
    assert_eq!(
        kept(&found),
        [&HANDSHAKE[..], &["open", "use", "close"]].concat()
    );
    assert_eq!(found["complete"], true);
    let found = minimised(
        &case,
        &["--fails", "method:resources/list status:error"],
        &[],
    );
    assert_eq!(
        kept(&found),
        [&HANDSHAKE[..], &["resources/list"; 2]].concat()
    );
    nothing_else(&case, 2);
}

#[test]
fn a_tool_that_the_server_does_not_call_harmless_now_is_called_in_no_run() {
    let handle = r#"{"handle":"h-4711aw9x2"}"#;
    let mut rows = legacy(&[
        ("open", "{}"),
        ("use", handle),
        ("close", handle),
        ("trip", "{}"),
    ]);
    rows[4].2 = rows[4]
        .2
        .replace(r#""trip""#, r#""trip","annotations":{"readOnlyHint":true}"#);
    let case = case(&rows);
    let starts = case.library.path().join("starts");
    let server = [starts.to_str().unwrap(), "1000", "calm"];
    let found = minimised(&case, &["--fails", "tool:close status:tool-error"], &server);
    assert_eq!(
        kept(&found),
        [&HANDSHAKE[..], &["open", "use", "close"]].concat()
    );
    assert!(!std::fs::read_to_string(&starts).unwrap().contains('!'));
}

#[test]
fn what_never_fails_is_told_and_leaves_nothing_behind() {
    let case = case(&legacy(&[("look", "{}"), ("trip", "{}")]));
    let said = minimise(&case, &TRIP, &[]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.out, "");
    assert!(
        said.err.contains("it does not fail") && said.err.contains("1 run"),
        "{said:?}"
    );
    nothing_else(&case, 0);
}

#[test]
fn a_failure_that_comes_only_sometimes_is_told_as_such() {
    let calls = [
        ("look", "{}"),
        ("poison", "{}"),
        ("look", "{}"),
        ("trip", "{}"),
    ];
    let case = case(&legacy(&calls));
    let starts = case.library.path().join("starts");
    // Two of three processes fail: of three runs in a row one does.
    let server = [starts.to_str().unwrap(), "3", "calm"];
    let options: Vec<_> = TRIP.into_iter().chain(["--runs", "3"]).collect();
    let found = minimised(&case, &options, &server);
    assert_eq!(kept(&found), [&HANDSHAKE[..], &["poison", "trip"]].concat());
    assert_eq!(found["again"]["runs"], 3);
    assert_eq!(found["again"]["failed"], 2);
    assert_eq!(found["runs"], started(&starts), "every run is counted");
}

#[test]
fn a_run_that_is_cut_short_by_us_shows_nothing_and_one_by_its_own_limit_does() {
    let case = case(&legacy(&[("look", "{}")]));
    let starts = case.library.path().join("starts");
    let server = [starts.to_str().unwrap(), "1", "sleep"];
    let hangs = ["--fails", "method:initialize status:unanswered"];
    let options = [&hangs[..], &["--timeout", "200ms"]].concat();
    let said = minimise(&case, &options, &server);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("the time of --timeout is up"), "{said:?}");
    nothing_else(&case, 0);
    let options = [&hangs[..], &["--run-timeout", "200ms"]].concat();
    let found = minimised(&case, &options, &server);
    assert_eq!(kept(&found), HANDSHAKE[..1]);
    assert_eq!(found["of"], 4);
}

#[test]
fn who_interrupts_gets_the_best_so_far() {
    let mut calls = vec![("look", "{}"); 8];
    calls[1] = ("poison", "{}");
    calls[7] = ("trip", "{}");
    let case = case(&legacy(&calls));
    let starts = case.library.path().join("starts");
    let child = command(&case, &TRIP, &[starts.to_str().unwrap(), "6", "sleep"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("the sixth process", || {
        (started(&starts) >= 6).then_some(())
    });
    send(Signal::SIGINT, child.id());
    let said = Replayed::of(&child.wait_with_output().unwrap());
    said.is(130, &["stopped by signal 2", "in 6 runs", "trip"]);
    nothing_else(&case, 1);
}

#[test]
fn what_belongs_together_is_one_unit() {
    // Each row with the unit that it belongs to.
    let rows = [
        (None, "c2s", "request 0 initialize"),
        (None, "s2c", "result 0"),
        (None, "c2s", "notify notifications/initialized"),
        (Some(0), "c2s", r#"request 1 tools/call {"name":"slow"}"#),
        (
            None,
            "s2c",
            r#"request 9 sampling/createMessage {"_meta":{"progressToken":"p"}}"#,
        ),
        (
            Some(0),
            "c2s",
            r#"notify notifications/progress {"progressToken":"p","progress":1}"#,
        ),
        (None, "c2s", "result 9 {}"),
        (
            Some(0),
            "c2s",
            r#"notify notifications/cancelled {"requestId":1}"#,
        ),
        (Some(1), "c2s", "notify notifications/roots/list_changed"),
        (Some(2), "c2s", r#"request 4 tools/call {"name":"open"}"#),
        (None, "s2c", r#"result 4 {"id":"h-4711aw9x2"}"#),
        (
            Some(3),
            "c2s",
            r#"request 5 tools/call {"name":"use","arguments":{"h":"h-4711aw9x2"}}"#,
        ),
        (None, "s2c", "result 5"),
        (Some(4), "c2s", "no message at all"),
    ];
    let told = rows
        .iter()
        .zip(0..)
        .map(|((_, stream, what), t)| (t, *stream, *what));
    let case = Case::new(&told.collect::<Vec<_>>());
    let units = Units::of(&Recording::open(&case.recording).unwrap()).unwrap();
    for (seq, (unit, _, what)) in (1..).zip(rows) {
        let found = units.all().iter().position(|it| it.contains(&Seq(seq)));
        assert_eq!(found, unit, "{what}");
        // The handshake stays, and so do answers.
        assert_eq!(units.leaves_out(&[], Seq(seq)), unit.is_some(), "{what}");
    }
    assert_eq!(units.messages(&[]), 2);
}
