//! What the scenarios cannot show: memory, and what is handed over when.

use super::*;
use crate::protocol::message::classify;
use crate::trace::frame::{Seq, StreamId};

/// A correlator that is fed lines, a millisecond apart.
#[derive(Default)]
struct Feed {
    correlator: Correlator,
    changes: Changes,
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
        };
        let content = classify(format!("{json}\n").as_bytes());
        self.correlator.frame(&head, &content, &mut self.changes);
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
        feed.changes.take();
        if id == HISTORY {
            at_the_limit = feed.entries();
        }
    }
    assert_eq!(feed.entries(), at_the_limit);
}

#[test]
fn cancelled_calls_and_tasks_are_forgotten_beyond_their_limits() {
    let mut feed = Feed::default();
    for id in 0..3 * HISTORY {
        feed.request(id, "tools/call", r#"{"name":"a"}"#);
        feed.cancel(id);
    }
    let cancelled = feed.entries();
    assert!(cancelled <= 3 * (HISTORY + 1), "{cancelled} entries");
    let mut feed = Feed::default();
    for id in 0..3 * UNFINISHED_TASKS {
        feed.request(id, "tools/call", r#"{"name":"a","task":{}}"#);
        feed.result(
            id,
            &format!(r#"{{"task":{{"taskId":"t{id}","status":"working"}}}}"#),
        );
    }
    let tasks = feed.entries();
    let limit = 4 * (HISTORY + UNFINISHED_TASKS + 2);
    assert!(tasks <= limit, "{tasks} entries");
}

#[test]
fn long_ids_do_not_fill_the_memory() {
    let mut feed = Feed::default();
    let id = |number: usize| format!("{number}{}", "x".repeat(50_000));
    for number in 0..100 {
        let id = id(number);
        feed.line(
            StreamId::C2S,
            &format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#),
        );
        feed.line(
            StreamId::S2C,
            &format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#),
        );
        feed.changes.take();
    }
    let calls = feed.entries() / 3;
    assert!(
        (2..=HISTORY_BYTES / 200_000).contains(&calls),
        "{calls} calls"
    );
}

#[test]
fn what_is_open_is_never_forgotten() {
    let mut feed = Feed::default();
    feed.request(0, "tools/call", r#"{"name":"slow"}"#);
    feed.request(1, "tools/call", r#"{"name":"task","task":{}}"#);
    feed.result(1, r#"{"task":{"taskId":"t","status":"working"}}"#);
    for id in 2..2 * HISTORY {
        feed.request(id, "ping", "{}");
        feed.result(id, "{}");
    }
    feed.changes.take();
    feed.result(0, r#"{"content":[]}"#);
    feed.request(1, "tasks/result", r#"{"taskId":"t"}"#);
    feed.result(1, r#"{"content":[]}"#);
    let exchanges = feed.changes.take().exchanges;
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
    let batch = feed.changes.take();
    assert_eq!(batch.messages.len(), 101);
    assert_eq!(batch.exchanges.len(), 1);
    assert_eq!(batch.exchanges[0].progress_count, 100);
    assert_eq!(batch.exchanges[0].progress.as_deref(), Some("99"));
    assert!(feed.changes.is_empty());
}

#[test]
fn observations_are_those_of_the_last_call_only() {
    let mut feed = Feed::default();
    feed.result(1, "{}");
    assert_eq!(feed.changes.observations().len(), 1);
    assert_eq!(feed.changes.latest_messages().len(), 1);
    feed.request(1, "ping", "{}");
    assert_eq!(feed.changes.observations(), []);
    assert_eq!(feed.changes.latest_messages().len(), 1);
    feed.line(StreamId::STDERR, "hello");
    assert_eq!(feed.changes.latest_messages().len(), 0);
}

#[test]
fn the_end_can_be_told_twice() {
    let mut feed = Feed::default();
    feed.request(1, "ping", "{}");
    feed.correlator.finish(&mut feed.changes);
    assert_eq!(feed.changes.observations().len(), 1);
    feed.changes.take();
    feed.correlator.finish(&mut feed.changes);
    assert!(feed.changes.is_empty());
}
