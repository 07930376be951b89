//! The recordings screen: what is listed, where the cursor stays, what is written and deleted.

use crate::by_hand::Viewer;
use crate::fixture::{self, Recording};
use crate::mouse::click_on;
use mcpreel_capture::spool::Writer;
use mcpreel_store::library::{Entry, Library, spool_of};
use mcpreel_trace::event::EventKind;
use mcpreel_tui::panels::menu::Menu;
use std::path::{Path, PathBuf};

/// A second, and a little.
const NEXT_LIST_NS: u64 = 1_100_000_000;

const SIZE: (u16, u16) = (160, 20);

fn viewer(recordings: &[Recording]) -> Viewer {
    Viewer::folder(recordings[0].folder(), SIZE)
}

fn shows(viewer: &Viewer, text: &str) -> bool {
    viewer.text().contains(text)
}

fn listed(viewer: &Viewer) -> Vec<&'static str> {
    let shown = viewer.state.app.library.shown();
    shown.iter().map(|entry| entry.state()).collect()
}

/// The recording under the cursor.
fn current(viewer: &Viewer) -> PathBuf {
    let row = viewer.state.app.library.current().expect("there is one");
    row.path.clone()
}

/// Rows of the screen above the one under the cursor.
fn above(viewer: &Viewer) -> usize {
    let library = &viewer.state.app.library;
    let (shown, path) = (library.shown(), current(viewer));
    let at = shown.iter().position(|entry| entry.path == path);
    at.expect("it is shown") - library.cursor.top
}

fn note_of(path: &Path) -> Option<String> {
    let entry = Entry::read(path);
    entry.summary().expect("it can be read").note.clone()
}

/// Moves the cursor to the first recording that is in this state.
fn go_to(viewer: &mut Viewer, state: &str) {
    viewer.press("g");
    while viewer
        .state
        .app
        .library
        .current()
        .expect("there are some")
        .state()
        != state
    {
        let before = current(viewer);
        viewer.press("j");
        assert_ne!(current(viewer), before, "nothing is {state}");
    }
}

#[test]
fn what_went_wrong_has_the_room_that_names_and_states_leave() {
    let recordings = fixture::mocked();
    let mut viewer = viewer(&recordings);
    assert!(shows(&viewer, "  server  ") && !shows(&viewer, "(weather"));
    viewer.resize((80, 24));
    let text = viewer.text();
    assert!(shows(&viewer, "the server ended with exi"), "{text}");
}

#[test]
fn live_recordings_come_first_and_then_the_newest() {
    let recordings = fixture::folder();
    let viewer = viewer(&recordings);
    assert_eq!(listed(&viewer)[0], "live");
    let shown = viewer.state.app.library.shown();
    let times: Vec<_> = shown[1..].iter().map(|entry| entry.wall_ns).collect();
    assert_eq!(times.len(), recordings.len() - 1);
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert!(shows(&viewer, "5 recordings  1 live"));
    for words in ["● live", "⚠ recovered", "✗ exit 3", "missing"] {
        assert!(shows(&viewer, words), "{words}:\n{}", viewer.text());
    }
}

#[test]
fn the_row_under_the_cursor_stays_where_it_is_whatever_comes_and_goes_above() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    viewer.resize((100, 7)).press("j j j");
    let (path, rows) = (current(&viewer), above(&viewer));
    let newest = recordings[0]
        .folder()
        .join("2030-01-01T00-00-00_new_00000001.reel");
    std::fs::copy(recordings[1].path(), &newest).expect("it can be copied");
    viewer.wait_ns(NEXT_LIST_NS);
    assert_eq!(listed(&viewer).len(), 6);
    assert_eq!((current(&viewer), above(&viewer)), (path.clone(), rows));
    std::fs::remove_file(&newest).expect("it can be removed");
    viewer.wait_ns(NEXT_LIST_NS);
    assert_eq!((current(&viewer), above(&viewer)), (path, rows));
}

#[test]
fn the_list_is_narrowed_as_one_types_and_whole_again_after_esc() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    viewer.act("/ 'RECOV'");
    assert_eq!(listed(&viewer), ["recovered"]);
    assert!(shows(&viewer, "1 of 5 shown"));
    viewer.press("Enter");
    assert!(shows(&viewer, "ONLY RECOV"), "{}", viewer.text());
    viewer.press("Esc");
    assert_eq!(listed(&viewer).len(), 5);
    viewer.act("/ 'nothing is called so' Enter");
    assert!(shows(
        &viewer,
        "none of 5 recordings has nothing is called so; Esc shows all"
    ));
    viewer.act("Esc / 'is:failed' Enter");
    let mut failed = viewer.state.app.library.rows.clone();
    failed.retain(|row| row.summary().is_some_and(|it| it.failed > 0));
    let failed = failed.len();
    assert!((1..5).contains(&failed), "{failed}");
    assert_eq!(listed(&viewer).len(), failed);
}

