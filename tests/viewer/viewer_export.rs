//! Exports: what is asked, what is written, what is left alone; and reports for the clipboard.

use crate::by_hand::{Viewer, Writes, has};
use crate::fixture::{self, Recording};
use crate::viewer_replay::{Case, SAID};
use mcpreel_store::reader;
use mcpreel_tui::effect::Effect;
use mcpreel_tui::panels::menu::Menu;
use mcpreel_tui::worker::Slot;
use std::fs;
use std::path::{Path, PathBuf};

const TOKEN: &str = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";

fn viewer(recording: &Recording) -> Viewer {
    let mut viewer = Viewer::open(&recording.path, (120, 40));
    viewer.writes = Writes::Whole;
    viewer.settle();
    viewer
}

fn is_menu(viewer: &Viewer) -> bool {
    viewer.state.app.top::<Menu>().is_some()
}

/// Names the file in the dialog that is shown.
fn name(viewer: &mut Viewer, path: &Path) {
    let path = path.to_str().expect("the path is text");
    viewer.act("n Ctrl-U").type_text(path).act("Enter");
}

/// What lies in a folder besides recordings.
fn others(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).expect("it is a folder");
    let files = files.map(|file| file.expect("it can be listed").path());
    files
        .filter(|path| path.extension().is_none_or(|end| end != "reel"))
        .collect()
}

/// A recording with a secret in two calls.
fn with_secret() -> Case {
    let call = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"k":"{TOKEN}"}}}}}}"#
        )
    };
    Case::saying(&[SAID[0], SAID[1], &call(1), &call(2)], "then")
}

#[test]
fn nothing_is_written_before_the_yes() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    for no in ["Esc", "q", "h Esc", "w Esc", "n Esc Esc", "r Esc"] {
        viewer.act("x").act(no);
        assert!(viewer.state.app.overlays.is_empty(), "{no}");
    }
    assert!(!viewer.errands.contains(&Slot::Export));
    viewer.act("x");
    has(
        &viewer,
        &[
            "export b02c77e0",
            "A secret without either stays",
            "write it as jsonl to b02c77e0.jsonl",
            "what: all of it",
        ],
    );
}

#[test]
fn it_is_redacted_unless_it_was_switched() {
    let case = with_secret();
    let library = &case.library;
    let mut viewer = Viewer::open(&case.recording, (120, 40));
    viewer.writes = Writes::Whole;
    viewer.settle();
    let out = library.path().join("out.jsonl");
    viewer.act("x");
    name(&mut viewer, &out);
    viewer.act("Enter");
    has(&viewer, &["redacted in 2 places"]);
    let text = fs::read_to_string(&out).expect("it was written");
    assert!(
        !text.contains(TOKEN) && text.contains("tools/call"),
        "{text}"
    );
    let raw = library.path().join("raw.jsonl");
    viewer.act("x r");
    has(&viewer, &["every secret that was said stands in the file"]);
    name(&mut viewer, &raw);
    viewer.act("y");
    has(&viewer, &["not redacted"]);
    let text = fs::read_to_string(&raw).expect("it was written");
    assert!(text.contains(TOKEN));
    // What is said last is short; all of it is kept.
    let told: Vec<_> = viewer
        .state
        .app
        .notices
        .all
        .iter()
        .map(|one| one.text.clone())
        .collect();
    let path = out.to_str().expect("the path is text");
    let in_full = |text: &String| text.contains(path) && text.contains("review it");
    assert!(told.iter().any(in_full), "{told:?}");
    // The next one is redacted again.
    viewer.act("x");
    has(&viewer, &["A secret without either stays"]);
}

#[test]
fn the_next_export_has_the_format_of_the_last_and_says_where_the_file_goes() {
    let recording = fixture::ended();
    let mut viewer = Viewer::open(&recording.path, (120, 35));
    viewer.writes = Writes::Whole;
    viewer.act("x m");
    name(&mut viewer, &recording.folder().join("one.md"));
    viewer.act("y x");
    has(
        &viewer,
        &["write it as markdown to b02c77e0.md, in the folder where"],
    );
    viewer.act("l Esc x");
    has(&viewer, &["write it as markdown"]);
}

/// The key of each format, and what a file of it begins with.
const FORMATS: [(&str, &str); 6] = [
    ("l", "{\"cassette\":"),
    ("m", "# MCP session: "),
    ("h", "<!doctype html>"),
    ("o", "{\"resourceSpans\":"),
    ("p", "{\"displayTimeUnit\":"),
    ("c", "SQLite format 3"),
];

