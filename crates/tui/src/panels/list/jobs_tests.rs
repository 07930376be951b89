//! The jobs of the list on a session that goes on.

use super::*;
use crate::app::{Session as Open, Settings, Viewer};
use crate::effect::Now;
use crate::panels::filter::Relaxed;
use crate::panels::filter::typed::Relaxing;
use crate::worker::{Growth, Progress, Source};
use crate::written::{Session, bytes, drain};
use mcpreel_store::indexer::Indexer;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};
use std::path::Path;

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
            is_stopped: &|| false,
        }
    }

    /// Steps the job until it is done, and hands on what it finds.
    fn run<J: Job>(&mut self, job: &mut J, mut take: impl FnMut(J::Found)) {
        let source = self.source();
        loop {
            let (progress, found) = job.step(&source).unwrap();
            found.map(&mut take);
            if progress == Progress::Done {
                return;
            }
        }
    }
}

fn viewer() -> Viewer {
    let folder = Library::new("/nonexistent");
    let mut viewer = Viewer::new(&folder, Settings::default(), (100, 30), Now::default());
    viewer.session = Some(Box::new(Open::new(Path::new("/nonexistent/x.reel"))));
    viewer
}

fn show(viewer: &mut Viewer) -> impl FnMut(Found) {
    |found| {
        let (app, session) = viewer.parts().unwrap();
        crate::panels::list::found(app, session, found);
    }
}

fn scan(filter: &str) -> Scanning {
    Scanning::new(Lens::Exchanges, Query::parse(filter).unwrap(), None)
}

const GROWTH: Growth = Growth {
    after: Seq(0),
    last: Seq(0),
    ended: false,
};

fn seqs(viewer: &Viewer) -> Vec<u64> {
    let list = &viewer.session.as_deref().unwrap().list;
    let rows = list.index.rows(0, usize::MAX);
    rows.map(|row| row.key().seq.0).collect()
}

#[test]
fn exchanges_begin_and_cease_to_fit_as_they_are_answered() {
    let (mut live, mut shows_open, mut shows_fine) = (Live::start(), viewer(), viewer());
    live.call(1);
    live.call(2);
    let (mut open, mut fine) = (scan("is:open"), scan("status:ok"));
    live.run(&mut open, show(&mut shows_open));
    live.run(&mut fine, show(&mut shows_fine));
    assert_eq!((seqs(&shows_open), seqs(&shows_fine)), (vec![1, 2], vec![]));

    live.answer(1);
    live.call(3);
    assert!(open.grown(&GROWTH) && fine.grown(&GROWTH));
    live.run(&mut open, show(&mut shows_open));
    live.run(&mut fine, show(&mut shows_fine));
    assert_eq!(
        (seqs(&shows_open), seqs(&shows_fine)),
        (vec![2, 4], vec![1])
    );
    let list = &shows_fine.session.as_deref().unwrap().list;
    assert_eq!(list.scan.total, Some(4));
}

#[test]
fn what_would_fit_is_the_filter_without_what_hides_everything() {
    let mut live = Live::start();
    live.call(1);
    live.call(2);
    let query = Query::parse("tool:t latency>5s").unwrap();
    let mut found = None;
    let mut job = Relaxing::new(Lens::Exchanges, &query);
    live.run(&mut job, |relaxed| found = Some(relaxed));
    let fits = Query::parse("tool:t").unwrap();
    assert_eq!(found, Some(Relaxed::Fits(fits)));
}
