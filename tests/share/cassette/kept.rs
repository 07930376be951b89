//! What nobody knows of a line is not lost.

use crate::cassette::written;
use crate::cassette::{faults, taken};
use crate::support::Library;
use mcpreel_store::reader::Recording;
use std::path::{Path, PathBuf};

fn sample() -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    written(&root.join("recordings/crash.reel"))
}

/// The cassette with other people's keys in each of its lines, where they are written.
fn annotated(file: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(file).expect("it is UTF-8");
    let line = |(nth, line): (usize, &str)| {
        let keys = format!(r#""seen-by":["ada", 2.50, {nth}],"é":{{"raw":"\u00e9"}}"#);
        let bodies = [",\"raw\":", ",\"b64\":", ",\"text\":", ",\"event\":"];
        let body = bodies.iter().filter_map(|body| line.find(body)).min();
        match body.filter(|_| nth > 0) {
            Some(at) => format!("{},{keys}{}\n", &line[..at], &line[at..]),
            None => format!("{},{keys}}}\n", &line[..line.len() - 1]),
        }
    };
    text.lines()
        .enumerate()
        .map(line)
        .collect::<String>()
        .into()
}

fn lines(file: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(file).expect("it is UTF-8");
    text.lines().collect()
}

#[test]
fn what_nobody_knows_comes_back_in_the_same_line_to_the_byte() {
    let file = annotated(&sample());
    let kinds = [
        "\"k\":\"req\"",
        "\"text\":",
        "\"kind\":\"exit\"",
        "\"k\":\"end\"",
    ];
    let text = String::from_utf8_lossy(&file);
    assert!(kinds.iter().all(|kind| text.contains(kind)), "{text}");
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let tape = taken(dir.path(), &file);
    let again = written(tape.reel());
    for (again, line) in lines(&again).into_iter().zip(lines(&file)) {
        assert_eq!(again, line);
    }
    assert!(again == file);
    // Whatever is derived, and when it was, is what it was without them.
    let plain = tempfile::tempdir().expect("a temporary folder can be made");
    let plain = taken(plain.path(), &sample());
    let [with, without] = [tape.reel(), plain.reel()].map(exchanges);
    assert_eq!(with, without);
    // They are told, each once.
    let told = faults(&file);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[2], "line 2: the key `seen-by` is not known; kept");
}

fn exchanges(reel: &Path) -> String {
    let recording = Recording::open(reel).expect("it can be read");
    let exchanges = recording.exchanges(mcpreel_trace::exchange::ExchangeId(0));
    let summary = recording.summary().expect("it can be read");
    format!(
        "{:?} {}",
        exchanges.expect("they can be read"),
        summary.t_last_ns
    )
}

/// What the program writes of `path`.
fn exported(library: &Library, path: &Path, options: &[&str]) -> Vec<u8> {
    let mut export = library.mcpreel("export");
    let output = export.arg(path).args(options).output();
    let output = output.expect("mcpreel starts");
    assert!(output.status.success(), "{}", crate::support::text(&output));
    output.stdout
}

#[test]
fn an_imported_cassette_still_has_it_and_a_part_has_that_of_its_lines() {
    let library = Library::new();
    let file = annotated(&sample());
    let path = library.path().join("told.jsonl");
    std::fs::write(&path, &file).expect("it can be written");
    let mut import = library.mcpreel("import");
    let imported = import.arg(&path).output().expect("mcpreel starts");
    assert!(
        imported.status.success(),
        "{}",
        crate::support::text(&imported)
    );
    let reel = library.files("reel").remove(0);
    assert!(exported(&library, &reel, &["--raw"]) == file);

    let part = exported(&library, &reel, &["--raw", "--from", "3", "--to", "4"]);
    for line in lines(&part).into_iter().skip(1) {
        assert!(lines(&file).contains(&line), "{line}");
    }
    let picked = exported(&library, &reel, &["--raw", "-q", "method:tools/list"]);
    let frames: Vec<_> = lines(&picked)
        .into_iter()
        .filter(|line| line.starts_with("{\"n\":"))
        .collect();
    assert!(!frames.is_empty());
    assert!(
        frames.iter().all(|line| lines(&file).contains(line)),
        "{frames:?}"
    );
}

