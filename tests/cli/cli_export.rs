//! `export`, and cassettes in place of recordings.

use super::{mcpreel, refusal, refused, sample, stdout};
use crate::support::terminal::Terminal;
use crate::support::written::{Session, bytes};
use crate::support::{Library, MCPREEL, chunk_all, peak_memory, text};
use mcpreel_trace::frame::StreamId;
use serde_json::Value;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Writes a cassette of a sample into the folder.
fn cassette(library: &Library, name: &str) -> PathBuf {
    let path = library.path().join(name).with_extension("jsonl");
    let shown = path.to_str().expect("the path is text");
    let output = mcpreel(library, &["export", &sample(name), "--raw", "-o", shown]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(output.stdout, b"");
    path
}

/// What is in the folder for temporary files.
fn temporary(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("it can be listed");
    entries.flatten().map(|entry| entry.path()).collect()
}

#[test]
fn without_raw_it_is_redacted_and_that_is_said() {
    let library = Library::new();
    let path = library.path().join("a.jsonl");
    let shown = path.to_str().expect("the path is text");
    refused(
        &library,
        &["export", &sample("crash"), "-o", shown],
        0,
        "redacted in 0 places",
    );
    let written = std::fs::read_to_string(&path).expect("it is there");
    assert!(written.contains("\"redaction\":{\"rules\":0,\"hits\":0}"));
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing_behind() {
    let library = Library::new();
    let dir = library.path().to_str().expect("the path is text");
    let sample = sample("crash");
    let copy = library.path().join("copy.reel");
    std::fs::copy(&sample, &copy).expect("it can be copied");
    let copy = copy.to_str().expect("the path is text");
    let missing = format!("{dir}/nowhere/a.jsonl");
    let there = format!("{dir}/there.jsonl");
    std::fs::write(&there, "before").expect("it can be written");
    let cases: [(&[&str], i32, &str); 10] = [
        (&[&sample, "-o", dir], 3, "could not write"),
        (&[&sample, "-o", &missing], 3, "No such file"),
        (&[&sample, "--format", "har"], 3, "--format jsonl"),
        (&[copy, "-o", copy], 2, "names the recording itself"),
        (
            &[&sample, "-q", "tool:nothing", "-o", &there],
            3,
            "no row matches",
        ),
        (
            &[&sample, "--from", "99", "-o", &there],
            2,
            "the last one is #11",
        ),
        (
            &[&sample, "--from", "5", "--to", "4"],
            2,
            "--from comes after --to",
        ),
        (&[&sample, "--to", "0"], 2, "0 is not in 1.."),
        (&[&format!("{sample}#3")], 2, "names one frame"),
        (&[&sample, "-q", "tool:"], 2, "-q, column"),
    ];
    for (args, exit, why) in cases {
        let (code, said) = refusal(&library, &[&["export", "--raw"], args].concat());
        assert_eq!(code, Some(exit), "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
    }
    let kept = std::fs::read_to_string(&there).expect("it is there");
    assert_eq!(kept, "before");
    let mut left = temporary(library.path());
    left.sort();
    assert_eq!(left, [Path::new(copy), Path::new(&there)]);
}

#[test]
fn a_file_that_is_there_is_replaced_only_if_that_is_said() {
    let library = Library::new();
    let there = library.path().join("there");
    let shown = there.to_str().expect("the path is text");
    std::fs::write(&there, "before").expect("it can be written");
    for format in ["jsonl", "recording"] {
        let args = [
            "export",
            "--raw",
            &sample("crash"),
            "--format",
            format,
            "-o",
        ];
        refused(
            &library,
            &[&args[..], &[shown]].concat(),
            2,
            "exists already; --force",
        );
        let kept = std::fs::read(&there).expect("it is there");
        assert_eq!(kept, b"before");
        assert_eq!(temporary(library.path()), std::slice::from_ref(&there));
        stdout(&library, &[&args[..], &[shown, "--force"]].concat());
        let events = stdout(&library, &["show", shown, "--events"]);
        assert!(events.contains("SIGSEGV"), "{events}");
        std::fs::write(&there, "before").expect("it can be written");
    }
}

#[test]
fn every_command_that_reads_takes_a_cassette_whatever_its_name() {
    let library = Library::new();
    let path = cassette(&library, "crash");
    let odd = library.path().join("odd name.txt");
    std::fs::rename(&path, &odd).expect("it can be renamed");
    let odd = odd.to_str().expect("the path is text");
    let reel = sample("crash");
    // All that there is to tell apart is the head: what it is called, where and when it was.
    let rest = |text: String| -> Vec<String> {
        let is_head = |line: &&str| !line.is_empty() && !line.starts_with("certainty");
        let why = text.lines().filter(|line| line.starts_with("why"));
        let lines = why.chain(text.lines().skip_while(is_head));
        lines.map(str::to_owned).collect()
    };
    for command in [&["show"][..], &["why"], &["stats"], &["show", "--frames"]] {
        let of = |file| stdout(&library, &[command, &[file]].concat());
        let quoted = format!("'{odd}'");
        // With a frame behind it the whole address is quoted.
        let cassette = of(odd).replace(&quoted, "FILE").replace(odd, "FILE");
        assert_eq!(
            rest(cassette),
            rest(of(&reel).replace(&reel, "FILE")),
            "{command:?}"
        );
    }
    let shown = stdout(&library, &["show", odd]);
    assert!(shown.contains("origin     import\n"), "{shown}");
    let frame = stdout(&library, &["show", &format!("{odd}#10")]);
    assert!(frame.starts_with("#10 → tools/call transfer"), "{frame}");
    let found = library.json(&["search", "journal is locked", odd]);
    assert_eq!((found.len(), &found[0]["path"]), (1, &Value::from(odd)));
    let (code, _) = refusal(&library, &["lint", odd]);
    assert_eq!(code, Some(1), "the call was lost");
    let sarif = mcpreel(&library, &["lint", odd, "--format", "sarif"]);
    assert!(String::from_utf8_lossy(&sarif.stdout).contains("odd%20name.txt"));
    assert!(stdout(&library, &["tail", odd]).contains("the server was ended by SIGSEGV"));
    let again = stdout(&library, &["export", odd, "--raw"]);
    assert_eq!(again, std::fs::read_to_string(odd).expect("it is text"));
    refused(&library, &["reindex", odd], 2, "is a cassette");
}

/// A cassette of so many lines that a program that prints them waits for its reader.
fn long_cassette(library: &Library) -> PathBuf {
    let path = library.path().join("long.jsonl");
    let mut file = String::from("{\"cassette\":1}\n");
    for n in 1..3000 {
        let message = "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";
        let line = format!("{{\"n\":{n},\"t\":{n},\"d\":\"s2c\",\"raw\":{message}}}\n");
        file.push_str(&line);
    }
    file.push_str("{\"t\":5000,\"k\":\"end\"}\n");
    std::fs::write(&path, file).expect("it can be written");
    path
}

#[test]
fn a_signal_takes_what_is_temporary_with_it() {
    use nix::sys::signal::Signal;
    use std::os::unix::process::ExitStatusExt as _;
    let library = Library::new();
    let path = long_cassette(&library);
    // Not SIGINT: a shell starts what it runs in the background with that one ignored.
    let signal = Signal::SIGTERM;
    for args in [&["show", "--frames"][..], &["export", "--raw"]] {
        let dir = Library::new();
        let mut command = library.mcpreel(args[0]);
        command
            .env("TMPDIR", dir.path())
            .args(&args[1..])
            .arg(&path);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("mcpreel starts");
        let mut out = child.stdout.take().expect("it is a pipe");
        // It has begun to print, and waits for us: the recording is there.
        out.read_exact(&mut [0]).expect("it prints");
        let there = temporary(dir.path());
        assert_eq!(there.len(), 1, "{there:?}");
        let mode = |path: &Path| {
            let metadata = path.metadata().expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!(mode(&there[0]), 0o700);
        for file in temporary(&there[0]) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        crate::support::send(signal, child.id());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.signal(), Some(signal as i32));
        assert_eq!(temporary(dir.path()), [""; 0].map(PathBuf::from));
    }
}

#[test]
fn what_was_said_on_the_wire_is_not_written_to_a_terminal() {
    let library = Library::new();
    let home = library.path().to_str().expect("the path is text");
    let surroundings = [("HOME", home)];
    let sample = sample("crash");
    let arguments = ["export", &sample, "--raw"];
    let mut terminal = Terminal::start(MCPREEL, &arguments, &surroundings, (57, 40));
    let (code, screen) = terminal.end();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("not written to a terminal"), "{screen}");
    // A terminal would break the line within FILE.
    let mut lines = screen.lines();
    assert!(
        lines.any(|line| line.starts_with("FILE or a pipe")),
        "{screen}"
    );
}

#[test]
fn nothing_that_stands_in_a_cassette_reaches_a_terminal_or_breaks_what_shows_it() {
    let library = Library::new();
    let evil = "\\u001b[2J\u{9b}31m\u{202e}";
    let path = library.path().join("a.jsonl");
    let event = |json: &str| format!("{{\"t\":5,\"k\":\"event\",\"event\":{json}}}");
    let lines = [
        format!("{{\"cassette\":1,\"tool\":\"{evil}\",\"command\":[\"{evil}\"]}}"),
        event(&format!(
            "{{\"kind\":\"start\",\"name\":\"{evil}\",\"cwd\":\"{evil}\",\"host\":{{\"name\":\"{evil}\"}}}}"
        )),
        format!(
            "{{\"n\":1,\"t\":9223372036854775,\"d\":\"c2s\",\"raw\":{{\"jsonrpc\":\"2.0\",\"id\":\"{evil}\",\"method\":\"{evil}\"}}}}"
        ),
        format!("{{\"n\":2,\"t\":9,\"d\":\"stderr\",\"text\":\"{evil}\\n\"}}"),
        event(&format!(
            "{{\"kind\":\"gap\",\"stream\":0,\"offset\":{0},\"bytes\":{0},\"reason\":\"{evil}\"}}",
            u64::MAX
        )),
        event(&format!("{{\"kind\":\"{evil}\"}}")),
        event(&format!("{{\"kind\":\"exit\",\"signal\":\"{evil}\"}}")),
        evil.to_owned(),
    ];
    std::fs::write(&path, lines.join("\n")).expect("it can be written");
    let shown = path.to_str().expect("the path is text");
    for args in [
        &["show", shown][..],
        &["show", shown, "--frames"],
        &["show", shown, "--events"],
        &["show", shown, "--findings"],
        &["show", &format!("{shown}#1")],
        &["why", shown],
        &["lint", shown, "--fail-on", "never"],
        &["stats", shown],
        &["tail", shown],
        &["search", "method", shown],
    ] {
        let output = mcpreel(&library, args);
        assert!(output.status.success(), "{args:?}: {}", text(&output));
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(bytes);
            let hostile = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!text.contains(hostile), "{args:?}: {text}");
        }
    }
}

