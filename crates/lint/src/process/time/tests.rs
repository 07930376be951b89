use super::*;
use crate::Linter;
use crate::tests::{head, tell};
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::event::{Closer, DEFAULT_SLOW_NS, Event, EventKind};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::Direction;

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

fn event(seconds: u64, kind: EventKind) -> Event {
    Event {
        t: Moment(seconds * SECOND),
        after_seq: Seq(0),
        kind,
    }
}

fn eof(stream: StreamId) -> EventKind {
    let by = Closer::Writer;
    EventKind::Eof { stream, by }
}

#[test]
fn a_call_is_slow_first_and_given_up_by_nobody_a_minute_later() {
    let open = [call(1, "tools/call", 0), call(2, "tools/list", 50)];
    let session = Session::default();
    assert_eq!(told(&open, &session, 1), []);
    assert_eq!(told(&open, &session, 50), [("request-slow", 10)]);
    let both = [
        ("request-slow", 10),
        ("timeout-no-cancel", 10),
        ("request-slow", 20),
    ];
    assert_eq!(told(&open, &session, 60), both);
}

#[test]
fn a_handshake_without_an_answer_is_a_slow_start() {
    let open = [call(1, "initialize", 0)];
    let mut session = Session::default();
    assert_eq!(told(&open, &session, 4), [("request-slow", 10)]);
    assert_eq!(told(&open, &session, 6), [("slow-start", 10)]);
    session.handshake_ns = Some(1);
    assert_eq!(
        told(&open, &session, 6),
        [("request-slow", 10)],
        "a probe that another handshake went past"
    );
}

#[test]
fn a_call_that_waits_for_its_client_is_not_blamed() {
    let mut question = call(2, "elicitation/create", 1);
    question.direction = Direction::ServerToClient;
    question.parent = Some(ExchangeId(1));
    let mut asking = call(1, "tools/call", 0);
    let session = Session::default();
    assert_eq!(told(&[asking.clone(), question], &session, 90), []);
    asking.waited_ns = 89 * SECOND;
    assert_eq!(told(&[asking.clone()], &session, 90), []);
    assert_eq!(told(&[asking], &session, 91), [("request-slow", 10)]);
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
fn a_server_that_stays_is_overdue_until_it_has_ended() {
    let mut session = Session::default();
    session.event(&event(10, eof(StreamId::C2S)));
    assert_eq!(told(&[], &session, 11), []);
    assert_eq!(told(&[], &session, 12), [("shutdown-eof-ignored", 0)]);
    session.finish();
    assert_eq!(told(&[], &session, 12), []);

    let mut session = Session::default();
    session.event(&event(10, eof(StreamId::S2C)));
    let told = told(&[], &session, 13);
    assert_eq!(told, [("process-stdout-closed-early", 0)]);
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

    let line = head(2, StreamId::STDERR, now, b"x\n");
    tell(&mut analysis, &mut linter, &line, b"x\n");
    let mut stored = linter.take();
    stored.retain(|one| one.rule == &TIMEOUT_NO_CANCEL);
    assert_eq!(live.len(), 1);
    assert_eq!(live, stored);
}
