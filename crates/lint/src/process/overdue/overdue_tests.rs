use super::*;
use crate::Linter;
use crate::lint_tests::{head, tell};
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::frame::StreamId;

const SECOND: u64 = 1_000_000_000;

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
