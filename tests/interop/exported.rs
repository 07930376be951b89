//! What is exported is read by the programs that it is for: the diagram of a report by Mermaid, a
//! trace by the engine with which Chrome's developer tools read traces of this form, an archive of HTTP by
//! the published schema.

use crate::packages::{Packages, run};
use crate::support::Library;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Recordings of a real session each, and one in which every text is hostile.
fn recordings(library: &Library) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let names = ["crash", "modern", "noisy-stdout", "well-behaved"];
    let mut all: Vec<_> = names
        .map(|name| folder.join(name).with_extension("reel"))
        .into();
    all.push(hostile(library));
    all
}

/// What a language of diagrams, or of traces, might take for its own.
const EVIL: &str = "end; %%{init: {'x':1}}%% <b>`~```</b> #35; -->> s: ) \\\" }] \\u202e\\n participant z\\nNote over c: x $$x$$";

fn hostile(library: &Library) -> PathBuf {
    let path = library.path().join("hostile.jsonl");
    let info = format!(r#"{{"name":"{EVIL}","version":"{EVIL}"}}"#);
    let said = [
        (
            "c2s",
            format!(
                r#""id":"{EVIL}","method":"initialize","params":{{"protocolVersion":"{EVIL}","capabilities":{{}},"clientInfo":{info}}}"#
            ),
        ),
        (
            "s2c",
            format!(
                r#""id":"{EVIL}","result":{{"protocolVersion":"{EVIL}","capabilities":{{}},"serverInfo":{info}}}"#
            ),
        ),
        (
            "c2s",
            format!(r#""id":2,"method":"tools/call","params":{{"name":"{EVIL}"}}"#),
        ),
        ("s2c", format!(r#""method":"notifications/{EVIL}""#)),
        ("s2c", format!(r#""id":9,"method":"{EVIL}""#)),
        (
            "s2c",
            format!(r#""id":2,"error":{{"code":"{EVIL}","message":"{EVIL}"}}"#),
        ),
    ];
    let mut lines = vec!["{\"cassette\":1}".to_owned()];
    lines.extend((1..).zip(&said).map(|(n, (way, members))| {
        let raw = format!("{{\"jsonrpc\":\"2.0\",{members}}}");
        format!("{{\"n\":{n},\"t\":{n}000,\"d\":\"{way}\",\"raw\":{raw}}}")
    }));
    let stderr = format!("{{\"n\":7,\"t\":8000,\"d\":\"stderr\",\"text\":\"{EVIL}\\n\"}}");
    lines.extend([stderr, "{\"t\":9000,\"k\":\"end\"}\n".to_owned()]);
    std::fs::write(&path, lines.join("\n")).expect("it can be written");
    path
}

/// A recording in another format, in a file.
pub fn exported(library: &Library, recording: &Path, format: &str) -> PathBuf {
    let path = library.path().join("exported");
    let mut export = library.mcpreel("export");
    export
        .arg(recording)
        .args(["--raw", "--force", "--format", format, "-o"]);
    run(export.arg(&path));
    path
}

/// What a reader says of a file: `readers/NAME`, with the packages at hand.
pub fn read(reader: &str, file: &Path) -> Value {
    let folder = Packages::get().folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/readers");
    // Packages are looked for beside the program that asks for them.
    let program = folder.join(reader);
    // Another test may be starting the same one.
    let copy = tempfile::NamedTempFile::new_in(folder).expect("the folder can be written to");
    std::fs::copy(source.join(reader), &copy).expect("the folder can be written to");
    copy.persist(&program).expect("it can be renamed");
    let said = run(Command::new("node").arg(&program).arg(file));
    serde_json::from_str(&said).expect("it says JSON")
}

#[test]
fn mermaid_draws_the_diagram_of_every_report() {
    let library = Library::new();
    for recording in recordings(&library) {
        let report = exported(&library, &recording, "markdown");
        let report = std::fs::read_to_string(report).expect("it is text");
        let (_, rest) = report.split_once("```mermaid\n").expect("it has a diagram");
        let (diagram, _) = rest.split_once("```\n").expect("it ends");
        let path = library.path().join("diagram");
        std::fs::write(&path, diagram).expect("it can be written");
        let drawn = read("mermaid.mjs", &path);
        assert_eq!(drawn["type"], "sequence", "{diagram}");
        let actors: Vec<_> = drawn["actors"]
            .as_array()
            .expect("it has some")
            .iter()
            .collect();
        assert_eq!(actors, ["c", "s"], "nobody else speaks: {diagram}");
        // Every line but the first and those of the two sides is a message or a note.
        let lines = diagram.lines().count() - 3;
        assert_eq!(drawn["messages"], lines, "{diagram}");
    }
}

#[test]
fn the_reader_of_chromes_own_tools_sees_what_is_on_record() {
    let library = Library::new();
    for recording in recordings(&library) {
        let trace = exported(&library, &recording, "perfetto");
        let seen = read("chrome.mjs", &trace);
        let recording = recording.to_str().expect("the path is text");
        let exchanges = library.json(&["show", recording, "--exchanges"]);
        let slices = seen["slices"].as_array().expect("it has some");
        assert_eq!(slices.len(), exchanges.len(), "{recording}");
        for exchange in &exchanges {
            let slice = slices
                .iter()
                .find(|slice| slice["seq"] == exchange["request"]);
            let slice = slice.unwrap_or_else(|| panic!("{exchange} is missing: {seen}"));
            assert_eq!(slice["status"], exchange["status"]);
            let pid = if exchange["direction"] == "c2s" { 1 } else { 2 };
            assert_eq!(slice["pid"], pid);
        }
        assert_eq!(seen["processes"], serde_json::json!([1, 2]));
    }
}
