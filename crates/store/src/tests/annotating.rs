//! Marks and notes reach the file and stay there, whatever becomes of the rest.

use super::written_session::{Session, busy_session, bytes, drain, rows};
use crate::annotate::{AnnotateError, set_mark, set_note};
use crate::indexer::derive::reindex;
use crate::library;
use crate::reader::Recording;
use crate::recovery;
use crate::schema::State;
use mcpreel_capture::spool::Tail;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
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
fn annotations_survive_deriving_anew_and_recovery() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 10, 100);
    let mut indexer = session.indexer();
    indexer.step(Tail::Final, &bytes(5000)).unwrap();
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
