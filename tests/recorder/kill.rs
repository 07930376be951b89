//! `kill -9` of the recorder, at any moment, loses nothing that either side had received.

mod between_batches;
mod undisturbed;

use crate::fail_open::indexer_process::{children, indexers};
use crate::support::dice::Dice;
use crate::support::host_session::Collected;
use crate::support::stored_rows::{Rows, streams};
use crate::support::{Library, peer, wait_for};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use undisturbed::index_anew;

const ROUNDS: usize = if cfg!(feature = "long-tests") { 96 } else { 4 };

/// Rounds that are played at the same time: most of one is one process at work.
const AT_ONCE: usize = 2;

/// So many rounds apart the whole recording is derived twice more and compared, which takes longer
/// than all else in a round.
const COMPARED: usize = if cfg!(feature = "long-tests") { 9 } else { 3 };

/// When the recorder is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// When the host has received at most so much.
    Within(u64),
    /// While the spool grows, since its indexer is stopped; that is killed too.
    Growing,
    /// When the spool has been made smaller, since the indexer has caught up.
    Shrinking,
}

/// Every other time so much is received that parts of the spool were written a second time. The
/// first four are all kinds.
const MOMENTS: [Moment; 8] = [
    Moment::Within(400_000),
    Moment::Within(12_000_000),
    Moment::Growing,
    Moment::Shrinking,
    Moment::Within(12_000_000),
    Moment::Within(400_000),
    Moment::Within(12_000_000),
    Moment::Within(12_000_000),
];

/// What both sides had received when the recorder was gone.
struct Received {
    by_server: Vec<u8>,
    out: Vec<u8>,
    err: Vec<u8>,
    sent_by_host: Vec<u8>,
}

#[test]
fn kill_nine_at_any_moment_loses_nothing_that_either_side_had_received() {
    let rounds = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || Some(rounds.fetch_add(1, Ordering::Relaxed));
                let rounds = std::iter::from_fn(next).take_while(|round| *round < ROUNDS);
                rounds.for_each(play);
            });
        }
    });
}

fn play(round: usize) {
    let seed = Dice::shaken();
    let moment = MOMENTS[round % MOMENTS.len()];
    crate::support::note(format_args!(
        "round {round}, {moment:?}, seed {:#x}",
        seed.0
    ));
    let library = Library::new();
    let received = killed_session(&library, seed, moment);
    recover(&library, round);
    assert_all_is_there(&library, &received);
    if round.is_multiple_of(COMPARED) {
        assert_as_if_undisturbed(&library);
    }
}

/// A session under load, whose recorder is killed.
fn killed_session(library: &Library, mut dice: Dice, moment: Moment) -> Received {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut run = library.run([
        peer().as_os_str(),
        OsStr::new("chatter"),
        dir.path().as_os_str(),
    ]);
    let mut recorder = run.spawn().expect("the program starts");
    let out = Collected::from(recorder.stdout.take().expect("stdout is a pipe"));
    let err = Collected::from(recorder.stderr.take().expect("stderr is a pipe"));
    let stdin = recorder.stdin.take().expect("stdin is a pipe");
    let requests = Dice(dice.below(u64::MAX));
    let host = thread::spawn(move || send_requests(stdin, requests));
    let traffic = |enough: u64| {
        wait_for("enough traffic", || {
            ((out.len() + err.len()) as u64 >= enough).then_some(())
        });
    };
    let send = |signal, to: &[Pid]| {
        for pid in to {
            let _ = kill(*pid, signal);
        }
    };
    let (mut indexer, mut server) = (Vec::new(), Vec::new());
    match moment {
        Moment::Within(at_most) => traffic(dice.below(at_most)),
        Moment::Growing | Moment::Shrinking => {
            traffic(dice.below(400_000));
            indexer = wait_for("an indexer", || {
                Some(indexers(recorder.id())).filter(|them| !them.is_empty())
            });
            send(Signal::SIGSTOP, &indexer);
            let before = (out.len() + err.len()) as u64;
            traffic(before + 2_000_000 + dice.below(4_000_000));
        }
    }
    if matches!(moment, Moment::Shrinking) {
        server = children(recorder.id(), |words| words.contains("chatter"));
        send(Signal::SIGSTOP, &server);
        let spool = library.files("spool").remove(0);
        let blocks = || spool.metadata().map_or(0, |it| it.blocks());
        let largest = blocks();
        send(Signal::SIGCONT, &indexer);
        wait_for("a smaller spool", || (blocks() < largest).then_some(()));
    }
    recorder.kill().expect("the recorder runs");
    recorder.wait().expect("the recorder is ours");
    send(Signal::SIGKILL, &indexer);
    send(Signal::SIGCONT, &server);
    Received {
        sent_by_host: host.join().expect("it does not panic"),
        by_server: got_by_server(&dir.path().join("got")),
        out: out.whole(),
        err: err.whole(),
    }
}

