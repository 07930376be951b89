//! Any recording, written and read again, is the same.

use crate::cassette::cassette_session::record;
use crate::cassette::taken;
use crate::cassette::written;
use crate::support::dice::Dice;
use mcpreel_store::reader::{FindingRow, Recording};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::Seq;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

const ROUNDS: u64 = if cfg!(feature = "long-tests") {
    100
} else {
    20
};

/// Nanoseconds in the unit of a cassette.
const US: u64 = 1000;

#[test]
fn any_recording_comes_back_from_its_cassette() {
    let seed = Dice::shaken().0;
    crate::support::note(format_args!("the seed is {seed}"));
    for round in 0..ROUNDS {
        let what = format!("seed {seed}, round {round}");
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let before = record(dir.path(), &mut Dice(seed.wrapping_add(round)), US);
        let file = written(&before);
        let tape = taken(dir.path(), &file);
        assert_eq!(tape.told(), [""; 0], "{what}");
        let after = tape.reel();
        let [left, right] = opened(&before, after);
        assert_eq!(frames(&left), frames(&right), "{what}");
        assert_eq!(events(&left), events(&right), "{what}");
        assert_eq!(messages(&before), messages(after), "{what}");
        assert_eq!(exchanges(&left), exchanges(&right), "{what}");
        assert_eq!(findings(&left), findings(&right), "{what}");
        assert_eq!(whole(&left), whole(&right), "{what}");
        // Nothing in the file would be another one the next time.
        assert!(written(after) == file, "{what}");
    }
}

fn opened(before: &Path, after: &Path) -> [Recording; 2] {
    [before, after].map(|path| Recording::open(path).expect("it can be read"))
}

type Frame = (Seq, u32, u64, u64, u64, Vec<u8>);

fn frames(recording: &Recording) -> Vec<Frame> {
    let (mut frames, mut after) = (Vec::new(), Seq(0));
    loop {
        let heads = recording.heads(after, 1000).expect("they can be read");
        let Some(last) = heads.last() else {
            return frames;
        };
        after = last.seq;
        for head in heads {
            let raw = recording.raw(head.seq).expect("it can be read");
            let (first, last) = (head.t_first.0 / US, head.t_last.0 / US);
            frames.push((head.seq, head.stream.0, head.offset, first, last, raw));
        }
    }
}

fn events(recording: &Recording) -> Vec<(u64, u64, EventKind)> {
    let rows = recording.events(0).expect("they can be read");
    let events = rows.into_iter().map(|row| row.event);
    let events = events.map(|event| {
        let kind = match event.kind {
            EventKind::Start(context) => EventKind::Start(Box::new(ProcessContext {
                recording: String::new(),
                origin: String::new(),
                wall_ns: 0,
                mcpreel: String::new(),
                ..*context
            })),
            kind => kind,
        };
        (event.t.0 / US, event.after_seq.0, kind)
    });
    events.collect()
}

/// The rows of all messages; there is no time in them.
fn messages(reel: &Path) -> Vec<Vec<Value>> {
    let conn = Connection::open_with_flags(reel, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let conn = conn.expect("it is a database");
    let mut statement = conn
        .prepare("SELECT * FROM message ORDER BY frame, part")
        .expect("the table is there");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
    rows.and_then(Iterator::collect).expect("they can be read")
}

fn exchanges(recording: &Recording) -> Vec<String> {
    let mut exchanges = Vec::new();
    let visited = recording.each_exchange(|exchange| exchanges.push(format!("{exchange:?}")));
    visited.expect("they can be read");
    exchanges
}

/// What was found, without the sentences, which may tell times.
fn findings(recording: &Recording) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page: Vec<FindingRow> = recording.findings(after).expect("they can be read");
        let Some(last) = page.last() else {
            return found;
        };
        after = last.id;
        found.extend(page.iter().map(|row| {
            format!(
                "{} {} {:?} {:?} {:?} {:?}",
                row.rule, row.severity, row.frame, row.exchange, row.path, row.related
            )
        }));
    }
}

/// The session as a whole.
fn whole(recording: &Recording) -> impl std::fmt::Debug + PartialEq {
    let summary = recording.summary().expect("it can be read");
    (
        summary.name,
        summary.state,
        (summary.frames, summary.bytes, summary.gap_bytes),
        summary.t_last_ns / US,
        (summary.failed, summary.slow_ns),
        (summary.session.phase, summary.session.ends.c2s.is_some()),
    )
}
