//! Marks and notes reach the file and stay there, whatever becomes of the rest.

use super::written_session::{Session, busy_session, bytes, drain, rows};
use crate::annotate::{AnnotateError, set_mark, set_note};
use crate::reader::Recording;
use crate::recovery;
use crate::reindex::reindex;
use crate::schema::State;
use crate::{library, open};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const ALL: &str = "SELECT frame, mark, note FROM annotation ORDER BY frame";

fn finished(dir: &Path) -> Session {
    let mut session = Session::start(dir, "weather", 1);
    busy_session(&mut session, 10, 500);
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    indexer.release_spool().unwrap();
    session.die();
    session
}

#[test]
fn marks_and_notes_are_put_changed_and_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let reel = finished(dir.path()).reel;
    set_mark(&reel, Seq(3), Some("")).unwrap();
    set_mark(&reel, Seq(4), Some("later")).unwrap();
    set_note(&reel, Some(Seq(4)), Some("look")).unwrap();
    set_note(&reel, None, Some("the bad one")).unwrap();
    assert_eq!(rows(&reel, ALL), ["3||null", "4|later|look"]);
    set_mark(&reel, Seq(3), None).unwrap();
    set_note(&reel, Some(Seq(4)), None).unwrap();
    assert_eq!(rows(&reel, ALL), ["4|later|null"]);
    let summary = Recording::open(&reel).unwrap().summary().unwrap();
    assert_eq!(summary.note.as_deref(), Some("the bad one"));
    let error = set_mark(&reel, Seq(999), Some("")).unwrap_err();
    assert!(matches!(error, AnnotateError::NoFrame { .. }), "{error}");
}

#[test]
fn a_finished_recording_stays_one_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let reel = finished(dir.path()).reel;
    assert!(!open::is_wal(&reel).unwrap());
    set_note(&reel, Some(Seq(1)), Some("here")).unwrap();
    assert!(!open::is_wal(&reel).unwrap());
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, [reel.file_name().unwrap()]);
    let mode = reel.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn annotations_survive_deriving_anew_and_recovery() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 10, 100);
    let mut indexer = session.indexer();
    indexer.step(u64::MAX, &bytes(1000)).unwrap();
    set_mark(&session.reel, Seq(1), Some("x")).unwrap();
    set_note(&session.reel, None, Some("whole")).unwrap();
    drop(indexer);
    session.die();
    recovery::bring_up_to_date(&session.reel, Clock::start(), &mut |_| ()).unwrap();
    reindex(&session.reel, &mut |_| ()).unwrap();
    assert_eq!(rows(&session.reel, ALL), ["1|x|null"]);
    assert_eq!(rows(&session.reel, "SELECT note FROM recording"), ["whole"]);
    assert!(!library::spool_of(&session.reel).exists());
}

#[test]
fn what_may_not_be_written_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let reel = finished(dir.path()).reel;
    let missing = dir.path().join("none.reel");
    let error = set_mark(&missing, Seq(1), Some("")).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
    let text = dir.path().join("text.reel");
    std::fs::write(&text, "notes").unwrap();
    let error = set_mark(&text, Seq(1), Some("")).unwrap_err();
    assert!(error.to_string().contains("no recording"), "{error}");
    // Whoever may write everything is not held up by permissions.
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    std::fs::set_permissions(&reel, std::fs::Permissions::from_mode(0o400)).unwrap();
    let error = set_mark(&reel, Seq(1), Some("")).unwrap_err();
    assert!(matches!(error, AnnotateError::ReadOnly { .. }), "{error}");
}
