//! Requests of which nobody waits for the answer any longer, because too many are open.

use super::written_session::*;
use crate::follow::{Change, Tail};
use crate::reader::Recording;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::frame::{Seq, StreamId};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// As many are open at once, and then so many that not all can be followed.
const OPEN: u64 = 2500;
const ALL: u64 = 6000;

fn ask(session: &mut Session, ids: RangeInclusive<u64>) {
    let mut lines = String::new();
    for id in ids {
        writeln!(lines, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
    }
    for piece in lines.as_bytes().chunks(8000) {
        session.chunk(StreamId::C2S, piece);
    }
}

fn follow(tail: &mut Tail, statuses: &mut BTreeMap<ExchangeId, Status>) {
    while let Change::Changed(news) = tail.poll().unwrap() {
        let exchanges = news.exchanges.into_iter();
        statuses.extend(exchanges.map(|exchange| (exchange.id, exchange.status)));
    }
}

fn statuses_of(recording: &Recording) -> BTreeMap<ExchangeId, Status> {
    let mut all = BTreeMap::new();
    let take = |exchange: mcpreel_trace::exchange::Exchange| {
        all.insert(exchange.id, exchange.status);
    };
    recording.each_exchange(take).unwrap();
    all
}

#[test]
fn whoever_follows_hears_of_it_when_it_happens() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    let mut indexer = session.indexer();
    let (mut tail, mut told) = (Tail::new(&session.reel), BTreeMap::new());
    ask(&mut session, 1..=OPEN);
    drain(&mut indexer, &bytes(u64::MAX));
    follow(&mut tail, &mut told);
    assert!(told.len() as u64 == OPEN && told.values().all(|it| *it == Status::Open));
    ask(&mut session, OPEN + 1..=ALL);
    drain(&mut indexer, &bytes(u64::MAX));
    follow(&mut tail, &mut told);
    let recording = Recording::open(&session.reel).unwrap();
    let known = statuses_of(&recording);
    assert_eq!(told, known);
    let is_given_up = |id: &ExchangeId| known[id] == Status::GivenUp;
    let given_up: Vec<_> = known.keys().copied().filter(is_given_up).collect();
    assert!(given_up.len() > 1000, "{}", given_up.len());
    assert_eq!(recording.given_up_count().unwrap(), given_up.len() as u64);
    let summary = recording.summary().unwrap();
    assert_eq!(summary.open, ALL - given_up.len() as u64);
    assert_eq!(summary.failed, 0);
    let touched = recording.exchanges_touched(Seq(OPEN)).unwrap();
    let touched: BTreeMap<_, _> = touched.into_iter().collect();
    let missing = given_up.iter().find(|id| !touched.contains_key(id));
    assert_eq!(missing, None);
}
