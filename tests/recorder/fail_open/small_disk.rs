//! A disk that fills up in mid-session and gets room again.

use crate::fail_open::echo::{ECHO, Echo};
use crate::fail_open::indexer_process::indexer;
use crate::support::small_disk::{SmallDisk, copy};
use crate::support::{Library, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Stdio;

/// Lines that are sent before anything happens.
const FIRST: usize = 100;

/// A session on the disk whose indexer, which is stopped, has not taken in what is in the spool.
fn behind(disk: &SmallDisk, library: &Library) -> (Echo, Pid) {
    let mut run = disk.inside(&library.run(ECHO));
    run.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut echo = Echo::start(&mut run);
    echo.exchange(FIRST);
    let indexer = indexer(library, echo.pid());
    // In a transaction it would go on with that whatever is left of the disk.
    wait_for("what was said first", || {
        let mut show = disk.inside(&library.mcpreel("show"));
        let shown = show.args(["@", "--json"]).output().ok()?;
        let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).ok()?;
        (shown["frames"] == 3 * FIRST).then_some(())
    });
    kill(indexer, Signal::SIGSTOP).expect("it is ours");
    echo.exchange(3000);
    (echo, indexer)
}

/// Whether the process works, or could.
fn lives(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| !state.starts_with('Z'))
}

/// Bytes in the recording, and in the log of its database.
fn recorded(library: &Library) -> u64 {
    let files = ["reel", "reel-wal"]
        .map(|ending| library.files(ending))
        .concat();
    let sizes = files
        .iter()
        .map(|file| file.metadata().map_or(0, |it| it.len()));
    sizes.sum()
}

#[test]
fn a_disk_that_fills_up_and_gets_room_again_costs_what_is_stated() {
    let disk = SmallDisk::mount(16);
    let library = Library::within(&disk.root);
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(1000);
    let ballast = disk.fill();
    echo.exchange(3000);
    std::fs::remove_file(ballast).expect("it is there");
    let spool = library.files("spool").remove(0);
    let size = || spool.metadata().map_or(0, |metadata| metadata.len());
    let full = size();
    wait_for("recording goes on", || {
        echo.exchange(1);
        (size() > full).then_some(())
    });
    echo.exchange(1000);
    let ended = echo.end();
    ended.assert_one_warning(&["not recorded in full"]);
    let copy = copy(&library);
    for missing in ended.missing(&copy) {
        assert!(
            missing > 0 && missing < ended.sent.len(),
            "{missing} of {}",
            ended.sent.len()
        );
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_costs_the_recording_only() {
    let disk = SmallDisk::mount(1);
    let library = Library::within(&disk.root);
    disk.fill();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(1000);
    echo.end().assert_one_warning(&["not recorded"]);
}

#[test]
fn a_disk_that_stays_full_costs_what_is_stated() {
    let disk = SmallDisk::mount(16);
    let library = Library::within(&disk.root);
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(1000);
    let ballast = disk.fill();
    echo.exchange(3000);
    let ended = echo.end();
    ended.assert_one_warning(&["not recorded in full"]);
    std::fs::remove_file(ballast).expect("it is there");
    let copy = copy(&library);
    for missing in ended.missing(&copy) {
        assert!(
            missing > 0 && missing < ended.sent.len(),
            "{missing} of {}",
            ended.sent.len()
        );
    }
}

/// Once it was filled to its last byte from the spool, although nothing more was recorded.
#[test]
fn an_indexer_that_is_behind_does_not_fill_the_disk_and_nothing_is_lost() {
    let disk = SmallDisk::mount(64);
    let library = Library::within(&disk.root);
    let (echo, indexer) = behind(&disk, &library);
    let ballast = disk.fill_nearly();
    let before = recorded(&library);
    kill(indexer, Signal::SIGCONT).expect("it is ours");
    let ended = echo.end();
    wait_for("the indexer's end", || (!lives(indexer)).then_some(()));
    let more = recorded(&library) - before;
    assert!(
        more < 1 << 18,
        "at most a transaction that had begun: {more}"
    );
    assert_eq!(library.files("spool").len(), 1);
    std::fs::remove_file(ballast).expect("it is there");
    assert_eq!(ended.missing(&copy(&library)), [0; 3]);
}

#[test]
fn an_indexer_that_is_behind_goes_on_when_there_is_room_again() {
    let disk = SmallDisk::mount(64);
    let library = Library::within(&disk.root);
    let (mut echo, indexer) = behind(&disk, &library);
    let ballast = disk.fill_nearly();
    let (before, in_spool) = (recorded(&library), 3 * echo.sent.len() as u64);
    kill(indexer, Signal::SIGCONT).expect("it is ours");
    wait_for("a warning", || {
        echo.exchange(1);
        echo.is_warned().then_some(())
    });
    std::fs::remove_file(ballast).expect("it is there");
    wait_for("what was in the spool", || {
        (recorded(&library) > before + in_spool).then_some(())
    });
    echo.end().assert_one_warning(&["the disk is nearly full"]);
}