#[test]
fn recordings_are_sorted_by_key_or_by_a_click_on_a_heading() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    let by_age = listed(&viewer);
    let failed = |viewer: &Viewer| -> Vec<u64> {
        let shown = viewer.state.app.library.shown().into_iter();
        let failed = shown.map(|row| row.summary().map_or(0, |summary| summary.failed));
        failed.collect()
    };
    assert!(
        !failed(&viewer).is_sorted_by(|a, b| a >= b),
        "they have another order"
    );
    viewer.press("s f");
    assert!(
        failed(&viewer).is_sorted_by(|a, b| a >= b),
        "{}",
        viewer.text()
    );
    click_on(&mut viewer, "age");
    assert_eq!(listed(&viewer), by_age);
    click_on(&mut viewer, "failed");
    assert!(
        failed(&viewer).is_sorted_by(|a, b| a >= b),
        "{}",
        viewer.text()
    );
}

#[test]
fn recordings_are_sorted_by_size_and_duration_also_where_there_are_no_such_columns() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    let of = |viewer: &Viewer| -> Vec<(u64, u64)> {
        let shown = viewer.state.app.library.shown().into_iter();
        let lasted = |summary: &mcpreel_store::reader::Summary| summary.t_last_ns;
        let figures = shown.map(|row| (row.size, row.summary().map_or(0, lasted)));
        figures.collect()
    };
    click_on(&mut viewer, "lasted");
    assert!(
        of(&viewer).is_sorted_by(|a, b| a.1 >= b.1),
        "{:?}",
        of(&viewer)
    );
    viewer.resize((80, 24)).press("s z");
    assert!(
        of(&viewer).is_sorted_by(|a, b| a.0 >= b.0),
        "{:?}",
        of(&viewer)
    );
    assert!(shows(&viewer, "5 recordings by size"), "{}", viewer.text());
    assert!(shows(&viewer, "D delete"), "{}", viewer.text());
}

/// Once a replay could not be told from what it was made from.
#[test]
fn a_replay_is_told_from_its_original_at_every_size() {
    let recordings = fixture::replayed();
    let mut viewer = viewer(&recordings);
    for size in [(60, 15), (80, 24), (120, 35), (200, 50)] {
        viewer.resize(size);
        let text = viewer.text();
        let rows = text.lines().skip(2).take(2);
        let told: Vec<_> = rows.map(|row| row.contains(" replay")).collect();
        assert_eq!(told, [true, false], "{text}");
    }
}

#[test]
fn a_live_recording_says_what_it_waits_for_in_its_row() {
    let recordings = fixture::folder();
    let mut viewer = Viewer::folder(recordings[0].folder(), (200, 50));
    // What it says is found, too.
    for keys in ["", "/ 'waiting'"] {
        viewer.act(keys);
        let text = viewer.text();
        let row = text.lines().find(|row| row.contains("● live"));
        assert!(
            row.is_some_and(|row| row.contains("waiting for the")),
            "{text}"
        );
    }
}

/// Once only the one under the cursor was deleted, whatever was selected.
#[test]
fn deleting_goes_for_all_that_are_selected() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    viewer.press("j Space j Space j Space");
    assert!(shows(&viewer, "3 selected"), "{}", viewer.text());
    viewer.press("d");
    assert!(
        shows(&viewer, "two recordings are compared"),
        "{}",
        viewer.text()
    );
    let current = current(&viewer);
    viewer.press("Space k Delete");
    assert!(
        shows(&viewer, "delete these 2 recordings?"),
        "{}",
        viewer.text()
    );
    viewer.press("y");
    assert!(current.exists(), "it is not selected any more");
    assert_eq!(listed(&viewer).len(), 3);
    assert!(viewer.state.app.library.marked.is_empty());
}

