//! Processes that outlive the server, and a recorder that is killed.

use crate::lifecycle::host::{Host, pass, timed};
use crate::support::wait_for;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// Starts the server proper in the background, with its own stdin, and exits with 7.
const LAUNCHER: &str = "exec 3<&0
    sh -c 'while read -r line; do echo \"got $line\"; done; echo bye' <&3 3<&- &
    exit 7";

#[test]
fn a_launcher_that_exits_leaves_its_server_to_answer_until_the_host_is_done() {
    let mut host = Host::sh(LAUNCHER);
    host.event("exit", |event| event["code"] == 7);
    // Longer than the quiet that would end it if the host had gone.
    pass(Duration::from_millis(1_300));
    host.say("hello");
    assert_eq!(host.hear(), "got hello");
    let ended = host.end();
    assert_eq!(
        (ended.out.as_str(), ended.status.code()),
        ("bye\n", Some(7))
    );
    let survivors = ended.event("survivors");
    let command = &survivors["processes"][0]["command"];
    assert!(
        command[2]
            .as_str()
            .is_some_and(|script| script.contains("bye")),
        "{survivors}"
    );
}

/// It holds stdout, but nobody reads what the host could still say: it is no server. A busy
/// machine gets five attempts; it never takes less than the second.
#[test]
fn a_silent_process_that_holds_stdout_is_left_alone_after_a_second() {
    let attempt = || {
        let ((sleeper, ended), took) = timed(|| {
            let mut host = Host::sh("sleep 60 & echo $!; exit 7");
            let _keeps_it_open = host.stdin.take();
            (host.hear(), host.wait())
        });
        let pid = Pid::from_raw(sleeper.parse().expect("it is a process id"));
        kill(pid, Signal::SIGKILL).expect("it still sleeps");
        assert_eq!(ended.status.code(), Some(7));
        assert!(took >= Duration::from_secs(1), "it took {took:?}");
        let survivors = ended.event("survivors");
        assert_eq!(survivors["processes"][0]["pid"].to_string(), sleeper);
        assert_eq!(survivors["processes"][0]["name"], "sleep");
        took
    };
    let in_time = (0..5).any(|_| attempt() < Duration::from_millis(2_500));
    assert!(in_time, "it took longer every time");
}

#[test]
fn a_process_that_goes_on_talking_is_relayed_for_three_seconds_at_most() {
    let host = Host::sh("exec 3<&0; (while :; do echo x; sleep 0.05; done) <&3 & exit 7");
    host.event("exit", |event| event["code"] == 7);
    let (ended, took) = timed(|| host.end());
    assert_eq!(ended.status.code(), Some(7));
    assert!(
        (2_500..12_000).contains(&took.as_millis()),
        "it took {took:?}"
    );
    assert!(ended.out.lines().count() > 10, "what it says is relayed");
    assert_eq!(ended.library.stream("s2c"), ended.out.as_bytes());
}

#[test]
fn killing_us_kills_the_server_and_ends_the_input_of_what_it_had_started() {
    let mut host = Host::sh(
        "trap '' HUP TERM PIPE; exec 3<&0; (cat >/dev/null; echo >ended) <&3 3<&- & echo $$
         while :; do sleep 0.05; done",
    );
    let server = host.hear();
    let ended_file = host.library.path().join("ended");
    host.signal(Signal::SIGKILL);
    let _keeps_it_open = host.stdin.take();
    wait_for("the server dies", || is_gone(&server).then_some(()));
    wait_for("its child sees the end of its input", || {
        ended_file.exists().then_some(())
    });
    let ended = host.wait();
    assert_eq!(ended.status.signal(), Some(Signal::SIGKILL as i32));
}

/// Gone, or dead and waiting for a parent to look at it.
fn is_gone(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .is_none_or(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.starts_with(" Z"))
        })
}
