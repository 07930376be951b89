//! The detail: what is shown of a row, its tabs, the ways from it, and bodies however they are
//! written.

use crate::by_hand::{Viewer, has};
use crate::fixture::{self, Recording};
use crate::mouse::{click, click_on, wheel_down};
use crate::notation::row_text;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_tui::panels::detail::{Detail, Representation, Shown, Tab};
use mcpreel_tui::widget::pager::Text;

const SIZE: (u16, u16) = (120, 30);

/// A call with much in between, before its answer and from there on.
const ASKED: &str = r#"
    100 > "id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"rust async","tags":["a","b"]},"_meta":{"progressToken":7}}
    112 < "method":"notifications/progress","params":{"progressToken":7,"progress":40,"total":100,"message":"indexing"}
    120 ! WARN cache   miss"#;
const ANSWERED: &str = r#"
    150 < "id":"e","method":"elicitation/create","params":{"message":"confirm?"}
    450 > "id":"e","result":{"action":"accept"}
    942 < "id":1,"result":{"content":[{"type":"text","text":"first line\n\tsecond \u001b[31m"},{"type":"text","text":"{\"quota\":[1,2]}"},{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA","mimeType":"image/png"}],"isError":true}
    950 < [INFO] not a message
    960 < "id":99,"result":{},"result":7
    970 > "id":2,"method":"ping""#;

/// A viewer on a recording in which this was said, and which may grow.
fn open(lines: &str) -> (Viewer, Recording) {
    let recording = fixture::said(lines);
    let mut viewer = Viewer::open(recording.path(), SIZE);
    viewer.settle();
    (viewer, recording)
}

/// The call, which has the keys.
fn call() -> (Viewer, Recording) {
    let (mut viewer, recording) = open(&[ASKED, ANSWERED].concat());
    select(&mut viewer, 1);
    (viewer, recording)
}

/// Selects the row at the frame `seq`; the detail has the keys.
fn select(viewer: &mut Viewer, seq: u64) {
    viewer.act(&format!("1 : '{seq}' Enter Enter"));
}

fn detail(viewer: &Viewer) -> &Detail {
    &viewer.session().detail
}

fn path(viewer: &Viewer) -> String {
    detail(viewer).path().unwrap_or_default()
}

#[track_caller]
fn has_no(viewer: &Viewer, part: &str) {
    assert!(!viewer.text().contains(part), "{}", viewer.text());
}

#[test]
fn an_answer_that_comes_later_is_added_and_moves_nothing() {
    let (mut viewer, mut recording) = open(ASKED);
    select(&mut viewer, 1);
    has(&viewer, &["no response yet  … open"]);
    viewer.press("j j j j Space");
    recording.session().say(ANSWERED);
    recording.index();
    viewer.settle();
    has(&viewer, &["▾ response  ✗ tool-error", "▸ arguments"]);
    assert_eq!(path(&viewer), "params.arguments");
    viewer.press("Tab");
    has(&viewer, &["tool error: first line"]);
}

#[test]
fn on_the_wire_an_answer_is_named_after_its_tool() {
    let (mut viewer, _recording) = call();
    viewer.act("Esc w");
    has(
        &viewer,
        &["→ search_docs", "← search_docs tool error: first"],
    );
}

#[test]
fn a_story_tells_what_happened_meanwhile_and_leads_there() {
    let (mut viewer, _recording) = call();
    viewer.press("Tab j j j Enter");
    let selected = |viewer: &Viewer| viewer.session().list.selected();
    let of_frame = |seq| Some(ItemKey::of_part(mcpreel_trace::frame::Seq(seq), 0));
    assert_eq!(selected(&viewer), of_frame(3));
    assert_eq!(viewer.session().lens, Lens::Exchanges);
    // The line has no story: its text is shown, and Esc goes back to the story that led there.
    has(&viewer, &[" Body · Findings ", "││WARN cache   miss"]);
    viewer.press("Esc");
    assert_eq!(selected(&viewer), of_frame(1));
    has(&viewer, &["stderr   WARN cache miss"]);
    viewer.press("j j Enter");
    assert_eq!(selected(&viewer), of_frame(2));
    let lens = viewer.session().lens;
    assert_eq!(lens, Lens::Wire, "progress has no row of its own elsewhere");
}

#[test]
fn a_long_text_of_the_story_goes_on_below_and_a_click_finds_its_row() {
    let error = "quota exceeded: ".repeat(6) + "the end";
    let lines = r#"1 > "id":1,"method":"tools/call","params":{"name":"search_docs"}
        2 < "id":1,"error":{"code":-32000,"message":"ERROR"}
        3 ! WARN cache miss"#;
    let (mut viewer, _recording) = open(&lines.replace("ERROR", &error));
    select(&mut viewer, 1);
    viewer.press("Tab");
    has(&viewer, &["the end"]);
    let rows = detail(&viewer)
        .shown
        .as_deref()
        .map_or(0, Shown::story_rows);
    assert!(rows > 1);
    viewer.press("g");
    let screen = viewer.screen();
    let end = (0..SIZE.1).rfind(|y| row_text(&screen, *y).contains("the end"));
    click(&mut viewer, (SIZE.0 - 5, end.expect("it is there")));
    let at = |viewer: &Viewer| {
        detail(viewer)
            .shown
            .as_deref()
            .map(|shown| shown.at_story.0)
    };
    let clicked = at(&viewer);
    viewer.press("G");
    assert_eq!(at(&viewer), Some(rows - 1));
    assert!(
        clicked > Some(0) && clicked <= at(&viewer),
        "{clicked:?}\n{}",
        viewer.text()
    );
}

#[test]
fn a_detail_below_the_list_has_most_of_the_screen_while_it_is_read() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, (80, 24));
    let place_of = |viewer: &Viewer| {
        let rows: Vec<_> = viewer.text().lines().map(str::to_owned).collect();
        rows.iter().position(|row| row.contains("Body · Story"))
    };
    let before = place_of(&viewer);
    viewer.press("Tab");
    assert!(place_of(&viewer) < before, "{}", viewer.text());
    viewer.press("BackTab");
    assert_eq!(place_of(&viewer), before);
}

#[test]
fn findings_are_explained_and_lead_to_their_place() {
    let (mut viewer, _recording) = call();
    select(&mut viewer, 8);
    has(&viewer, &["Findings 3", "‼ error  response-unknown-id"]);
    has(&viewer, &["← unknown id 99 7"]);
    viewer.press("j j Enter");
    assert_eq!(detail(&viewer).tab(), Tab::Findings);
    viewer.press("Enter");
    assert_eq!(detail(&viewer).tab(), Tab::Body);
    assert_eq!(
        viewer.session().list.selected().map(|key| key.seq.0),
        Some(8)
    );
}

#[test]
fn the_mouse_selects_folds_and_scrolls() {
    let (mut viewer, _recording) = call();
    click_on(&mut viewer, "\"search_docs\"");
    assert_eq!(path(&viewer), "params.name");
    click_on(&mut viewer, "▾ arguments");
    has(&viewer, &["▸ arguments"]);
    viewer.resize((120, 18));
    let before = path(&viewer);
    wheel_down(&mut viewer, (100, 10));
    wheel_down(&mut viewer, (100, 10));
    assert_eq!(path(&viewer), before, "the cursor stays");
    has_no(&viewer, "▾ request");
}

/// Keys one after the other, and where the cursor is then.
const WAYS: &[(&str, &str)] = &[
    ("j j j j j j j j", "params.arguments"),
    ("l", "params.arguments.q"),
    ("h h h", "params"),
    ("j j Space j j", "params.arguments.tags"),
    // What is in the request itself leads to its heading.
    ("k k k k h h", ""),
    ("Space l j l j", "params.name"),
    ("G", "result.isError"),
];

#[test]
fn keys_fold_and_walk_the_tree_and_the_path_follows() {
    let (mut viewer, _recording) = call();
    for (keys, expected) in WAYS {
        viewer.press(keys);
        assert_eq!(path(&viewer), *expected, "{keys}\n{}", viewer.text());
    }
}

#[test]
fn another_way_of_writing_keeps_the_place() {
    let (mut viewer, _recording) = call();
    viewer.press("G r");
    assert_eq!(detail(&viewer).representation, Representation::Raw);
    let under_cursor = |viewer: &Viewer| {
        let shown = detail(viewer).shown.as_deref().expect("a row is shown");
        let body = detail(viewer).body().expect("it has a body");
        format!("{:?}", body.line(body.line_of(shown.at.cursor)))
    };
    let line = under_cursor(&viewer);
    assert!(line.contains("isError"), "{line}");
    viewer.press("r");
    assert!(path(&viewer).starts_with("result."), "{}", path(&viewer));
}

#[test]
fn what_a_schema_says_of_an_argument_goes_on_below_where_there_is_room() {
    let lines = r#"1 > "id":1,"method":"tools/list"
        2 < "id":1,"result":{"tools":[{"name":"now","inputSchema":{"properties":{"timezone":{"type":"string","description":"The name of a timezone in the database of IANA, for example Europe/Oslo"},"format":{"type":"string","description":"short or long"}},"required":["timezone"]}}]}
        3 > "id":2,"method":"tools/call","params":{"name":"now","arguments":{"timezone":"Europe/Nowhere","format":"short"}}
        4 < "id":2,"result":{"content":[]}"#;
    let (mut viewer, _recording) = open(lines);
    select(&mut viewer, 3);
    has(
        &viewer,
        &["Europe/Oslo", "\"short\"  string: short or long"],
    );
    let on = |viewer: &Viewer| format!("{:?}", detail(viewer).node());
    viewer.press("g j j j j");
    assert_eq!(path(&viewer), "params.arguments.timezone");
    let (node, mut lines) = (on(&viewer), 0);
    while on(&viewer) == node {
        viewer.press("j");
        lines += 1;
    }
    assert!(lines > 1, "{}", viewer.text());
    assert_eq!(path(&viewer), "params.arguments.format");
    viewer.press("k");
    assert_eq!(on(&viewer), node);
}

#[test]
fn strings_open_in_full() {
    let (mut viewer, _recording) = call();
    has(&viewer, &["✗ tool-error", "first line"]);
    viewer.press("g Enter");
    viewer.top::<Text>();
    has(&viewer, &["in full", "    second \\x1b[31m"]);
    viewer.press("Esc");
    has(&viewer, &["first line"]);
    for (place, parts) in [
        (
            "content[0].text",
            &[" · text · 33 B", "    second \\x1b[31m"][..],
        ),
        ("content[2].data", &["image/png, "]),
    ] {
        viewer.press("g");
        while path(&viewer) != format!("result.{place}") {
            viewer.press("j");
        }
        viewer.press("Enter");
        viewer.top::<Text>();
        has(&viewer, parts);
        viewer.press("Esc");
    }
}

#[test]
fn text_that_is_json_is_part_of_the_tree() {
    let (mut viewer, _recording) = call();
    has(&viewer, &["▾ text JSON (1)"]);
    viewer.press("G k k k k k");
    assert_eq!(path(&viewer), "result.content[1].text.quota[1]");
    viewer.press("h Enter");
    has(&viewer, &["▸ quota (2) [1,2]"]);
}

#[test]
fn what_is_no_message_is_shown_with_the_place_where_reading_stopped() {
    let half = r#"2 < {"jsonrpc":"2.0","id":3,"res"#;
    let (mut viewer, _recording) = open(&format!("1 < [INFO] up\n{half}\n3 ! warn \u{202e}x"));
    for (seq, parts) in [
        (1, &["not JSON: expected a value at byte 1"][..]),
        (2, &["id      3", "not JSON from here on: unescaped"]),
        (3, &["warn \\u{202e}x"]),
    ] {
        select(&mut viewer, seq);
        has(&viewer, parts);
    }
}

#[test]
fn of_a_long_message_the_beginning_is_shown_and_more_on_demand() {
    let item = format!(r#"{{"text":"{}"}}"#, "x".repeat(1000));
    let items = vec![item; 2_000].join(",");
    let lines = format!("1 > \"id\":1,\"method\":\"ping\"\n2 < \"id\":1,\"result\":[{items}]");
    let (mut viewer, _recording) = open(&lines);
    select(&mut viewer, 1);
    viewer.press("G");
    has(&viewer, &["the first 1.0 MB of 2.0 MB · L loads more"]);
    viewer.press("Enter");
    has_no(&viewer, "loads more");
    viewer.press("G k");
    assert_eq!(path(&viewer), "result[1998]");
}

#[test]
fn what_is_searched_for_is_marked_unfolded_and_gone_to() {
    let (mut viewer, mut recording) = call();
    let marked = |viewer: &Viewer| -> Vec<usize> {
        let shown = detail(viewer).shown.as_deref().expect("a row is shown");
        shown.parts.iter().map(|part| part.hits.len()).collect()
    };
    viewer.act("j j j j j j j j Space Ctrl-F 'quota' Enter");
    assert_eq!(path(&viewer), "result.content[1].text.quota");
    assert_eq!(marked(&viewer), [0, 0, 0, 1]);
    viewer.press("k");
    recording.session().say("990 ! something else");
    recording.index();
    viewer.settle();
    let at = path(&viewer);
    assert_eq!(
        at, "result.content[1].text",
        "only a new search moves the cursor"
    );
    viewer.act("g Ctrl-F 'RUST' Enter");
    assert_eq!(marked(&viewer), [0, 0, 0, 0], "capitals mean themselves");
    viewer.act("Ctrl-F 'rust' Enter");
    assert_eq!(
        path(&viewer),
        "params.arguments.q",
        "what was folded is open"
    );
    viewer.press("r");
    assert_eq!(marked(&viewer), [0, 0, 1, 0]);
}
