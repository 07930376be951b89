//! What hosts pass as standard streams: socket pairs, non-blocking ones, one file for two.

use crate::lifecycle::host::{DEADLINE, Ended, Host, line, rest};
use crate::support::{Library, wait_for};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

const ECHO: &str = "while read -r line; do echo \"got $line\"; done; echo bye";

/// A session whose standard streams are these.
fn start(script: &str, stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Host {
    let library = Library::new();
    let mut command = library.run_sh(script);
    command.stdin(stdin).stdout(stdout);
    Host::start(library, command)
}

fn socket_pair() -> (UnixStream, OwnedFd) {
    let (ours, theirs) = UnixStream::pair().expect("there are sockets");
    // Whoever holds both ends sees no end when the recorder is gone.
    ours.set_read_timeout(Some(DEADLINE))
        .expect("it is not zero");
    (ours, theirs.into())
}

fn copy(fd: &impl AsFd) -> OwnedFd {
    fd.as_fd()
        .try_clone_to_owned()
        .expect("there are descriptors")
}

/// The host says hello and closes; it gets its answers, and both ends are the writers'.
fn assert_echoes(host: Host, mut to: &UnixStream, mut from: &UnixStream) {
    to.write_all(b"hello\n").expect("it is read");
    assert_eq!(line(&mut from), "got hello");
    to.shutdown(Shutdown::Write).expect("it is connected");
    assert_eq!(rest(from), "bye\n");
    let ended = host.wait();
    assert!(ended.status.success());
    assert_eq!(
        (ended.closer("c2s"), ended.closer("s2c")),
        ("writer".into(), "writer".into())
    );
}

#[test]
fn stdin_and_stdout_may_be_socket_pairs() {
    let ((to, stdin), (from, stdout)) = (socket_pair(), socket_pair());
    assert_echoes(start(ECHO, stdin, stdout), &to, &from);
}

#[test]
fn stdin_and_stdout_may_be_one_socket() {
    let (ours, theirs) = socket_pair();
    assert_echoes(start(ECHO, copy(&theirs), theirs), &ours, &ours);
}

/// Hosts may hold our end as well, so closing it would not be enough.
#[test]
fn the_end_of_stdout_is_seen_on_a_socket_of_which_the_host_holds_both_ends() {
    let (mut ours, theirs) = socket_pair();
    let _held = copy(&theirs);
    let mut host = start("echo last; exec >&-; read -r line", Stdio::piped(), theirs);
    assert_eq!(line(&mut ours), "last");
    assert_eq!(line(&mut ours), "", "this is the end");
    host.say("go");
    assert!(host.wait().status.success());
}

#[test]
fn a_host_that_closes_its_socket_is_noticed_while_the_server_is_silent() {
    let (mut ours, theirs) = socket_pair();
    let script = "echo ready; until [ -e go ]; do sleep 0.01; done; echo lost; exit 0";
    let host = start(script, Stdio::piped(), theirs);
    assert_eq!(line(&mut ours), "ready");
    drop(ours);
    host.event("eof", |event| {
        event["stream"] == "s2c" && event["by"] == "reader"
    });
    host.touch("go");
    assert!(!host.wait().status.success());
}

fn is_nonblocking(fd: &impl AsFd) -> bool {
    let flags = fcntl(fd, FcntlArg::F_GETFL).expect("it is open");
    OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK)
}

/// A pipe of which the recorder's side, the first or the second, does not block.
fn pipe(recorder_reads: bool) -> (File, OwnedFd) {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).expect("there are pipes");
    let (theirs, ours) = if recorder_reads {
        (reader, writer)
    } else {
        (writer, reader)
    };
    fcntl(&theirs, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("it is a pipe");
    (ours.into(), theirs)
}

/// Nothing to read yet is not the end, no room is not an error, and the flag is the host's.
#[test]
fn non_blocking_streams_work_and_stay_non_blocking() {
    let ((mut to, stdin), (mut from, stdout)) = (pipe(true), pipe(false));
    let flags = [copy(&stdin), copy(&stdout)];
    let script = "echo ready; read -r line; echo \"got $line\"; head -c 1000000 /dev/zero; cat";
    let host = start(script, stdin, stdout);
    assert_eq!(line(&mut from), "ready");
    to.write_all(b"hello\n").expect("it is read");
    assert_eq!(line(&mut from), "got hello");
    host.event("stall-began", |event| event["stream"] == "s2c");
    let mut zeros = vec![1; 1_000_000];
    from.read_exact(&mut zeros).expect("all arrives");
    assert!(zeros.iter().all(|byte| *byte == 0));
    assert!(flags.iter().all(is_nonblocking));
    drop(to);
    let ended = host.wait();
    assert!(ended.status.success());
    assert!(flags.iter().all(is_nonblocking));
    assert_eq!(ended.closer("c2s"), "writer");
}

