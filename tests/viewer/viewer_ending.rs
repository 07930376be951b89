//! A session that is watched comes to its end, and every row that it is said to have is there.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::support::conversation::Conversation;
use mcpreel_store::schema::State;
use mcpreel_trace::item::ItemKind;
use std::collections::BTreeSet;

/// Looks that are enough for anything to come to its end.
const LOOKS: usize = 60;

/// Frames that the recording is said to have, and rows that are there, one for each frame.
fn frames_and_rows(viewer: &Viewer) -> (u64, u64) {
    let session = viewer.session();
    let vitals = session.vitals.as_deref().expect("it was read");
    let rows = session.list.index.rows(0, usize::MAX);
    let frames = rows.filter(|row| row.kind != ItemKind::Event);
    let frames = frames.flat_map(|row| row.key().seq.0..=row.last().seq.0);
    let frames: BTreeSet<u64> = frames.collect();
    (vitals.summary.frames, frames.len() as u64)
}

fn state(viewer: &Viewer) -> State {
    let session = viewer.session();
    session
        .vitals
        .as_deref()
        .expect("it was read")
        .summary
        .state
}

/// Looks until the recording stands as `state` says; what is told is there each time.
#[track_caller]
fn watch_until(viewer: &mut Viewer, wanted: State) {
    for _ in 0..LOOKS {
        viewer.settle();
        let (frames, rows) = frames_and_rows(viewer);
        assert_eq!(rows, frames, "{:?}", state(viewer));
        if state(viewer) == wanted {
            return;
        }
    }
    panic!("it never stands as it should");
}

/// Between the end of the session and the moment at which the file is one, the header once told of
/// frames that nobody could look at.
#[test]
fn no_frame_is_told_of_that_is_not_there() {
    let mut growing = fixture::wild(Conversation::tame(5), 40);
    let mut viewer = Viewer::open(growing.path(), (120, 30));
    viewer.act("w");
    watch_until(&mut viewer, State::Live);
    growing.add(60);
    watch_until(&mut viewer, State::Live);
    growing.end(30);
    watch_until(&mut viewer, State::Complete);
    assert_eq!(frames_and_rows(&viewer), (130, 130));
}

/// Who goes on with a recording writes frames alone at first; what is derived from them came after
/// they were looked at, and was never found.
#[test]
fn rows_that_are_derived_later_are_found() {
    let mut growing = fixture::wild(Conversation::tame(6), 40);
    let mut viewer = Viewer::open(growing.path(), (120, 30));
    viewer.settle();
    growing.go_on_underived(60);
    viewer.settle();
    growing.kill();
    for _ in 0..LOOKS {
        viewer.settle();
    }
    assert_eq!(state(&viewer), State::Recovered);
    let session = viewer.session();
    let rows = session.list.index.items();
    let mut fresh = Viewer::open(growing.path(), (120, 30));
    fresh.settle();
    let session = fresh.session();
    assert_eq!(rows, session.list.index.items());
}
