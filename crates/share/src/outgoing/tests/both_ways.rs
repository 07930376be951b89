//! A redacted recording is the same whether all of it is recorded again, or only what is replaced
//! is written anew: every row of every table.

mod by_hand;
mod corpus;
mod told;

use super::{TOKEN, order};
use crate::outgoing::copying::Copying;
use crate::outgoing::redacted::altered::altered;
use crate::outgoing::redacted::look;
use crate::outgoing::redacted::made::made;
use crate::outgoing::{Format, learn};
use mcpreel_store::altered::{Derived, Rest};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;
use told::{Place, Step, steps, told};

/// A password that is known by its name.
const PASSWORD: &str = "wandering-heron-42x";

const PIN: &str = "482137";

/// Those that are made of more than frames and events.
const FORMATS: [Format; 6] = [
    Format::Text,
    Format::Csv,
    Format::Markdown,
    Format::Html,
    Format::Otlp,
    Format::Perfetto,
];

const SECRETS: [&str; 3] = [TOKEN, PASSWORD, PIN];

/// Everything that stands in a recording; where its journal was, and when somebody wrote a note,
/// has nothing to do with it.
const TABLES: [&str; 10] = [
    "SELECT * FROM format",
    "SELECT id, name, state, origin, parent, wall_ns, transport, context, slow_ns, redaction, note,
        frames, bytes, gap_bytes, t_last FROM recording",
    "SELECT derived_version, messages, exchanges, failed, open, findings, session FROM recording",
    "SELECT * FROM stream ORDER BY id",
    "SELECT * FROM frame ORDER BY seq",
    "SELECT * FROM event ORDER BY id",
    "SELECT frame, mark, note FROM annotation ORDER BY frame",
    "SELECT * FROM message ORDER BY frame, part",
    "SELECT * FROM exchange ORDER BY id",
    "SELECT * FROM finding ORDER BY id",
];
const LINES: &str = "SELECT * FROM line ORDER BY frame";

type Rows = Vec<(&'static str, Vec<Vec<Value>>)>;

fn rows(file: &Path) -> Rows {
    let conn = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let of = |sql: &'static str| {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        (sql, rows.unwrap().collect::<Result<_, _>>().unwrap())
    };
    TABLES.into_iter().chain([LINES]).map(of).collect()
}

fn difference(one: &Rows, other: &Rows) -> Option<String> {
    one.iter().zip(other).find_map(|((sql, one), (_, other))| {
        let most = one.len().max(other.len());
        let differs = (0..most).find(|&at| one.get(at) != other.get(at))?;
        let (one, other) = (one.get(differs), other.get(differs));
        Some(format!("{sql}\n{one:?}\n{other:?}"))
    })
}

/// Makes the redacted recording both ways, and says how what is derived came to it; `None` where
/// something is missing in it.
fn made_both_ways(reel: &Path, secrets: &[&str]) -> Result<Option<Derived>, TestCaseError> {
    let recording = Recording::open(reel).unwrap();
    let all = super::Selection::default();
    let policy = order(&all, Format::Recording, false).policy.unwrap();
    let mut redacting = learn(&recording, &policy, &mut |_| Ok(())).unwrap();
    let summary = look(&mut redacting, &all, &mut |_| Ok(())).unwrap();
    let Some(whole) = redacting.whole() else {
        return Ok(None);
    };
    let mut altered = |rest| {
        let copying = Copying::start(whole, rest).unwrap();
        altered(copying, &mut redacting, &summary, &mut |_| Ok(())).unwrap()
    };
    let (quick, derived) = altered(Rest::Copied);
    let (over, also_derived) = altered(Rest::There);
    prop_assert_eq!(derived, also_derived);
    is_read_the_same(&quick, &over, derived)?;
    let (slow, _) = made(&mut redacting, &all, &summary, &mut |_| Ok(())).unwrap();
    let differs = difference(&rows(slow.file()), &rows(quick.file()));
    prop_assert!(differs.is_none(), "{derived:?} {}", differs.unwrap());
    for (way, recording) in [("quick", &quick), ("over", &over), ("slow", &slow)] {
        let bytes = std::fs::read(recording.file()).unwrap();
        for secret in secrets {
            let is_there = memchr::memmem::find(&bytes, secret.as_bytes()).is_some();
            prop_assert!(
                !is_there,
                "{way}: {secret} is left of {:?}",
                kept(recording, secret)
            );
        }
    }
    Ok(Some(derived))
}