#[test]
fn every_format_is_written_from_here_and_from_the_list() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    let dir = tempfile::tempdir().expect("a folder can be made");
    for place in ["here", "list"] {
        for (format, begins) in FORMATS {
            let path = dir.path().join(format!("{place}-{format}"));
            viewer.act("x").act(format);
            name(&mut viewer, &path);
            viewer.act("y");
            let bytes = fs::read(&path).unwrap_or_default();
            let is_it = bytes.len() > 500 && bytes.starts_with(begins.as_bytes());
            assert!(
                is_it,
                "{place} {format}: {}\n{}",
                bytes.len(),
                viewer.text()
            );
        }
        viewer.act("q").wait_ns(fixture::MS);
    }
    assert_eq!(others(recording.folder()), Vec::<PathBuf>::new());
}

#[test]
fn only_what_is_wanted_is_written() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    let dir = tempfile::tempdir().expect("a folder can be made");
    let mut written = |keys: &str| {
        let path = dir.path().join("out");
        let _ = fs::remove_file(&path);
        viewer.act("Esc x").act(keys);
        name(&mut viewer, &path);
        viewer.act("y");
        let text = fs::read_to_string(&path);
        text.unwrap_or_else(|_| panic!("{keys}: {}", viewer.text()))
    };
    let all = written("");
    let marked = written("w");
    assert!(marked.contains("yearly_report") && !marked.contains("search_docs"));
    assert!(marked.len() < all.len());
    let mut viewer = self::viewer(&recording);
    viewer.act("f 'tool:get_tides' Enter x w");
    has(&viewer, &["what the filter shows: tool:get_tides, 2 of 4"]);
    viewer.act("w w");
    has(&viewer, &["write it as jsonl to b02c77e0-29.jsonl"]);
    viewer.act("c");
    has(&viewer, &["what: this exchange, #29", "b02c77e0-29.reel"]);
    let path = dir.path().join("part.reel");
    name(&mut viewer, &path);
    viewer.act("y");
    let part = reader::Recording::open(&path).expect("it was written");
    let summary = part.summary().expect("it can be read");
    assert_eq!((summary.exchanges, summary.frames), (1, 2));
    viewer.act("Esc x");
    viewer.act("l w");
    let path = dir.path().join("tides");
    name(&mut viewer, &path);
    viewer.act("y");
    let tides = fs::read_to_string(&path).expect("it was written");
    assert!(tides.contains("get_tides") && !tides.contains("search_docs"));
}

#[test]
fn nothing_that_is_there_is_written_over_without_a_yes() {
    let recording = fixture::ended();
    let mut viewer = viewer(&recording);
    let dir = tempfile::tempdir().expect("a folder can be made");
    let path = dir.path().join("mine");
    fs::write(&path, "mine").expect("it can be written");
    for no in ["Enter", "n", "Esc"] {
        viewer.act("x");
        name(&mut viewer, &path);
        viewer.act("y");
        has(&viewer, &["exists: replace it?"]);
        viewer.act(no);
        assert!(viewer.state.app.overlays.is_empty());
        assert_eq!(fs::read(&path).expect("it is there"), b"mine", "{no}");
    }
    viewer.act("x");
    name(&mut viewer, &path);
    viewer.act("y y");
    assert!(fs::read(&path).expect("it is there").len() > 1000);
    // The recording itself, whatever was said.
    let itself = recording.path.clone();
    viewer.act("x");
    name(&mut viewer, &itself);
    viewer.act("y");
    has(&viewer, &["that is the recording itself"]);
    assert!(!is_menu(&viewer));
}

#[test]
fn an_exchange_is_copied_as_markdown_without_its_secrets() {
    let case = with_secret();
    let mut viewer = Viewer::open(&case.recording, (120, 40));
    viewer.writes = Writes::Whole;
    viewer.settle();
    viewer.act("g f 'tool:t' Enter g y");
    has(&viewer, &["exchange in Markdown, redacted"]);
    viewer.act("r");
    has(&viewer, &["copied, redacted"]);
    let copied = viewer.wishes.iter().rev().find_map(|wish| match wish {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let copied = copied.expect("it was copied");
    assert!(
        copied.starts_with("# MCP session: ") && copied.contains("tools/call"),
        "{copied}"
    );
    assert!(!copied.contains(TOKEN), "{copied}");
}
