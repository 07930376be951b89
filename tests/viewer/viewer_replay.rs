//! Replays, and recordings beside each other.

use crate::by_hand::{Viewer, has};
use crate::fixture;
use crate::support::host_session::Session;
use crate::support::{Library, wait_for};
use mcpreel_tui::panels::compare::Comparison;
use mcpreel_tui::panels::menu::Menu;
use mcpreel_tui::panels::replay::editor::Editor;
use mcpreel_tui::worker::Slot;
use nix::unistd::Pid;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A session with a server whose tools say that they only read, or do not.
pub struct Case {
    pub library: Library,
    pub recording: PathBuf,
}

/// A server in a few lines: what its tools answer stands in the file that it is given.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *\"initialize\"*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}";;
    *tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"look\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"write\",\"inputSchema\":{\"type\":\"object\"}}]}}";;
    *tools/call*) [ -e "$1.hang" ] && echo $$ > "$1.pid" && exec sleep 600; echo "$line" >> "$1.calls"; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$(cat "$1")\"}]}}";;
  esac
done
"#;

/// What the recorded client says.
pub const SAID: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look","arguments":{"at":"a", "n": 1.0}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write","arguments":{"to":"b"}}}"#,
];

impl Case {
    /// Both tools are called, one after the other.
    pub fn new() -> Self {
        Self::saying(&SAID, "then")
    }

    /// The client says this, and every tool answers so.
    pub fn saying(said: &[&str], answer: &str) -> Self {
        let library = Library::new();
        let answers = library.path().join("answers");
        fs::write(&answers, answer).expect("it can be written");
        let mut run = library.run(["sh", "-c", SERVER, "server"]);
        let session = Session::start(run.arg(&answers));
        for (at, line) in said.iter().enumerate() {
            let mut stdin = session.stdin.as_ref().expect("stdin is open");
            writeln!(stdin, "{line}").expect("the server reads");
            let answers = at + 1 - usize::from(at > 0);
            wait_for("an answer", || {
                (session.out.lines() >= answers).then_some(())
            });
        }
        assert!(session.end().status.success());
        wait_for("all of it is on record, in one plain file", || {
            let listed = library.json(&["ls"]).pop()?;
            let is_plain = library.files("reel-wal").is_empty();
            (listed["state"] == "complete" && is_plain).then_some(())
        });
        let recording = library.recordings().pop().expect("it was recorded");
        fs::remove_file(library.path().join("answers.calls")).expect("tools were called");
        Self { library, recording }
    }

    /// From now on the server answers this.
    pub fn answers(&self, text: &str) {
        fs::write(self.library.path().join("answers"), text).expect("it can be written");
    }

    /// From now on the server hangs in the first call of a tool.
    pub fn hangs(&self) {
        fs::write(self.library.path().join("answers.hang"), "").expect("it can be written");
    }

    /// The server that hangs in a call.
    pub fn hanging(&self) -> Pid {
        let file = self.library.path().join("answers.pid");
        wait_for("the server hangs", || {
            let pid = fs::read_to_string(&file).ok()?;
            pid.ends_with('\n')
                .then(|| pid.trim().parse().map(Pid::from_raw).expect("a pid"))
        })
    }

    /// The calls that have reached the server since.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.library.path().join("answers.calls"));
        let calls = calls.unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    fn viewer(&self) -> Viewer {
        let mut viewer = Viewer::open(&self.recording, (120, 40));
        viewer.plays = true;
        viewer
    }
}

fn on_top(viewer: &Viewer) -> &'static str {
    let app = &viewer.state.app;
    match app.top::<Comparison>() {
        Some(one) => match &one.content {
            Some(one) if one.bound.is_none() => "diff",
            _ => "comparison",
        },
        None if app.top::<Menu>().is_some() => "menu",
        None if app.top::<Editor>().is_some() => "edit",
        None if app.overlays.is_empty() => "nothing",
        None => "something",
    }
}

