//! `tail` and `demo`, while something is recorded.

use super::{demo_host, live_with_a_frame, stdout};
use crate::support::{Library, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The lines of a pipe as they come.
fn lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let pipe = BufReader::new(pipe.expect("it is a pipe"));
    let (sender, receiver) = sync_channel(10_000);
    thread::spawn(move || {
        for line in pipe.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// `tail` with these arguments, and what it says on stderr.
fn tail(library: &Library, args: &[&str]) -> (Child, Receiver<String>, Receiver<String>) {
    let mut tail = library.mcpreel("tail");
    tail.args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut tail = tail.spawn().expect("mcpreel starts");
    let (out, err) = (lines(tail.stdout.take()), lines(tail.stderr.take()));
    (tail, out, err)
}

fn wait_for_line(lines: &Receiver<String>, what: &str) -> String {
    wait_for(what, || {
        lines.try_recv().ok().filter(|line| line.contains(what))
    })
}

#[test]
fn tail_waits_for_a_recording_and_tells_each_thing_once_until_it_ends() {
    let library = Library::new();
    let (mut tail, out, err) = tail(&library, &["--json"]);
    wait_for_line(&err, "waiting for a recording in");
    let host = demo_host(&library, super::SPEED)
        .output()
        .expect("the host starts");
    assert!(host.status.success(), "{host:?}");
    assert!(tail.wait().expect("it ends with the recording").success());
    let shown: Vec<Value> = out
        .iter()
        .map(|line| serde_json::from_str(&line).expect("JSON"))
        .collect();
    let of = |kind: &str| shown.iter().filter(|row| row["type"] == kind).count();

    let exchanges = library.json(&["show", "@", "--exchanges"]);
    let mut ends: BTreeMap<u64, Value> = BTreeMap::new();
    for row in shown.iter().filter(|row| row["type"] == "exchange") {
        let mut row = row.clone();
        row.as_object_mut().expect("an object").shift_remove("type");
        let before = ends.insert(row["request"].as_u64().expect("a seq"), row);
        assert!(before.is_none(), "told twice: {before:?}");
    }
    assert_eq!(ends.into_values().collect::<Vec<_>>(), exchanges);
    assert_eq!(of("event"), library.json(&["show", "@", "--events"]).len());
    let frames = library.json(&["show", "@", "--frames"]);
    let stderr = frames
        .iter()
        .filter(|frame| frame["stream"] == "stderr")
        .count();
    assert_eq!(of("stderr"), stderr);
    assert_eq!(of("line"), 1, "the log line on stdout");
    assert_eq!(of("notification"), 8);
}

#[test]
fn what_is_open_for_over_a_second_gets_one_line_while_it_is() {
    let library = Library::new();
    let mut server = library
        .run_sh("cat > /dev/null")
        .spawn()
        .expect("mcpreel starts");
    let mut stdin = server.stdin.take().expect("it is a pipe");
    let (mut tail, out, err) = tail(&library, &[]);
    wait_for_line(&err, "following");
    writeln!(
        stdin,
        r#"{{"jsonrpc":"2.0","id":"a","method":"tools/list"}}"#
    )
    .expect("it reads");
    wait_for_line(&out, "now");
    drop(stdin);
    assert!(server.wait().expect("it ends").success());
    assert!(tail.wait().expect("it ends with the recording").success());
    let rest: Vec<_> = out.iter().collect();
    assert!(!rest.iter().any(|line| line.ends_with("now")), "{rest:?}");
    let ends = rest
        .iter()
        .filter(|line| line.contains("tools/list"))
        .count();
    assert_eq!(ends, 1, "its end: {rest:?}");
}

#[test]
fn tail_of_a_copy_of_a_live_recording_ends() {
    let library = Library::new();
    let (mut server, stdin, live) = live_with_a_frame(&library);
    let listed = stdout(&library, &["ls"]);
    assert!(
        listed.contains("kB now\n"),
        "its files shrink at its end: {listed}"
    );
    let elsewhere = Library::new();
    let copy = elsewhere.path().join("copy.reel");
    std::fs::copy(live, &copy).expect("it can be copied");
    let text = stdout(
        &elsewhere,
        &["tail", copy.to_str().expect("the path is text")],
    );
    assert!(!text.contains("the server ended"), "{text}");
    drop(stdin);
    assert!(server.wait().expect("it ends").success());
}

#[test]
fn the_demo_is_recorded_and_shown_live_over_pipes_and_over_http() {
    for (more, end) in [
        (&[][..], "exit code 0"),
        (&["--http"], "DELETE /mcp → 200 OK"),
    ] {
        let library = Library::new();
        let mut demo = library.mcpreel("demo");
        let demo = demo.args(["--speed", super::SPEED]).args(more);
        let output = demo.output().expect("mcpreel starts");
        assert!(output.status.success(), "{}", crate::support::text(&output));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("plan_trip") && text.contains(end), "{text}");
        assert!(
            !text.contains("-head"),
            "heads are no rows of their own: {text}"
        );
        let recording = &library.json(&["ls"])[0];
        assert_eq!(recording["exchanges"], 20, "{recording}");
        let id = recording["id"].as_str().expect("an id").to_owned();
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains(&format!("mcpreel show {id}")), "{said}");
    }
}
