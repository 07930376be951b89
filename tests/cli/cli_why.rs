//! `why`: the cause of what went wrong in sessions that really did.

use super::{demo, refused, stdout};
use crate::support::{Library, MCPREEL, peer, send, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::thread;

/// The causes of the newest recording.
fn causes(library: &Library) -> Vec<Value> {
    let causes = library.json(&["why"]);
    assert!(!causes.is_empty(), "it always says something");
    causes
}

#[track_caller]
fn assert_best(library: &Library, cause: &str, says: &str) {
    let causes = causes(library);
    assert_eq!(causes[0]["cause"], cause, "{causes:#?}");
    let sentence = causes[0]["sentence"].as_str().expect("it is text");
    assert!(sentence.contains(says), "{sentence}");
}

#[test]
fn a_command_that_is_not_there_is_told_with_the_path_that_was_searched() {
    let library = Library::new();
    let mut run = library.run(["no-such-server"]);
    run.env("PATH", "/nowhere:/bin");
    run.output().expect("mcpreel starts");
    assert_best(
        &library,
        "server-not-found",
        "no-such-server: command not found",
    );
    let evidence = causes(&library)[0]["evidence"].to_string();
    assert!(
        evidence.contains("searched PATH=/nowhere:/bin"),
        "{evidence}"
    );
    assert!(!stdout(&library, &["why"]).contains("also failed"));
    run.output().expect("mcpreel starts");
    let said = stdout(&library, &["why"]);
    let first = library.json(&["ls"])[1]["id"].to_string();
    let other = format!("also failed {} no-such-server: not started", &first[1..5]);
    assert!(said.contains(&other), "{said}");
}

/// A host starts a server again, and somebody asks why the one before failed.
#[test]
fn beside_a_good_session_the_one_before_it_that_failed_is_named() {
    let library = Library::new();
    let session = |script: &str, host: &str| {
        let mut run = library.mcpreel("run");
        run.args(["--name", "srv", "--", "sh", "-c", script]);
        let mut run = run.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let run = run.as_mut().expect("mcpreel starts");
        let mut stdin = run.stdin.take().expect("it is piped");
        // One that has ended takes nothing.
        drop(stdin.write_all(host.as_bytes()));
        drop(stdin);
        run.wait().expect("it ends");
    };
    session("exit 3", "");
    session(
        r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'; cat > /dev/null"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    );
    let listed = library.json(&["ls"]);
    let [good, bad] =
        [0, 1].map(|nth| listed[nth]["id"].as_str().expect("it has one")[..4].to_owned());
    let said = stdout(&library, &["why", "srv"]);
    assert!(said.contains("nothing wrong"), "{said}");
    let other = format!("also failed {bad} srv: exit 3");
    assert!(said.contains(&other), "{said}");
    let said = stdout(&library, &["why", &good]);
    assert!(!said.contains("also failed"), "{said}");
}

#[test]
fn people_are_told_the_cause_how_sure_it_is_where_it_shows_and_what_to_do() {
    let demo = demo();
    let id = demo.json(&["ls"])[0]["id"].as_str().expect("it has one")[..4].to_owned();
    let said = stdout(&demo, &["why"]);
    let names: Vec<_> = said
        .lines()
        .map(|line| &line[..line.len().min(9)])
        .collect();
    for name in ["why      ", "certainty", "evidence ", "next     "] {
        assert!(names.contains(&name), "{name:?} is not in\n{said}");
    }
    // An address leads to its frame.
    let address = said
        .split_whitespace()
        .find(|word| word.starts_with(&id) && word.contains('#'));
    let address = address.unwrap_or_else(|| panic!("no address in\n{said}"));
    stdout(&demo, &["show", address]);
    let way_out = format!("`mcpreel show '{address}'` shows it");
    refused(&demo, &["why", address], 2, &way_out);
    let see = said.lines().find(|line| line.starts_with("see "));
    let see = see.and_then(|line| line.split("mcpreel show ").nth(1));
    let see = see.expect("it says where to look");
    // A shell would take what follows an open # for a comment.
    let see = see
        .strip_prefix('\'')
        .and_then(|see| see.strip_suffix('\''));
    stdout(&demo, &["show", see.expect("it is quoted")]);
}

/// All of a line was once read for its beginning.
#[test]
#[cfg(target_os = "linux")]
fn a_line_of_any_length_takes_little_memory() {
    let library = Library::new();
    let script = "read line; head -c 100000000 /dev/zero | tr '\\0' x; cat > /dev/null";
    let mut run = library.run_sh(script);
    let mut run = run.stdout(Stdio::null()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(b"{}\n").unwrap();
    assert!(run.wait().unwrap().success());
    stdout(&library, &["show", "@"]);
    let mut why = Command::new("sh");
    why.args(["-c", r#"ulimit -d 90000; exec "$0" why"#, MCPREEL]);
    why.env("MCPREEL_DIR", library.path());
    let why = why.env("HOME", library.path()).output().unwrap();
    assert!(why.status.success(), "{}", crate::support::text(&why));
}

/// A case of `wrong.toml`.
#[derive(serde::Deserialize)]
struct Wrong {
    about: String,
    server: Vec<String>,
    sends: Vec<String>,
    #[serde(default)]
    host: String,
    live: Option<String>,
    after: [String; 2],
}

/// The line that a word in `wrong.toml` stands for.
fn line(word: &str) -> String {
    match word {
        "INITIALIZE" => r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#.to_owned(),
        "INITIALIZED" => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        "CALL" => r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}}"#.to_owned(),
        "CANCEL" => r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"timeout"}}"#.to_owned(),
        "READY" => r#"> result 1 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}"#.to_owned(),
        "FLOOD" => format!("err {}", "x".repeat(100_000)),
        step => step.to_owned(),
    }
}

#[test]
fn why_names_the_cause_first_while_it_is_live_and_after_whatever_goes_wrong() {
    let cases = include_str!("wrong.toml");
    let mut cases: HashMap<String, Vec<Wrong>> = toml::from_str(cases).expect("they are cases");
    let cases = cases.remove("wrong").expect("they are listed");
    thread::scope(|scope| {
        for case in &cases {
            let thread = thread::Builder::new().name(case.about.clone());
            let thread = thread.spawn_scoped(scope, || goes_wrong(case));
            thread.expect("it starts");
        }
    });
}

/// Has a host speak to a server that goes wrong, and asks why.
fn goes_wrong(case: &Wrong) {
    let library = Library::new();
    let steps = case.server.iter().map(|step| line(step).into());
    let server = [peer().into(), "script".into()].into_iter().chain(steps);
    let mut run = library.run::<OsString>(server).spawn().expect("it starts");
    let (mut stdin, mut out) = (run.stdin.take(), run.stdout.take().map(BufReader::new));
    let mut err = run.stderr.take();
    if let Some(mut unread) = err.take_if(|_| case.host != "is-deaf") {
        thread::spawn(move || std::io::copy(&mut unread, &mut std::io::sink()));
    }
    let say = |word: &str| {
        // A server that has ended reads nothing.
        let _ = writeln!(stdin.as_ref().expect("it is open"), "{}", line(word));
    };
    say("INITIALIZE");
    let is_ready = case.server.iter().any(|step| step == "READY");
    let mut said = String::new();
    while is_ready && !said.contains("serverInfo") {
        let out = out.as_mut().expect("it is a pipe");
        out.read_line(&mut said).expect("it answers");
    }
    case.sends.iter().for_each(|word| say(word));
    if case.host == "is-killed" {
        (stdin, out) = (None, None);
    }
    // There may be no recording yet, or none that can be read.
    let is_named = |cause: &str| {
        let said = library.mcpreel("why").arg("--json").output().ok()?.stdout;
        let first = said.split(|byte| *byte == b'\n').next()?;
        let first: Value = serde_json::from_slice(first).ok()?;
        (first["cause"] == *cause).then_some(())
    };
    match &case.live {
        None => _ = run.wait().expect("it is ours"),
        Some(live) => wait_for(live, || is_named(live)),
    }
    drop(stdin);
    // What a host does to a server that lives on; a recorder with words for it waits for ever.
    if case.host == "is-deaf" {
        send(Signal::SIGKILL, run.id());
    } else if case.server.iter().any(|step| step == "sleep") {
        send(Signal::SIGTERM, run.id());
    }
    drop((out, err));
    run.wait().expect("it is ours");
    let [after, says] = &case.after;
    assert_best(&library, after, says);
    let failed = library.json(&["ls"])[0]["failed"].as_u64();
    let rows = library.json(&["show", "@", "-q", "is:failed"]).len() as u64;
    assert_eq!(failed, Some(rows), "{}", case.about);
}
