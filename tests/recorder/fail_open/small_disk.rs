//! A disk that fills up in mid-session and gets room again: a small file system in memory, in a
//! mount namespace that needs no privileges on most systems.

use crate::fail_open::echo::{ECHO, Echo};
use crate::fail_open::indexer_process::indexer;
use crate::support::{Library, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A small file system that vanishes with this value. A process keeps its namespace, and everybody
/// else reaches it through that process.
struct SmallDisk {
    keeper: Child,
    /// The namespaces that the keeper has of its own, as options of `unshare` and of `nsenter`.
    namespaces: &'static [&'static str],
    root: PathBuf,
    _mount_point: tempfile::TempDir,
}

impl SmallDisk {
    /// One of `mebibytes`.
    fn mount(mebibytes: u32) -> Self {
        let mount_point = tempfile::tempdir().expect("a temporary folder can be made");
        let script = format!(
            "mount -t tmpfs -o size={mebibytes}m,mode=700 tmpfs \"$0\" && echo && exec cat"
        );
        for namespaces in [&["-m", "-U"][..], &["-m"]] {
            let mut unshare = Command::new("unshare");
            unshare
                .args(namespaces)
                .args(["-r"].iter().filter(|_| namespaces.contains(&"-U")))
                .args(["sh", "-c", &script])
                .arg(mount_point.path());
            let unshare = unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut keeper = unshare.expect("util-linux is installed");
            let mut ready = String::new();
            let stdout = keeper.stdout.take().expect("stdout is a pipe");
            BufReader::new(stdout)
                .read_line(&mut ready)
                .expect("a pipe can be read");
            if ready == "\n" {
                let inside = mount_point
                    .path()
                    .strip_prefix("/")
                    .expect("it is absolute");
                let root = PathBuf::from(format!("/proc/{}/root", keeper.id())).join(inside);
                return Self {
                    keeper,
                    namespaces,
                    root,
                    _mount_point: mount_point,
                };
            }
            keeper.wait().expect("it is ours");
        }
        panic!("neither a user namespace nor root: a small disk cannot be made here");
    }

    /// A command that finds the disk where it is mounted: `SQLite` does not find it through a process.
    fn inside(&self, command: &Command) -> Command {
        let mut nsenter = Command::new("nsenter");
        let keeper = self.keeper.id().to_string();
        nsenter
            .args(["--preserve-credentials", "-t", &keeper])
            .args(self.namespaces);
        nsenter.arg(command.get_program()).args(command.get_args());
        let settings = command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        nsenter.env_clear().envs(settings);
        nsenter
    }

    /// Fills it to its last byte; room is made again by removing the file.
    fn fill(&self) -> PathBuf {
        let ballast = self.root.join("ballast");
        let mut file = File::create(&ballast).expect("there is room for a name");
        for size in [4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        ballast
    }

    /// Fills it but for a megabyte, which is less than is left to others.
    fn fill_nearly(&self) -> PathBuf {
        let ballast = self.fill();
        let file = File::options().write(true).open(&ballast);
        let file = file.expect("it is there");
        let length = file.metadata().expect("it is open").len();
        file.set_len(length - (1 << 20)).expect("it is ours");
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}

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

/// What lies in the folder, in an ordinary one.
fn copy(library: &Library) -> Library {
    let copy = Library::new();
    let files = std::fs::read_dir(library.path()).expect("the folder can be listed");
    for file in files.map(|file| file.expect("the folder can be listed")) {
        let to = copy.path().join(file.file_name());
        std::fs::copy(file.path(), to).expect("it can be copied");
    }
    copy
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
