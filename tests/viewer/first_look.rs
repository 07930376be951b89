//! What is on the screen before any key is pressed, and what a key or two lead to.

use crate::by_hand::Viewer;
use crate::fixture;
use crate::mouse::click_on;
use crate::support::conversation::Conversation;
use mcpreel_tui::app::{Focus, View};
use mcpreel_tui::panels::compare::Comparison;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 50)];

/// The handshake, and a call that goes well.
const WELL: &str = r#"
    10 > "id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
    20 < "id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
    30 > "method":"notifications/initialized"
    40 > "id":1,"method":"tools/call","params":{"name":"list_dir","arguments":{"path":"/home"}}
    50 < "id":1,"result":{"content":[{"type":"text","text":"a.txt"}]}
"#;

/// A tool that says at length why it failed.
const FAILS: &str = r#"
    60 > "id":2,"method":"tools/call","params":{"name":"read_text_file_by_name","arguments":{"path":"/etc/passwd"}}
    95 < "id":2,"result":{"content":[{"type":"text","text":"Access denied - path outside allowed directories: /etc/passwd is not in any of /home/ana/projects, /home/ana/documents/work, /srv/shared/team. Ask the administrator to add the folder, or choose another one."}],"isError":true}
    100 > "id":3,"method":"tools/call","params":{"name":"list_dir","arguments":{"path":"/srv"}}
    105 < "id":3,"result":{"content":[{"type":"text","text":"b.txt"}]}
"#;

/// The words on the screen, however they are broken into lines of panes: each has to follow the
/// one before.
fn has_words(viewer: &Viewer, words: &str) -> bool {
    let screen = viewer.text();
    let mut rest = screen.as_str();
    words.split_whitespace().all(|word| {
        let at = rest.find(word);
        rest = at.map_or("", |at| &rest[at + word.len()..]);
        at.is_some()
    })
}

/// Where the cursor of the list is.
fn row(viewer: &Viewer) -> Option<u64> {
    Some(viewer.session().list.selected()?.seq.0)
}

fn open(path: &std::path::Path, size: (u16, u16)) -> Viewer {
    let mut viewer = Viewer::open(path, size);
    viewer.settle();
    viewer
}

#[test]
fn the_whole_error_of_the_first_failure_is_on_the_screen_without_a_key() {
    let recording = fixture::said_and_ended(&[WELL, FAILS].concat());
    for size in SIZES {
        let viewer = open(recording.path(), size);
        assert_eq!(row(&viewer), Some(6), "{}", viewer.text());
        let error = "outside allowed directories: /etc/passwd is not in any of \
            /home/ana/projects, /home/ana/documents/work, /srv/shared/team. Ask the administrator \
            to add the folder, or choose another one.";
        assert!(has_words(&viewer, error), "{}", viewer.text());
    }
}

