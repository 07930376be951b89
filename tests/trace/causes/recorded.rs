//! A case as a recording: written as a recorder writes it, indexed, and read back.

use crate::handshake::Start;
use crate::told::{Row, When, bytes as bytes_of, event, stream_id};
use crate::wire;
use crate::written::{Session, bytes, context, drain};
use mcpreel_lint::cause::Facts;
use mcpreel_store::indexer::Indexer;
use mcpreel_store::reader::Recording;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext, ProcessName};
use serde::Deserialize;

const MS: u64 = 1_000_000;

/// A session, told in rows.
#[derive(Deserialize)]
pub struct Case {
    pub about: String,
    #[serde(flatten)]
    pub start: Start,
    #[serde(default)]
    context: Known,
    #[serde(default)]
    record: Vec<Row>,
    /// What real peers sent in place of a record: a file in `tests/net/wire`.
    wire: Option<String>,
    /// Connections told by hand: see `support/wire.rs`.
    http: Option<String>,
    #[serde(default)]
    live: bool,
    #[serde(default)]
    now: u64,
}

/// What the recorder knew at its start.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Known {
    argv: Vec<String>,
    executable: Option<String>,
    cwd: Option<String>,
    path: Option<String>,
    host: String,
    origin: Option<String>,
    other_side: Option<String>,
    stderr_in_stdout: bool,
}

impl Known {
    fn context(&self) -> ProcessContext {
        let usual = context("told", 7);
        ProcessContext {
            origin: self.origin.clone().unwrap_or_else(|| usual.origin.clone()),
            other_side: self.other_side.clone(),
            stderr_in_stdout: self.stderr_in_stdout,
            argv: self.argv.clone(),
            executable: self.executable.clone(),
            cwd: self.cwd.clone(),
            path: self.path.clone(),
            host: ProcessName {
                name: self.host.clone(),
                ..ProcessName::default()
            },
            ..usual
        }
    }
}

impl Case {
    /// What is known of its recording.
    pub fn facts(&self) -> Facts {
        let dir = tempfile::tempdir().unwrap();
        if let Some(name) = &self.wire {
            let recording = wire::recording(dir.path(), &wire::file(name));
            return recording.facts(None).unwrap();
        }
        let now = self.live.then_some(Moment(self.now * MS));
        if let Some(http) = &self.http {
            let session = wire::tell(dir.path(), http);
            let recording = match now {
                Some(_) => wire::indexed_live(&session),
                None => wire::indexed(session),
            };
            return recording.facts(now).unwrap();
        }
        let mut session = Session::begin(&dir.path().join("told.reel"), self.context.context());
        let mut indexer = session.indexer();
        let mut last = 0;
        for row in self.start.rows() {
            last = tell(&mut session, &row);
        }
        for row in &self.record {
            last = tell(&mut session, &self.start.completed(row));
        }
        if now.is_none() {
            self.end(&mut session, last);
        }
        drain(&mut indexer, &bytes(u64::MAX));
        read(session, indexer, now)
    }

    fn end(&self, session: &mut Session, last: u64) {
        let is_end = |(_, stream, what): &&Row| {
            let ends = ["exit ", "spawn-failed", "unknown"];
            stream == "event" && ends.iter().any(|it| what.contains(it))
        };
        if self.record.iter().any(|row| is_end(&row)) {
            return;
        }
        for what in ["eof c2s writer", "eof s2c writer", "exit 0"] {
            tell(
                session,
                &(When::At(last + 1), "event".to_owned(), what.to_owned()),
            );
        }
    }
}

fn read(session: Session, mut indexer: Indexer, now: Option<Moment>) -> Facts {
    let reel = session.reel.clone();
    if now.is_none() {
        indexer.finish(State::Complete).unwrap();
        indexer.release_spool().unwrap();
    }
    let facts = Recording::open(&reel).unwrap().facts(now).unwrap();
    drop(session);
    facts
}

/// Tells one row; when it ended, milliseconds.
fn tell(session: &mut Session, (when, stream, what): &Row) -> u64 {
    let (first, last) = match *when {
        When::At(t) => (t, t),
        When::FromTo(first, last) => (first, last),
    };
    if stream == "event" {
        if what == "unknown" {
            return last;
        }
        session.at(last * MS);
        let event = event(what);
        session.event(&event);
        if matches!(
            event,
            EventKind::Exit { .. } | EventKind::SpawnFailed { .. }
        ) {
            session.status(Some(event), None);
        }
        return last;
    }
    let what = what.strip_prefix("lose ").map_or(what.as_str(), |bytes| {
        session.lose(stream_id(stream), bytes.parse().unwrap());
        ""
    });
    if what.is_empty() {
        return last;
    }
    let raw = bytes_of(what);
    session.at(first * MS);
    for (at, piece) in raw.chunks(60_000).enumerate() {
        if at > 0 {
            session.at(last * MS);
        }
        session.chunk(stream_id(stream), piece);
    }
    last
}
