//! The real program on a real terminal, beside real sessions.

use crate::fixture;
use crate::support::host_session::Session;
use crate::support::terminal::Terminal;
use crate::support::{Library, MCPREEL, wait_for};
use crate::viewer_replay::Case;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

const SIZE: (u16, u16) = (120, 40);

/// A frame is to be seen within 150 ms on a machine that has nothing else to do.
const SOON: Duration = Duration::from_secs(3);

/// The viewer on the recording `path`.
fn open(path: &Path) -> Terminal {
    let path = path.to_str().expect("the path is text");
    viewer(&["open", path], &[], path)
}

/// `mcpreel ARGS…` on a terminal, with the folder `home` for everything.
fn viewer(arguments: &[&str], environment: &[(&str, &str)], home: &str) -> Terminal {
    let folder = Path::new(home);
    let folder = if folder.is_dir() {
        Some(folder)
    } else {
        folder.parent()
    };
    let folder = folder.and_then(Path::to_str).expect("the path is text");
    let mut all = vec![("HOME", folder), ("MCPREEL_DIR", folder)];
    all.extend(environment);
    Terminal::start(MCPREEL, arguments, &all, SIZE)
}

/// The viewer on the newest recording of a folder.
fn newest(library: &Library) -> Terminal {
    let folder = library.path().to_str().expect("the path is text");
    viewer(&["open", "@"], &[], folder)
}

/// A session whose server answers nothing but keeps reading.
fn session(library: &Library) -> Session {
    let session = Session::start(&mut library.run(["cat"]));
    call(&session, "first_tool");
    wait_for("something is on record", || {
        library
            .json(&["ls"])
            .into_iter()
            .find(|listed| listed["frames"].as_u64() > Some(0))
    });
    session
}

/// The host calls a tool; `cat` sends the call back.
fn call(session: &Session, tool: &str) {
    let mut stdin = session.stdin.as_ref().expect("stdin is open");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":"{tool}","method":"tools/call","params":{{"name":"{tool}"}}}}"#
    );
    writeln!(stdin, "{call}").expect("the server reads");
}

fn is_given_back(screen: &vt100::Screen) -> bool {
    !screen.alternate_screen()
        && !screen.hide_cursor()
        && !screen.bracketed_paste()
        && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
}

#[test]
fn it_shows_a_recording_and_quits_without_a_trace() {
    let recording = fixture::ended();
    let mut terminal = open(&recording.path);
    terminal.wait_for("get_forecast");
    terminal.look(|screen| assert!(screen.alternate_screen()));
    // Back to the recordings, and out.
    terminal.press("q");
    terminal.wait_for_no("get_forecast");
    terminal.press("q");
    let (code, text) = terminal.end();
    assert_eq!((code, text.trim()), (0, ""));
    terminal.look(|screen| assert!(is_given_back(screen)));
}

#[test]
fn a_frame_is_on_the_screen_soon_after_it_came() {
    let library = Library::new();
    let session = session(&library);
    let terminal = newest(&library);
    terminal.wait_for("first_tool");
    for nth in 0..5 {
        let tool = format!("tool_number_{nth}");
        let before = terminal.clock().now();
        call(&session, &tool);
        let age = terminal.wait_for(&tool).since(before);
        assert!(age < SOON, "{age:?}");
    }
    session.end();
}

#[test]
fn the_end_of_the_session_is_told_and_the_file_let_go() {
    let library = Library::new();
    let session = session(&library);
    let terminal = newest(&library);
    terminal.wait_for("first_tool");
    session.end();
    terminal.wait_for("ended");
    wait_for_one_plain_file(&library);
}

/// The recording needs no file beside it any more.
fn wait_for_one_plain_file(library: &Library) {
    wait_for("the recording is one plain file", || {
        let beside = ["reel-wal", "reel-shm", "spool"];
        let alone = beside.iter().all(|ending| library.files(ending).is_empty());
        let bytes = std::fs::read(library.files("reel").pop()?).ok()?;
        (alone && bytes[18..20] == [1, 1]).then_some(())
    });
}

/// Whether every thread of the process stands still.
fn is_stopped(process: Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it is there");
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status"));
        status.is_ok_and(|status| status.contains("\nState:\tT"))
    })
}

// The recorder has no time to wait for a viewer that does not go on.
#[test]
fn a_viewer_that_was_stopped_at_the_end_makes_the_recording_one_plain_file_when_it_goes_on() {
    let library = Library::new();
    let session = session(&library);
    let terminal = newest(&library);
    terminal.wait_for("first_tool");
    let viewer = Pid::from_raw(i32::try_from(terminal.pid()).expect("a pid"));
    kill(viewer, Signal::SIGSTOP).expect("it is ours");
    wait_for("it has stopped", || is_stopped(viewer).then_some(()));
    assert!(session.end().status.success());
    assert_eq!(library.files("reel-wal").len(), 1, "it was not in the way");
    kill(viewer, Signal::SIGCONT).expect("it is ours");
    terminal.wait_for("ended");
    wait_for_one_plain_file(&library);
}

#[test]
fn it_suspends_to_the_shell_and_comes_back() {
    let recording = fixture::ended();
    let path = recording.path.to_str().expect("the path is text");
    let script = format!("'{MCPREEL}' open '{path}'; echo in-the-shell; read x; fg; echo over");
    let home = recording.folder().to_str().expect("the path is text");
    let home = [("HOME", home), ("MCPREEL_DIR", home)];
    let mut terminal = Terminal::start("bash", &["--norc", "-mc", &script], &home, SIZE);
    terminal.wait_for("get_forecast");
    terminal.press("\u{1a}");
    terminal.wait_for("in-the-shell");
    terminal.look(|screen| assert!(is_given_back(screen)));
    terminal.press("\r");
    terminal.wait_until("it is back", |screen| {
        screen.alternate_screen() && screen.contents().contains("get_forecast")
    });
    terminal.press("qq");
    terminal.wait_for("over");
}