#[test]
fn blocking_streams_stay_blocking() {
    let (mut ours, theirs) = socket_pair();
    let flags = copy(&theirs);
    let host = start(ECHO, copy(&theirs), theirs);
    ours.write_all(b"hello\n").expect("it is read");
    assert_eq!(line(&mut ours), "got hello");
    assert!(!is_nonblocking(&flags));
    ours.shutdown(Shutdown::Write).expect("it is connected");
    assert!(host.wait().status.success());
    assert!(!is_nonblocking(&flags));
}

const ALTERNATE: &str =
    "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";

fn alternating() -> String {
    let lines = (0..300).flat_map(|i| [format!("out {i}\n"), format!("err {i}\n")]);
    lines.collect()
}

/// Starts [`ALTERNATE`] with `fd` as both outputs.
fn both(fd: OwnedFd) -> Ended {
    let library = Library::new();
    let mut command = library.run_sh(ALTERNATE);
    command.stdout(copy(&fd)).stderr(fd);
    Host::start(library, command).wait()
}

#[test]
fn stdout_and_stderr_in_one_file_keep_their_order() {
    let mut file = tempfile::tempfile().expect("there are files");
    let ended = both(copy(&file));
    assert_eq!(ended.event("start")["stderr_in_stdout"], true);
    file.rewind().expect("it is a file");
    assert_eq!(rest(file), alternating());
    assert_eq!(ended.library.stream("s2c"), alternating().as_bytes());
}

#[test]
fn stdout_and_stderr_in_one_pipe_keep_their_order() {
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    let reader = std::thread::spawn(move || rest(reader));
    let ended = both(writer.into());
    assert_eq!(
        reader.join().expect("a reader does not panic"),
        alternating()
    );
    assert!(ended.status.success());
}

/// Inodes of the sockets that a process has open, and of all sockets of a network that it sees.
#[cfg(target_os = "linux")]
fn network_sockets(pid: i32) -> Vec<String> {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("the process can be looked at")
        .flatten();
    let names = links.filter_map(|fd| {
        std::fs::read_link(fd.path())
            .ok()?
            .into_os_string()
            .into_string()
            .ok()
    });
    let own =
        names.filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()));
    // A machine without IPv6 has only half of these.
    let all: String = ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"]
        .iter()
        .filter_map(|kind| std::fs::read_to_string(format!("/proc/{pid}/net/{kind}")).ok())
        .collect();
    let is_of_network = |inode: &String| all.split_whitespace().any(|word| word == inode);
    own.filter(is_of_network).collect()
}

/// What is said over pipes goes nowhere else.
#[cfg(target_os = "linux")]
#[test]
fn a_session_over_pipes_opens_no_socket_of_a_network() {
    use crate::fail_open::echo::{ECHO, Echo};
    let library = Library::new();
    let _listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = std::process::id().cast_signed();
    assert_ne!(network_sockets(own), [""; 0], "a socket would be seen");
    let mut echo = Echo::start(&mut library.run(ECHO));
    let indexer = crate::fail_open::indexer_process::indexer(&library, echo.pid());
    for _ in 0..20 {
        echo.exchange(100);
        for pid in [echo.pid().cast_signed(), indexer.as_raw()] {
            assert_eq!(network_sockets(pid), [""; 0]);
        }
    }
    echo.end();
}

/// Hosts pass more than three descriptors: once the server has closed its own, nobody may hold
/// them, or the host would wait for their end.
#[test]
fn other_descriptors_are_the_servers_alone() {
    let (mut ours, theirs) = std::io::pipe().expect("there are pipes");
    let library = Library::new();
    let script = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; cat";
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("exec 9>&1 >/dev/null; exec \"$0\" run sh -c \"$1\"");
    command.arg(crate::support::MCPREEL).arg(script);
    command
        .env("MCPREEL_DIR", library.path())
        .env("HOME", library.path());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(theirs)
        .spawn()
        .expect("there is a shell");
    drop(command);
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let read = ours.read_to_end(&mut Vec::new());
        tell.send(read.is_ok())
    });
    let seen = wait_for("its end, while the session goes on", || {
        told.try_recv().ok()
    });
    assert!(seen);
    assert_eq!(child.try_wait().expect("it is ours"), None);
    drop(child.stdin.take());
    assert!(child.wait().expect("it is ours").success());
}
