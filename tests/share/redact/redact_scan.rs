//! Leaks in files of any kind.

use crate::redact::redact_made::{self, ran};
use crate::support::{Library, text};
use mcpreel_trace::frame::StreamId;
use std::fs::File;
use std::io::Write as _;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const SECRET: &str = "k3Jd8fLq2Wz7Xn5Rb1";

fn scanned(library: &Library, paths: &[&str]) -> (Option<i32>, String) {
    let output = ran(library, &[&["redact", "--scan"], paths].concat());
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!text(&output).contains(SECRET), "it says what it has found");
    (output.status.code(), said)
}

#[test]
fn leaks_are_found_in_folders_and_told_by_place_and_rule() {
    let library = Library::new();
    let dir = library.path().join("bundle");
    std::fs::create_dir_all(dir.join("deep")).unwrap();
    std::fs::write(
        dir.join("a.html"),
        format!("<p>ok</p>\n<input type=password>\n<code>token={SECRET}</code>\n"),
    )
    .unwrap();
    std::fs::write(
        dir.join("deep/b.bin"),
        format!("\0\u{1}\n postgres://ada:{SECRET}@db/x\n"),
    )
    .unwrap();
    std::fs::write(
        dir.join("c.txt"),
        format!("nothing but {SECRET}\nwith password: \"{SECRET}\"\n"),
    )
    .unwrap();
    redact_made::frames(
        &dir,
        &[(
            StreamId::C2S,
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"apiKey":"{SECRET}"}}}}"#),
        )],
    );
    let (code, said) = scanned(&library, &[dir.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        "a.html: line 3: key-name",
        "b.bin: line 2: url-password",
        "c.txt: line 1: known-value",
        "c.txt: line 2: key-name",
        "told.reel: #1, params.apiKey: key-name",
        "5 places in 4 files",
        "Not a guarantee",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn what_is_redacted_has_no_leaks() {
    let library = Library::new();
    let session = [
        (StreamId::STDERR, "API_KEY=k3Jd8fLq2Wz7Xn5Rb1"),
        (StreamId::STDERR, "again k3Jd8fLq2Wz7Xn5Rb1"),
    ];
    let reel = redact_made::frames(library.path(), &session);
    // A recording is named as everywhere.
    let (code, said) = scanned(&library, &["@"]);
    assert_eq!(code, Some(1), "{said}");
    let copy = redact_made::redacted(&library, &reel);
    let lines = redact_made::stdout(&library, &["export", reel.to_str().unwrap()]);
    let cassette = library.path().join("a.jsonl");
    std::fs::write(&cassette, lines).unwrap();
    let (code, said) = scanned(
        &library,
        &[copy.to_str().unwrap(), cassette.to_str().unwrap()],
    );
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 places in 2 files"), "{said}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let library = Library::new();
    let missing = library.path().join("nowhere");
    let output = ran(&library, &["redact", "--scan", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output).contains("not looked through"),
        "{}",
        text(&output)
    );
}

#[test]
fn placeholders_are_no_leaks() {
    let library = Library::new();
    let session = [
        (
            StreamId::C2S,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"b"}}}"#,
        ),
        (
            StreamId::S2C,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Echo: Authorization: Bearer k3Jd8fLq2Wz7Xn5Rb1"}]}}"#,
        ),
        (
            StreamId::STDERR,
            "in /home/ada/x and https://a:k3Jd8fLq2Wz7Xn5Rb1@b/c of ada@lovelace.net",
        ),
    ];
    let reel = redact_made::frames(library.path(), &session);
    let dir = library.path().join("out");
    std::fs::create_dir(&dir).unwrap();
    for format in ["jsonl", "markdown", "html"] {
        let path = dir.join(format);
        let words = [
            "export",
            "--home",
            "--email",
            "--format",
            format,
            "-o",
            path.to_str().unwrap(),
        ];
        redact_made::stdout(&library, &[&words[..], &[reel.to_str().unwrap()]].concat());
    }
    let (code, said) = scanned(&library, &[dir.to_str().unwrap(), "--home", "--email"]);
    assert_eq!(code, Some(0), "{said}");
    let report = dir.join("report");
    let words = [
        "report",
        "--home",
        "--email",
        "-o",
        report.to_str().unwrap(),
    ];
    redact_made::stdout(&library, &[&words[..], &[reel.to_str().unwrap()]].concat());
    // What stands in front of a placeholder, or goes on behind it, is none.
    let text =
        "Authorization: Bearer x‹secret:1›\npassword=‹secret:1›k3Jd8fLq2Wz7\n/home/ada‹home:1›\n";
    let path = library.path().join("more.txt");
    std::fs::write(&path, text).unwrap();
    let (code, said) = scanned(&library, &[path.to_str().unwrap(), "--home"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("3 places in 1 file"), "{said}");
}

