//! A scan answers what the filter means, whatever its steps.

use super::session::{Session, busy_session, bytes, drain};
use super::traffic::{self, Act};
use crate::annotate;
use crate::reader::Recording;
use crate::select::{Context, Limit, Question, Scan, Way};
use crate::values::State;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, ItemKind, Lens, What};
use mcpreel_trace::query::{Bodies, Matcher, Query};
use mcpreel_wire::json::Document;
use proptest::prelude::*;
use std::borrow::Cow;

const CONTEXT: Context = Context {
    end: Moment(120_000),
    slow_ns: 4_000,
};

fn finished(session: &mut Session) -> Recording {
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(3000));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);
    Recording::open(&session.reel).unwrap()
}

fn limit(hits: usize, nanos: u64) -> Limit {
    Limit {
        hits,
        nanos,
        clock: Clock::start(),
    }
}

/// All addresses that a scan finds, in ascending order.
fn scanned(recording: &Recording, question: &Question, way: Way, limit: &Limit) -> Vec<ItemKey> {
    let mut scan = Scan::new(question, way, None, CONTEXT);
    let mut keys = Vec::new();
    loop {
        let step = scan.step(recording, limit).unwrap();
        assert!(step.hits.len() <= limit.hits);
        keys.extend(step.hits.iter().map(|hit| hit.key));
        if step.done {
            break;
        }
        // Whoever goes on from what was looked at finds the same.
        if keys.len() % 5 == 1 {
            scan = Scan::new(question, way, step.looked_at, CONTEXT);
        }
    }
    if way == Way::Newest {
        keys.reverse();
    }
    keys
}

fn through(lens: Lens) -> Question {
    Question {
        lens,
        ..Question::default()
    }
}

#[test]
fn a_scan_finds_every_row_once_in_order_whatever_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 40, 100);
    let recording = finished(&mut session);
    for lens in [Lens::Exchanges, Lens::Wire] {
        let question = through(lens);
        let all = limit(1000, u64::MAX);
        let forward = scanned(&recording, &question, Way::Oldest, &all);
        assert!(forward.is_sorted_by(|one, other| one < other));
        let count = |first, last| recording.count_rows(lens, Seq(first), Seq(last)).unwrap();
        assert_eq!(forward.len() as u64, count(0, u64::MAX), "{lens:?}");
        assert_eq!(forward.len() as u64, count(0, 7) + count(8, u64::MAX));
        for hits in [1, 7, 1000] {
            for way in [Way::Oldest, Way::Newest] {
                let keys = scanned(&recording, &question, way, &limit(hits, u64::MAX));
                assert_eq!(keys, forward);
            }
        }
        let items = recording.items(lens, &forward, None).unwrap();
        assert!(items.iter().map(|item| item.key).eq(forward));
    }
}

#[test]
fn a_scan_from_the_oldest_finds_what_has_come_since_it_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 40, 100);
    session.end();
    let mut indexer = session.indexer();
    let question = through(Lens::Exchanges);
    let mut scan = Scan::new(&question, Way::Oldest, None, CONTEXT);
    let mut keys = Vec::new();
    let small = bytes(200);
    let mut recording = None;
    loop {
        let caught_up = indexer.step(u64::MAX, &small).unwrap().caught_up;
        if caught_up {
            indexer.finish(State::Complete).unwrap();
            recording = None;
        }
        let recording = recording.get_or_insert_with(|| Recording::open(&session.reel).unwrap());
        loop {
            let step = scan.step(recording, &limit(5, u64::MAX)).unwrap();
            keys.extend(step.hits.iter().map(|hit| hit.key));
            if step.done {
                break;
            }
        }
        if caught_up {
            let all = scanned(recording, &question, Way::Oldest, &limit(1000, u64::MAX));
            assert_eq!(keys, all);
            return;
        }
    }
}

#[test]
fn notifications_of_one_method_and_direction_fold_and_nothing_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let acts = [
        Act::Log(0),
        Act::Log(1),
        Act::Listed,
        Act::Stderr,
        Act::Call(1, 0),
    ];
    traffic::play(&acts, &mut session);
    let recording = finished(&mut session);
    let mut scan = Scan::new(&through(Lens::Wire), Way::Oldest, None, CONTEXT);
    let mut hits = scan.step(&recording, &limit(100, u64::MAX)).unwrap().hits;
    hits.retain(|hit| hit.kind != ItemKind::Event);
    let folds: Vec<_> = hits.iter().map(|hit| hit.fold).collect();
    assert!(folds[0].is_some() && folds[0] == folds[1], "{folds:?}");
    assert!(folds[2].is_some() && folds[0] != folds[2], "{folds:?}");
    assert!(folds[3..].iter().all(Option::is_none), "{folds:?}");
}

/// The bytes of a row, by other ways than those of the scan.
struct Plain<'r> {
    recording: &'r Recording,
    item: &'r Item,
    until: Option<Seq>,
}

