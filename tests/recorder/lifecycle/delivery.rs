//! Bytes that were read when something ended are delivered, or named.

use crate::lifecycle::host::{Host, pass, timed};
use crate::support::wait_for;
use nix::sys::signal::Signal;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// More than fits into a pipe, less than fits into two of them, even with half-filled pages.
const MUCH: usize = 100_000;

#[test]
fn what_the_server_said_last_is_waited_for_as_long_as_the_host_takes_to_read_it() {
    // The first part fills the host's pipe, the second is left in the server's.
    let mut host = Host::sh(
        "head -c 70000 /dev/zero; until [ -e go ]; do sleep 0.01; done
         head -c 30000 /dev/zero; exit 8",
    );
    host.event("stall-began", |event| event["stream"] == "s2c");
    host.touch("go");
    host.event("exit", |event| event["code"] == 8);
    drop(host.stdin.take());
    // Longer than the quiet after which somebody who only holds a pipe is left alone.
    pass(Duration::from_millis(1_300));
    assert!(host.runs(), "not all is delivered");
    let ended = host.end();
    assert_eq!((ended.out.len(), ended.status.code()), (MUCH, Some(8)));
    assert!(ended.library.events("undelivered").is_empty());
}

#[test]
fn what_the_host_no_longer_reads_is_named() {
    let mut host = Host::sh("head -c 1000000 /dev/zero; exit 0");
    host.event("stall-began", |event| event["stream"] == "s2c");
    drop(host.stdout.take());
    let ended = host.wait();
    let undelivered = ended.event("undelivered");
    assert_eq!(undelivered["stream"], "s2c");
    let bytes = undelivered["bytes"].as_u64().expect("it is a number");
    assert!(
        (1..=65_536).contains(&bytes),
        "no more than one read: {bytes}"
    );
    assert_eq!(ended.closer("s2c"), "reader");
}

#[test]
fn what_a_server_no_longer_reads_is_named() {
    let mut host = Host::sh("echo ready; until [ -e go ]; do sleep 0.01; done; exit 0");
    assert_eq!(host.hear(), "ready");
    let mut stdin = host.stdin.take().expect("it is open");
    stdin
        .write_all(&vec![b'x'; MUCH])
        .expect("that much fits into pipes and buffers");
    host.event("stall-began", |event| event["stream"] == "c2s");
    host.touch("go");
    let ended = host.wait();
    assert!(ended.status.success());
    assert_eq!(ended.closer("c2s"), "reader");
    let undelivered = ended.event("undelivered");
    assert_eq!(undelivered["stream"], "c2s");
    let bytes = undelivered["bytes"].as_u64().expect("it is a number");
    assert!(
        (1..=65_536).contains(&bytes),
        "no more than one read: {bytes}"
    );
}

/// A host that neither reads nor goes away, but says that it wants an end, gets one.
#[test]
fn a_signal_ends_the_wait_for_a_host_that_does_not_read() {
    let mut host = Host::sh(&format!("head -c {MUCH} /dev/zero; exit 9"));
    host.event("exit", |event| event["code"] == 9);
    host.signal(Signal::SIGTERM);
    let ((), took) = timed(|| wait_for("the end", || (!host.runs()).then_some(())));
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    let mut delivered = Vec::new();
    host.stdout
        .take()
        .expect("it is open")
        .read_to_end(&mut delivered)
        .expect("it is a pipe");
    let ended = host.wait();
    assert_eq!(
        (ended.status.code(), ended.status.signal()),
        (Some(9), None)
    );
    let undelivered = ended.event("undelivered");
    let recorded = ended.library.stream("s2c").len();
    assert_eq!(undelivered["stream"], "s2c");
    let bytes = undelivered["bytes"].as_u64().expect("it is a number");
    let missing = (recorded - delivered.len()) as u64;
    // What a write that hangs has put into the pipe so far is known to the kernel only.
    assert!(
        (missing..=65_536).contains(&bytes),
        "{missing}, not {bytes}"
    );
}
