//! What is asked of a recording while it is looked at: comparisons, searches, jumps, marks and
//! notes, and what was true at a moment.

use crate::by_hand::{Viewer, has};
use crate::fixture::{self, Recording};
use crate::notation::{row_text, runs};
use mcpreel_tui::panels::compare::Comparison;
use mcpreel_tui::widget::pager::Text;
use ratatui::style::Color;

const WIDE: (u16, u16) = (140, 40);

fn viewer(recording: &Recording, size: (u16, u16)) -> Viewer {
    let mut viewer = Viewer::open(recording.path(), size);
    viewer.settle();
    viewer
}

/// The frame of the row under the cursor.
fn selected(viewer: &Viewer) -> u64 {
    let session = viewer.session();
    session.list.selected().expect("there are rows").seq.0
}

/// Puts the cursor on the row of the frame `seq`.
fn go(viewer: &mut Viewer, seq: u64) {
    viewer.act(&format!(": '{seq}' Enter"));
    assert_eq!(selected(viewer), seq);
}

/// The frame of the first row whose line on the screen has this text.
fn find(viewer: &mut Viewer, text: &str) -> u64 {
    viewer.act(&format!("g Ctrl-F '{text}' Enter"));
    selected(viewer)
}

#[test]
fn the_call_before_is_compared_and_the_differences_are_walked() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.press("G");
    let second = {
        find(&mut viewer, "p5");
        selected(&viewer)
    };
    viewer.press("Esc d");
    has(
        &viewer,
        &[
            "tools/call search_docs",
            &format!("#{second}"),
            "tool-error",
            "noise",
            "the same",
            "id",
        ],
    );
    let at = |viewer: &Viewer| viewer.top::<Comparison>().at;
    let first = at(&viewer);
    viewer.press("e");
    assert!(at(&viewer) > first);
    viewer.press("E");
    assert_eq!(at(&viewer), first);
    viewer.press("Space");
    has(&viewer, &["jsonrpc"]);
    viewer.press("Esc");
    assert!(viewer.state.app.overlays.is_empty());
}

#[test]
fn a_changed_text_is_shown_whole_where_there_is_room_and_its_words_that_differ_are_marked() {
    let call = |id: u32, said: &str| {
        format!(
            r#"{id}0 > "id":{id},"method":"tools/call","params":{{"name":"search_docs"}}
            {id}1 < "id":{id},"result":{{"content":[{{"type":"text","text":"{said}"}}]}}
            "#
        )
    };
    let rest = "stands on a shelf in the last room of the house at the end of the street";
    let left = call(1, &format!("the red book {rest}"));
    let recording = fixture::said(&(left + &call(2, &format!("the blue book {rest}"))));
    let mut viewer = viewer(&recording, WIDE);
    viewer.press("G d");
    let screen = viewer.screen();
    let words = |word: &str| {
        let count = |y| row_text(&screen, y).matches(word).count();
        (0..WIDE.1).map(count).sum::<usize>()
    };
    assert_eq!(words("street"), 4, "{}", viewer.text());
    let runs = (0..WIDE.1).flat_map(|y| runs(&screen, y));
    let marked = runs.filter(|run| run.cell.bg == Color::Yellow);
    let marked: Vec<_> = marked.map(|run| run.text).collect();
    assert_eq!(marked, ["red", "blue", "red", "blue"], "{}", viewer.text());
    viewer.resize((80, 40));
    has(&viewer, &["→ \"the blue book", "of the street\""]);
    viewer.press("Enter");
    has(&viewer, &["/ finds, Esc closes"]);
}

#[test]
fn a_search_goes_to_the_nearest_hit_and_walks_the_rest() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.press("g");
    let first = selected(&viewer);
    viewer.act("Ctrl-F 'QUOTA' Enter");
    assert_eq!(selected(&viewer), first, "a capital counts");
    has(&viewer, &["QUOTA occurs nowhere"]);
    viewer.act("Ctrl-F 'quota' Enter");
    let one = selected(&viewer);
    assert!(one > first);
    viewer.press("n");
    let two = selected(&viewer);
    assert!(two > one);
    viewer.press("N");
    assert_eq!(selected(&viewer), one);
    viewer.press("N");
    assert!(
        selected(&viewer) > two,
        "the last one comes before the first"
    );
    has(&viewer, &["search quota  6 hits"]);
    viewer.press("Esc");
    assert!(!viewer.text().contains("search quota"));
}

