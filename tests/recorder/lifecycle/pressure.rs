//! Somebody does not read: whoever writes has to wait, soon, and the recording says for whom.

use crate::lifecycle::host::{Host, rest};
use crate::support::wait_for;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::io::{ErrorKind, Write};

/// What a server writes at once: a page, so that pages of pipes are filled.
const BLOCK: u64 = 4096;

/// What fits into a pipe.
const PIPE: u64 = 65_536;

/// What may be in flight: a pipe as without us, and 128 KiB more.
const IN_FLIGHT: u64 = PIPE + 128 * 1024;

/// Writes 250 blocks to descriptor $1, and a byte to a file for each that is written.
const FLOOD: &str = "i=0; echo $$ >pid; while [ $i -lt 250 ]; do
    printf %4096s x >&$1; printf . >>blocks; i=$((i+1)); done; echo done >&$((3-$1))";

#[test]
fn a_host_that_does_not_read_stdout_stops_the_server() {
    let mut host = Host::run(&["sh", "-c", FLOOD, "sh", "1"]);
    let stopped = blocks_when_stopped(&host, "s2c");
    assert!(
        (PIPE..=IN_FLIGHT).contains(&(stopped * BLOCK)),
        "{stopped} blocks"
    );
    let out = rest(host.stdout.take().expect("it is open"));
    let ended = host.wait();
    assert_eq!(
        (out.len() as u64, ended.err.as_str()),
        (250 * BLOCK, "done\n")
    );
    told(&ended, "s2c");
}

#[test]
fn a_host_that_does_not_read_stderr_stops_the_server() {
    let mut host = Host::run(&["sh", "-c", FLOOD, "sh", "2"]);
    let stopped = blocks_when_stopped(&host, "stderr");
    assert!(
        (PIPE..=IN_FLIGHT).contains(&(stopped * BLOCK)),
        "{stopped} blocks"
    );
    let err = rest(host.stderr.take().expect("it is open"));
    let ended = host.wait();
    assert_eq!(
        (err.len() as u64, ended.out.as_str()),
        (250 * BLOCK, "done\n")
    );
    told(&ended, "stderr");
}

/// Only who is not read has to wait.
#[test]
fn answers_flow_while_nobody_reads_stderr() {
    let mut host = Host::sh(
        "exec 3<&0; head -c 1000000 /dev/zero >&2 & while read -r line; do echo \"got $line\"; done",
    );
    host.event("stall-began", |event| event["stream"] == "stderr");
    for word in ["one", "two"] {
        host.say(word);
        assert_eq!(host.hear(), format!("got {word}"));
    }
    drop(host.stdin.take());
    assert_eq!(host.end().err.len(), 1_000_000);
}

#[test]
fn a_server_that_does_not_read_stops_the_host() {
    let mut host = Host::sh("until [ -e go ]; do sleep 0.01; done; wc -c");
    let mut stdin = host.stdin.take().expect("it is open");
    fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("it is a pipe");
    let mut written = 0;
    let mut write = |written: &mut u64| match stdin.write(&[b'x'; 4096]) {
        Ok(n) => *written += n as u64,
        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
    };
    // The last of it is taken a moment after the stall begins.
    let stalled = |event: &serde_json::Value| event["stream"] == "c2s";
    wait_for("the host has to wait", || {
        write(&mut written);
        assert!(written <= IN_FLIGHT, "{written} bytes are in flight");
        let events = crate::lifecycle::host::events_so_far(&host.library);
        events
            .iter()
            .any(|e| e["kind"] == "stall-began" && stalled(e))
            .then_some(())
    });
    host.touch("go");
    drop(stdin);
    let ended = host.wait();
    assert_eq!(ended.out.trim(), written.to_string());
    told(&ended, "c2s");
}

/// Blocks that the server of [`FLOOD`] has written when it can write no more.
fn blocks_when_stopped(host: &Host, stream: &str) -> u64 {
    let began = host.event("stall-began", |event| event["stream"] == stream);
    let bytes = began["bytes"].as_u64().expect("it is a number");
    assert!(
        (1..=PIPE).contains(&bytes),
        "no more than one read waits: {bytes}"
    );
    let mut seen = (0, 0);
    wait_for("the server waits", || {
        let blocks = host
            .library
            .path()
            .join("blocks")
            .metadata()
            .map_or(0, |file| file.len());
        seen = if blocks == seen.0 {
            (blocks, seen.1 + 1)
        } else {
            (blocks, 0)
        };
        assert!(blocks * BLOCK <= IN_FLIGHT, "{blocks} blocks are in flight");
        (seen.1 > 100).then_some(blocks)
    })
}

/// The stall is on record from its beginning to its end, once.
fn told(ended: &crate::lifecycle::host::Ended, stream: &str) {
    assert_eq!(ended.event("stall-began")["stream"], stream);
    let end = ended.event("stall-ended");
    assert_eq!(end["stream"], stream);
    assert!(
        end["lasted_ns"].as_u64().expect("it is a number") >= 100_000_000,
        "{end}"
    );
}