impl Plain<'_> {
    fn message(&self, (seq, part): (Seq, u32)) -> Option<Cow<'static, [u8]>> {
        let raw = self.recording.raw(seq).unwrap();
        let rows = self.recording.messages_of_frame(seq).unwrap();
        let row = rows.into_iter().find(|row| row.record.part == part)?;
        let span = usize::try_from(row.span.start).unwrap()..usize::try_from(row.span.end).unwrap();
        Some(raw[span].to_vec().into())
    }

    fn address(&self) -> Option<(Seq, u32)> {
        match &self.item.what {
            What::Exchange(exchange) => Some(exchange.request),
            What::Message { record, .. } => Some((record.frame, record.part)),
            What::Line { .. } | What::Event(_) => None,
        }
    }
}

impl Bodies for Plain<'_> {
    fn request(&mut self) -> Option<Cow<'_, [u8]>> {
        match &self.item.what {
            What::Line { head, .. } => Some(self.recording.raw(head.seq).unwrap().into()),
            What::Message { record, .. } if record.kind == MessageKind::Response => None,
            _ => self.message(self.address()?),
        }
    }

    fn response(&mut self) -> Option<Cow<'_, [u8]>> {
        match &self.item.what {
            What::Exchange(exchange) => self.message(exchange.response?),
            What::Message { record, .. } if record.kind == MessageKind::Response => {
                self.message(self.address()?)
            }
            _ => None,
        }
    }

    fn in_batch(&mut self) -> bool {
        let Some((seq, _)) = self.address() else {
            return false;
        };
        let raw = self.recording.raw(seq).unwrap();
        Document::parse(&raw).is_ok_and(|document| document.root().raw().starts_with(b"["))
    }

    fn waits_now(&mut self) -> bool {
        let id = self.item.exchange().unwrap().id;
        let mut waits = false;
        let until = self.until.unwrap_or(Seq(u64::MAX));
        self.recording
            .each_exchange(|exchange| {
                let exchange = match self.until {
                    Some(until) => exchange.at(until),
                    None => exchange,
                };
                waits |= exchange.parent == Some(id)
                    && exchange.request.0 <= until
                    && exchange.status == Status::Open;
            })
            .unwrap();
        waits
    }
}

/// The addresses of the rows that fit, all rows looked at one by one.
fn judged(recording: &Recording, question: &Question) -> Vec<ItemKey> {
    let all = scanned(
        recording,
        &through(question.lens),
        Way::Oldest,
        &limit(usize::MAX, u64::MAX),
    );
    let last = Seq(recording.summary().unwrap().frames);
    let until = question.until.filter(|&until| until < last);
    let items = recording
        .items(question.lens, &all, question.until)
        .unwrap();
    let matcher = Matcher::new(&question.query, CONTEXT);
    let fitting = items.iter().filter(|item| {
        let mut bodies = Plain {
            recording,
            item,
            until,
        };
        matcher.fits(item, &mut bodies)
    });
    fitting.map(|item| item.key).collect()
}

fn annotated(dir: &std::path::Path, acts: &[Act], marks: &[(u64, u8)]) -> Recording {
    let mut session = Session::start(dir, "weather", 1);
    traffic::play(acts, &mut session);
    drop(finished(&mut session));
    for &(seq, what) in marks {
        // A frame that there is not cannot be annotated.
        let _ = match what {
            0 => annotate::set_mark(&session.reel, Seq(seq), Some("")),
            1 => annotate::set_mark(&session.reel, Seq(seq), Some("Später")),
            _ => annotate::set_note(&session.reel, Some(Seq(seq)), Some("look At this")),
        };
    }
    Recording::open(&session.reel).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_scan_finds_exactly_the_rows_that_fit(
        acts in proptest::collection::vec(traffic::act(), 1..60),
        marks in proptest::collection::vec((1_u64..40, 0_u8..3), 0..4),
        filters in proptest::collection::vec(traffic::filter(), 24),
        until in proptest::option::weighted(0.5, 0_u64..15),
        (hits, nanos) in (1_usize..20, prop_oneof![Just(0), Just(u64::MAX)]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let recording = annotated(dir.path(), &acts, &marks);
        for (nth, filter) in filters.iter().enumerate() {
            let query = Query::parse(filter)
                .unwrap_or_else(|error| panic!("{filter}: {error}"));
            let lens = if nth % 2 == 0 { Lens::Exchanges } else { Lens::Wire };
            let question = Question { lens, query, until: until.map(Seq) };
            let expected = judged(&recording, &question);
            for way in [Way::Oldest, Way::Newest] {
                let found = scanned(&recording, &question, way, &limit(hits, nanos));
                prop_assert_eq!(&found, &expected, "{} {:?} {:?}", filter, lens, way);
            }
            let all = scanned(
                &recording,
                &through(lens),
                Way::Oldest,
                &limit(usize::MAX, u64::MAX),
            );
            let fitting = recording.fitting(&question, CONTEXT, &all).unwrap();
            prop_assert_eq!(&fitting, &expected, "{} {:?}", filter, lens);
        }
    }
}
