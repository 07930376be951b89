//! `import`: cassettes and the logs of other programs become recordings.

use super::{mcpreel, refused, stdout};
use crate::support::{Library, text};
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A folder with one file, and what takes files in.
pub struct Import {
    pub library: Library,
    files: tempfile::TempDir,
}

impl Import {
    pub fn new() -> Self {
        Self {
            library: Library::new(),
            files: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        std::fs::write(&path, text).expect("the folder is ours");
        path
    }

    /// What it says of each recording that it makes of the file.
    pub fn taken(&self, path: &Path) -> Vec<Value> {
        let path = path.to_str().expect("the path is text");
        self.library.json(&["import", path])
    }

    pub fn exchanges(&self, of: &Value) -> Vec<Value> {
        let id = of["id"].as_str().expect("it has an id");
        self.library.json(&["show", id, "--exchanges"])
    }
}

pub const CLAUDE: &str = r#"2026-03-10T15:18:27.000Z [weather] [info] Initializing server... { metadata: undefined }
2026-03-10T15:18:27.500Z [weather] [info] Message from client: {"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}},"jsonrpc":"2.0","id":0} { metadata: undefined }
weather ready
2026-03-10T15:18:27.750Z [weather] [info] Message from server: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"2"}}} { metadata: undefined }
2026-03-10T15:18:28.000Z [weather] [info] Message from client: {"method":"tools/list","jsonrpc":"2.0","id":1} { metadata: undefined }
2026-03-10T15:18:29.000Z [weather] [error] Server disconnected. { metadata: undefined }
2026-03-10T15:19:27.000Z [weather] [info] Initializing server... { metadata: undefined }
2026-03-10T15:19:28.000Z [weather] [error] spawn weather ENOENT { metadata: undefined }
"#;

#[test]
fn each_session_in_a_log_of_claude_desktop_becomes_a_recording_once() {
    let import = Import::new();
    let log = import.file("mcp-server-weather.log", CLAUDE);
    let taken = import.taken(&log);
    assert_eq!(taken.len(), 2, "{taken:?}");
    assert_eq!(taken[0]["format"], "a log of Claude Desktop");
    let exchanges = import.exchanges(&taken[0]);
    let of = |at: usize, key: &str| exchanges[at][key].clone();
    assert_eq!(of(0, "status"), "ok");
    assert_eq!(of(0, "latency_ns"), 250_000_000);
    assert_eq!(of(1, "status"), "lost", "the log says that the server went");
    let listed = import.library.json(&["ls"]);
    let names: Vec<_> = listed.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["weather", "weather"]);
    assert!(listed.iter().all(|it| it["origin"] == "import"));
    let second = taken[1]["id"].as_str().expect("it has an id");
    let events = stdout(&import.library, &["show", second, "--events"]);
    assert!(
        events.contains("the host's log, error: spawn weather ENOENT"),
        "{events}"
    );
    // The same file again makes nothing new.
    let again = import.taken(&log);
    assert!(
        again.iter().all(|it| it["already_there"] == true),
        "{again:?}"
    );
    assert_eq!(import.library.json(&["ls"]).len(), 2);
    let left = std::fs::read_dir(import.library.path()).expect("it can be listed");
    assert_eq!(left.count(), 2, "nothing stands beside the recordings");
}

#[test]
fn messages_on_stdin_without_times_say_what_is_not_known() {
    let import = Import::new();
    let mut command = import.library.mcpreel("import");
    command.args(["--json", "--name", "mine", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("mcpreel starts");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin
        .write_all(
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\nnot JSON\n\
              {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n",
        )
        .expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the child is ours");
    assert!(output.status.success(), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "line 2 is skipped: it is not JSON",
        "the log has no times",
        "which way 1 line went is a guess",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
    let taken: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&taken["name"], &taken["frames"]),
        (&"mine".into(), &3.into())
    );
    assert_eq!(import.exchanges(&taken)[0]["status"], "ok");
    // Whoever looks at it later learns it too.
    let events = stdout(&import.library, &["show", "mine", "--events"]);
    assert!(events.contains("latencies mean nothing"), "{events}");
}

#[test]
fn what_is_no_log_is_refused_and_keeps_nothing_else_from_being_taken() {
    let import = Import::new();
    let good = import.file("a.log", CLAUDE);
    let bad = import.file("notes.txt", "buy milk\n");
    let (good, bad) = (good.to_str().expect("text"), bad.to_str().expect("text"));
    let output = mcpreel(&import.library, &["import", bad, good]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("has no known format") && said.contains("mcpsnoop"),
        "{said}"
    );
    assert_eq!(import.library.json(&["ls"]).len(), 2);
    let reel = import.library.recordings().remove(0);
    let reel = reel.to_str().expect("text");
    refused(
        &import.library,
        &["import", reel],
        3,
        "is a recording already",
    );
    refused(
        &import.library,
        &["import", "/nowhere/at.all"],
        3,
        "/nowhere/at.all cannot be read",
    );
    let left = std::fs::read_dir(import.library.path()).expect("it can be listed");
    assert_eq!(left.count(), 2, "nothing stands beside the recordings");
}

/// All but a short code is in what is handed on: the id of the file would tell which code it is.
#[test]
fn the_id_of_a_files_bytes_stands_in_nothing_that_is_handed_on() {
    let import = Import::new();
    let log = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"otp":"482915"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
        "",
    ];
    let log = import.file("session.jsonl", &log.join("\n"));
    let id = import.taken(&log)[0]["id"].clone();
    let id = id.as_str().expect("it has an id");
    let files = import.files.path();
    let run = |words: &[&str]| {
        let mut command = import.library.mcpreel(words[0]);
        let output = command.args(&words[1..]).current_dir(files).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    for format in ["jsonl", "recording", "markdown", "html"] {
        let file = format!("as.{format}");
        run(&["export", id, "--format", format, "-o", &file]);
    }
    run(&["redact", id, "-o", "redacted.reel"]);
    run(&["report", id, "-o", "report"]);
    let folders = [files.to_owned(), files.join("report")];
    let all = folders
        .iter()
        .flat_map(|folder| folder.read_dir().expect("it is there"));
    let all = all.map(|entry| entry.expect("it is there").path());
    let all: Vec<_> = all.filter(|path| path.is_file() && *path != log).collect();
    assert_eq!(all.len(), 4 + 1 + 5, "{all:?}");
    for path in all {
        let name = path.display().to_string();
        assert!(!name.contains(&id[..4]), "{name}");
        let bytes = std::fs::read(&path).expect("it can be read");
        for told in [id, "482915"] {
            let has = bytes
                .windows(told.len())
                .any(|part| part == told.as_bytes());
            assert!(!has, "{told} in {name}");
        }
    }
}
