//! `export` for reading and for other people's programs.

use super::{mcpreel, refused, sample, stdout};
use crate::support::written::{Session, bytes};
use crate::support::{Library, chunk_all, peak_memory, text};
use mcpreel_store::annotate::set_mark;
use mcpreel_trace::frame::{Seq, StreamId};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Formats that have nothing beside what is selected, and take a while.
const OTHERS: [&str; 3] = ["markdown", "otlp", "perfetto"];

const FORMATS: [&str; 5] = ["jsonl", "markdown", "html", "otlp", "perfetto"];

const SAMPLES: [&str; 4] = ["crash", "modern", "noisy-stdout", "well-behaved"];

/// What is written of a recording to stdout.
fn export(library: &Library, format: &str, args: &[&str]) -> String {
    let command = ["export", "--raw", "--format", format];
    stdout(library, &[&command, args].concat())
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("it can be listed");
    entries.flatten().map(|entry| entry.path()).collect()
}

// A page was asked for by its name once, and a cassette was written.
#[test]
fn the_name_of_the_file_says_its_format() {
    let library = Library::new();
    let named = |name: &str| library.path().join(name).to_str().unwrap().to_owned();
    for (name, begins) in [
        ("a.html", "<!doctype html>"),
        ("a.md", "# "),
        ("a.jsonl", "{"),
    ] {
        let path = named(name);
        stdout(&library, &["export", &sample("crash"), "-o", &path]);
        let written = std::fs::read_to_string(&path).expect("it is text");
        assert!(written.starts_with(begins), "{name}: {}", &written[..40]);
    }
    let json = named("a.json");
    refused(
        &library,
        &["export", &sample("crash"), "-o", &json],
        2,
        "--format",
    );
}

#[test]
fn each_format_appears_whole_and_for_its_owner_alone_and_is_the_same_on_stdout() {
    for format in FORMATS {
        for name in SAMPLES {
            let library = Library::new();
            let path = library.path().join("file");
            let shown = path.to_str().expect("the path is text");
            let sample = sample(name);
            let args = ["export", "--raw", "--format", format, &sample, "-o", shown];
            let output = mcpreel(&library, &args);
            assert!(output.status.success(), "{}", text(&output));
            let mode = path.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(files(library.path()), std::slice::from_ref(&path));
            let written = std::fs::read_to_string(&path).expect("it is text");
            assert_eq!(written, export(&library, format, &[&sample]));
            assert!(written.len() > 500, "{format}: {written}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("nothing in it is redacted"), "{said}");
            refused(&library, &args, 2, "exists already");
        }
    }
}

#[test]
fn a_selection_is_the_same_in_every_format() {
    let library = Library::new();
    let copy = library.path().join("copy.reel");
    std::fs::copy(sample("crash"), &copy).expect("it can be copied");
    set_mark(&copy, Seq(8), Some("")).expect("it can be marked");
    let shown = copy.to_str().expect("the path is text");
    for args in [
        &["-q", "is:marked"][..],
        &["-q", "tool:balance"],
        &["--from", "8", "--to", "9"],
    ] {
        for format in OTHERS {
            let file = export(&library, format, &[&[shown], args].concat());
            // Of a report the diagram shows what was near it.
            let body = file.rsplit("## What was said").next().unwrap_or(&file);
            let body = body.split("## Last lines").next().unwrap_or(body);
            assert!(body.contains("balance"), "{format} {args:?}: {file}");
            assert!(!body.contains("transfer"), "{format} {args:?}: {file}");
        }
    }
    refused(
        &library,
        &[
            "export",
            shown,
            "--raw",
            "--format",
            "markdown",
            "-q",
            "tool:nothing",
        ],
        3,
        "no row matches",
    );
}

/// A recording of so many lines, each of so many bytes.
fn long_lines(library: &Library, lines: usize, size: usize) -> PathBuf {
    let mut session = Session::start(library.path(), "long", 1);
    let mut line = vec![b'x'; size];
    line.push(b'\n');
    for _ in 0..lines {
        chunk_all(&mut session, StreamId::STDERR, &line);
    }
    session.end();
    session.finish_with(&bytes(1 << 26))
}

#[test]
fn a_page_takes_no_more_memory_than_some_blocks_of_it() {
    const LINES: usize = 1500;
    const SIZE: usize = 60_000;
    // The rest is more than a pipe holds.
    const SEEN: usize = LINES * SIZE - (1 << 20);
    let library = Library::new();
    let reel = long_lines(&library, LINES, SIZE);
    let mut export = library.mcpreel("export");
    export.arg(&reel).args(["--raw", "--format", "html"]);
    let mut child = export
        .stdout(Stdio::piped())
        .spawn()
        .expect("mcpreel starts");
    let mut out = child.stdout.take().expect("it is a pipe");
    std::io::copy(&mut (&mut out).take(SEEN as u64), &mut std::io::sink()).expect("it writes");
    // It waits for us with the rest, and has seen nearly all of it.
    let peak = peak_memory(child.id()).expect("it runs");
    assert!(peak < SEEN as u64 / 2, "export took {peak} bytes");
    std::io::copy(&mut out, &mut std::io::sink()).expect("it writes");
    assert!(child.wait().expect("it ends").success());
}
