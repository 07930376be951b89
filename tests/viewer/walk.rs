//! Once through the whole viewer, as somebody does who has never seen it.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::notation::row_text;

/// What stands on the screen, in one piece.
fn text(viewer: &Viewer) -> String {
    let screen = viewer.screen();
    let rows = screen.area.rows().map(|row| row_text(&screen, row.y));
    rows.collect::<Vec<_>>().join("\n")
}

/// Does something and looks whether the screen has each of these words.
#[track_caller]
fn step(viewer: &mut Viewer, keys: &str, words: &[&str]) {
    viewer.act(keys);
    let text = text(viewer);
    for word in words {
        assert!(text.contains(word), "after `{keys}` no {word:?} in\n{text}");
    }
}

#[test]
fn from_the_recordings_through_every_view_and_out_again() {
    let recordings = fixture::folder();
    let mut viewer = Viewer::folder(recordings[0].folder(), (160, 45));
    let v = &mut viewer;
    // The folder, the newest recording first; it is live.
    step(v, "", &["weather-server", "claude-code", "7f3a"]);
    // What is wrong is told before a key is pressed.
    step(
        v,
        "Enter",
        &["● REC", "2 open", "3 failed", "does not read"],
    );
    step(v, "g", &["initialize", "tools/list"]);
    step(v, "j j", &["6 tools"]);
    // The first failure, and why.
    step(v, "g e", &["search_docs", "quota exceeded"]);
    step(v, "Tab", &["arguments"]);
    step(v, "Tab Esc", &["search_docs"]);
    // Only what failed; a filter that is wrong says where.
    step(v, "f 'is:failed' Enter", &["is:failed", "search_docs"]);
    assert!(!text(v).contains("initialize"), "{}", text(v));
    step(v, "F", &["initialize"]);
    // Every frame, the bars, the numbers, what is wrong.
    step(v, "w", &["20/100 fetching"]);
    step(v, "w 2", &["plan_trip", "2.3 s"]);
    step(v, "3", &["p95", "get_forecast"]);
    step(v, "4", &["batch-not-allowed"]);
    // Search, help, palette.
    step(v, "1 / 'quota' Enter", &["quota"]);
    step(v, "Esc ?", &["Enter"]);
    step(v, "Esc : 'stats'", &["stats"]);
    step(v, "Esc", &["search_docs"]);
    // As it was then.
    step(v, "g j T", &["AT #"]);
    step(v, "T", &["● REC"]);
    // Out.
    step(v, "q", &["weather-server"]);
    assert!(!v.has_quit());
    v.act("q");
    assert!(v.has_quit());
}