#[test]
fn a_hit_that_a_row_does_not_show_is_marked_at_its_end() {
    let recording = fixture::said(
        r#"1 > "id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"rust"}}
        2 < "id":1,"result":{"content":[{"type":"text","text":"a needle"}]}"#,
    );
    let mut viewer = viewer(&recording, WIDE);
    let mut marked = |term: &str| {
        viewer.act(&format!("Ctrl-F '{term}' Enter"));
        let screen = viewer.screen();
        let is_row = |y: &u16| row_text(&screen, *y).contains("→ search_docs");
        let row = (0..WIDE.1).find(is_row).expect("it is on the screen");
        let runs = runs(&screen, row).into_iter();
        let hits = runs.filter(|run| run.columns.end < 70 && run.cell.bg == Color::Yellow);
        hits.map(|run| run.text).collect::<Vec<_>>()
    };
    assert_eq!(marked("needle"), ["…"]);
    assert_eq!(marked("docs"), ["docs"]);
}

#[test]
fn a_hit_far_inside_a_long_text_is_shown_in_its_line_and_in_the_text_in_full() {
    let hay = r"hay and hay\n".repeat(4_000);
    let text = format!("{hay} a needle {hay}");
    let lines = r#"1 > "id":1,"method":"tools/call","params":{"name":"search_docs"}
        2 < "id":1,"result":{"content":[{"type":"text","text":"TEXT"}]}"#;
    let recording = fixture::said(&lines.replace("TEXT", &text));
    let mut viewer = viewer(&recording, WIDE);
    viewer.act("Ctrl-F 'needle' Enter");
    let screen = viewer.text();
    let line = screen.lines().find(|line| line.contains("needle hay"));
    assert!(line.is_some_and(|line| line.contains('…')), "{screen}");
    viewer.press("Enter Enter");
    viewer.top::<Text>();
    has(&viewer, &[" a needle hay and hay"]);
    let screen = viewer.screen();
    let mut runs = (0..WIDE.1).flat_map(|y| runs(&screen, y));
    assert!(runs.any(|run| run.text == "needle" && run.cell.bg == Color::Yellow));
}

/// Once the name of a field was not looked for before Enter, and words of the filter were not marked.
#[test]
fn a_word_filters_while_it_is_typed_and_is_marked_in_the_list_and_the_detail() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.act("g / 'tool'");
    assert_eq!(viewer.session().filter.in_force().to_string(), "tool");
    viewer.act("'s' Enter");
    let screen = viewer.screen();
    let runs = (0..WIDE.1).flat_map(|y| runs(&screen, y));
    let marked = runs.filter(|run| run.cell.bg == Color::Yellow && run.text == "tools");
    let (list, detail): (Vec<_>, Vec<_>) = marked.partition(|run| run.columns.end < 70);
    assert!(!list.is_empty() && !detail.is_empty(), "{}", viewer.text());
    viewer.press("F");
    let marked = viewer
        .session()
        .detail
        .shown
        .as_ref()
        .map(|shown| shown.marked.len());
    assert_eq!(marked, Some(0), "the filter is off");
}

#[test]
fn a_wrong_regular_expression_keeps_its_text() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.act("Ctrl-F 're:get_(' Enter");
    has(&viewer, &["re:get_("]);
    viewer.act("Backspace 't.des' Enter");
    assert!(viewer.state.app.overlays.is_empty());
    has(&viewer, &["search re:get_t.des"]);
    viewer.press("Ctrl-F Up");
    has(&viewer, &["re:get_t.des"]);
}