#[test]
fn nothing_is_started_before_the_yes_and_what_may_change_something_is_singled_out() {
    let case = Case::new();
    let mut viewer = case.viewer();
    viewer.act("a w");
    has(
        &viewer,
        &[
            "starts  sh -c",
            "the whole session: 4 requests",
            "1 call of a tool that does not say that it only reads",
            "tools/call write",
            "these   initialize, tools/call look, tools/list",
        ],
    );
    for no in ["Esc", "Enter", "n", "q"] {
        viewer.act(no);
        assert_eq!(on_top(&viewer), "nothing", "{no}");
        viewer.act("a w");
    }
    assert!(!viewer.errands.contains(&Slot::Replay));
    assert_eq!(case.calls(), [""; 0]);
}

#[test]
fn the_session_is_replayed_and_stands_beside_the_recording() {
    let case = Case::new();
    let mut viewer = case.viewer();
    viewer.act("a w y");
    assert_eq!(on_top(&viewer), "comparison");
    has(&viewer, &["nothing differs", "4 the same"]);
    assert_eq!(case.calls(), [SAID[3], SAID[4]], "byte for byte");
    case.answers("now");
    viewer.act("Esc a w y");
    has(&viewer, &["2 changed", "was \"then\"", "is \"now\""]);
    viewer.act("Enter");
    assert_eq!(on_top(&viewer), "diff");
    has(&viewer, &["result.content[0].text", "then", "now"]);
    // The recordings are there, the replay knows where it comes from.
    viewer.act("Esc Esc q").wait_ns(fixture::MS);
    has(&viewer, &["3 recordings"]);
    viewer.act("g P");
    has(&viewer, &["2 changed"]);
}

/// The server makes a handle, and the client gives it back.
fn with_a_handle() -> Case {
    let given = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"look","arguments":{"handle":"h-37c25f9c"}}}"#;
    let said = [SAID[0], SAID[1], SAID[2], SAID[3], given];
    let case = Case::saying(&said, "h-37c25f9c");
    case.answers("h-272da2a8");
    case
}

/// Once the command said that nothing differs, and the viewer that every handle does.
#[test]
fn a_handle_that_the_replay_has_bound_is_no_difference() {
    let case = with_a_handle();
    let mut viewer = case.viewer();
    viewer.act("a w y");
    assert!(case.calls()[1].contains("h-272da2a8"), "{:?}", case.calls());
    has(&viewer, &["nothing differs", "4 the same"]);
    // Once the two calls themselves, side by side, differed all the same.
    viewer.act("Space G Enter");
    assert_eq!(on_top(&viewer), "diff");
    has(
        &viewer,
        &[
            "nothing differs",
            "what the server chose anew stands as it is now",
        ],
    );
}

/// Once the headline was a green "nothing differs" though the call had not been made.
#[test]
fn a_call_that_lacks_a_handle_is_told_not_to_be_made_and_how_it_is() {
    let case = with_a_handle();
    let mut viewer = case.viewer();
    viewer.act("f 'tool:look' Enter G a y");
    assert_eq!(case.calls(), [""; 0]);
    has(&viewer, &["was not tried: needs the answer of #6 look"]);
    assert!(
        !viewer.text().contains("✓ nothing differs"),
        "{}",
        viewer.text()
    );
    viewer.act("Esc a u y");
    assert_eq!(case.calls().len(), 2);
}

#[test]
fn only_what_says_that_it_reads_is_called_where_that_is_chosen() {
    let case = Case::new();
    let mut viewer = case.viewer();
    viewer.act("a w r");
    assert_eq!(case.calls(), [SAID[3]]);
    has(&viewer, &["1 not tried", "was refused", "3 the same"]);
}

#[test]
fn a_call_is_replayed_alone_after_the_handshake() {
    let case = Case::new();
    let mut viewer = case.viewer();
    case.answers("now");
    viewer.act("f 'tool:look' Enter a");
    has(&viewer, &["after the handshake: 2 requests"]);
    viewer.act("y");
    assert_eq!(case.calls(), [SAID[3]]);
    assert_eq!(on_top(&viewer), "diff", "both sides at once");
    has(&viewer, &["look", "then", "now"]);
    viewer.act("Esc");
    has(&viewer, &["1 changed", "1 the same"]);
    assert!(!viewer.text().contains("not reached"), "{}", viewer.text());
    // All up to it brings the list as well, and not what came later.
    viewer.act("Esc a u y Esc");
    assert_eq!(case.calls().len(), 2);
    has(&viewer, &["1 changed", "2 the same"]);
    // A later call would be one of a tool that nobody has allowed.
    assert!(!viewer.text().contains("not tried"), "{}", viewer.text());
}

