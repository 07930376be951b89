//! What the server is started with is what it would have without us, and nobody notices us.

use crate::lifecycle::host::Host;
use crate::support::{Library, MCPREEL, wait_for};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

/// `script` as it runs in a shell, without a recorder (`false`) or with one. Both have the
/// same surroundings, which are not the defaults.
fn output_of(library: &Rc<Library>, script: &str, recorded: bool) -> String {
    let surroundings =
        "umask 031; ulimit -n 500; trap '' USR1; cd /usr; exec 7</etc/passwd; exec \"$@\"";
    let mut command = Command::new("nice");
    command.args(["-n", "3", "sh", "-c", surroundings, "sh"]);
    if recorded {
        command.args([MCPREEL, "run"]);
    }
    command.args([
        "sh",
        "-c",
        script,
        "a name",
        "two  words",
        "",
        "--json",
        "$HOME",
        "\u{e9}\n",
    ]);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nowhere")
        .env("ODD", "a\nb=c");
    command.env("MCPREEL_DIR", library.path());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = Host::start(Rc::clone(library), command).wait();
    assert!(
        ended.status.success(),
        "{script}: {}{}",
        ended.out,
        ended.err
    );
    assert_eq!(ended.err, "");
    ended.out
}

#[test]
fn the_server_is_started_as_it_would_be_without_us() {
    let library = Rc::new(Library::new());
    for script in [
        "env | sort",
        "for word in \"$0\" \"$@\"; do echo \"[$word]\"; done",
        "pwd; umask; nice; ulimit -a",
        "ls /proc/self/fd",
        "grep -E '^(Sig(Blk|Ign|Cgt)|ShdPnd|Cpus_allowed|NoNewPrivs|Uid|Gid|Groups)' /proc/self/status",
        "ps -o nice=,cls= -p $$; cat /proc/self/oom_score_adj /proc/self/coredump_filter",
    ] {
        assert_eq!(
            output_of(&library, script, true),
            output_of(&library, script, false),
            "{script}"
        );
    }
}

#[test]
fn a_good_session_gets_nothing_of_our_own() {
    let (library, folder) = (
        Library::new(),
        tempfile::tempdir().expect("there are folders"),
    );
    let script = "read -r line; echo \"got $line\"; echo note >&2; ls -A";
    let mut command = library.mcpreel("run");
    command
        .env("HOME", folder.path())
        .current_dir(folder.path());
    command.args(["sh", "-c", script]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut recorder = command.spawn().expect("the program starts");
    let stdin = recorder.stdin.take().expect("it is a pipe");
    std::io::Write::write_all(&mut &stdin, b"hello\n").expect("it is read");
    let output = recorder.wait_with_output().expect("it is ours");
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b"got hello\n"[..], &b"note\n"[..])
    );
    assert_eq!(
        std::fs::read_dir(folder.path())
            .expect("it is ours")
            .count(),
        0
    );
}

/// How often the threads of process `pid` have been woken or interrupted.
fn switches(pid: nix::unistd::Pid) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let status = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.expect("it can be listed").path().join("status"))
    };
    let count = |line: &str| {
        let (key, value) = line.split_once(':')?;
        key.ends_with("ctxt_switches")
            .then(|| value.trim().parse::<u64>().ok())
            .flatten()
    };
    tasks
        .filter_map(|task| status(task).ok())
        .flat_map(|text| text.lines().filter_map(count).collect::<Vec<_>>())
        .sum()
}

#[test]
fn an_idle_recorder_is_never_woken() {
    let mut host = Host::sh("while read -r line; do echo \"got $line\"; done");
    host.say("hello");
    assert_eq!(host.hear(), "got hello");
    let mut before = 0;
    wait_for("a second without a wake-up", || {
        let now = switches(host.pid());
        let quiet = now == before;
        before = now;
        if !quiet {
            std::thread::sleep(Duration::from_secs(1));
        }
        quiet.then_some(())
    });
    assert!(host.end().status.success());
}