#[test]
fn what_is_secret_in_it_does_not_leave() {
    const SECRET: &str = "kY7zQ2mW9xR4tB8nV3cL";
    let library = Library::new();
    let header = "{\"cassette\":1}\n";
    let frame = format!(
        "{{\"n\":1,\"t\":5,\"d\":\"s2c\",\"k\":\"other\",\"who\":\"ada\",\"how\":{{\"api_key\":\"{SECRET}\"}},\"raw\":{{}}}}\n"
    );
    let end = "{\"t\":9,\"k\":\"end\"}\n";
    let path = library.path().join("told.jsonl");
    std::fs::write(&path, [header, &frame, end].concat()).expect("it can be written");
    let left = exported(&library, &path, &[]);
    let line = lines(&left)[2];
    assert!(
        line.contains(r#""who":"ada","how":{"api_key":"‹"#),
        "{line}"
    );
    for format in ["jsonl", "text", "html"] {
        let left = exported(&library, &path, &["--format", format]);
        assert!(!String::from_utf8_lossy(&left).contains(SECRET), "{format}");
    }
}

#[test]
fn what_has_no_room_beside_a_long_frame_is_a_line_of_its_own_and_stays_one() {
    let keys = format!("\"x\":\"{}\"", "y".repeat(3000));
    let raw = "z".repeat(1_500_000);
    let file = format!(
        "{{\"cassette\":1}}\n{{\"n\":1,\"t\":5,\"d\":\"s2c\",\"k\":\"other\",{keys},\"raw\":\"{raw}\"}}\n{{\"t\":9,\"k\":\"end\"}}\n"
    );
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let once = written(taken(dir.path(), file.as_bytes()).reel());
    let own = lines(&once)
        .iter()
        .any(|line| line.contains("line-keys") && line.contains("yyyy"));
    assert!(own, "it is a line of its own");
    let twice = written(taken(dir.path(), &once).reel());
    assert!(once == twice, "it stays so");
}

/// Once nobody heard of them, though they were dropped.
#[test]
fn keys_in_events_that_nobody_knows_are_told_as_dropped() {
    let text = String::from_utf8(sample()).expect("it is UTF-8");
    let file = text
        .replacen(r#"{"kind":"start","#, r#"{"kind":"start","mood":1,"#, 1)
        .replacen(r#"{"kind":"exit","#, r#"{"kind":"exit","why":"x","#, 1);
    let told = faults(file.as_bytes());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].ends_with("the key `mood` of its event is not known; dropped"));
    assert!(told[0].starts_with("line 2: "), "{told:?}");
    assert!(told[1].ends_with("the key `why` of its event is not known; dropped"));
}

/// Once whoever had more than thirty-two of them never heard of the rest.
#[test]
fn more_names_than_are_told_are_counted() {
    let frames = |names: usize| {
        let frame = |nth| {
            format!("{{\"n\":1,\"t\":5,\"d\":\"s2c\",\"k\":\"other\",\"x{nth}\":1,\"raw\":{{}}}}\n")
        };
        // Each of them twice: a name counts once.
        let frames: String = (0..2 * names).map(|nth| frame(nth % names)).collect();
        format!("{{\"cassette\":1}}\n{frames}{{\"t\":9,\"k\":\"end\"}}\n")
    };
    let told = |names| faults(frames(names).as_bytes());
    assert_eq!(told(32).len(), 32);
    let many = told(40);
    assert_eq!(many.len(), 33, "{many:?}");
    let more = "up to here 8 more names of keys and kinds not known";
    assert!(many[32].ends_with(more), "{many:?}");
    let most = told(2000);
    assert!(most[32].contains("at least 992 more names"), "{most:?}");

    let library = Library::new();
    let path = library.path().join("told.jsonl");
    std::fs::write(&path, frames(40)).expect("it can be written");
    let said = library
        .mcpreel("show")
        .arg(&path)
        .output()
        .expect("mcpreel starts");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("35 more remarks of that kind"), "{said}");
}
