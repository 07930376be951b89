//! The process that indexes, and the files that it maps: whatever happens to them, the session's
//! bytes go through, and what is lost of its recording is made up for.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::{Library, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The indexer of the recorder `parent`, once it has created the recording.
fn indexer(library: &Library, parent: u32) -> Pid {
    wait_for("the recording", || library.files("reel-shm").pop());
    wait_for("an indexer", || indexers(parent).pop())
}

/// Processes of `parent` that index and live.
pub fn indexers(parent: u32) -> Vec<Pid> {
    children(parent, |words| words.contains("index-spool"))
}

/// Living processes of `parent` with such a command line.
pub fn children(parent: u32, is_meant: impl Fn(&str) -> bool) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &i32| {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
            let status = read("status").unwrap_or_default();
            // The command line of a process that has ended is empty.
            status.contains(&format!("PPid:\t{parent}\n"))
                && read("cmdline").is_ok_and(|words| !words.is_empty() && is_meant(&words))
        })
        .map(Pid::from_raw)
        .collect()
}

/// A session in the midst of which `happen` is done to the indexer and the recording; it gets the
/// time in which another indexer may be started.
fn disturbed(library: &Library, happen: impl FnOnce(Pid, &Path)) -> Echo {
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let indexer = indexer(library, echo.pid());
    let reel = library.files("reel").remove(0);
    happen(indexer, &reel);
    echo.exchange(1000);
    echo
}

fn assert_whole(library: &Library, echo: Echo) {
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    assert_eq!(ended.missing(library), [0; 3]);
    assert_eq!(library.json(&["show", "@"])[0]["state"], "complete");
    assert_eq!(library.files("spool"), [""; 0].map(PathBuf::from));
}

#[test]
fn an_indexer_that_is_killed_is_started_again_and_nothing_is_lost() {
    let library = Library::new();
    let mut echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGKILL).expect("it is ours");
    });
    wait_for("another indexer", || {
        echo.exchange(1);
        indexers(echo.pid()).pop()
    });
    wait_for("what was sent meanwhile", || {
        echo.exchange(1);
        let sizes = library.json(&["show", "@", "--frames"]);
        let bytes: u64 = sizes
            .iter()
            .filter_map(|frame| frame["size"].as_u64())
            .sum();
        (bytes > echo.sent.len() as u64).then_some(())
    });
    assert_whole(&library, echo);
}

#[test]
fn an_indexer_that_is_killed_at_the_end_is_made_up_for() {
    let library = Library::new();
    let echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGKILL).expect("it is ours");
    });
    assert_whole(&library, echo);
}

#[test]
fn an_indexer_that_is_stopped_delays_nothing() {
    let library = Library::new();
    let mut stopped = None;
    let echo = disturbed(&library, |indexer, _| {
        kill(indexer, Signal::SIGSTOP).expect("it is ours");
        stopped = Some(indexer);
    });
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    let ls = library.mcpreel("ls").output().expect("mcpreel starts");
    assert!(ls.status.success(), "{}", crate::support::text(&ls));
    kill(stopped.expect("it was found"), Signal::SIGKILL).expect("it is still there");
    assert_eq!(ended.missing(&library), [0; 3]);
}

/// It ended the session once: the file is a mapping of whoever writes the recording.
#[test]
fn a_truncated_index_of_the_log_costs_nothing() {
    let library = Library::new();
    let echo = disturbed(&library, |_, reel| {
        let shm = PathBuf::from(format!("{}-shm", reel.display()));
        let shm = File::options().write(true).open(shm).expect("it is there");
        shm.set_len(0).expect("it is ours");
    });
    assert_whole(&library, echo);
}

#[test]
fn whatever_happens_to_the_files_the_session_goes_on() {
    for happen in [
        |reel: &Path| drop(File::create(reel).expect("it is ours")),
        |reel: &Path| std::fs::remove_file(reel).expect("it is ours"),
        |reel: &Path| std::fs::write(reel, "x".repeat(100_000)).expect("it is ours"),
        |reel: &Path| {
            let wal = PathBuf::from(format!("{}-wal", reel.display()));
            drop(File::create(wal).expect("it is ours"));
        },
        |reel: &Path| drop(File::create(reel.with_extension("spool")).expect("it is ours")),
        |reel: &Path| std::fs::remove_file(reel.with_extension("spool")).expect("it is ours"),
    ] {
        let library = Library::new();
        let mut echo = disturbed(&library, |_, reel| happen(reel));
        echo.exchange(3000);
        echo.end();
        let ls = library.mcpreel("ls").output().expect("mcpreel starts");
        assert!(ls.status.success(), "{}", crate::support::text(&ls));
    }
}
