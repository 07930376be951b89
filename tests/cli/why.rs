//! `why`: the cause of what went wrong in sessions that really did.

use super::{demo, refused, stdout};
use crate::support::{Library, MCPREEL, peer, send, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;
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
        "no-such-server: command not found (searched PATH=/nowhere:/bin)",
    );
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
    for name in ["why      ", "sure     ", "shown    ", "do       "] {
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

/// What the host does when `why` has named the cause in the live session, or at once.
#[derive(Clone, Copy)]
enum Host {
    Leaves,
    /// Its process is killed: the system closes both pipes.
    IsKilled,
    /// It does not read stderr.
    IsDeafToStderr,
}

/// A server that goes wrong: steps of the peer's script, what the host sends, and the cause.
struct Wrong {
    about: &'static str,
    server: &'static [&'static str],
    host: Host,
    /// The lines of the host after the handshake.
    sends: &'static [&'static str],
    /// The cause that is named while the session is live; empty if it is over by itself.
    live: &'static str,
    after: &'static str,
    says: &'static str,
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","arguments":{}}}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"timeout"}}"#;
const READY: &str = r#"> result 1 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}"#;

const HANGS: &[&str] = &["< initialize", READY, "< tools/call", "sleep"];

#[test]
fn why_names_the_cause_first_while_it_is_live_and_after_whatever_a_server_does_wrong() {
    let case = |about, server, after, says| Wrong {
        about,
        server,
        after,
        says,
        host: Host::Leaves,
        sends: &[INITIALIZED, CALL],
        live: "",
    };
    let lines = ["err ", &"x".repeat(100_000)].concat();
    let lines: &'static str = lines.leak();
    let flood = [&HANGS[..3], &[lines, lines, lines, "sleep"]].concat();
    let cases = [
        Wrong {
            live: "never-answered",
            ..case("hangs in a call", HANGS, "never-answered", "work (#4)")
        },
        Wrong {
            sends: &[INITIALIZED, CALL, CANCEL],
            live: "client-gave-up",
            ..case("the host cancels", HANGS, "client-gave-up", "work (#4)")
        },
        case(
            "crashes at its start",
            &[
                "err Traceback (most recent call last):",
                "err KeyError: 'KEY'",
                "exit 1",
            ],
            "died-at-start",
            "KeyError: 'KEY'",
        ),
        case(
            "crashes in a call",
            &[
                "< initialize",
                READY,
                "< tools/call",
                "err KeyError: 'station'",
                "exit 1",
            ],
            "crashed",
            "in the middle of work (#4); stderr says: KeyError: 'station'",
        ),
        Wrong {
            live: "never-answered",
            ..case(
                "answers with another id",
                &["< initialize", READY, "< tools/call", "> result 999 {}"],
                "never-answered",
                "id 999 in place of 2",
            )
        },
        Wrong {
            sends: &[],
            live: "banner-before-first-message",
            ..case(
                "prints a banner",
                &["> Weather server 1.4", "< initialize", READY],
                "banner-before-first-message",
                "Weather server 1.4",
            )
        },
        case(
            "ends early with 0",
            &["< initialize", READY, "< tools/call", "exit 0"],
            "crashed",
            "exit code 0 in the middle of work (#4)",
        ),
        Wrong {
            sends: &[],
            live: "handshake-unfinished",
            ..case(
                "never answers initialize",
                &["< initialize", "sleep"],
                "handshake-unfinished",
                "never answered initialize (#1)",
            )
        },
        Wrong {
            host: Host::IsDeafToStderr,
            live: "pipe-not-read",
            ..case("floods stderr", flood.leak(), "pipe-not-read", "stderr")
        },
        Wrong {
            host: Host::IsKilled,
            live: "never-answered",
            ..case(
                "loses its host",
                HANGS,
                "never-answered",
                "the host was gone",
            )
        },
    ];
    thread::scope(|scope| {
        for case in &cases {
            let name = thread::Builder::new().name(case.about.to_owned());
            name.spawn_scoped(scope, || goes_wrong(case)).unwrap();
        }
    });
}

/// Has a host speak to a server that goes wrong, and asks why.
fn goes_wrong(case: &Wrong) {
    let library = Library::new();
    let mut command = library.run([peer().to_str().unwrap(), "script"]);
    let mut run = command.args(case.server).spawn().unwrap();
    let (mut stdin, mut stdout) = (run.stdin.take(), run.stdout.take());
    let stderr = run.stderr.take();
    let stderr = match case.host {
        Host::IsDeafToStderr => stderr,
        _ => {
            thread::spawn(|| std::io::copy(&mut stderr.unwrap(), &mut std::io::sink()));
            None
        }
    };
    let mut said = String::new();
    // A server that has ended reads nothing.
    let _ = writeln!(stdin.as_ref().unwrap(), "{INITIALIZE}");
    let is_ready = case.server.contains(&READY);
    while is_ready && !said.contains("serverInfo") {
        let mut pipe = BufReader::with_capacity(1, stdout.as_mut().unwrap());
        pipe.read_line(&mut said).unwrap();
    }
    for line in case.sends {
        let _ = writeln!(stdin.as_ref().unwrap(), "{line}");
    }
    if matches!(case.host, Host::IsKilled) {
        (stdin, stdout) = (None, None);
    }
    // There may be no recording yet, or none that can be read.
    let is_named = |cause: &str| {
        let said = library.mcpreel("why").arg("--json").output().unwrap();
        let first = said.stdout.split(|byte| *byte == b'\n').next()?;
        let first: Value = serde_json::from_slice(first).ok()?;
        (first["cause"] == cause).then_some(())
    };
    if case.live.is_empty() {
        run.wait().unwrap();
    } else {
        let what = format!("{}: {} while it is live", case.about, case.live);
        wait_for(&what, || is_named(case.live));
    }
    drop(stdin);
    // What a host does to a server that lives on; a recorder with words for it waits for ever.
    if matches!(case.host, Host::IsDeafToStderr) {
        send(Signal::SIGKILL, run.id());
    } else if case.server.contains(&"sleep") {
        send(Signal::SIGTERM, run.id());
    }
    drop((stdout, stderr));
    run.wait().unwrap();
    assert_best(&library, case.after, case.says);
    let failed = library.json(&["ls"])[0]["failed"].as_u64();
    let rows = library.json(&["show", "@", "-q", "is:failed"]).len() as u64;
    assert_eq!(failed, Some(rows), "{}", case.about);
}
