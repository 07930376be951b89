use super::session::{Session, busy_session, bytes, drain};
use crate::store::reader::Recording;
use crate::store::select::{Context, Limit, Question, Scan, Way};
use crate::store::values::State;
use crate::trace::clock::{Clock, Moment};
use crate::trace::item::{ItemKey, Lens};

fn busy(dir: &std::path::Path) -> Recording {
    let mut session = Session::start(dir, "weather", 1);
    busy_session(&mut session, 40, 100);
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(1000));
    indexer.finish(State::Complete).unwrap();
    drop(indexer);
    Recording::open(&session.reel).unwrap()
}

const CONTEXT: Context = Context {
    end: Moment(0),
    slow_ns: 1_000_000_000,
};

fn scanned(recording: &Recording, lens: Lens, way: Way, hits: usize) -> Vec<ItemKey> {
    let question = Question {
        lens,
        ..Question::default()
    };
    let limit = Limit {
        hits,
        nanos: u64::MAX,
        clock: Clock::start(),
    };
    let mut scan = Scan::new(&question, way, None, CONTEXT);
    let mut keys = Vec::new();
    loop {
        let step = scan.step(recording, &limit).unwrap();
        assert!(step.hits.len() <= hits);
        keys.extend(step.hits.iter().map(|hit| hit.key));
        if step.done {
            return keys;
        }
    }
}

#[test]
fn a_scan_finds_every_row_once_in_order_whatever_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let recording = busy(dir.path());
    for lens in [Lens::Exchanges, Lens::Wire] {
        let forward = scanned(&recording, lens, Way::Oldest, 1000);
        assert!(forward.is_sorted_by(|one, other| one < other));
        assert_eq!(
            forward.len() as u64,
            recording.total(lens, None).unwrap(),
            "{lens:?}"
        );
        for hits in [1, 7, 1000] {
            assert_eq!(scanned(&recording, lens, Way::Oldest, hits), forward);
            let mut backward = scanned(&recording, lens, Way::Newest, hits);
            backward.reverse();
            assert_eq!(backward, forward);
        }
        let items = recording.items(lens, &forward, None).unwrap();
        assert_eq!(items.len(), forward.len());
        assert!(items.iter().map(|item| item.key).eq(forward));
    }
}