#[test]
fn the_arguments_are_edited_first_and_nothing_else_changes() {
    let case = Case::new();
    let mut viewer = case.viewer();
    viewer.act("f 'tool:look' Enter a");
    let said = viewer.text();
    assert_eq!(said.matches("tools/call look").count(), 1, "{said}");
    assert!(!said.contains("these "), "{said}");
    viewer.act("e");
    assert_eq!(on_top(&viewer), "edit");
    // A few lines do not take the whole screen.
    has(&viewer, &["1 Calls", "#6 look ──"]);
    has(
        &viewer,
        &["params.arguments", "\"at\": \"a\"", "\"n\": 1.0"],
    );
    // Something that is no JSON is told with its place, and stays.
    viewer.act("'x' Ctrl-S");
    assert_eq!(on_top(&viewer), "edit");
    has(&viewer, &["line 1, column 1: expected a value"]);
    viewer.act("Delete Ctrl-S");
    assert_eq!(on_top(&viewer), "menu");
    has(&viewer, &["nothing was changed"]);
    viewer.act("y");
    assert_eq!(
        case.calls(),
        [SAID[3]],
        "what is not changed is sent as it was"
    );
    viewer.act("Esc Esc a e Down End Left Left Backspace 'z' Ctrl-S");
    has(&viewer, &["with    {\"at\":\"z\",\"n\":1.0}"]);
    viewer.act("y");
    let edited = SAID[3].replace(r#"{"at":"a", "n": 1.0}"#, r#"{"at":"z","n":1.0}"#);
    assert_eq!(case.calls()[1], edited);
    has(&viewer, &["params.arguments", "z"]);
}

/// Once the question stood in the middle, over the row that it was about.
#[test]
fn a_question_leaves_the_row_that_it_is_about_in_sight() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, (80, 24));
    for keys in ["g e a", "Esc y", "Esc s"] {
        viewer.act(keys);
        viewer.top::<Menu>();
        has(&viewer, &["   11 00:02.000 → search_docs quota"]);
    }
}

#[test]
fn a_file_of_a_stranger_says_so() {
    let case = Case::new();
    let elsewhere = tempfile::tempdir().expect("a folder can be made");
    let copy = elsewhere.path().join("copy.reel");
    fs::copy(&case.recording, &copy).expect("it can be copied");
    let mut own = case.viewer();
    own.act("a");
    assert!(!own.text().contains("whoever made it"), "{}", own.text());
    let mut viewer = Viewer::open_in(&copy, case.library.path(), (120, 40));
    viewer.act("a");
    has(
        &viewer,
        &["this recording is not your own: whoever made it chose what is"],
    );
    viewer.act("w");
    has(
        &viewer,
        &["calls of tools that do not say that they only read"],
    );
}

#[test]
fn what_a_mock_had_that_comes_nearest_is_told_and_compared() {
    let case = Case::new();
    let mut mock = case.library.mcpreel("mock");
    mock.arg(&case.recording);
    for stream in [Command::stdin, Command::stdout, Command::stderr] {
        stream(&mut mock, Stdio::piped());
    }
    let session = Session::start(&mut mock);
    let missed = SAID[3].replace(r#""at":"a""#, r#""at":"elsewhere""#);
    for line in [SAID[0], SAID[1], &missed] {
        let mut stdin = session.stdin.as_ref().expect("stdin is open");
        writeln!(stdin, "{line}").expect("the mock reads");
    }
    session.end();
    // What a mock beside busy processes has left in its spool is added by whoever looks.
    case.library.json(&["show", "@"]);
    let mut reels = case.library.recordings();
    reels.retain(|reel| *reel != case.recording);
    let mut viewer = Viewer::open(&reels[0], (200, 40));
    viewer.act("g e");
    has(
        &viewer,
        &["not on record; d compares it with the nearest, "],
    );
    viewer.act("d");
    assert_eq!(on_top(&viewer), "diff");
    has(&viewer, &["at: \"a\"", "at: \"elsewhere\""]);
    // To the recorded one, in its recording.
    viewer.act("h");
    let open = viewer.session();
    assert_eq!(open.path, case.recording);
}
