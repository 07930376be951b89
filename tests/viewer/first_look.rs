//! What is on the screen before any key is pressed, and what a key or two lead to.

use crate::by_hand::Viewer;
use crate::fixture;

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
    60 > "id":2,"method":"tools/call","params":{"name":"read_text_file_with_a_long_name","arguments":{"path":"/etc/passwd"}}
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
