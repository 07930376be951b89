//! A spool alone, in a folder that may not be written: one sentence, and no endless wait.

use mcpreel_capture::spool::Writer;
use mcpreel_trace::event::{EventKind, ProcessContext};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Root may write everything, so the program runs as this user then.
const NOBODY: u32 = 65_534;

struct Folder {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Folder {
    /// With the spool of a recorder that was killed, and a program that everybody can reach.
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let program = dir.path().join("mcpreel");
        std::fs::copy(env!("CARGO_BIN_EXE_mcpreel"), &program).expect("it can be copied");
        let start = EventKind::Start(Box::new(ProcessContext {
            recording: "00000001".into(),
            name: "weather".into(),
            wall_ns: 1_795_000_000_000_000_000,
            ..ProcessContext::default()
        }));
        let start = serde_json::to_vec(&start).expect("JSON");
        let spool = dir.path().join("20261120-120000_weather_00000001.spool");
        drop(Writer::create(&spool, 7, &start).expect("it is created"));
        set_mode(&spool, 0o444);
        set_mode(dir.path(), 0o555);
        Self { dir, program }
    }

    fn mcpreel(&self, args: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .arg("--dir")
            .arg(self.dir.path())
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if nix::unistd::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().expect("mcpreel starts")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        set_mode(self.dir.path(), 0o755);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn a_spool_that_cannot_be_taken_over_is_named_in_one_sentence() {
    let folder = Folder::new();
    for args in [&["show", "@"][..], &["tail", "@"]] {
        let output = folder.mcpreel(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        let sentences: Vec<_> = said
            .lines()
            .filter(|line| !line.contains("following"))
            .collect();
        let [sentence] = sentences[..] else {
            panic!("{args:?}: {said}");
        };
        assert!(sentence.contains("00000001.spool"), "{said}");
        assert!(sentence.contains("a folder that can be written"), "{said}");
    }
}
