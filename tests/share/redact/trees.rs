//! Source code is read in many a session, and has hardly ever a secret in it.

use crate::redact::corpus::Session;
use crate::redact::engine::{policy, redacted};
use mcpreel_trace::frame::StreamId;
use std::path::{Path, PathBuf};

/// Files of one tree that are looked at, and bytes of one.
const FILES: usize = 900;
const BYTES: usize = 24 * 1024;

/// Some files of a tree, evenly spread.
fn some(root: &Path, kind: &str) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        for path in entries
            .map(|entry| entry.path())
            .filter(|path| !path.is_symlink())
        {
            if path.is_dir() && !path.ends_with("crates/redact") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == kind) {
                files.push(path);
            }
        }
    }
    files.sort();
    let step = files.len().div_ceil(FILES).max(1);
    files.into_iter().step_by(step).collect()
}

/// Once two lines of one source file ruined a session.
#[test]
fn of_source_files_one_in_a_hundred_is_touched_at_most() {
    let cargo = std::env::home_dir()
        .unwrap_or_default()
        .join(".cargo/registry/src");
    let trees = [
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"), "rs"),
        (cargo, "rs"),
        (PathBuf::from("/usr/include"), "h"),
        (PathBuf::from("/usr/lib/python3.11"), "py"),
        (PathBuf::from("/usr/lib/python3.13"), "py"),
    ];
    let (mut files, mut touched) = (0, Vec::new());
    for path in trees.iter().flat_map(|(root, kind)| some(root, kind)) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let text = &text[..text.floor_char_boundary(BYTES)];
        let lines = text.split_inclusive('\n');
        let frames = lines.map(|line| (StreamId::STDERR, line.as_bytes().to_vec()));
        let session = Session {
            frames: frames.collect(),
            ..Session::default()
        };
        let (_, report) = redacted(&session, &policy());
        files += 1;
        touched.extend(
            (report.hits() > 0).then(|| format!("{}: {:?}", path.display(), report.places)),
        );
    }
    assert!(files > 50, "no source files were found");
    assert!(
        touched.len() * 100 <= files,
        "{} of {files}: {touched:#?}",
        touched.len()
    );
}
