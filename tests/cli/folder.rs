//! Which folder is looked in, and what `ls`, `prune` and `reindex` do with it.

use super::{demo, mcpreel, stdout};
use crate::support::terminal::Terminal;
use crate::support::written::Session;
use crate::support::{Library, MCPREEL, chunk_all, text};
use mcpreel_trace::frame::StreamId;
use std::path::Path;
use std::process::{Command, Stdio};

/// `mcpreel ls --json` with HOME only, and these variables.
fn ls(home: &Path, variables: &[(&str, &Path)]) -> std::process::Output {
    let mut ls = Command::new(MCPREEL);
    ls.args(["ls", "--json"])
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null());
    for (name, value) in variables {
        ls.env(name, value);
    }
    ls.output().expect("mcpreel starts")
}

fn configure(home: &Path, config: &str) {
    let folder = home.join(".config/mcpreel");
    std::fs::create_dir_all(&folder).expect("it can be made");
    std::fs::write(folder.join("config.toml"), config).expect("it can be written");
}

#[test]
fn the_configuration_names_the_folder_and_the_variable_comes_first() {
    let demo = demo();
    let home = tempfile::tempdir().expect("a temporary folder");
    let recordings = demo.path();
    configure(home.path(), &format!("dir = {recordings:?}"));
    assert!(!ls(home.path(), &[]).stdout.is_empty());
    let elsewhere = ls(home.path(), &[("MCPREEL_DIR", home.path())]);
    assert!(elsewhere.status.success() && elsewhere.stdout.is_empty());
    let xdg = ls(
        home.path(),
        &[
            ("XDG_CONFIG_HOME", home.path()),
            ("XDG_DATA_HOME", home.path()),
        ],
    );
    assert!(!xdg.stdout.is_empty(), "no other variable matters");
}