#[test]
fn a_mark_and_a_note_are_kept_in_the_recording() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    let tides = find(&mut viewer, "get_tides");
    viewer.press("Esc m");
    has(&viewer, &[&format!("#{tides}: marked")]);
    viewer.act("c 'ask ana' Enter");
    has(&viewer, &["note kept"]);
    viewer.act("c ' again' Enter");
    let annotation = |viewer: &Viewer| {
        let session = viewer.session();
        let item = session.list.selected_item().expect("it was read");
        item.annotation.clone().unwrap_or_default()
    };
    assert_eq!(annotation(&viewer).note.as_deref(), Some("ask ana again"));
    assert!(annotation(&viewer).mark.is_some());
    viewer.press("m");
    assert!(annotation(&viewer).mark.is_none());
    let mut again = Viewer::open(recording.path(), WIDE);
    again.settle();
    go(&mut again, tides);
    assert_eq!(annotation(&again).note.as_deref(), Some("ask ana again"));
}

#[test]
fn the_time_cursor_hides_what_came_later_and_steps() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    let tides = find(&mut viewer, "get_tides");
    viewer.press("Esc");
    go(&mut viewer, tides);
    viewer.press("T");
    has(&viewer, &[&format!("AT #{tides} 00:07.500")]);
    assert_eq!(selected(&viewer), tides, "nothing after it is shown");
    viewer.press(".");
    assert_eq!(selected(&viewer), tides);
    viewer.press(", ,");
    assert!(selected(&viewer) < tides);
    viewer.press("T");
    assert!(!viewer.text().contains("AT #"));
    viewer.press("G");
    assert!(selected(&viewer) > tides);
}

/// Once nothing moved before Enter.
#[test]
fn a_search_goes_to_its_first_hit_while_it_is_typed_and_back_with_esc() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.act("g j Ctrl-F 'quota' Enter");
    let first = selected(&viewer);
    viewer.act("g j");
    let before = selected(&viewer);
    viewer.act("Ctrl-F 'tides'");
    let typed = selected(&viewer);
    assert_ne!(typed, before);
    viewer.press("Esc");
    assert_eq!(selected(&viewer), before);
    has(&viewer, &["search quota"]);
    viewer.act("Ctrl-F 'quota'");
    assert_eq!(selected(&viewer), first);
    // What is no expression, or nothing yet, takes nothing away.
    viewer.press("Ctrl-U").act("'re:['");
    viewer.press("Ctrl-U").act("'tides'");
    assert_eq!(selected(&viewer), typed);
    viewer.press("Esc");
    assert_eq!(selected(&viewer), before);
    viewer.act("Ctrl-F 'tides' Enter");
    assert_eq!(selected(&viewer), typed);
    has(&viewer, &["search tides"]);
    viewer.act("G Ctrl-F 'nowhere at all'");
    assert!(
        !viewer.text().contains("occurs nowhere"),
        "it is still typed"
    );
    viewer.press("Enter");
    has(&viewer, &["occurs nowhere"]);
}

#[test]
fn the_state_pane_tells_what_was_true_then() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording, WIDE);
    viewer.press("G S");
    has(
        &viewer,
        &[
            "state now",
            "agreed 2025-11-25, by initialize",
            "weather-server 1.4",
            "tools used",
            "stale: changed at",
            "get_forecast",
            "search_docs",
        ],
    );
    viewer.resize((120, 20)).press("Tab");
    has(&viewer, &["j scrolls, S closes"]);
    assert!(
        !viewer.text().contains("in full"),
        "of the detail behind it"
    );
    viewer.resize(WIDE).press("Tab");
    let trip = find(&mut viewer, "Oslo");
    viewer.press("T");
    has(&viewer, &[&format!("state at #{trip}"), "1 call", "ready"]);
    assert!(!viewer.text().contains("stale"));
    viewer.press("S");
    assert!(!viewer.text().contains("state at"));
}

#[test]
fn a_paused_picture_stands_and_counts_what_is_new() {
    let mut recording = fixture::live();
    let mut viewer = viewer(&recording, WIDE);
    viewer.press("p");
    has(&viewer, &["PAUSED"]);
    let last = selected(&viewer);
    crate::viewer_story::forecast(recording.session(), 22_000, 77);
    recording.index();
    viewer.settle();
    assert_eq!(selected(&viewer), last);
    has(&viewer, &["PAUSED, "]);
    viewer.press("p");
    assert!(selected(&viewer) > last);
}