/// Once such a pane was full of the first frames.
#[test]
fn of_a_long_traceback_the_exception_is_on_the_screen_without_a_key() {
    let frame =
        |nth| format!(r#"  File \"/srv/app/module_{nth}.py\", line 7, in call\n    go()\n"#);
    let frames: String = (0..30).map(frame).collect();
    let fails = format!(
        r#"
    60 > "id":2,"method":"tools/call","params":{{"name":"place_order","arguments":{{}}}}
    95 < "id":2,"result":{{"content":[{{"type":"text","text":"Traceback (most recent call last):\n{frames}errors.UniqueViolation: duplicate key\nDETAIL: it exists"}}],"isError":true}}
"#
    );
    let recording = fixture::said_and_ended(&[WELL, &fails].concat());
    for size in SIZES {
        let viewer = open(recording.path(), size);
        let first = "tool-error errors.UniqueViolation: duplicate key DETAIL: it exists Traceback";
        assert!(has_words(&viewer, first), "{}", viewer.text());
    }
}

/// What was found out a moment later once went back to the list.
#[test]
fn a_view_that_is_chosen_before_the_causes_are_known_stays() {
    let recording = fixture::said_and_ended(&[WELL, FAILS].concat());
    let mut viewer = open(recording.path(), SIZES[0]);
    let session = viewer.state.session.as_deref_mut().expect("it is open");
    let vitals = session.vitals.take().expect("they are known");
    session.view = View::Findings;
    mcpreel_tui::panels::session::grown(&mut viewer.state.app, session, vitals);
    assert_eq!(session.view, View::Findings);
}

/// Once such a pane said that there is no response, above many blank lines.
#[test]
fn a_call_without_an_answer_begins_with_why_it_has_none() {
    let recording = fixture::ended();
    let mut viewer = open(&recording.path, (80, 24));
    viewer.act("G f 'status:lost' Enter");
    assert!(
        viewer.text().contains("ended with exit code 3"),
        "{}",
        viewer.text()
    );
}

#[test]
fn a_recording_opens_on_what_its_first_cause_names_and_without_a_cause_on_its_first_call() {
    let well = fixture::said_and_ended(WELL);
    assert_eq!(row(&open(well.path(), (120, 35))), Some(4));
    let printed = "5 < Banner: files server 1.0";
    let banner = fixture::said_and_ended(&format!("{printed}{WELL}"));
    let viewer = open(banner.path(), (120, 35));
    let cause = &viewer
        .session()
        .vitals
        .as_deref()
        .expect("it is open")
        .causes[0];
    let named = cause.evidence[0].place.frame().map(|seq| seq.0);
    assert_eq!(
        (row(&viewer), named),
        (Some(1), Some(1)),
        "{}",
        cause.sentence
    );
}

#[test]
fn a_key_that_is_pressed_while_a_recording_opens_counts() {
    for said in [WELL.to_owned(), [WELL, FAILS].concat()] {
        let recording = fixture::said_and_ended(&said);
        let mut viewer = Viewer::open_pressing(recording.path(), (120, 35), "G");
        viewer.settle();
        let list = &viewer.session().list;
        assert_eq!(
            list.cursor_row(),
            list.len().checked_sub(1),
            "{}",
            viewer.text()
        );
    }
}

#[test]
fn a_session_that_ends_while_it_is_followed_leads_to_what_went_wrong() {
    for (keys, expected) in [("", Some(6)), ("g j", Some(1))] {
        let mut recording = fixture::said(&[WELL, FAILS].concat());
        let mut viewer = open(recording.path(), (120, 35));
        viewer.press(keys);
        fixture::leave(&mut recording);
        while viewer.session().is_live() {
            viewer.settle();
        }
        viewer.settle();
        assert_eq!(row(&viewer), expected, "{}", viewer.text());
    }
}

#[test]
fn a_message_goes_with_the_next_key_once_there_was_time_to_read_it() {
    let recording = fixture::ended();
    let mut viewer = open(&recording.path, (120, 35));
    viewer.press("g e E");
    let is_said = |viewer: &Viewer| viewer.text().contains("no failure above");
    assert!(is_said(&viewer), "{}", viewer.text());
    viewer.press("j");
    assert!(
        is_said(&viewer),
        "a key that was pressed before it was read"
    );
    viewer.wait_ns(1_000_000_000).press("j");
    assert!(!is_said(&viewer), "{}", viewer.text());
}

#[test]
fn a_long_string_is_wrapped_where_the_pane_has_room() {
    let words = "one two three four five six seven eight nine ten ".repeat(8);
    let answer =
        format!(r#"50 < "id":1,"result":{{"content":[{{"type":"text","text":"{words}"}}]}}"#);
    let lines = WELL
        .lines()
        .filter(|line| !line.trim_start().starts_with("50 "));
    let lines = lines
        .chain([answer.as_str()])
        .collect::<Vec<_>>()
        .join("\n");
    let recording = fixture::said_and_ended(&lines);
    let mut viewer = open(recording.path(), (120, 35));
    assert!(has_words(&viewer, &words), "{}", viewer.text());
    // Every line of it is one that the cursor goes through.
    viewer.press("Enter G k");
    let path = viewer.session().detail.path();
    assert_eq!(path.as_deref(), Some("result.content[0].text"));
    let small = open(recording.path(), (80, 24));
    assert!(!has_words(&small, &words), "there is no room");
}

#[test]
fn an_event_is_told_in_words_and_as_recorded_where_the_bytes_are_asked_for() {
    let recording = fixture::ended();
    let mut viewer = open(&recording.path, (120, 35));
    viewer.press("G");
    let text = viewer.text();
    assert!(
        text.contains("exit code 3") && !text.contains("max_rss_bytes"),
        "{text}"
    );
    viewer.press("Enter r");
    assert!(viewer.text().contains("max_rss_bytes"), "{}", viewer.text());
}

/// Once the row began with `tools/call`, and the reason was cut off behind the arguments.
#[test]
fn a_row_has_the_whole_name_then_why_it_failed_and_the_columns_never_move() {
    let recording = fixture::said_and_ended(&[WELL, FAILS].concat());
    for size in [(60, 15), (80, 24), (120, 35), (200, 50)] {
        let mut viewer = open(recording.path(), size);
        viewer.press("G e");
        let text = viewer.text();
        let list = || text.lines().skip(3).take_while(|row| !row.starts_with('└'));
        let rows = || list().filter_map(|row| row.split('│').nth(1));
        let row = rows()
            .find(|row| row.contains("read_text"))
            .expect("it is on the screen");
        let reason = row.split_once("read_text_file_by_name Acc");
        assert!(
            reason.is_some_and(|(_, rest)| !rest.contains("{path")),
            "{text}"
        );
        let ends = |unit: &str| {
            let at = rows().filter_map(|row| Some(row.split_once(unit)?.0.chars().count()));
            at.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(ends(" ms ").len(), 1, "{text}");
        assert!(ends(" B ").len() <= 1, "{text}");
    }
}

#[test]
fn the_views_are_named_on_every_screen_and_a_click_on_a_name_goes_there() {
    let recording = fixture::ended();
    for size in [(60, 15), (80, 24), (120, 35), (200, 50)] {
        let mut viewer = open(&recording.path, size);
        for keys in ["", "Enter", "z", "2", "3", "4", "5"] {
            viewer.press(keys);
            let text = viewer.text();
            // Where there is room for four, the open one is among them.
            let (last, wide) = (["4 Findings", "5 Server"], "4 Findings  5 Server");
            let last = if size.0 >= 80 {
                wide
            } else {
                last[usize::from(keys == "5")]
            };
            let named = format!("1 Calls  2 Timeline  3 Stats  {last}");
            assert!(text.contains(&named), "{text}");
        }
        viewer.press("4");
        let views = [
            ("Timeline", View::Timeline),
            ("Stats", View::Stats),
            ("Calls", View::Exchanges),
            ("4 Findings", View::Findings),
        ];
        for (name, view) in views {
            click_on(&mut viewer, name);
            assert_eq!(viewer.session().view, view, "{}", viewer.text());
        }
    }
}

#[test]
fn esc_goes_back_to_the_view_where_enter_was_pressed() {
    let recording = fixture::ended();
    for (keys, view) in [
        ("2 g j j", View::Timeline),
        ("3 j", View::Stats),
        ("4 Enter j", View::Findings),
    ] {
        let mut viewer = open(&recording.path, (120, 35));
        viewer.press(keys).press("Enter");
        assert_eq!(viewer.session().view, View::Exchanges, "{keys}");
        viewer.press("Esc");
        assert_eq!(viewer.session().view, view, "{keys}");
        viewer.press("Enter 1 Esc");
        assert_eq!(
            viewer.session().view,
            View::Exchanges,
            "another view was chosen"
        );
    }
}

#[test]
fn tab_leads_to_no_empty_pane() {
    let recording = fixture::ended();
    let mut viewer = open(&recording.path, (120, 35));
    viewer.press("3 Tab");
    assert_eq!(viewer.session().focus, Focus::Main, "{}", viewer.text());
    for keys in ["2", "4 Enter j"] {
        viewer.press(keys).press("Tab");
        assert!(
            !viewer.text().contains("nothing is selected"),
            "{}",
            viewer.text()
        );
        assert_eq!(viewer.session().focus, Focus::Detail, "{keys}");
        viewer.press("Esc");
    }
}

/// Once a message took the place of all hints.
#[test]
fn a_message_leaves_the_hints_where_they_are() {
    for size in SIZES {
        let recording = fixture::ended();
        let mut viewer = open(&recording.path, size);
        let footer = |viewer: &Viewer| viewer.text().lines().last().map(str::to_owned);
        let before = footer(&viewer);
        assert!(
            before
                .as_ref()
                .is_some_and(|hints| hints.starts_with(" ? help  q back"))
        );
        viewer.press("m");
        assert!(viewer.text().contains(": marked"), "{}", viewer.text());
        assert_eq!(footer(&viewer), before);
    }
}

#[test]
fn who_moves_up_in_a_live_list_stays_there_and_is_told_how_many_are_new() {
    let mut recording = fixture::wild(Conversation::tame(3), 60);
    let mut viewer = Viewer::open(recording.path(), (120, 35));
    viewer.settle();
    viewer.press("k");
    let before = (
        row(&viewer),
        viewer.text().lines().nth(8).map(str::to_owned),
    );
    recording.add(30);
    viewer.settle();
    let now = (
        row(&viewer),
        viewer.text().lines().nth(8).map(str::to_owned),
    );
    assert_eq!(now, before);
    assert!(viewer.text().contains(" new ▼ G"), "{}", viewer.text());
    viewer.press("PgDn PgDn");
    assert!(viewer.session().list.follows() && !viewer.text().contains(" new ▼ G"));
}

#[test]
fn only_the_failures_and_a_call_beside_the_one_before_are_a_key_away() {
    let recording = fixture::said_and_ended(&[WELL, FAILS].concat());
    let mut viewer = open(recording.path(), (120, 35));
    viewer.press("!");
    assert_eq!(viewer.session().list.len(), 1, "{}", viewer.text());
    viewer.press("!");
    assert!(viewer.session().list.len() > 4, "{}", viewer.text());
    assert_eq!(row(&viewer), Some(6), "the cursor stays on its row");
    viewer.act("f 'tool:list_dir' Enter ! !");
    assert_eq!(viewer.session().filter.text, "tool:list_dir");
    viewer.press("G d");
    viewer.top::<Comparison>();
}

#[test]
fn the_slowest_call_is_two_keys_or_a_click_away() {
    let recording = fixture::said_and_ended(&[WELL, FAILS].concat());
    let mut viewer = open(recording.path(), (120, 35));
    viewer.press("G s l");
    assert_eq!(row(&viewer), Some(6), "{}", viewer.text());
    viewer.press("j j j j j j");
    assert_eq!(
        row(&viewer),
        Some(8),
        "calls only, the fastest last: {}",
        viewer.text()
    );
    viewer.press("s f");
    assert_eq!(row(&viewer), Some(6), "what failed comes first");
    viewer.press("j s t");
    assert_eq!(row(&viewer), Some(1), "{}", viewer.text());
    assert_eq!(
        viewer.session().list.cursor_row(),
        Some(1),
        "all rows are back"
    );
    click_on(&mut viewer, "latency");
    assert_eq!(row(&viewer), Some(6), "{}", viewer.text());
    viewer.act("f 'tool:list_dir' Enter");
    assert_eq!(viewer.session().list.len(), 2, "{}", viewer.text());
    viewer.press("g");
    assert_eq!(row(&viewer), Some(4), "{}", viewer.text());
}
