//! The worker's side of the list on a session that goes on.

use super::*;
use crate::worker::{self, Growth, Progress, Source};
use crate::written::{Session, bytes, drain};
use mcpreel_store::indexer::Indexer;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};

/// A session with its recording, as far as it has come.
struct Live {
    session: Session,
    indexer: Indexer,
    recording: Option<(Recording, Summary)>,
    _dir: tempfile::TempDir,
}

impl Live {
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::start(dir.path(), "weather", 1);
        let indexer = session.indexer();
        Self {
            session,
            indexer,
            recording: None,
            _dir: dir,
        }
    }

    fn says(&mut self, stream: StreamId, line: &str) {
        self.session.chunk(stream, format!("{line}\n").as_bytes());
        drain(&mut self.indexer, &bytes(u64::MAX));
    }

    fn call(&mut self, id: u32) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#
        );
        self.says(StreamId::C2S, &line);
    }

    fn answer(&mut self, id: u32) {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        self.says(StreamId::S2C, &line);
    }

    /// The recording as it stands now.
    fn source(&mut self) -> Source<'_> {
        let recording = Recording::open(&self.session.reel).unwrap();
        let summary = recording.summary().unwrap();
        let (recording, summary) = &*self.recording.insert((recording, summary));
        Source {
            recording,
            path: &self.session.reel,
            summary,
            is_live: false,
            clock: Clock::start(),
        }
    }

    /// Steps the job until it is done: what it has found, put together.
    fn run(&mut self, job: &mut dyn worker::Job) -> Answer {
        let source = self.source();
        let mut answers = Vec::new();
        while job.step(&source, &mut answers).unwrap() == Progress::More {}
        let mut all = Answer::default();
        for answer in answers {
            let worker::Answer::List(found) = answer else {
                panic!("{answer:?}");
            };
            all.older.extend(found.older);
            all.newer.extend(found.newer);
            all.begin.extend(found.begin);
            all.cease.extend(found.cease);
            all.touched.extend(found.touched);
            all.done = found.done;
            all.total = found.total.or(all.total);
            all.usual = found.usual.or(all.usual);
        }
        all
    }
}

fn ask(filter: &str) -> Ask {
    Ask {
        generation: 1,
        lens: Lens::Exchanges,
        query: Query::parse(filter).unwrap(),
        stopped: None,
    }
}

const GROWTH: Growth = Growth {
    after: Seq(0),
    last: Seq(0),
    ended: false,
};

fn seqs(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.key.seq.0).collect()
}

#[test]
fn exchanges_begin_and_cease_to_fit_as_they_are_answered() {
    let mut live = Live::start();
    live.call(1);
    live.call(2);
    let (mut open, mut fine) = (ask("is:open").job(), ask("status:ok").job());
    let found = live.run(&mut *open);
    assert_eq!(seqs(&found.older), [2, 1]);
    assert!(found.done);
    assert!(live.run(&mut *fine).older.is_empty());

    live.answer(1);
    live.call(3);
    assert!(open.grown(&GROWTH) && fine.grown(&GROWTH));
    let found = live.run(&mut *open);
    assert_eq!(found.cease, [ItemKey::of_part(Seq(1), 0)]);
    assert_eq!(seqs(&found.newer), [4]);
    assert_eq!(found.total, Some(4));
    let found = live.run(&mut *fine);
    assert_eq!(seqs(&found.begin), [1]);
    assert!(found.usual.unwrap().contains_key("tools/call"));
}

#[test]
fn a_frame_is_found_in_the_row_of_its_request() {
    let mut live = Live::start();
    live.call(1);
    live.answer(1);
    let source = live.source();
    for (lens, row) in [(Lens::Exchanges, 1), (Lens::Wire, 2)] {
        let mut job = Rows {
            lens,
            find: Some(Seq(2)),
            ..Rows::default()
        }
        .job();
        let mut answers = Vec::new();
        job.step(&source, &mut answers).unwrap();
        let Some(worker::Answer::Rows(answer)) = answers.pop() else {
            panic!("{answers:?}");
        };
        assert_eq!(answer.found, Some((Seq(2), ItemKey::of_part(Seq(row), 0))));
    }
}

#[test]
fn what_would_fit_is_the_filter_without_what_hides_everything() {
    let mut live = Live::start();
    live.call(1);
    live.call(2);
    let mut job = Hints::Relax {
        generation: 7,
        lens: Lens::Exchanges,
        query: Query::parse("tool:t latency>5s").unwrap(),
    }
    .job();
    let source = live.source();
    let mut answers = Vec::new();
    while job.step(&source, &mut answers).unwrap() == Progress::More {}
    let Some(worker::Answer::Hints(HintsAnswer::Relaxed { generation, fits })) = answers.pop()
    else {
        panic!("{answers:?}");
    };
    let (query, count, more) = fits.unwrap();
    assert_eq!((generation, count, more), (7, 2, false));
    assert_eq!(query.to_string(), "tool:t");
}
