//! The folder of recordings is not as it should be.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::Library;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[test]
fn a_missing_folder_is_created_for_its_owner_only() {
    let library = Library::new();
    let dir = library.path().join("not/yet");
    let ended = session_in(&library, &dir);
    assert_eq!(ended.warnings, [""; 0]);
    for folder in [&dir, dir.parent().expect("it has one")] {
        let mode = folder
            .metadata()
            .expect("it was created")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
    }
    let shown = library.json(&["show", "@", "--dir", &dir.to_string_lossy()]);
    assert_eq!((shown.len(), &shown[0]["state"]), (1, &"complete".into()));
}

#[test]
fn a_folder_that_cannot_be_made_costs_the_recording_only() {
    let library = Library::new();
    let file = library.path().join("file");
    std::fs::write(&file, "").expect("it can be written");
    session_in(&library, &file.join("recordings"))
        .assert_one_warning(&["not recorded", "file/recordings"]);
}

#[test]
fn a_read_only_folder_costs_the_recording_only() {
    let library = Library::new();
    let dir = read_only(&library);
    session_in(&library, &dir).assert_one_warning(&["not recorded", &dir.to_string_lossy()]);
}

#[test]
fn no_folder_at_all_costs_the_recording_only() {
    let library = Library::new();
    let mut run = library.mcpreel("run");
    run.env_remove("MCPREEL_DIR")
        .env("HOME", "")
        .env("XDG_DATA_HOME", "/dev/null/x");
    run.env("MCPREEL_DIR", "/dev/null/x");
    let mut echo = Echo::start(piped(run.args(ECHO)));
    echo.exchange(100);
    echo.end().assert_one_warning(&["not recorded"]);
}

/// Once the user was told that the spool is kept, which was gone as well.
#[test]
fn what_is_said_of_a_folder_that_was_removed_in_mid_session_is_true() {
    let library = Library::new();
    let dir = library.path().join("recordings");
    let mut run = library.mcpreel("run");
    let mut echo = Echo::start(piped(run.arg("--dir").arg(&dir).args(ECHO)));
    echo.exchange(100);
    crate::support::wait_for("the recording", || {
        let names = std::fs::read_dir(&dir).ok()?.flatten();
        let mut names = names.map(|file| file.file_name());
        names
            .any(|name| name.to_string_lossy().ends_with(".reel-wal"))
            .then_some(())
    });
    crate::support::wait_for("the removal", || std::fs::remove_dir_all(&dir).ok());
    echo.exchange(1000);
    crate::support::wait_for("a warning", || {
        echo.exchange(1);
        echo.is_warned().then_some(())
    });
    let ended = echo.end();
    assert!(!dir.exists());
    ended.assert_one_warning(&["removed", "nothing of it is kept"]);
}

/// A folder in which nothing can be made, also by root.
fn read_only(library: &Library) -> PathBuf {
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/sys");
    }
    let dir = library.path().join("read-only");
    std::fs::create_dir(&dir).expect("it can be made");
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o500)).expect("it is ours");
    dir
}

fn session_in(library: &Library, dir: &Path) -> crate::fail_open::echo::Ended {
    let mut run = library.mcpreel("run");
    let mut echo = Echo::start(piped(run.arg("--dir").arg(dir).args(ECHO)));
    echo.exchange(100);
    echo.end()
}

fn piped(command: &mut std::process::Command) -> &mut std::process::Command {
    use std::process::Stdio;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
}
