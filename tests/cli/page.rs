//! `export --format html`: a page for a browser. What it looks like in one is proved in
//! `tests/page/`.

use super::{mcpreel, stdout};
use crate::support::written::{Session, bytes, drain};
use crate::support::{Library, chunk_all, peak_memory, text, wait_for};
use mcpreel_store::values::State;
use mcpreel_trace::frame::StreamId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn sample(name: &str) -> String {
    format!("{}/recordings/{name}.reel", env!("CARGO_MANIFEST_DIR"))
}

/// What is in a folder.
fn names(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("it can be listed");
    entries.flatten().map(|entry| entry.path()).collect()
}

/// A recording of so many lines, each of so many bytes.
fn long(library: &Library, lines: usize, size: usize) -> PathBuf {
    let mut session = Session::start(library.path(), "long", 1);
    let mut line = vec![b'x'; size];
    line.push(b'\n');
    for _ in 0..lines {
        chunk_all(&mut session, StreamId::STDERR, &line);
    }
    let mut indexer = session.indexer();
    session.end();
    drain(&mut indexer, &bytes(1 << 26));
    indexer.finish(State::Complete).expect("it can be finished");
    indexer.release_spool().expect("it can be removed");
    session.reel.clone()
}

#[test]
fn a_page_appears_whole_and_for_its_owner_alone() {
    let library = Library::new();
    let path = library.path().join("page.html");
    let shown = path.to_str().expect("the path is text");
    let args = ["export", &sample("crash"), "--raw", "--format", "html"];
    let output = mcpreel(&library, &[&args[..], &["-o", shown]].concat());
    assert!(output.status.success(), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("11 frames, 5 events") && said.contains("nothing in it is redacted"),
        "{said}"
    );
    let mode = path.metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let page = std::fs::read_to_string(&path).expect("it is text");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert_eq!(
        page,
        stdout(&library, &args),
        "the same whenever it is made"
    );
}

#[test]
fn a_page_of_a_part_says_that_it_is_one() {
    let library = Library::new();
    let args = [
        "export",
        &sample("crash"),
        "--raw",
        "--format",
        "html",
        "-q",
    ];
    let page = stdout(&library, &[&args[..], &["tool:balance"]].concat());
    assert!(page.contains("\"query\":\"tool:balance\""));
    assert!(page.contains("balance") && !page.contains("assertion failed"));
}

#[test]
fn a_page_whose_making_is_interrupted_leaves_nothing_behind() {
    let library = Library::new();
    let target = library.path().join("target");
    std::fs::create_dir(&target).expect("it can be made");
    let reel = long(&library, 60_000, 1);
    let mut export = library.mcpreel("export");
    export.arg(&reel).args(["--raw", "--format", "html", "-o"]);
    let mut child = export
        .arg(target.join("a.html"))
        .spawn()
        .expect("mcpreel starts");
    wait_for("a draft", || (names(&target).len() == 1).then_some(()));
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("it is a pid"));
    kill(pid, Signal::SIGTERM).expect("it lives");
    assert!(!child.wait().expect("it ends").success());
    assert_eq!(names(&target), [""; 0].map(PathBuf::from));
}

#[test]
fn a_page_takes_no_more_memory_than_some_blocks_of_it() {
    const LINES: usize = 1500;
    const SIZE: usize = 60_000;
    // The rest is more than a pipe holds.
    const SEEN: usize = LINES * SIZE - (1 << 20);
    let library = Library::new();
    let reel = long(&library, LINES, SIZE);
    let mut export = library.mcpreel("export");
    export.arg(&reel).args(["--raw", "--format", "html"]);
    let mut child = export
        .stdout(Stdio::piped())
        .spawn()
        .expect("mcpreel starts");
    let mut out = child.stdout.take().expect("it is a pipe");
    std::io::copy(&mut (&mut out).take(SEEN as u64), &mut std::io::sink()).expect("it writes");
    // It waits for us with the rest, and has seen nearly all of it.
    let peak = peak_memory(child.id()).expect("it runs");
    assert!(peak < SEEN as u64 / 2, "export took {peak} bytes");
    std::io::copy(&mut out, &mut std::io::sink()).expect("it writes");
    assert!(child.wait().expect("it ends").success());
}
