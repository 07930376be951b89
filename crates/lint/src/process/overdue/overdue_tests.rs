use super::*;
use crate::Linter;
use crate::lint_tests::{head, tell};
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::frame::{Seq, StreamId};

const SECOND: u64 = 1_000_000_000;

fn call(id: u64, method: &str, at: u64) -> Exchange {
    Exchange {
        id: ExchangeId(id),
        method: method.into(),
        request: (Seq(id * 10), 0),
        t_request: Moment(at * SECOND),
        ..Exchange::begun(
            mcpreel_wire::message::Direction::ClientToServer,
            mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
            "tools/call",
        )
    }
}

/// Rule and frame of what is overdue after `seconds`.
fn told(open: &[Exchange], session: &Session, seconds: u64) -> Vec<(&'static str, u64)> {
    let now = Moment(seconds * SECOND);
    let findings = overdue(open.iter(), session, DEFAULT_SLOW_NS, now);
    let pair = |one: &Finding| (one.rule.id, one.frame.map_or(0, |frame| frame.0));
    findings.iter().map(pair).collect()
}

#[test]
fn what_is_answered_cancelled_or_kept_alive_is_not_overdue() {
    let mut answered = call(1, "tools/call", 0);
    answered.response = Some((Seq(2), 0));
    let mut cancelled = call(2, "tools/call", 0);
    cancelled.cancelled = Some(Seq(3));
    let listen = call(3, "subscriptions/listen", 0);
    let mut alive = call(4, "tools/call", 0);
    alive.progress_count = 1;
    let open = [answered, cancelled, listen, alive];
    assert_eq!(
        told(&open, &Session::default(), 90),
        [("request-slow", 40)],
        "progress renews the limit, but it takes long all the same"
    );
}

#[test]
fn what_is_stored_when_something_comes_is_what_a_live_reader_had_told() {
    let (mut analysis, mut linter) = (Analysis::default(), Linter::default());
    let raw = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let call = head(1, StreamId::C2S, Moment(0), raw);
    tell(&mut analysis, &mut linter, &call, raw);
    let open = analysis.take().exchanges;
    let now = Moment(70 * SECOND);
    let mut live = overdue(open.iter(), analysis.session(), DEFAULT_SLOW_NS, now);
    live.retain(|one| one.rule == &TIMEOUT_NO_CANCEL);

    let second = head(2, StreamId::STDERR, now, b"x\n");
    tell(&mut analysis, &mut linter, &second, b"x\n");
    let mut stored = linter.take();
    stored.retain(|one| one.rule == &TIMEOUT_NO_CANCEL);
    assert_eq!(live.len(), 1);
    assert_eq!(live, stored);
}
