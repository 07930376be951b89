//! `report`: all that a bug report needs, without secrets, in a folder or one file.

use super::{mcpreel, refused, sample, stdout};
use crate::support::{Library, text};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: [&str; 5] = [
    "redaction.json",
    "redaction.txt",
    "report.html",
    "report.md",
    "session.reel",
];

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("it can be listed");
    let name = |file: std::fs::DirEntry| file.file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = files.map(|file| name(file.expect("it is there"))).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

/// Where things are written, and a path in it.
fn place(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let path = dir.path().join(name);
    (dir, path)
}

#[test]
fn a_report_appears_whole_and_for_its_owner_alone() {
    let library = Library::new();
    let (dir, path) = place("for-ada");
    let shown = path.to_str().expect("the path is text");
    let said = stdout(&library, &["report", &sample("crash"), "-o", shown]);
    for part in [
        "report.md",
        "removed: ",
        "Not a guarantee: read it before you share it",
        "arguments and results of balance",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
    assert_eq!(names(&path), FILES);
    assert_eq!(mode(&path), 0o700);
    assert!(FILES.iter().all(|name| mode(&path.join(name)) == 0o600));
    let about = std::fs::read_to_string(path.join("report.md")).expect("it is text");
    assert!(
        about.contains("SIGSEGV") && about.contains("sequenceDiagram"),
        "{about}"
    );
    // What it says can be done is done with the recording beside it.
    for command in [
        "mcpreel why session.reel\n",
        "mcpreel replay session.reel --",
    ] {
        assert!(about.contains(command), "no {command}: {about}");
    }
    // It is a recording like any other.
    let reel = path.join("session.reel");
    let shown_reel = reel.to_str().expect("the path is text");
    let why = stdout(&library, &["why", shown_reel]);
    assert!(why.contains("SIGSEGV"), "{why}");
    assert_eq!(names(dir.path()), ["for-ada"], "nothing stands beside it");
    refused(
        &library,
        &["report", &sample("crash"), "-o", shown],
        2,
        "exists already: --force",
    );
}

#[test]
fn one_file_has_all_of_it() {
    let library = Library::new();
    let (dir, path) = place("for-ada.zip");
    let shown = path.to_str().expect("the path is text");
    stdout(
        &library,
        &["report", &sample("modern"), "--zip", "-o", shown],
    );
    assert_eq!(mode(&path), 0o600);
    let file = std::fs::File::open(&path).expect("it is there");
    let mut archive = zip::ZipArchive::new(file).expect("it is a ZIP file");
    let name = |name: Result<std::borrow::Cow<'_, str>, _>| name.expect("it is text").into_owned();
    let mut names: Vec<String> = archive.file_names().map(name).collect();
    names.sort();
    assert_eq!(names, FILES.map(|name| format!("for-ada/{name}")));
    let page = archive.by_name("for-ada/report.html").expect("it is there");
    let page = std::io::read_to_string(page).expect("it is whole");
    assert!(page.ends_with("</html>\n"));
    assert_eq!(self::names(dir.path()), ["for-ada.zip"]);
}

#[test]
fn what_leaks_is_kept_back_and_named() {
    let library = Library::new();
    let (dir, path) = place("for-ada");
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let config = home.path().join(".config/mcpreel");
    std::fs::create_dir_all(&config).expect("the folder is ours");
    // Something that is in every page, and in no session.
    std::fs::write(
        config.join("config.toml"),
        "[redact.patterns]\nmine = '(?i)doctype html'\n",
    )
    .expect("the folder is ours");
    let mut report: Command = library.mcpreel("report");
    report
        .env("HOME", home.path())
        .arg(sample("crash"))
        .arg("-o")
        .arg(&path);
    let output = report.output().expect("mcpreel starts");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("nothing was written") && said.contains("report.html: line 1: mine"),
        "{said}"
    );
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn only_a_report_takes_the_place_of_a_report() {
    let library = Library::new();
    for (name, options) in [("for-ada", &[][..]), ("for-ada.zip", &["--zip"])] {
        let (dir, path) = place(name);
        let shown = path.to_str().expect("the path is text");
        let report = |more: &[&str], of: &str| {
            let sample = sample(of);
            let words = ["report", &sample, "-o", shown];
            mcpreel(&library, &[&words[..], options, more].concat())
        };
        assert!(report(&[], "crash").status.success());
        let before = inode(&path);
        let refused = report(&[], "modern");
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            text(&refused).contains("--force replaces a report"),
            "{}",
            text(&refused)
        );
        assert_eq!(inode(&path), before);
        assert!(report(&["--force"], "modern").status.success());
        assert_ne!(inode(&path), before);
        assert_eq!(names(dir.path()), [name], "nothing stands beside it");
    }
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let others = [("nested", &[][..]), ("photos.zip", &["--zip"])];
    std::fs::create_dir_all(dir.path().join("nested/report.md")).expect("the folder is ours");
    std::fs::write(dir.path().join("nested/session.reel"), "").expect("the folder is ours");
    std::fs::write(dir.path().join("photos.zip"), "no report").expect("the folder is ours");
    for (name, options) in others {
        let shown = dir.path().join(name).display().to_string();
        let sample = sample("crash");
        let words = ["report", &sample, "--force", "-o", &shown];
        refused(
            &library,
            &[&words[..], options].concat(),
            2,
            "is not such a report",
        );
    }
    let kept = std::fs::read(dir.path().join("photos.zip")).expect("it stayed");
    assert_eq!(kept, b"no report");
}

/// Which file or folder it is.
fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&path.metadata().expect("it is there"))
}

#[test]
fn scripts_are_told_what_was_written_and_removed_and_what_to_look_at() {
    let library = Library::new();
    let (_dir, path) = place("for-ada");
    let shown = path.to_str().expect("the path is text");
    let said = stdout(
        &library,
        &["report", &sample("crash"), "--json", "-o", shown],
    );
    let said: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    assert_eq!(said["path"], shown);
    let mut files: Vec<_> = said["files"].as_array().expect("files").iter().collect();
    files.sort_by_key(|name| name.as_str());
    assert_eq!(files, FILES);
    assert!(said["bytes"].as_u64() > Some(1000));
    assert!(said["removed"]["hits"].is_u64(), "{said}");
    let looked = said["by_eye"].as_array().expect("lines");
    let is_tool = |line: &serde_json::Value| {
        let line = line.as_str().unwrap_or_default();
        line.starts_with("arguments and results of balance")
    };
    assert!(looked.iter().any(is_tool), "{said}");
    assert_eq!(said["leaks"], serde_json::json!([]));
}