/// Whether a copy is read like another one, `over` the recording that has most of its frames.
fn is_read_the_same(
    copy: &Recording,
    over: &Recording,
    derived: Derived,
) -> Result<(), TestCaseError> {
    if derived == Derived::Anew {
        let differs = difference(&rows(copy.file()), &rows(over.file()));
        prop_assert!(differs.is_none(), "{}", differs.unwrap());
    }
    let all = super::Selection::default();
    let mut heads = copy.heads(Seq(0), u32::MAX).unwrap();
    // One of them each time: all take long.
    for format in FORMATS
        .into_iter()
        .skip(heads.len() % FORMATS.len())
        .take(1)
    {
        let exported = |recording| {
            let mut out = Vec::new();
            super::raw(recording, &order(&all, format, true), &mut out, &mut |_| {
                Ok(())
            })
            .unwrap();
            String::from_utf8_lossy(&out).into_owned()
        };
        prop_assert_eq!(exported(copy), exported(over), "{:?}", format);
    }
    let (mut frames, other) = (0, over.another().unwrap());
    for head in heads.drain(..) {
        let bytes = copy.raw(head.seq).unwrap();
        prop_assert_eq!(&bytes, &over.raw(head.seq).unwrap());
        prop_assert_eq!(&bytes, &other.raw(head.seq).unwrap());
        prop_assert_eq!(bytes, over.piece(head.seq, 0..u64::MAX).unwrap());
        prop_assert_eq!(
            Some(head.size),
            over.head(head.seq).unwrap().map(|head| head.size)
        );
        frames += 1;
    }
    prop_assert_eq!(over.heads(Seq(0), u32::MAX).unwrap().len(), frames);
    Ok(())
}

fn kept(recording: &Recording, secret: &str) -> Vec<String> {
    let rows = rows(recording.file()).into_iter();
    let rows = rows
        .flat_map(|(_, rows)| rows)
        .map(|row| format!("{row:?}"));
    rows.filter(|row| row.contains(secret)).collect()
}

#[test]
fn any_session_is_the_same_both_ways() {
    let mut ways = BTreeMap::new();
    let mut runner = TestRunner::new(Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    });
    let ways_of = std::cell::RefCell::new(&mut ways);
    let run = runner.run(&steps(), |steps| {
        let dir = tempfile::tempdir().unwrap();
        let derived = made_both_ways(&told(dir.path(), &steps), &SECRETS)?;
        *ways_of
            .borrow_mut()
            .entry(format!("{derived:?}"))
            .or_insert(0) += 1;
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    for way in [Derived::Copied, Derived::Anew] {
        let times = ways.get(&format!("{:?}", Some(way)));
        assert!(times.is_some_and(|times| *times > 3), "{ways:?}");
    }
}

/// How what is derived of a session came to its redacted recording.
fn way(steps: &[Step]) -> Option<Derived> {
    let dir = tempfile::tempdir().unwrap();
    made_both_ways(&told(dir.path(), steps), &SECRETS).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn where_calls_say_something_secret_the_rest_is_copied() {
    for place in [
        Place::Argument,
        Place::Password,
        Place::Answer,
        Place::Structured,
        Place::Long,
    ] {
        let steps = [Step::Plain(50), Step::Secret(place, 3), Step::Plain(50)];
        assert_eq!(way(&steps), Some(Derived::Copied), "{place:?}");
    }
    for step in [
        Step::Plain(50),
        Step::Log(true),
        Step::Stderr(true),
        Step::List(true),
    ] {
        let steps = [Step::Plain(50), step, Step::Plain(50)];
        assert_eq!(way(&steps), Some(Derived::Copied), "{step:?}");
    }
}

#[test]
fn where_something_else_follows_from_it_nothing_is() {
    // A number becomes a text, a text has letters that the tool does not allow, a name is another.
    for (place, tool) in [
        (Place::Number, 1),
        (Place::Structured, 0),
        (Place::Name, 0),
        (Place::Id, 0),
        (Place::Progress, 1),
    ] {
        let steps = [Step::Plain(50), Step::Secret(place, tool), Step::Plain(50)];
        assert_eq!(way(&steps), Some(Derived::Anew), "{place:?}");
    }
    for step in [Step::Event(true), Step::Batch(true), Step::Ask(true)] {
        let steps = [Step::Plain(50), step, Step::Plain(50)];
        assert_eq!(way(&steps), Some(Derived::Anew), "{step:?}");
    }
}
