//! The folder of recordings.

use super::written_session::*;
use crate::library::{Details, Library, Standing, retention, spool_of};
use crate::schema::State;
use rusqlite::Connection;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn finish(session: &Session) {
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);
    std::fs::remove_file(spool_of(&session.reel)).unwrap();
}

fn finished(dir: &Path, id: u32) -> Session {
    let mut session = Session::start(dir, "weather", id);
    busy_session(&mut session, 3, 1000);
    session.end();
    finish(&session);
    session
}

#[test]
fn two_hundred_recordings_are_listed_and_the_bad_ones_named() {
    let dir = tempfile::tempdir().unwrap();
    let one = finished(dir.path(), 1);
    for id in 2..=200 {
        let mut path = one.reel.clone();
        path.set_file_name(format!("2026-11-20T15-17-03_weather_{id:08x}.reel"));
        std::fs::copy(&one.reel, &path).unwrap();
    }
    std::fs::write(
        dir.path().join("a-damaged.reel"),
        &std::fs::read(&one.reel).unwrap()[..20_000],
    )
    .unwrap();
    let newer = dir.path().join("b-newer.reel");
    std::fs::copy(&one.reel, &newer).unwrap();
    let conn = Connection::open(&newer).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    std::fs::write(dir.path().join("c-notes.reel"), "notes").unwrap();
    let mut pending = Session::start(dir.path(), "weather", 0x999);
    busy_session(&mut pending, 1000, 60_000);
    pending.end();
    pending.die();
    let live = Session::start(dir.path(), "weather", 0x998);

    let entries = Library::new(dir.path()).list().unwrap();
    assert_eq!(entries.len(), 205);
    let standing = |standing| {
        entries
            .iter()
            .filter(move |entry| entry.standing == standing)
    };
    assert_eq!(standing(Standing::Finished).count(), 200);
    assert_eq!(standing(Standing::Unreadable).count(), 3);
    for entry in standing(Standing::Unreadable) {
        let Details::Unreadable(error) = &entry.details else {
            panic!("{entry:?}");
        };
        assert!(error.to_string().contains(&entry.name), "{error}");
    }
    let pending: Vec<_> = standing(Standing::Pending)
        .map(|entry| &entry.id[..])
        .collect();
    assert_eq!(pending, ["00000999"]);
    assert_eq!(standing(Standing::Live).count(), 1);
    drop(live);
}

/// Seventy recordings called `weather`.
fn seventy(dir: &Path) -> Session {
    let one = finished(dir, 1);
    for id in 2..=70 {
        let copy = dir.join(format!("2026-11-20T15-17-03_weather_{id:08x}.reel"));
        std::fs::copy(&one.reel, copy).unwrap();
    }
    one
}

#[test]
fn what_many_recordings_say_is_kept_until_they_change() {
    let dir = tempfile::tempdir().unwrap();
    let one = seventy(dir.path());
    let library = Library::new(dir.path());
    let named = |name: &str| {
        let entries = library.list().unwrap();
        entries.iter().filter(|entry| entry.name == name).count()
    };
    let file = dir.path().join(".summaries.json");
    let kept = || std::fs::read_to_string(&file).unwrap_or_default();
    let count = || kept().matches(".reel\":").count();
    // Those that were written this very second could change within the same date.
    while count() != 70 {
        assert_eq!(named("weather"), 70);
        std::thread::yield_now();
    }
    std::fs::write(&file, kept().replace("\"weather\"", "\"kept\"")).unwrap();
    assert_eq!(named("kept"), 70, "they are not opened again");

    let conn = Connection::open(&one.reel).unwrap();
    let rename = "UPDATE recording SET name = 'changed'";
    conn.execute(rename, []).unwrap();
    assert_eq!((named("changed"), named("kept")), (1, 69));
    std::fs::remove_file(&one.reel).unwrap();
    assert_eq!((named("changed"), named("kept")), (0, 69));
    assert_eq!(count(), 69, "nothing is kept of what has gone");

    std::fs::write(&file, "something else").unwrap();
    assert_eq!(named("weather"), 69);
    let first = library.reels().unwrap().remove(0);
    assert!(retention::delete(&first).unwrap());
    assert!(!file.exists());
}

#[test]
fn nothing_is_kept_where_others_may_write() {
    let dir = tempfile::tempdir().unwrap();
    seventy(dir.path());
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(Library::new(dir.path()).list().unwrap().len(), 70);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 70);
}

#[test]
fn deleting_takes_everything_and_spares_what_became_live() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 1000);
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    assert!(!retention::delete(&session.reel).unwrap());
    assert!(session.reel.exists());
    drop(indexer);
    session.die();
    assert!(retention::delete(&session.reel).unwrap());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_symbolic_link_means_the_recording_where_it_lies() {
    let (elsewhere, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut live = Session::start(elsewhere.path(), "weather", 1);
    let mut indexer = live.indexer();
    busy_session(&mut live, 3, 1000);
    drain(&mut indexer, &bytes(u64::MAX));
    let link = dir.path().join("x.reel");
    std::os::unix::fs::symlink(&live.reel, &link).unwrap();
    let library = Library::new(dir.path());
    assert!(!library.contains(&link));
    assert_eq!(library.list().unwrap()[0].standing, Standing::Live);
    let selected = library.select(link.to_str().unwrap()).unwrap();
    assert_eq!(selected.path, live.reel.canonicalize().unwrap());
    // A frame that stands in the WAL is seen through the link.
    let frames = |path: &Path| {
        let recording = crate::reader::Recording::open(path).unwrap();
        recording.summary().unwrap().frames
    };
    assert_eq!(frames(&link), frames(&live.reel));
    assert!(frames(&link) > 0);
}

/// Only files are opened that may be the newest, whatever their names say.
#[test]
fn the_newest_is_the_one_that_began_last_whatever_files_are_called() {
    let dir = tempfile::tempdir().unwrap();
    let one = finished(dir.path(), 1);
    let now = mcpreel_trace::clock::Clock::start().wall_ns();
    let ago = |seconds: u64| now - seconds * 1_000_000_000;
    for (began, name) in [
        (ago(50), "2026-11-20T10-00-00_travelled-west_00000001.reel"),
        (ago(60), "2026-11-20T15-00-00_weather_00000002.reel"),
        (ago(40), "renamed by somebody.reel"),
        (ago(70), "2026-11-20T14-00-00_weather_00000003.reel"),
    ] {
        let path = dir.path().join(name);
        std::fs::copy(&one.reel, &path).unwrap();
        let conn = Connection::open(&path).unwrap();
        let set = "UPDATE recording SET wall_ns = ?1";
        conn.execute(set, [i64::try_from(began).unwrap()]).unwrap();
    }
    std::fs::remove_file(&one.reel).unwrap();
    std::fs::write(
        dir.path().join("2026-11-20T16-00-00_bad_00000004.reel"),
        "x",
    )
    .unwrap();
    let library = Library::new(dir.path());
    let starts = |text: &str| {
        let path = library.select(text).unwrap().path;
        path.file_name().unwrap().to_string_lossy()[..13].to_owned()
    };
    assert_eq!(starts("@"), "renamed by so");
    assert_eq!(starts("@2"), "2026-11-20T10");
    assert_eq!(starts("@4"), "2026-11-20T14");
    assert!(library.select("@5").is_err());
}