/// Once a message was drawn over the sentence that says what went wrong.
#[test]
fn a_message_covers_no_sentence() {
    let recordings = fixture::folder();
    let mut viewer = Viewer::folder(recordings[0].folder(), (120, 35));
    viewer.press("j");
    let about = |viewer: &Viewer| {
        let text = viewer.text();
        let rows = text.lines().rev().skip(1).take(3);
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = about(&viewer);
    viewer.press("d");
    assert!(shows(&viewer, "Space selects the two"), "{}", viewer.text());
    assert_eq!(about(&viewer), before);
}

#[test]
fn a_row_says_what_went_wrong_in_its_recording() {
    let recordings = fixture::folder();
    let viewer = viewer(&recordings);
    let path = &viewer.state.app.library.rows[1].path;
    let reader = mcpreel_store::reader::Recording::open(path).expect("it can be opened");
    let causes = mcpreel_lint::cause::causes(&reader.facts(None).expect("they can be read"));
    let sentence = &causes[0].sentence;
    assert!(causes[0].is_trouble() && sentence.len() > 24, "{sentence}");
    assert!(
        shows(&viewer, &sentence[..24]),
        "{sentence}:\n{}",
        viewer.text()
    );
}

#[test]
fn a_note_is_written_shown_and_taken_away() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    go_to(&mut viewer, "recovered");
    let path = current(&viewer);
    viewer.act("c 'look at this' Enter");
    assert_eq!(note_of(&path).as_deref(), Some("look at this"));
    assert!(shows(&viewer, "look at this"), "{}", viewer.text());
    viewer.press("c Ctrl-U Enter");
    assert_eq!(note_of(&path), None);
    assert!(!shows(&viewer, "look at this"));
}

#[test]
fn deleting_asks_says_what_goes_and_keeps_unless_told() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    go_to(&mut viewer, "recovered");
    let path = current(&viewer);
    viewer.act("c 'of value' Enter").press("Delete");
    let menu = viewer.top::<Menu>();
    let said = {
        let text = menu.text.iter().map(|(_, text)| text.as_str());
        text.collect::<Vec<_>>().join("\n")
    };
    let file = path.file_name().expect("it has a name").to_string_lossy();
    for words in [&file, "exchanges", "kB", "of value"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    viewer.press("Enter");
    assert!(
        path.exists(),
        "the cursor stands on the answer that does no harm"
    );
    viewer.press("Delete y");
    assert!(!path.exists());
    assert_eq!(listed(&viewer).len(), 4);
    let left = Library::new(recordings[0].folder())
        .list()
        .expect("it can be listed");
    assert_eq!(left.len(), 4);
}

#[test]
fn what_is_being_recorded_cannot_be_deleted() {
    let recordings = fixture::folder();
    let mut viewer = viewer(&recordings);
    go_to(&mut viewer, "live");
    viewer.press("Delete");
    assert!(viewer.state.app.overlays.is_empty());
    assert!(shows(&viewer, "it is being recorded"), "{}", viewer.text());
}

#[test]
fn an_empty_folder_says_what_to_do_at_every_size() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut viewer = Viewer::folder(dir.path(), SIZE);
    let folder = dir.path().to_string_lossy().into_owned();
    for words in ["mcpreel run -- COMMAND", "mcpreel demo", &folder] {
        assert!(shows(&viewer, words), "{words}:\n{}", viewer.text());
    }
    for size in [(20, 3), (20, 50), (200, 3), (39, 7), (80, 18)] {
        viewer.resize(size);
        assert!(shows(&viewer, "no recordings") || size.1 < 6, "{size:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_says_why_in_its_row() {
    let recordings = fixture::folder();
    let path = recordings[0].folder().join("broken.reel");
    std::fs::write(path, "this is no database at all").expect("it can be written");
    let viewer = viewer(&recordings);
    assert!(shows(&viewer, "✗ unreadable"), "{}", viewer.text());
    assert!(shows(&viewer, "is not a rec"), "{}", viewer.text());
}

#[test]
fn a_spool_whose_recorder_was_about_to_remove_it_goes_with_the_next_list() {
    let ended = fixture::ended();
    let spool = spool_of(&ended.path);
    let start = serde_json::to_vec(&EventKind::Start(Box::default())).expect("it is JSON");
    let recorder = Writer::create(&spool, 3, &start).expect("it can be created");
    let mut viewer = Viewer::folder(ended.folder(), SIZE);
    assert!(spool.exists(), "its recorder lives");
    drop(recorder);
    viewer.wait_ns(NEXT_LIST_NS);
    assert!(!spool.exists());
    assert_eq!(listed(&viewer), ["complete"]);
}
