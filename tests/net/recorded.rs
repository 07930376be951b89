//! What real peers sent is told as their clients saw it: `wire/NAME.told` says how.

use crate::wire;
use mcpreel_lint::cause::causes;
use mcpreel_share::phrases::phrases_network;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::http::Part;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub fn files() -> Vec<PathBuf> {
    let folder = wire::file("x");
    let entries = std::fs::read_dir(folder.parent().unwrap()).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "wire"));
    files.sort();
    files
}

/// All that is derived of HTTP, a line each.
pub fn told(recording: &Recording) -> String {
    let mut told = String::new();
    let facts = recording.facts(None).unwrap();
    let why = &causes(&facts)[0];
    writeln!(told, "why: {}: {}", why.id, why.sentence).unwrap();
    for one in recording.conversations().unwrap() {
        let (client, version) = (one.session.client.name.clone(), one.session.version());
        let client = client.unwrap_or_default();
        writeln!(told, "conversation {}: {client} {version:?}", one.id).unwrap();
    }
    for http in recording.https(0, 1000).unwrap() {
        let (id, connection, conversation) = (http.id, http.connection, http.conversation);
        let ended = http.ended.map_or("-", |ended| ended.as_str());
        let line = phrases_network::http(&http);
        writeln!(told, "{id}: {connection}/{conversation} {line}, {ended}").unwrap();
    }
    for one in recording.exchanges(ExchangeId(0), 1000).unwrap() {
        let (seq, http, status) = (one.request.0.0, one.http, one.status.as_str());
        let asked: String = one.asked().chars().take(60).collect();
        writeln!(told, "#{seq} in {http}: {asked}: {status} {:?}", one.code).unwrap();
    }
    for one in recording.findings(0).unwrap() {
        let seq = one.frame.map_or(0, |seq| seq.0);
        writeln!(told, "{} {} #{seq}", one.severity, one.rule).unwrap();
    }
    told
}

#[test]
fn what_real_peers_sent_is_told_as_their_clients_saw_it() {
    let mut failures = String::new();
    for file in files() {
        let dir = tempfile::tempdir().unwrap();
        let found = told(&wire::recording(dir.path(), &file));
        let expected = file.with_extension("told");
        if std::env::var_os("MCPREEL_WRITE_TOLD").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            writeln!(failures, "{}:\n{found}", file.display()).unwrap();
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What is on record of a connection is what was sent, to the byte, and messages are cut out of it.
#[test]
fn every_byte_is_on_record_and_every_message_is_in_it() {
    for file in files() {
        let dir = tempfile::tempdir().unwrap();
        let recording = wire::recording(dir.path(), &file);
        let sent = sent(&file);
        for ((connection, way), bytes) in &sent {
            assert_eq!(
                &recording.wire(*connection, *way).unwrap(),
                bytes,
                "{}",
                file.display()
            );
        }
        for (head, raw) in recording.frames(mcpreel_trace::frame::Seq(0)).unwrap() {
            let connection = head.stream.connection().unwrap();
            let bytes = &sent[&(connection, head.stream.messages().unwrap())];
            let from = usize::try_from(head.offset).unwrap();
            let is_verbatim = matches!(head.carried.part, Part::RequestHead | Part::ResponseHead);
            let raw = raw.unwrap();
            assert!(
                !is_verbatim || bytes[from..].starts_with(&raw),
                "#{}",
                head.seq.0
            );
        }
    }
}

/// The bytes that went each way of each connection.
fn sent(file: &Path) -> wire::Sent {
    wire::sent(file)
}

/// A recorder that was killed, and whoever goes on after it, tell the same as one that was not.
#[test]
fn who_goes_on_in_the_middle_tells_the_same() {
    for file in files() {
        let dir = tempfile::tempdir().unwrap();
        let whole = told(&wire::recording(dir.path(), &file));
        let dir = tempfile::tempdir().unwrap();
        let resumed = told(&wire::recording_in_pieces(dir.path(), &file, 700));
        // Why it stops where it does is another matter.
        let rest = |told: &str| told.split_once('\n').unwrap().1.to_owned();
        assert_eq!(rest(&whole), rest(&resumed), "{}", file.display());
    }
}