/// Once the ZIP that `report` writes had to be unpacked first.
#[test]
fn a_zip_is_looked_through_file_by_file() {
    let library = Library::new();
    let call =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"apiKey":"{SECRET}"}}}}"#);
    let recording = redact_made::frames(library.path(), &[(StreamId::C2S, &call)]);
    let zip = library.path().join("report.zip");
    let [zip_path, recording_path] = [&zip, &recording].map(|path| path.to_str().unwrap());
    let output = ran(
        &library,
        &["report", recording_path, "--zip", "-o", zip_path],
    );
    assert!(output.status.success(), "{}", text(&output));
    let (code, said) = scanned(&library, &[zip_path]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 places in 5 files"), "{said}");

    let mut writer = ZipWriter::new(File::create(&zip).unwrap());
    let options = SimpleFileOptions::default();
    let inner = std::fs::read(&recording).unwrap();
    for (name, content) in [
        ("a/told.reel", inner),
        ("a/b.txt", format!("token={SECRET}").into()),
    ] {
        writer.start_file(name, options).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.finish().unwrap();
    let (code, said) = scanned(&library, &[zip_path]);
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        "report.zip/a/told.reel: #1, params.apiKey: key-name",
        "report.zip/a/b.txt: line 1: key-name",
        "2 places in 2 files",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn what_is_packed_is_not_called_clean() {
    let library = Library::new();
    for (name, begin) in [
        ("zip", &b"PK\x03\x04\x14\0"[..]),
        ("gzip", b"\x1f\x8b\x08\0"),
        ("zstd", b"\x28\xb5\x2f\xfd\x04"),
    ] {
        let path = library.path().join(format!("raw-{name}"));
        let shown = path.to_str().unwrap();
        std::fs::write(&path, begin).unwrap();
        let output = ran(&library, &["redact", "--scan", shown]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let why = format!("not looked through: {shown}: the file is packed");
        assert!(
            said.contains(&why) && said.contains("0 places in 0 files"),
            "{said}"
        );
        // What is not packed in it is found all the same.
        std::fs::write(
            &path,
            [begin, format!("\ntoken={SECRET}\n").as_bytes()].concat(),
        )
        .unwrap();
        let (code, said) = scanned(&library, &[shown]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("1 place in 1 file"), "{said}");
    }
}

#[test]
fn a_cassette_is_looked_through_line_by_line() {
    let library = Library::new();
    let token = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";
    let lines = [
        format!(r#"{{"cassette":1,"selection":{{"query":"{token}"}}}}"#),
        format!(
            r#"{{"t":0,"k":"event","event":{{"kind":"warning","message":"x","new":"{token}"}}}}"#
        ),
        format!(r#"{{"k":"hologram","x":"{token}"}}"#),
        format!("no JSON {token}"),
        format!(
            r#"{{"n":1,"t":0,"d":"c2s","k":"req","raw":{{"jsonrpc":"2.0","id":1,"method":"a","params":"{token}"}}}}"#
        ),
        r#"{"t":1,"k":"end"}"#.to_owned(),
        format!("after it {token}"),
    ];
    let path = library.path().join("a.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let output = ran(&library, &["redact", "--scan", path.to_str().unwrap()]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains(token), "it says what it has found: {said}");
    for place in [
        "line 1, selection.query",
        "line 2, event.new",
        "line 3, x",
        "line 4",
        "line 5, raw.params",
        "line 7",
    ] {
        let expected = format!("a.jsonl: {place}: github-token");
        assert!(said.contains(&expected), "{expected}: {said}");
    }
    assert!(said.contains("6 places in 1 file"), "{said}");
}
