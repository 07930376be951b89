//! A disk that fills up in mid-session and gets room again: a small file system in memory, in a
//! mount namespace that needs no privileges on most systems.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::{Library, wait_for};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A small file system that vanishes with this value. A process keeps its namespace, and everybody
/// else reaches it through that process.
struct SmallDisk {
    keeper: Child,
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
        for options in ["-rm", "-m"] {
            let mut unshare = Command::new("unshare");
            unshare
                .args([options, "sh", "-c", &script])
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
                    root,
                    _mount_point: mount_point,
                };
            }
            keeper.wait().expect("it is ours");
        }
        panic!("neither a user namespace nor root: a small disk cannot be made here");
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
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
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