/// A recording with one answer of so many bytes.
fn long_answer(library: &Library, size: usize) -> PathBuf {
    let mut session = Session::start(library.path(), "long", 2);
    session.say(r#"> "id":1,"method":"ping""#);
    let text = vec![b'x'; size];
    session.chunk(
        StreamId::S2C,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"",
    );
    chunk_all(&mut session, StreamId::S2C, &text);
    session.chunk(StreamId::S2C, b"\"}}\n");
    session.end();
    session.finish_with(&bytes(1 << 24))
}

#[test]
fn a_message_of_any_length_leaves_without_being_held_and_comes_back() {
    const SIZE: usize = 80 << 20;
    // The rest is more than a pipe holds.
    const SEEN: usize = SIZE - (1 << 20);
    // Half of it would not fit in, beside the program itself.
    const ROOM: u64 = SIZE as u64 / 2;
    let library = Library::new();
    let reel = long_answer(&library, SIZE);
    let mut export = library.mcpreel("export");
    export.arg(&reel).arg("--raw").stdout(Stdio::piped());
    let mut child = export.spawn().expect("mcpreel starts");
    let mut out = child.stdout.take().expect("it is a pipe");
    let mut file = vec![0; SEEN];
    out.read_exact(&mut file).expect("it writes");
    // It waits for us with the rest, and has seen nearly all of it.
    let peak = peak_memory(child.id()).expect("it runs");
    assert!(peak < ROOM, "export took {peak} bytes");
    out.read_to_end(&mut file).expect("it writes");
    assert!(child.wait().expect("it ends").success());
    let path = library.path().join("a.jsonl");
    std::fs::write(&path, &file).expect("it can be written");
    let mut again = library.mcpreel("export");
    again.arg(&path).arg("--raw").stdout(Stdio::piped());
    let mut child = again.spawn().expect("mcpreel starts");
    let mut out = child.stdout.take().expect("it is a pipe");
    let mut same = vec![0; SEEN];
    out.read_exact(&mut same).expect("it writes");
    out.read_to_end(&mut same).expect("it writes");
    assert!(child.wait().expect("it ends").success());
    assert!(same == file);
}
