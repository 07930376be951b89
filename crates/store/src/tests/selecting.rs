//! A scan answers what the filter means, whatever its steps.

use super::conversation::Conversation;
use super::dice::Dice;
use super::written_session::{Session, busy_session, bytes, drain};
use crate::annotate;
use crate::reader::Recording;
use crate::schema::State;
use crate::select::{Context, Question, Scan, Way};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;

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

/// All addresses that a scan finds, in ascending order.
fn scanned(
    recording: &Recording,
    question: &Question,
    way: Way,
    limit: (usize, u64),
) -> Vec<ItemKey> {
    let (hits, nanos) = limit;
    let clock = Clock::start();
    let mut scan = Scan::new(question, way, None, CONTEXT);
    let mut keys = Vec::new();
    loop {
        let step = scan.step(recording, hits, clock.deadline(nanos)).unwrap();
        assert!(step.hits.len() <= hits);
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
    Question::new(lens, Query::default())
}

#[test]
fn a_scan_finds_every_row_once_in_order_whatever_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 40, 100);
    let recording = finished(&mut session);
    for lens in [Lens::Exchanges, Lens::Wire] {
        let question = through(lens);
        let all = (1000, u64::MAX);
        let forward = scanned(&recording, &question, Way::Oldest, all);
        assert!(forward.is_sorted_by(|one, other| one < other));
        let count = |first, last| recording.count_rows(lens, Seq(first), Seq(last)).unwrap();
        assert_eq!(forward.len() as u64, count(0, u64::MAX), "{lens:?}");
        assert_eq!(forward.len() as u64, count(0, 7) + count(8, u64::MAX));
        for hits in [1, 7, 1000] {
            for way in [Way::Oldest, Way::Newest] {
                let keys = scanned(&recording, &question, way, (hits, u64::MAX));
                assert_eq!(keys, forward);
            }
        }
        let items = recording.items(lens, &forward).unwrap();
        assert!(items.iter().map(|item| item.key).eq(forward));
    }
}

/// A call that failed, with a line on stderr meanwhile, and what a person wrote on it.
fn one_call(dir: &std::path::Path) -> Recording {
    let mut session = Session::start(dir, "weather", 1);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"Rust \"async\"\nnow","n":7,"big":9007199254740993,"on":true,"none":null,"s":"7"},"_meta":{"progressToken":"t7","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}"#;
    let image = "SU1BR0Ux".repeat(40);
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"caf\u00e9"}},{{"type":"image","n":3,"data":"{image}"}}],"isError":true}}}}"#
    );
    session.set_clock(724_000_000_000);
    session.chunk(StreamId::C2S, format!("{call}\n").as_bytes());
    session.chunk(StreamId::STDERR, b"Panicked \"here\"\n");
    session.at(724_842_000_000);
    session.chunk(StreamId::S2C, format!("{answer}\n").as_bytes());
    drop(finished(&mut session));
    annotate::set_mark(&session.reel, Seq(1), Some("")).unwrap();
    annotate::set_note(&session.reel, Some(Seq(1)), Some("look here")).unwrap();
    Recording::open(&session.reel).unwrap()
}

/// Which of the rows of a lens fit: their kinds.
fn kinds(recording: &Recording, lens: Lens, filter: &str) -> Vec<&'static str> {
    let query = Query::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let question = Question {
        lens,
        query,
        until: None,
    };
    let context = Context {
        end: Moment(1_000_000_000_000),
        slow_ns: 1_000_000_000,
    };
    let mut scan = Scan::new(&question, Way::Oldest, None, context);
    let step = scan
        .step(recording, 100, Clock::start().deadline(u64::MAX))
        .unwrap();
    step.hits.iter().map(|hit| hit.kind.as_str()).collect()
}

/// Filters, and whether the call fits them.
pub fn filters() -> impl Iterator<Item = (&'static str, bool)> {
    let rows = include_str!("filters.txt").lines();
    rows.filter_map(|row| match row.split_at(2) {
        ("+ ", filter) => Some((filter, true)),
        ("- ", filter) => Some((filter, false)),
        _ => None,
    })
}

#[test]
fn a_filter_finds_what_it_means() {
    let dir = tempfile::tempdir().unwrap();
    let recording = one_call(dir.path());
    let fits = |filter: &str| kinds(&recording, Lens::Exchanges, filter).contains(&"request");
    for (filter, expected) in filters() {
        assert_eq!(fits(filter), expected, "{filter}");
        let denial = format!("NOT ({filter})");
        assert_eq!(fits(&denial), !expected, "{denial}");
    }
    let found = |lens, filter| kinds(&recording, lens, filter);
    assert_eq!(found(Lens::Wire, "is:failed"), ["request", "response"]);
    assert_eq!(found(Lens::Wire, "tool:docs kind:response"), ["response"]);
    assert_eq!(found(Lens::Wire, "café"), ["response"]);
    let line = r#"panicked "\"here\"" -has:dir size:16 stream:stderr"#;
    assert_eq!(found(Lens::Exchanges, line), ["stderr"]);
    assert_eq!(found(Lens::Wire, "kind:event exit"), ["event"]);
    let many = (0..400).map(|n| format!("-x{n}y")).collect::<Vec<_>>();
    assert!(fits(&many.join(" ")), "however many terms it has");
}

#[test]
fn every_row_fits_a_filter_or_its_denial_whatever_the_steps() {
    for (seed, hits) in [(1, 1), (2, 7), (Dice::shaken().0, 20)] {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        let said = Conversation::wild(seed).take(40);
        for line in said.chain(Conversation::tame(seed).take(20)) {
            session.at(line.t);
            session.chunk(line.stream, &line.bytes);
        }
        let recording = finished(&mut session);
        for (nth, (filter, _)) in filters().enumerate() {
            let lens = [Lens::Exchanges, Lens::Wire][nth % 2];
            let [all, asked, denied] = ["", filter, &format!("NOT ({filter})")].map(|filter| {
                let query = Query::parse(filter).unwrap();
                let until = (nth % 3 == 0).then_some(Seq(30));
                Question { lens, query, until }
            });
            let small = (hits, u64::from(nth % 5 == 0) * u64::MAX);
            let fitting = scanned(&recording, &asked, Way::Oldest, small);
            assert_eq!(fitting, scanned(&recording, &asked, Way::Newest, small));
            let mut both = scanned(&recording, &denied, Way::Oldest, small);
            both.extend(&fitting);
            both.sort_unstable();
            let all = scanned(&recording, &all, Way::Oldest, (usize::MAX, u64::MAX));
            assert_eq!(both, all, "{filter} {lens:?} {seed}");
            let again = recording.fitting(&asked, CONTEXT, &all).unwrap();
            assert_eq!(again, fitting, "{filter} {lens:?} {seed}");
        }
    }
}
