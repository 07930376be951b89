//! The packages of the peers, installed once per machine.
//!
//! They stand in a folder below cargo's target folder, with a note of what is in it that is written
//! last: an installation that failed, was interrupted, or is of other versions has another note or
//! none, and is made anew. Whoever comes while somebody installs waits.

use crate::support::text;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What npm installs, and what pip does.
const NPM: &str = include_str!("packages/package.json");
const PIP: &str = include_str!("packages/requirements.txt");
/// The older Python SDK, which cannot be installed beside the newer one.
const PIP_1: &str = include_str!("packages/requirements-1.txt");

/// The note.
const NOTE: &str = "installed.txt";

/// Installed packages.
pub struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Those of this machine.
    pub fn get() -> &'static Self {
        static PACKAGES: OnceLock<Packages> = OnceLock::new();
        PACKAGES.get_or_init(|| {
            let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
            Self::within(&target.join("interop"), &wanted(), install)
        })
    }

    /// Those in `folder`, installed if its note does not say what is `wanted`.
    fn within(folder: &Path, wanted: &str, install: impl FnOnce(&Path)) -> Self {
        let parent = folder.parent().expect("it is below the target folder");
        fs::create_dir_all(parent).expect("the target folder can be written to");
        let turn = File::create(folder.with_extension("lock")).expect("a lock can be made");
        turn.lock().expect("a file can be locked");
        if fs::read_to_string(folder.join(NOTE)).ok().as_deref() != Some(wanted) {
            if folder.exists() {
                fs::remove_dir_all(folder).expect("what was there can be removed");
            }
            fs::create_dir(folder).expect("the target folder can be written to");
            install(folder);
            fs::write(folder.join(NOTE), wanted).expect("the note can be written");
        }
        let folder = folder.to_owned();
        Self { folder }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// What is wanted: these packages, for these interpreters.
fn wanted() -> String {
    let node = run(Command::new("node").arg("--version"));
    let python =
        run(Command::new("python3").args(["-c", "import sys; print(sys.version, sys.executable)"]));
    format!("{NPM}{PIP}{PIP_1}{node}{python}")
}

fn install(folder: &Path) {
    fs::write(folder.join("package.json"), NPM).expect("the folder can be written to");
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--loglevel=error",
    ]);
    std::thread::scope(|scope| {
        scope.spawn(|| run(npm.current_dir(folder)));
        install_python(folder, "python", PIP);
        install_python(folder, "python1", PIP_1);
    });
}

/// An environment of Python with these packages.
fn install_python(folder: &Path, name: &str, packages: &str) {
    let list = folder.join(name).with_extension("txt");
    fs::write(&list, packages).expect("the folder can be written to");
    let mut venv = Command::new("python3");
    run(venv.args(["-m", "venv", name]).current_dir(folder));
    let mut pip = Command::new(folder.join(name).join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"]);
    run(pip.arg(list));
}

/// What a program prints; fails the test with what it says if it cannot be had.
pub fn run(command: &mut Command) -> String {
    let name = Path::new(command.get_program())
        .file_name()
        .map(OsStr::to_owned);
    let name = name.unwrap_or_default();
    let name = name.to_string_lossy();
    let output = command.output().unwrap_or_else(|error| {
        panic!("the long tests need `{name}`, which cannot be started: {error}")
    });
    assert!(
        output.status.success(),
        "`{name}` failed; the long tests need node, npm, python3 with venv, git, and a network for \
         the first time: {}",
        text(&output)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
