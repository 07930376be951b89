use super::*;
use crate::clock::Moment;
use crate::exchange::{PROBE, Status};
use mcpreel_wire::message::Direction;

const MS: u64 = 1_000_000;

fn exchange(method: &str, name: Option<&str>, status: Status, latency_ms: u64) -> Exchange {
    let answer = Some(Moment(latency_ms * MS));
    Exchange {
        method: method.into(),
        name: name.map(Into::into),
        t_response: answer,
        t_response_last: answer,
        status,
        request_size: 100,
        response_size: 1000,
        ..Exchange::bare()
    }
}

fn collected(exchanges: &[Exchange]) -> Stats {
    let mut collector = Collector::default();
    for exchange in exchanges {
        collector.add(exchange);
    }
    collector.stats()
}

#[test]
fn what_was_not_answered_in_time_counts_but_is_not_measured() {
    let made = |status: &Status| exchange("tools/call", Some("a"), *status, 3);
    let statuses: Vec<_> = Status::ALL.iter().map(made).collect();
    let stats = collected(&statuses);
    let row = &stats.tools[0];
    assert_eq!(row.count, 17);
    assert_eq!((row.given_up, stats.total.given_up), (1, 1));
    let failed = "error, http-error, tool-error, cancelled, late, lost, unanswered, polled";
    assert_eq!(row.failed, 8, "{failed}");
    let probe = exchange(PROBE, None, Status::Error, 3);
    let refused = collected(&[probe]);
    assert_eq!(refused.total.failed, 0, "a probe that was refused");
    assert_eq!(row.cancelled, 3, "cancelled, by the user, late");
    let measured = row.latency.map(|latency| latency.measured);
    assert_eq!(
        measured,
        Some(5),
        "ok, tool-error, error, input-required, task"
    );
    let left_out = (stats.server_ns, stats.unmeasured);
    assert_eq!(left_out, (5 * 3 * MS, 10), "what is left out is counted");
    let listen = exchange("subscriptions/listen", None, Status::Ok, 9000);
    let stats = collected(&[listen]);
    assert_eq!((stats.methods[0].latency, stats.unmeasured), (None, 0));
}

// The longest wait of all was the one that nothing came of, and MAX once left it out.
#[test]
fn the_longest_wait_may_be_one_without_an_answer() {
    let cancelled = Exchange {
        t_response: None,
        t_cancelled: Some(Moment(50 * MS)),
        ..exchange("ping", None, Status::Cancelled, 0)
    };
    let answered = exchange("ping", None, Status::Ok, 70);
    let max = |exchanges: &[Exchange], end: u64| {
        let mut collector = Collector::until(Moment(end * MS));
        for exchange in exchanges {
            collector.add(exchange);
        }
        let total = collector.stats().total;
        let measured = total.latency.map_or(0, |latency| latency.measured);
        (total.max_ns(), measured)
    };
    assert_eq!(
        max(std::slice::from_ref(&cancelled), 90),
        (Some((50 * MS, false)), 0)
    );
    let both = [cancelled, answered];
    assert_eq!(max(&both, 90), (Some((70 * MS, true)), 1));
    let open = exchange("ping", None, Status::Open, 0);
    let [cancelled, answered] = both;
    let all = [cancelled, answered, open];
    assert_eq!(max(&all, 90), (Some((90 * MS, false)), 1));
}

#[test]
fn rows_are_per_direction_method_and_tool() {
    let mut sampling = exchange("sampling/createMessage", None, Status::Ok, 1);
    sampling.direction = Direction::ServerToClient;
    let exchanges = [
        exchange("tools/call", Some("b"), Status::Ok, 1),
        exchange("tools/call", Some("a"), Status::ToolError, 2),
        exchange("tools/call", Some("a"), Status::Ok, 3),
        exchange("ping", None, Status::Ok, 4),
        sampling,
    ];
    let stats = collected(&exchanges);
    let methods: Vec<_> = stats
        .methods
        .iter()
        .map(|r| (r.direction, &*r.method))
        .collect();
    let expected = [
        ("c2s", "ping"),
        ("c2s", "tools/call"),
        ("s2c", "sampling/createMessage"),
    ];
    assert_eq!(methods, expected);
    let tools: Vec<_> = stats
        .tools
        .iter()
        .map(|row| (row.name.as_deref().unwrap(), row.count, row.failed))
        .collect();
    assert_eq!(tools, [("a", 2, 1), ("b", 1, 0)]);
    assert_eq!(stats.total.count, 4);
    assert_eq!(
        (stats.total.request_bytes, stats.total.response_bytes),
        (400, 4000)
    );
}

#[test]
fn the_ten_slowest_are_named_the_slowest_first() {
    let exchanges: Vec<_> = (1..=30)
        .map(|ms| exchange("ping", None, Status::Ok, ms * 7 % 31))
        .collect();
    let slowest = collected(&exchanges).slowest;
    let times: Vec<_> = slowest.iter().map(|slow| slow.latency_ns / MS).collect();
    assert_eq!(times, [30, 29, 28, 27, 26, 25, 24, 23, 22, 21]);
}

#[test]
fn failures_have_their_share_and_percentiles_need_five_latencies() {
    let failed = |failed, count| {
        let row = Row {
            count,
            failed,
            ..Row::default()
        };
        row.failed_in_words()
    };
    assert_eq!(failed(0, 5), "");
    assert_eq!(failed(2, 3), "2 (67 %)");
    assert_eq!(failed(1, 1000), "1 (< 1 %)");
    assert_eq!(failed(999, 1000), "999 (99 %)");
    let of = |count: u64| {
        let exchanges: Vec<_> = (1..=count)
            .map(|ms| exchange("ping", None, Status::Ok, ms))
            .collect();
        collected(&exchanges).total.percentiles().is_some()
    };
    assert_eq!([of(1), of(4), of(5)], [false, false, true]);
}