/// Requests without end, in pieces, until nobody reads them; returns what was sent.
fn send_requests(mut stdin: impl Write, mut dice: Dice) -> Vec<u8> {
    let mut sent = Vec::new();
    for id in 1_u64.. {
        let fill = "q".repeat(dice.length_below(1500));
        let line = match id % 9 {
            4 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                id - 2
            ),
            7 => format!(
                r#"{{"jsonrpc":"2.0","id":"s{}","result":{{}}}}"#,
                id / 9 * 7
            ),
            _ => format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","fill":"{fill}"}}}}"#
            ),
        };
        let line = format!("{line}\n");
        let at = dice.length_below(line.len());
        for piece in [&line[..at], &line[at..]] {
            // More than what could be delivered may be recorded, but nothing that was not sent.
            sent.extend(piece.as_bytes());
            if stdin.write_all(piece.as_bytes()).is_err() {
                return sent;
            }
        }
    }
    sent
}

/// What the server has kept, once it is gone.
fn got_by_server(path: &Path) -> Vec<u8> {
    wait_for("the end of the server", || {
        let file = File::open(path).ok()?;
        Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
    });
    std::fs::read(path).expect("the server has kept what it got")
}

/// Whichever command reads the recording first completes it.
fn recover(library: &Library, round: usize) {
    let first: &[&str] = match round % 3 {
        0 => &["show", "@"],
        1 => &["reindex", "@"],
        _ => &["ls"],
    };
    let output = library
        .mcpreel(first[0])
        .args(&first[1..])
        .output()
        .expect("mcpreel starts");
    assert!(output.status.success(), "{}", crate::support::text(&output));
    let shown = &library.json(&["show", "@"])[0];
    assert_eq!(shown["state"], "recovered");
    assert_eq!(
        library.files("spool"),
        [""; 0].map(PathBuf::from),
        "the spool is drained"
    );
    let recovered = library.events("recovered");
    // Once it was the number that was added, which is none if the indexer had gone on.
    assert_eq!([&recovered[0]["frames"]], [&shown["frames"]]);
    assert_eq!(recovered.len(), 1);
    assert_eq!(library.events("gap").len(), 0);
}

fn assert_all_is_there(library: &Library, received: &Received) {
    let [c2s, s2c, stderr] = streams(&library.files("reel").remove(0));
    assert!(
        c2s.starts_with(&received.by_server),
        "what the server received"
    );
    assert!(s2c.starts_with(&received.out), "what the host received");
    assert!(
        stderr.starts_with(&received.err),
        "what the host received on stderr"
    );
    assert!(
        received.sent_by_host.starts_with(&c2s),
        "nothing that was not sent"
    );
    // What the server wrote and nobody received: numbered, so that each is there once.
    assert_numbered(&s2c, r#""data":"#, |n| if n % 7 == 6 { 2 } else { 1 });
    assert_numbered(&stderr, "line ", |_| 1);
}

/// Every whole line with a number after `mark` has the one that follows the one before.
fn assert_numbered(stream: &[u8], mark: &str, step: impl Fn(u64) -> u64) {
    let text = std::str::from_utf8(stream).expect("the server writes text");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut last = 0;
    for line in whole.lines() {
        let Some((_, rest)) = line.split_once(mark) else {
            continue;
        };
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        let number: u64 = digits
            .and_then(|digits| digits.parse().ok())
            .expect("it is numbered");
        assert_eq!(number, last + step(last), "{line}");
        last = number;
    }
}

/// What is derived equals what an indexer derives that nobody disturbs, and what `reindex` does.
fn assert_as_if_undisturbed(library: &Library) {
    let recovered = library.files("reel").remove(0);
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let undisturbed = index_anew(library, dir.path());
    let derived = Rows::derived(&recovered);
    Rows::frames(&recovered).assert_same(&Rows::frames(&undisturbed), "the same frames");
    derived.assert_same(&Rows::derived(&undisturbed), "recovered, undisturbed");
    let output = library
        .mcpreel("reindex")
        .arg("@")
        .output()
        .expect("mcpreel starts");
    assert!(output.status.success(), "{}", crate::support::text(&output));
    derived.assert_same(&Rows::derived(&recovered), "recovered, reindexed");
}
