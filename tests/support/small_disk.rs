//! A disk that a test can fill: a small file system in memory, in a mount namespace that needs no privileges
//! on most systems.

use super::Library;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A small file system that vanishes with this value. A process keeps its namespace, and everybody
/// else reaches it through that process.
pub struct SmallDisk {
    keeper: Child,
    /// The namespaces that the keeper has of its own, as options of `unshare` and of `nsenter`.
    namespaces: &'static [&'static str],
    pub root: PathBuf,
    _mount_point: tempfile::TempDir,
}

impl SmallDisk {
    /// One of `mebibytes`.
    pub fn mount(mebibytes: u32) -> Self {
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
    pub fn inside(&self, command: &Command) -> Command {
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
    pub fn fill(&self) -> PathBuf {
        let ballast = self.root.join("ballast");
        let mut file = File::create(&ballast).expect("there is room for a name");
        for size in [4096, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        ballast
    }

    /// Fills it but for a megabyte, which is less than is left to others.
    pub fn fill_nearly(&self) -> PathBuf {
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

/// What lies in the folder, in an ordinary one.
pub fn copy(library: &Library) -> Library {
    let copy = Library::new();
    let files = std::fs::read_dir(library.path()).expect("the folder can be listed");
    for file in files.map(|file| file.expect("the folder can be listed")) {
        let to = copy.path().join(file.file_name());
        std::fs::copy(file.path(), to).expect("it can be copied");
    }
    copy
}
