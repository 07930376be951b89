//! What the scenarios cannot show: memory, and what is handed over when.

use super::*;
use crate::frame::{Carried, Seq, StreamId};
use mcpreel_wire::message::classify;

/// A correlator that is fed lines, a millisecond apart.
#[derive(Default)]
struct Feed {
    correlator: Correlator,
    seq: u64,
}

impl Feed {
    fn line(&mut self, stream: StreamId, json: &str) {
        self.seq += 1;
        let t = Moment(self.seq * 1_000_000);
        let head = FrameHead {
            seq: Seq(self.seq),
            stream,
            offset: 0,
            t_first: t,
            t_last: t,
            size: json.len() as u64,
            carried: Carried::default(),
        };
        let content = classify(format!("{json}\n").as_bytes());
        self.correlator.frame(&head, &content);
    }

    fn request(&mut self, id: usize, method: &str, params: &str) {
        let json =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.line(StreamId::C2S, &json);
    }

    fn result(&mut self, id: usize, result: &str) {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.line(StreamId::S2C, &json);
    }

    fn cancel(&mut self, id: usize) {
        let json = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        self.line(StreamId::C2S, &json);
    }

    fn progress(&mut self, token: &str, progress: usize) {
        let json = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        );
        self.line(StreamId::S2C, &json);
    }

    fn observed(&self) -> Vec<Observed> {
        let observations = self.correlator.changes.observations().iter();
        observations.map(|observation| observation.kind).collect()
    }

    fn entries(&self) -> usize {
        self.correlator.calls.entries()
    }
}