#[test]
fn an_unknown_key_is_a_warning_and_a_broken_file_is_exit_code_2() {
    let home = tempfile::tempdir().expect("a temporary folder");
    configure(home.path(), "dri = \"/x\"");
    let output = ls(home.path(), &[]);
    assert!(output.status.success());
    let said = text(&output);
    assert!(
        said.contains("config.toml:1:1: unknown key `dri`, did you mean `dir`?"),
        "{said}"
    );
    configure(home.path(), "dir = \n");
    let output = ls(home.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("config.toml:1:"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_recording_is_listed_with_who_and_how_many() {
    let demo = demo();
    let object = &demo.json(&["ls"])[0];
    assert_eq!(object["server"], "weather-server");
    assert_eq!(object["client"], "demo-host");
    assert_eq!(object["host"], "mcpreel");
    assert_eq!(object["state"], "complete");
    assert_eq!(
        (&object["exchanges"], &object["failed"]),
        (&20.into(), &4.into())
    );
    assert_eq!(
        (&object["frames"], &object["error"]),
        (&53.into(), &serde_json::Value::Null)
    );
}

#[test]
fn prune_deletes_what_it_said_it_would_and_nothing_else() {
    let library = demo();
    let kept = stdout(&library, &["prune", "--keep", "1"]);
    assert!(kept.starts_with("0 recordings"), "{kept}");
    let would = stdout(&library, &["prune", "--keep", "0", "--dry-run"]);
    assert!(
        would.contains("weather-server") && would.contains("would be deleted"),
        "{would}"
    );
    assert_eq!(library.files("reel").len(), 1);
    let did = stdout(&library, &["prune", "--keep", "0"]);
    assert!(did.contains("1 recording ("), "{did}");
    assert_eq!(library.files("reel").len(), 0);
}

/// Once it deleted at once, also where a person could have been asked.
#[test]
fn prune_asks_a_person_and_deletes_only_after_a_yes() {
    let library = demo();
    let dir = library.path().to_str().expect("the path is text");
    for (answer, left) in [("n\r", 1), ("\r", 1), ("y\r", 0)] {
        let args = ["prune", "--keep", "0", "--dir", dir];
        let mut terminal = Terminal::start(MCPREEL, &args, &[("HOME", dir)], (100, 30));
        terminal.wait_for("[y/N]");
        terminal.press(answer);
        let (code, screen) = terminal.end();
        assert_eq!((code, library.files("reel").len()), (0, left), "{screen}");
    }
}

#[test]
fn files_that_cannot_be_read_are_no_recordings_to_keep_or_to_show() {
    let library = demo();
    for name in ["2099-01-01T00-00-00_x_00000001.reel", "z.reel"] {
        std::fs::write(library.path().join(name), "no database").expect("it can be written");
    }
    let kept = stdout(&library, &["prune", "--keep", "1"]);
    assert!(kept.starts_with("0 recordings"), "{kept}");
    assert!(
        kept.ends_with("\n2 files that cannot be read were left alone\n"),
        "{kept}"
    );
    assert_eq!(library.json(&["show", "@"])[0]["name"], "weather-server");
    stdout(&library, &["prune", "--keep", "0"]);
    assert_eq!(library.files("reel").len(), 2, "both are still there");
}

/// What `ls` prints on a terminal of this width.
fn on_terminal(library: &Library, args: &[&str], columns: u16) -> String {
    use std::io::Read as _;
    let size = nix::pty::Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = nix::pty::openpty(Some(&size), None).expect("there are terminals");
    let mut command = library.mcpreel(args[0]);
    command.args(&args[1..]).env("NO_COLOR", "1");
    command.stdin(Stdio::null()).stdout(pty.slave);
    let mut child = command.spawn().expect("mcpreel starts");
    // The command holds the terminal's other side as well.
    drop(command);
    let mut shown = Vec::new();
    // Once nobody holds the other side reading fails, which is the end here.
    let _ = std::fs::File::from(pty.master).read_to_end(&mut shown);
    assert!(child.wait().expect("it ends").success());
    String::from_utf8(shown).expect("UTF-8").replace('\r', "")
}

#[test]
fn rows_are_never_wider_than_the_terminal() {
    let library = demo();
    let killed = library.run_sh("kill -SEGV $$").output();
    killed.expect("mcpreel starts");
    // A list does not wait for an indexer that other processes keep from its work.
    library.json(&["show", "@"]);
    for columns in [60, 80, 120] {
        let listed = on_terminal(&library, &["ls"], columns);
        let table: Vec<_> = listed.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(table.len(), 3, "{listed}");
        assert!(
            listed.contains("SIGSEGV") && listed.contains("weather"),
            "{listed}"
        );
        let shown = on_terminal(&library, &["show", "@2", "--exchanges"], columns);
        let words: Vec<_> = shown.split_whitespace().collect();
        let reason = "No station within 200 km of \"Atlantis\".";
        assert!(words.join(" ").contains(reason), "{shown}");
        for line in table.into_iter().chain(shown.lines()) {
            assert!(
                line.chars().count() <= usize::from(columns),
                "{columns}: {line}"
            );
        }
    }
    let piped = stdout(&library, &["show", "@2", "--exchanges"]);
    assert!(
        piped.lines().any(|line| line.chars().count() > 60),
        "{piped}"
    );
}

#[test]
fn reindex_derives_the_same_again() {
    let library = demo();
    let before = library.json(&["show", "@", "--exchanges"]);
    let said = stdout(&library, &["reindex", "@"]);
    assert!(said.contains("53 frames, 20 exchanges"), "{said}");
    assert_eq!(library.json(&["show", "@", "--exchanges"]), before);
    let output = mcpreel(&library, &["reindex", "nobody"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

/// Of those that it had no time to complete it said that they did not exist, or it looked through
/// a part.
#[test]
fn a_filter_over_all_recordings_completes_those_that_were_interrupted() {
    let library = Library::new();
    for id in 1..=2 {
        let mut session = Session::start(library.path(), "weather", id);
        let log = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n";
        chunk_all(&mut session, StreamId::S2C, &log.repeat(5000));
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        session.chunk(StreamId::C2S, ping);
        session.die();
    }
    let found = library.json(&["ls", "-q", "method:ping"]);
    let states: Vec<_> = found.iter().map(|entry| &entry["state"]).collect();
    assert_eq!(states, ["recovered", "recovered"]);
}
