//! A folder with much in it, some of it broken: what can be listed is, at once, and the rest named.

use crate::support::{Library, text};
use rusqlite::Connection;
use std::path::PathBuf;
use std::time::Duration;

const RECORDINGS: usize = 200;

/// What the promise allows; a build without optimisation and a busy machine get more.
const AT_ONCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 200 });

/// A folder with one real recording, of which the others are copies.
fn original() -> Library {
    let library = Library::new();
    let script = "echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}'";
    let recorded = library.run_sh(script).output().expect("mcpreel starts");
    assert!(recorded.status.success(), "{}", text(&recorded));
    assert_eq!(library.json(&["show", "@"])[0]["state"], "complete");
    library
}

/// Where the recording with this number lies.
fn path(library: &Library, number: usize) -> PathBuf {
    library.path().join(format!(
        "2026-11-20T10-{:02}-{:02}_server_{number:08x}.reel",
        number / 60,
        number % 60
    ))
}

fn fill(library: &Library) {
    let original = original();
    for number in 0..RECORDINGS {
        std::fs::copy(&original.files("reel")[0], path(library, number)).expect("it can be copied");
    }
    let size = path(library, 0).metadata().expect("it is there").len();
    // Its header is whole, its pages are not.
    let damaged = std::fs::OpenOptions::new()
        .write(true)
        .open(path(library, 0))
        .expect("it is ours");
    std::os::unix::fs::FileExt::write_all_at(
        &damaged,
        &vec![0xa5; usize::try_from(size).expect("it fits") - 100],
        100,
    )
    .expect("it can be written");
    let newer = Connection::open(path(library, 1)).expect("it is a database");
    newer
        .execute_batch("PRAGMA user_version = 99; UPDATE format SET needs = '9.8.7'")
        .expect("it can be written");
    std::fs::write(
        path(library, 2),
        "not a database at all, but long enough to be taken for one by its size alone. ".repeat(9),
    )
    .expect("it can be written");
}

#[test]
fn two_hundred_recordings_are_listed_at_once_and_the_broken_ones_named() {
    let library = Library::new();
    fill(&library);
    #[expect(clippy::disallowed_methods, reason = "what is promised is a time")]
    let began = std::time::Instant::now();
    let ls = library.mcpreel("ls").output().expect("mcpreel starts");
    let took = began.elapsed();
    crate::support::note(format_args!("ls of {RECORDINGS} recordings: {took:?}"));
    assert!(ls.status.success(), "{}", text(&ls));
    assert!(took <= AT_ONCE, "{took:?}");
    let shown = text(&ls);
    for word in ["damaged", "9.8.7", "not an SQLite file"] {
        assert!(shown.contains(word), "{word} is missing in:\n{shown}");
    }
    let listed = library.json(&["ls"]);
    assert_eq!(listed.len(), RECORDINGS);
    let count = |state: &str| listed.iter().filter(|row| row["state"] == state).count();
    let states = ["complete", "unreadable"].map(count);
    assert_eq!(states, [RECORDINGS - 3, 3]);
}