#[test]
fn answered_calls_are_forgotten_beyond_the_history() {
    let mut feed = Feed::default();
    let mut at_the_limit = 0;
    for id in 0..3 * HISTORY {
        let params = format!(r#"{{"name":"a","_meta":{{"progressToken":{id}}}}}"#);
        feed.request(id, "tools/call", &params);
        feed.result(id, r#"{"content":[]}"#);
        feed.correlator.changes.take();
        if id == HISTORY {
            at_the_limit = feed.entries();
        }
    }
    assert_eq!(feed.entries(), at_the_limit);
}

/// As many requests as there is surely no room for.
const TOO_MANY: usize = HELD_BYTES / 500;

#[test]
fn of_requests_without_an_answer_the_oldest_are_given_up_and_that_is_told() {
    let mut feed = Feed::default();
    let mut given_up = Vec::new();
    for id in 1..=TOO_MANY {
        let params = format!(r#"{{"name":"a","_meta":{{"progressToken":"t{id}"}}}}"#);
        feed.request(id, "tools/call", &params);
        let observed = feed.correlator.changes.observations();
        given_up.extend(observed.iter().filter_map(|one| {
            assert_eq!(one.kind, Observed::RequestGivenUp);
            one.exchange.map(|id| id.0)
        }));
    }
    assert!(!given_up.is_empty() && given_up.iter().copied().eq(1..=given_up.len() as u64));
    let held = TOO_MANY - given_up.len();
    assert!(held > 2000 && feed.entries() <= 5 * held, "{held} held");
    let exchanges = feed.correlator.changes.take().exchanges;
    let first = exchanges.iter().find(|exchange| exchange.id.0 == 1);
    assert_eq!(first.map(|it| it.status), Some(Status::GivenUp));
    let last = exchanges.last().map(|exchange| exchange.status);
    assert_eq!(last, Some(Status::Open));
    // What comes for it is no stray.
    feed.result(1, "{}");
    assert_eq!(feed.observed(), [Observed::ForGivenUp]);
    feed.progress("\"t1\"", 1);
    assert_eq!(feed.observed(), [Observed::ForGivenUp]);
    feed.cancel(1);
    assert_eq!(feed.observed(), [Observed::ForGivenUp]);
    // What is held is paired as ever.
    feed.result(TOO_MANY, r#"{"content":[]}"#);
    assert_eq!(feed.observed(), []);
    let exchanges = feed.correlator.changes.take().exchanges;
    assert_eq!(exchanges.last().map(|it| it.status), Some(Status::Ok));
}

#[test]
fn of_tasks_without_an_outcome_the_oldest_are_given_up_and_that_is_told() {
    let mut feed = Feed::default();
    let mut given_up = 0;
    for id in 1..=TOO_MANY {
        feed.request(id, "tools/call", r#"{"name":"a","task":{}}"#);
        feed.result(
            id,
            &format!(r#"{{"task":{{"taskId":"t{id}","status":"working"}}}}"#),
        );
        given_up += feed.observed().len();
        feed.correlator.changes.take();
    }
    let held = TOO_MANY - given_up;
    assert!(given_up > 0 && held > 2000, "{held} held");
    assert!(feed.entries() <= 5 * held, "{} entries", feed.entries());
}

#[test]
fn long_ids_tokens_and_names_are_told_apart_and_do_not_fill_the_memory() {
    let mut feed = Feed::default();
    let long = "x".repeat(50_000);
    let id = |number: usize| format!("\"{long}{number}\"");
    for number in 0..100 {
        let (id, token) = (id(number), id(number + 1000));
        feed.line(
            StreamId::C2S,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{long}","params":{{"name":{id},"_meta":{{"progressToken":{token}}}}}}}"#
            ),
        );
        assert!(
            feed.correlator.changes.bytes() < 10_000,
            "{}",
            feed.correlator.changes.bytes()
        );
        feed.correlator.changes.take();
    }
    assert!(feed.correlator.calls.held() < 100 * 4000);
    feed.progress(&id(1042), 1);
    feed.line(
        StreamId::S2C,
        &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id(42)),
    );
    let exchanges = feed.correlator.changes.take().exchanges;
    let [answered] = &exchanges[..] else {
        panic!("one is answered: {exchanges:?}");
    };
    assert_eq!((answered.id.0, answered.progress_count), (43, 1));
}

#[test]
fn what_is_open_is_remembered_whatever_else_ends() {
    let mut feed = Feed::default();
    feed.request(0, "tools/call", r#"{"name":"slow"}"#);
    feed.request(1, "tools/call", r#"{"name":"task","task":{}}"#);
    feed.result(1, r#"{"task":{"taskId":"t","status":"working"}}"#);
    for id in 2..2 * HISTORY {
        feed.request(id, "ping", "{}");
        feed.result(id, "{}");
    }
    feed.correlator.changes.take();
    feed.result(0, r#"{"content":[]}"#);
    feed.request(1, "tasks/result", r#"{"taskId":"t"}"#);
    feed.result(1, r#"{"content":[]}"#);
    let exchanges = feed.correlator.changes.take().exchanges;
    let statuses: Vec<_> = exchanges.iter().map(|e| (e.id.0, e.status)).collect();
    let last = exchanges.last().map_or(0, |e| e.id.0);
    let expected = [(1, Status::Ok), (2, Status::Ok), (last, Status::Ok)];
    assert_eq!(statuses, expected);
}

#[test]
fn an_exchange_that_changes_often_is_handed_over_once_and_as_it_stands() {
    let mut feed = Feed::default();
    feed.request(
        1,
        "tools/call",
        r#"{"name":"a","_meta":{"progressToken":1}}"#,
    );
    for step in 0..100 {
        feed.line(
            StreamId::S2C,
            &format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{step}}}}}"#
            ),
        );
    }
    let batch = feed.correlator.changes.take();
    assert_eq!(batch.messages.len(), 101);
    assert_eq!(batch.exchanges.len(), 1);
    assert_eq!(batch.exchanges[0].progress_count, 100);
    assert_eq!(batch.exchanges[0].progress.as_deref(), Some("99"));
    assert!(feed.correlator.changes.is_empty());
}

#[test]
fn the_end_is_told_in_pieces() {
    let mut feed = Feed::default();
    for id in 0..5 {
        feed.request(id, "ping", "{}");
    }
    feed.correlator.changes.take();
    let mut pieces = Vec::new();
    let mut is_more = true;
    while is_more {
        is_more = feed.correlator.finish(2);
        let observed = feed.observed().len();
        let exchanges = feed.correlator.changes.take().exchanges;
        assert!(exchanges.iter().all(|it| it.status == Status::Unanswered));
        pieces.push((exchanges.len(), observed));
    }
    assert_eq!(pieces, [(2, 2), (2, 2), (1, 1)]);
}
