use super::file::{Replace, Whole};
use super::*;
use crate::written::{Session, bytes, context, drain};
use mcpreel_lint::cause::causes;
use mcpreel_redact::Settings;
use mcpreel_store::annotate;
use mcpreel_store::schema::State;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use std::fs;
use std::path::PathBuf;

const TOKEN: &str = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";

/// A recording of two thousand lines with a secret in each.
fn recorded(dir: &Path) -> Recording {
    let mut session = Session::start(dir, "a", 0x7f3a_9c21);
    for n in 0..2000 {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ping\",\"params\":{{\"k\":\"{TOKEN}\"}}}}\n"
        );
        session.chunk(StreamId::C2S, line.as_bytes());
    }
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    indexer.release_spool().unwrap();
    Recording::open(&session.reel).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn order(selection: &Selection, format: Format, is_raw: bool) -> Order<'_> {
    let policy = Arc::new(Policy::new(&Settings::default()).unwrap());
    Order {
        format,
        bodies: Bodies::Without,
        selection,
        now: None,
        policy: (!is_raw).then_some(policy),
    }
}

#[test]
fn whoever_stops_it_gets_nothing_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let before = files(dir.path());
    let all = Selection::default();
    let formats = [Format::Jsonl, Format::Otlp, Format::Html];
    for format in formats {
        for stop in [Stage::Looked(Seq(0)), Stage::Written(Seq(0))] {
            let target = dir.path().join("out");
            let mut whole = Whole::begin(&target, recording.path(), Replace::No).unwrap();
            let mut tell = |stage: Stage| {
                let is_same = std::mem::discriminant(&stage) == std::mem::discriminant(&stop);
                if is_same { Err(Stopped) } else { Ok(()) }
            };
            let order = order(&all, format, false);
            let written = write(&recording, &order, &mut whole.draft, &mut tell);
            let error = written.unwrap_err();
            let is_stopped = matches!(error, ExportError::Stopped(_));
            assert!(is_stopped, "{format:?} {error:?}");
            drop(whole);
            assert_eq!(files(dir.path()), before, "{format:?} {stop:?}");
        }
    }
}

/// What is secret in a command, without a shape of its own.
const WORD: &str = "wandering-heron-42x";

/// A recording of these lines on stderr, of a command with two secrets.
fn harmless(dir: &Path, lines: &[&str]) -> PathBuf {
    let argv = ["server", "--token", TOKEN, "--password", WORD];
    let context = ProcessContext {
        argv: argv.map(str::to_owned).to_vec(),
        ..context("a", 0x7f3a_9c21)
    };
    let mut session = Session::begin(&dir.join("harmless.reel"), context);
    for line in lines {
        session.chunk(StreamId::STDERR, format!("{line}\n").as_bytes());
    }
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    indexer.release_spool().unwrap();
    session.reel
}

fn redacted_of(reel: &Path) -> Recording {
    let recording = Recording::open(reel).unwrap();
    let all = Selection::default();
    let policy = order(&all, Format::Recording, false).policy.unwrap();
    let mut redacting = learn(&recording, &policy, &mut |_| Ok(())).unwrap();
    let made = recording_copy::redacted(&mut redacting, &all, &mut |_| Ok(()));
    made.unwrap().0
}

fn has(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

#[test]
fn where_only_the_command_has_secrets_the_rest_is_the_same_and_nothing_of_them_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let reel = harmless(dir.path(), &["one", "two"]);
    annotate::set_note(&reel, None, Some(&format!("see {WORD}"))).unwrap();
    assert!(has(&fs::read(&reel).unwrap(), TOKEN) && has(&fs::read(&reel).unwrap(), WORD));
    let redacted = redacted_of(&reel);
    let file = fs::read(redacted.file()).unwrap();
    assert!(!has(&file, TOKEN) && !has(&file, WORD));
    let before = Recording::open(&reel).unwrap();
    let after = redacted.summary().unwrap();
    let tokens = [
        "server",
        "--token",
        "‹secret:1›",
        "--password",
        "‹secret:2›",
    ];
    assert_eq!(after.context.argv, tokens);
    assert_eq!(after.note.as_deref(), Some("see ‹secret:2›"));
    assert!(after.redaction.is_some() && after.context.redaction == after.redaction);
    assert_eq!(after.t_last_ns, before.summary().unwrap().t_last_ns);
    assert_eq!(
        redacted.frames(Seq(0)).unwrap(),
        before.frames(Seq(0)).unwrap()
    );
    let events = redacted.events(0).unwrap();
    let EventKind::Start(start) = &events[0].event.kind else {
        panic!("{:?}", events[0]);
    };
    assert_eq!(start.argv, tokens);
    assert_eq!(events[1..], before.events(0).unwrap()[1..]);
}

#[test]
fn what_this_version_does_not_know_of_a_recording_does_not_leave() {
    for sql in [
        "UPDATE frame SET origin = 'told by wandering-heron-42x'",
        "CREATE TABLE later (text TEXT); INSERT INTO later VALUES ('wandering-heron-42x')",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let reel = harmless(dir.path(), &["one"]);
        let conn = rusqlite::Connection::open(&reel).unwrap();
        conn.execute_batch(sql).unwrap();
        drop(conn);
        let redacted = redacted_of(&reel);
        assert!(!has(&fs::read(redacted.file()).unwrap(), WORD), "{sql}");
    }
}

#[test]
fn a_copy_of_a_session_that_hangs_says_for_how_long_and_that_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "a", 0x7f3a_9c21);
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom"}}"#;
    session.chunk(StreamId::C2S, &[&call[..], b"\n"].concat());
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let recording = Recording::open(&session.reel).unwrap();
    let now = Moment(6_500_000_000);
    for (is_raw, format) in [false, true]
        .map(|it| [(it, Format::Recording), (it, Format::Jsonl)])
        .concat()
    {
        let all = Selection::default();
        let order = Order {
            now: Some(now),
            ..order(&all, format, is_raw)
        };
        let path = dir.path().join(format!("{is_raw}.{format:?}"));
        save(&recording, &order, &path, Replace::No, &mut |_| Ok(())).unwrap();
        if format == Format::Jsonl {
            let cassette = fs::read_to_string(&path).unwrap();
            let mut last = cassette.lines().rev();
            assert_eq!(last.next(), Some(r#"{"t":6500000,"k":"end"}"#));
            assert!(last.next().unwrap().contains("copied"));
            continue;
        }
        let copy = Recording::open(&path).unwrap();
        assert_eq!(copy.summary().unwrap().t_last_ns, now.0);
        let causes = causes(&copy.facts(None).unwrap());
        let hangs = causes.iter().find(|cause| cause.id == "never-answered");
        let hangs = hangs.expect("the call is open in it");
        assert!(
            hangs.sentence.contains("has not answered boom"),
            "{hangs:?}"
        );
    }
}