#[test]
fn a_panic_gives_the_terminal_back_and_says_where_it_is_told() {
    let recording = fixture::ended();
    let path = recording.path.to_str().expect("the path is text");
    let broken = [("MCPREEL_PANIC_AT_KEY", "1")];
    let mut terminal = viewer(&["open", path], &broken, path);
    terminal.wait_for("get_forecast");
    terminal.press("j");
    let (code, text) = terminal.end();
    assert_ne!(code, 0);
    terminal.look(|screen| assert!(is_given_back(screen)));
    assert!(text.contains("panicked"), "{text}");
}

#[test]
fn a_viewer_that_is_stopped_or_killed_changes_nothing_for_the_session() {
    let library = Library::new();
    let session = session(&library);
    for (nth, signal) in (1..).zip([Signal::SIGSTOP, Signal::SIGKILL]) {
        let terminal = newest(&library);
        terminal.wait_for("first_tool");
        let viewer = Pid::from_raw(i32::try_from(terminal.pid()).expect("a pid"));
        kill(viewer, signal).expect("it is ours");
        let before = session.out.len();
        for call_nth in 0..500 {
            call(
                &session,
                &format!("during_{signal}_{call_nth}_{}", "x".repeat(2000)),
            );
        }
        let last = format!("during_{signal}_499_");
        wait_for("the answer to the last call", || {
            (session.out.len() > before && session.out.contains(last.as_bytes())).then_some(())
        });
        wait_for("it is on record", || {
            let listed = library.json(&["ls"]).swap_remove(0);
            (listed["frames"].as_u64() >= Some(nth * 1000)).then_some(())
        });
    }
    let received = session.end();
    assert!(received.status.success());
    assert_eq!(received.err, b"");
}

fn is_there(process: Pid) -> bool {
    kill(process, None).is_ok()
}

// The server does not end when its input does: it is told by a signal, and the viewer waits.
#[test]
fn a_viewer_that_quits_ends_the_server_that_it_replays_to() {
    let case = Case::new();
    case.hangs();
    let mut terminal = open(&case.recording);
    terminal.wait_for("look {at");
    terminal.press("aw");
    terminal.wait_for("the whole session");
    terminal.press("y");
    let server = case.hanging();
    terminal.wait_for("waits for the answer to tools/call");
    // It can be used meanwhile.
    terminal.press("3");
    terminal.wait_for("p95");
    terminal.press("qq");
    assert_eq!(terminal.end().0, 0);
    assert!(!is_there(server));
    assert_eq!(
        case.library.files("reel").len(),
        2,
        "what came is on record"
    );
}

#[test]
fn ctrl_c_ends_a_replay_and_once_more_kills_its_server() {
    let case = Case::new();
    case.hangs();
    let mut terminal = open(&case.recording);
    terminal.wait_for("look {at");
    terminal.press("gaw");
    terminal.wait_for("the whole session");
    terminal.press("y");
    let server = case.hanging();
    terminal.press("\u{3}");
    terminal.wait_for("STOPPING");
    terminal.press("\u{3}");
    terminal.wait_for("call by call");
    wait_for("the server has gone", || (!is_there(server)).then_some(()));
    terminal.press("\u{1b}");
    terminal.wait_for_no("call by call");
    terminal.press("qq");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn an_empty_library_leads_to_a_server_that_is_recorded() {
    let library = Library::new();
    let home = library.path();
    let path = home.join(".claude.json");
    let before = r#"{"mcpServers": {"echo": {"command": "cat", "args": []}}}"#;
    std::fs::write(&path, before).expect("it can be written");
    let empty = home.join("none");
    let home = home.to_str().expect("the path is text");
    let environment = [("MCPREEL_DIR", empty.to_str().expect("the path is text"))];
    let mut terminal = viewer(&[], &environment, home);
    terminal.wait_for("w records a server of a host on this machine, 1 server found");
    terminal.press("w");
    terminal.wait_for("Claude Code  echo  cat");
    terminal.press("\r");
    terminal.wait_for("change it? [y/N]");
    terminal.press("y\r");
    let (code, _) = terminal.end();
    assert_eq!(code, 0);
    terminal.look(|screen| assert!(screen.contents().contains("restart Claude Code")));
    let text = std::fs::read_to_string(&path).expect("it is there");
    assert!(
        text.contains(r#""args": ["run", "--name", "echo", "cat"]"#),
        "{text}"
    );
}

#[test]
fn an_empty_library_leads_to_the_demo() {
    let library = Library::new();
    let mut terminal = viewer(&[], &[], library.path().to_str().expect("the path is text"));
    terminal.wait_for("d shows the demo");
    terminal.press("d");
    terminal.wait_for("initialize");
    terminal.press("q");
    terminal.wait_for_no("initialize");
    terminal.press("q");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_terminal_with_a_light_background_gets_colours_for_it() {
    let library = Library::new();
    let home = library.path().to_str().expect("the path is text");
    let background = |color: &str| {
        let mut terminal = viewer(&[], &[("COLORFGBG", "")], home);
        terminal.answer_background(color);
        terminal.wait_for("mcpreel demo");
        terminal.look(|screen| {
            let cells = (0..SIZE.1).flat_map(|row| (0..SIZE.0).map(move |column| (row, column)));
            let cells = cells.filter_map(|(row, column)| screen.cell(row, column));
            let colors: BTreeSet<_> = cells.map(|cell| format!("{:?}", cell.fgcolor())).collect();
            colors
        })
    };
    assert_ne!(background("ffff/ffff/ffff"), background("0000/0000/0000"));
}
