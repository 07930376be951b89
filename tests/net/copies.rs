//! A copy of a recording of the network, and its cassette, tell the same as the original; what is told of
//! a call.

use crate::http_server::{HttpServer, respond};
use crate::recorded::{files, told};
use crate::support::proxy::Proxy;
use crate::support::{Library, MCPREEL};
use crate::wire;
use mcpreel_store::reader::Recording;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub fn run(args: &[&str]) -> String {
    let done = Command::new(MCPREEL).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{args:?}: {said}");
    String::from_utf8(done.stdout).unwrap()
}

/// A text without the ids of sessions in URLs, in whose place a copy has tokens.
fn without_sessions(told: &str) -> String {
    let parts = told.split_inclusive("essionId=");
    let mut parts = parts.flat_map(|part| part.split_inclusive("ession_id="));
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |told, part| {
        let end = part.find([' ', ')', '\n']).unwrap_or(part.len());
        told + &part[end..]
    })
}

#[test]
fn a_copy_and_a_cassette_tell_the_same() {
    for file in files() {
        let dir = tempfile::tempdir().unwrap();
        let original = wire::recording(dir.path(), &file);
        let expected = told(&original);
        let path = |name: &str| dir.path().join(name).display().to_string();
        let reel = path("a.reel");
        run(&["redact", &reel, "-o", &path("b.reel")]);
        run(&["export", &reel, "--raw", "-o", &path("c.jsonl")]);
        let library = path("library");
        run(&["import", &path("c.jsonl"), "--dir", &library]);
        let mut imported = std::fs::read_dir(&library).unwrap();
        let imported = imported.next().unwrap().unwrap().path();
        for copy in [Path::new(&path("b.reel")), &imported] {
            let told = told(&Recording::open(copy).unwrap());
            let [told, expected] = [&told, &expected].map(|told| without_sessions(told));
            assert_eq!(told, expected, "{}", file.display());
        }
    }
}

#[test]
fn an_archive_has_the_request_as_the_server_got_it() {
    let library = Library::new();
    let server = HttpServer::start("/mcp", |_, client| respond(client, "200 OK", "", ""));
    let proxy = Proxy::start(&library, &server.url, &["--header", "X-Key: hush"]);
    // What was changed in the second as in the first is on record once.
    for _ in 0..2 {
        proxy.ask("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    }
    proxy.end();
    let mut export = library.mcpreel("export");
    let har = export.args(["@", "--format", "har"]).output().unwrap();
    let har: Value = serde_json::from_slice(&har.stdout).unwrap();
    let entries = har["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    for entry in entries {
        let headers = entry["request"]["headers"].as_array().unwrap();
        let header = |name| headers.iter().find(|it| it["name"] == name).unwrap();
        let [host, key] = ["Host", "X-Key"].map(|name| header(name)["value"].as_str().unwrap());
        assert!(server.url.contains(&format!("//{host}/")), "{host}");
        assert!(!key.contains("hush") && key.contains('‹'), "{key}");
    }
}

/// Once they were left out: with them the client goes on, or knows where to send.
#[test]
fn an_archive_has_the_fields_of_events() {
    let dir = tempfile::tempdir().unwrap();
    let reel = dir.path().join("a.reel").display().to_string();
    for (file, fields) in [
        ("ts1-sse", "event: endpoint\\ndata: /"),
        ("polled", "event: message\\nid: "),
    ] {
        drop(wire::recording(dir.path(), &wire::file(file)));
        let har = run(&["export", &reel, "--raw", "--format", "har"]);
        assert!(har.contains(fields), "{har}");
        std::fs::remove_file(&reel).unwrap();
    }
}

#[test]
fn every_format_takes_it() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("ts1-everything")));
    let reel = dir.path().join("a.reel").display().to_string();
    for format in [
        "jsonl",
        "markdown",
        "otlp",
        "perfetto",
        "har",
        "html",
        "recording",
    ] {
        let out = dir.path().join(format).display().to_string();
        run(&["export", &reel, "--format", format, "-o", &out]);
        assert!(std::fs::metadata(&out).unwrap().len() > 1000, "{format}");
    }
    run(&[
        "report",
        &reel,
        "-o",
        &dir.path().join("r.md").display().to_string(),
    ]);
}

/// Once each head was an arrow of a message that is lost.
#[test]
fn a_head_in_the_diagram_of_a_report_is_its_first_line() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("gateway-502")));
    let path = |name: &str| dir.path().join(name).display().to_string();
    let report = path("report");
    run(&["report", &path("a.reel"), "-o", &report]);
    let report = std::fs::read_to_string(Path::new(&report).join("report.md")).unwrap();
    for line in [
        "c->>s: #35;1 POST /mcp HTTP/1.1",
        "s-->>c: #35;3 HTTP/1.1 502 Bad Gateway",
        "Note over s: the proxy was ended",
    ] {
        assert!(report.contains(line), "{report}");
    }
    assert!(!report.contains("-x"), "{report}");
}

#[test]
fn the_story_of_a_call_has_the_first_line_of_a_head() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("ts1-everything")));
    let reel = dir.path().join("a.reel").display().to_string();
    let calls = run(&["show", &reel, "--exchanges", "--json"]);
    let mut heads = 0;
    for call in calls.lines() {
        let call: serde_json::Value = serde_json::from_str(call).unwrap();
        let told = run(&["show", &format!("{reel}#{}", call["request"])]);
        assert!(!told.contains("no message"), "{told}");
        heads += told
            .lines()
            .filter(|row| row.ends_with(": HTTP/1.1 200 OK"))
            .count();
    }
    assert!(heads > 0, "a head is in some story");
}

#[test]
fn ids_of_sessions_do_not_leave_and_stay_the_same_for_each_session() {
    let dir = tempfile::tempdir().unwrap();
    let original = wire::recording(dir.path(), &wire::file("polled"));
    let id = "ca3b16569e8d47f7abc6ee2634829c09";
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (reel, copy) = (path("a.reel"), path("b.reel"));
    run(&["redact", &reel, "-o", &copy]);
    let copy = Recording::open(Path::new(&copy)).unwrap();
    let sessions = |recording: &Recording| {
        let https = recording.https(0, 100).unwrap().into_iter();
        let sessions: Vec<_> = https.map(|http| http.session.unwrap()).collect();
        sessions
    };
    assert_eq!(sessions(&original), [id; 5]);
    assert_eq!(sessions(&copy), ["‹secret:1›"; 5]);
    for format in ["jsonl", "markdown", "otlp", "har", "html"] {
        let out = path(format);
        run(&["export", &reel, "--format", format, "-o", &out]);
        let written = std::fs::read(&out).unwrap();
        assert!(!String::from_utf8_lossy(&written).contains(id), "{format}");
    }
}
