use super::file::{Replace, Whole, WholeError};
use super::*;
use crate::written::{Session, bytes, context, drain};
use mcpreel_redact::Settings;
use mcpreel_store::annotate;
use mcpreel_store::record::import::Import;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::Moment;
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
    let formats = [Format::Jsonl, Format::Text, Format::Otlp, Format::Html];
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

#[test]
fn a_raw_one_has_what_was_said_and_another_has_not() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let all = Selection::default();
    let text = |is_raw| {
        let mut out = Vec::new();
        let order = order(&all, Format::Jsonl, is_raw);
        let (_, report) = write(&recording, &order, &mut out, &mut |_| Ok(())).unwrap();
        (
            String::from_utf8(out).unwrap(),
            report.map(|report| report.hits()),
        )
    };
    let (raw, none) = text(true);
    assert!(raw.contains(TOKEN) && none.is_none());
    let (redacted, hits) = text(false);
    assert!(!redacted.contains(TOKEN) && hits == Some(2000), "{hits:?}");
    let into = dir.path().join("copy.reel");
    fs::write(&into, "").unwrap();
    let policy = order(&all, Format::Recording, false).policy;
    copy(&recording, (&all, policy.as_ref()), &into, &mut |_| Ok(())).unwrap();
    let copied = Recording::open(&into).unwrap().raw(Seq(1)).unwrap();
    assert!(!String::from_utf8_lossy(&copied).contains(TOKEN));
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
    let made = redacted::recording(&mut redacting, &all, &mut |_| Ok(()));
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
fn a_secret_that_the_command_told_is_found_wherever_it_was_said() {
    let dir = tempfile::tempdir().unwrap();
    let reel = harmless(dir.path(), &["one", &format!("hello {WORD} there")]);
    let redacted = redacted_of(&reel);
    assert!(!has(&fs::read(redacted.file()).unwrap(), WORD));
    assert_eq!(
        redacted.raw(Seq(2)).unwrap(),
        "hello ‹secret:2› there\n".as_bytes()
    );
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
fn neither_the_recording_nor_a_file_that_is_there_is_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path());
    let begin = |path: &Path, may| Whole::begin(path, recording.path(), may).map(drop);
    let itself = begin(recording.path(), Replace::Yes);
    assert!(matches!(itself, Err(WholeError::IsRecording)), "{itself:?}");
    let other = dir.path().join("other");
    fs::write(&other, "mine").unwrap();
    let there = begin(&other, Replace::No);
    assert!(matches!(there, Err(WholeError::IsThere(_))), "{there:?}");
    // One that came meanwhile.
    let late = dir.path().join("late");
    let whole = Whole::begin(&late, recording.path(), Replace::No).unwrap();
    fs::write(&late, "mine").unwrap();
    let there = whole.finish();
    assert!(matches!(there, Err(WholeError::IsThere(_))), "{there:?}");
    assert_eq!(fs::read(&late).unwrap(), b"mine");
}

/// A recording whose gaps have several reasons, with an event and a frame for each number.
fn with_gaps(dir: &Path) -> PathBuf {
    let reel = dir.join("gaps.reel");
    let context = ProcessContext {
        recording: "7f3a9c21".into(),
        argv: vec!["a".into()],
        ..ProcessContext::default()
    };
    let mut import = Import::begin(&reel, context).unwrap();
    for n in 1..=8_u64 {
        let line = format!("line {n} of {TOKEN}\n");
        import
            .chunk(StreamId::STDERR, Moment(n), line.as_bytes())
            .unwrap();
        let level = "info".into();
        let message = format!("happened {n}");
        import
            .event(Moment(n), &EventKind::HostLog { level, message })
            .unwrap();
        if n % 2 == 0 {
            let reason = Some(format!("reason {n}"));
            import.lose(StreamId::C2S, Moment(n), n, reason).unwrap();
        }
    }
    import.finish(Moment(9)).unwrap();
    reel
}

/// What is written of one frame or event at a time, raw and redacted.
fn one_by_one(reel: &Path) -> Vec<[String; 2]> {
    let recording = Recording::open(reel).unwrap();
    let written = |selection: &Selection, is_raw| {
        let mut out = Vec::new();
        let order = order(selection, Format::Text, is_raw);
        write(&recording, &order, &mut out, &mut |_| Ok(())).unwrap();
        let text = String::from_utf8(out).unwrap().replace(TOKEN, "‹secret:1›");
        // Of each frame and event what stands behind its number, which is that of the copy.
        let told = text
            .lines()
            .filter_map(|line| Some(line.split_once("  00:")?.1));
        told.collect::<Vec<_>>().join("\n")
    };
    let both = |selection: &Selection| [true, false].map(|is_raw| written(selection, is_raw));
    let nothing = || Selection::between(None, None).picked("x");
    let mut all = Vec::new();
    for row in recording.events(0).unwrap().iter().skip(1) {
        let mut selection = nothing();
        selection.pick_event(row.event.after_seq, row.id);
        all.push(both(&selection));
    }
    for head in recording.heads(Seq(0), 100).unwrap() {
        let mut selection = nothing();
        selection.pick_frame(head.seq);
        all.push(both(&selection));
        all.push(both(&Selection::between(Some(head.seq), Some(head.seq))));
    }
    all
}

#[test]
fn what_is_selected_is_the_same_redacted_also_with_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let reel = with_gaps(dir.path());
    let told = one_by_one(&reel);
    assert_eq!(told.len(), 3 + 8 + 4 + 2 * 8, "events, then frames twice");
    for [raw, redacted] in told {
        assert!(!raw.is_empty());
        assert_eq!(redacted, raw);
    }
}
