//! A server that the proxy starts: connections wait for it, signals reach it, and the proxy ends as it
//! does.

use crate::support::proxy::{Proxy, later_upstream, recording, upstream};
use crate::support::{Library, send, wait_for};
use nix::sys::signal::Signal;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

/// A server as a script: `line` is done when the file `go` is there.
fn script(dir: &Path, line: &str) -> String {
    let go = dir.join("go");
    format!(
        "echo a log; echo another >&2; until test -e {}; do sleep 0.01; done; {line}",
        go.display()
    )
}

#[test]
fn connections_wait_until_the_server_listens() {
    let library = Library::new();
    let (address, url) = later_upstream();
    let script = script(
        library.path(),
        "touch up; until test -e down; do sleep 0.01; done; exit 7",
    );
    let dir = library.path().to_owned();
    let mut command = Proxy::command(&library, &url, &["--", "sh", "-c", &script]);
    command.current_dir(&dir);
    let proxy = Proxy::run(command);
    std::thread::scope(|scope| {
        let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
        let client = scope.spawn(|| proxy.ask(request));
        std::fs::write(dir.join("go"), "").unwrap();
        wait_for("the server", || dir.join("up").exists().then_some(()));
        assert!(!client.is_finished(), "the client waits");
        let listener = std::net::TcpListener::bind(address).unwrap();
        let server = crate::edits::answer(listener, "HTTP/1.1 204 No Content\r\n\r\n");
        assert!(client.join().unwrap().starts_with("HTTP/1.1 204 "));
        server.join().unwrap();
    });
    std::fs::write(dir.join("down"), "").unwrap();
    let (status, said) = proxy.wait();
    assert_eq!(status.code(), Some(7), "{said}");
    assert!(
        said.contains("a log\n") && said.contains("another\n"),
        "{said}"
    );
    recording(&library);
    let log = String::from_utf8(library.stream("stderr")).unwrap();
    assert_eq!(log, "a log\nanother\n");
    assert_eq!(library.events("spawned").len(), 1);
    assert_eq!(library.events("exit").len(), 1);
}

#[test]
fn connections_that_wait_for_a_server_that_ends_are_told() {
    let library = Library::new();
    let (_, url) = later_upstream();
    let script = script(library.path(), "exit 3");
    let proxy = Proxy::start(&library, &url, &["--", "sh", "-c", &script]);
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
    let mut client = proxy.connect();
    std::io::Write::write_all(&mut client, request.as_bytes()).unwrap();
    // It is accepted before the server ends: what is asked later on is answered first.
    std::fs::write(library.path().join("go"), "").unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut client, &mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 502 ") && answer.contains("has ended"),
        "{answer}"
    );
    assert_eq!(proxy.wait().0.code(), Some(3));
}

#[test]
fn signals_reach_the_server_and_the_proxy_ends_as_it_does() {
    for (handler, code, signal) in [
        ("trap 'exit 5' TERM", Some(5), None),
        (":", None, Some(Signal::SIGTERM as i32)),
    ] {
        let library = Library::new();
        let (_listener, url) = upstream();
        let up = library.path().join("up");
        let script = format!(
            "{handler}; echo > {}; while :; do sleep 0.01; done",
            up.display()
        );
        let proxy = Proxy::start(&library, &url, &["--", "sh", "-c", &script]);
        wait_for("the server", || up.exists().then_some(()));
        // An open connection holds nobody.
        let open = proxy.connect();
        send(Signal::SIGTERM, proxy.child.id());
        let (status, said) = proxy.wait();
        drop(open);
        assert_eq!((status.code(), status.signal()), (code, signal), "{said}");
        recording(&library);
        assert_eq!(library.events("signal").len(), 1);
    }
}

#[test]
fn a_command_that_does_not_start_ends_as_a_shell_says() {
    let library = Library::new();
    for (program, code) in [("no-such-program", 127), ("/", 126)] {
        let mut command = Proxy::command(&library, "http://127.0.0.1:9", &["--", program]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{program}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(program));
    }
}
