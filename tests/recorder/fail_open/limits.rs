//! The kernel refuses to let a file grow, or the user does. Needs no privileges: a limit on the
//! size of files is to a recorder what a full disk is.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::{Library, text, wait_for};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::process::Stdio;

/// Sets the largest size of files that process `pid` may make.
fn limit_files(pid: u32, bytes: Option<u64>) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).expect("the recorder is ours");
}

#[test]
fn what_the_kernel_refused_in_mid_session_is_stated_and_the_rest_is_on_record() {
    let library = Library::new();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let spool = library.files("spool").remove(0);
    let size = || spool.metadata().map_or(0, |metadata| metadata.len());
    let limit = size();
    limit_files(echo.pid(), Some(limit));
    echo.exchange(1000);
    limit_files(echo.pid(), None);
    wait_for("recording goes on", || {
        echo.exchange(1);
        (size() > limit).then_some(())
    });
    echo.exchange(300);
    let ended = echo.end();
    ended.assert_one_warning(&["not recorded in full", "File too large"]);
    let sent = ended.sent.len();
    for missing in ended.missing(&library) {
        assert!((sent / 4..sent).contains(&missing), "{missing} of {sent}");
    }
    assert!(library.events("gap").iter().any(|gap| {
        gap["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("large"))
    }));
}

#[test]
fn what_the_kernel_refused_until_the_end_is_stated_too() {
    let library = Library::new();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let spool = library.files("spool").remove(0);
    limit_files(
        echo.pid(),
        Some(spool.metadata().expect("it is there").len()),
    );
    echo.exchange(1000);
    let ended = echo.end();
    ended.assert_one_warning(&["not recorded in full"]);
    for missing in ended.missing(&library) {
        assert!(missing > ended.sent.len() / 2, "{missing}");
    }
    let exit = library.events("exit");
    assert_eq!(
        (exit.len(), &exit[0]["code"]),
        (1, &0.into()),
        "how it ended is known all the same"
    );
}

#[test]
fn a_kernel_that_refuses_from_the_start_costs_the_recording_only() {
    // Nothing at all, less than the spool begins with, less than the tables take.
    for limit in [0, 1, 40] {
        let library = Library::new();
        let mut run = library.mcpreel("run");
        run.args(ECHO);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", &format!("ulimit -S -f {limit}; exec \"$0\" \"$@\"")]);
        limited
            .arg(run.get_program())
            .args(run.get_args())
            .env_clear();
        limited.envs(
            run.get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
        limited
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut echo = Echo::start(&mut limited);
        echo.exchange(1000);
        echo.end().assert_one_warning(&["mcpreel: "]);
        let ls = library.mcpreel("ls").output().expect("mcpreel starts");
        assert!(ls.status.success(), "limit {limit}: {}", text(&ls));
    }
}

#[test]
fn the_servers_signals_are_as_without_us() {
    let library = Library::new();
    let dispositions = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = text
            .lines()
            .filter(|line| line.starts_with("Sig") && !line.starts_with("SigQ"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let arguments = ["cat", "/proc/self/status"];
    let with = library.run(arguments).output().expect("mcpreel starts");
    let without = std::process::Command::new(arguments[0])
        .arg(arguments[1])
        .output();
    assert_eq!(
        dispositions(&with.stdout),
        dispositions(&without.expect("cat starts").stdout)
    );
    assert!(!dispositions(&with.stdout).is_empty());
}

#[test]
fn a_recording_ends_at_its_largest_size_and_says_what_it_lacks() {
    let library = Library::new();
    let mut run = library.mcpreel("run");
    run.args(["--max-size", "60KB"]).args(ECHO);
    run.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut echo = Echo::start(&mut run);
    for _ in 0..40 {
        echo.exchange(20);
    }
    let ended = echo.end();
    ended.assert_one_warning(&["--max-size"]);
    let sent = 3 * ended.sent.len();
    let missing: usize = ended.missing(&library).iter().sum();
    assert!(
        missing > 0 && sent - missing <= 70_000,
        "{missing} of {sent}"
    );
    assert_eq!(library.json(&["show", "@"])[0]["state"], "complete");
}
