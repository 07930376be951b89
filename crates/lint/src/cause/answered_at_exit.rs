//! The server answered only when it ended: what it had written stood in a buffer until then.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural};

pub(super) const KIND: Kind = Kind::new("answered-at-exit", find);

/// What a program has buffered comes at once when it is told to end, and nothing but its end comes
/// behind it, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

/// Who ends by itself does so right behind its last words, nanoseconds.
const RIGHT_BEFORE_NS: u64 = 100_000_000;

/// What is waited for less may merely have crossed the end, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let ended = ended(facts)?;
    let told = facts.told_to_end();
    let since = told.unwrap_or(Moment(ended.0.saturating_sub(RIGHT_BEFORE_NS)));
    let answers = answers(facts, since, ended);
    let first = *answers.iter().min_by_key(|answer| answer.t_request)?;
    if since.0.saturating_sub(first.t_request.0) < PATIENCE_NS {
        return None;
    }
    let first_said = facts.session.first_byte.s2c;
    let was_silent = first_said.is_some_and(|first| first >= since);
    let certainty = certainty(told.is_some(), was_silent, &answers)?;
    let cause = Cause::new(KIND.id, certainty, sentence(&answers, first, told)).advise(
        "Flush stdout after each message: `flush=True` or `python -u`, `fflush`, `$| = 1`; in a pipe \
         of programs let each of them do it (`--line-buffered`, `--unbuffered`). Or the server reads \
         its input to the end before it works: let it read line by line.",
    );
    let shown = answers.iter().take(2);
    let cause = shown.fold(cause, |cause, answer| cause.shown_call(answer));
    Some(
        cause
            .shown(words::leaving(facts))
            .shown(words::end_of(facts)),
    )
}

/// `the server answered search (#4) only when it ended, 9.0 s after it was asked and 20 ms after it
/// was told to end: …`; of several answers the times are those of the one that was asked `first`.
fn sentence(answers: &[&Exchange], first: &Exchange, told: Option<Moment>) -> String {
    let (what, first_of) = match answers {
        [answer] => (words::call_at(answer), ""),
        answers => {
            let calls = words::calls(answers.iter().copied());
            let count = plural(answers.len() as u64, "request");
            (format!("{count} ({calls})"), "the first ")
        }
    };
    let then = told.map_or_else(String::new, |told| {
        let late = answered_after(answers[0], told);
        format!(" and {} after it was told to end", duration(late))
    });
    let asked = duration(answered_after(first, first.t_request));
    format!(
        "the server answered {what} only when it ended, {first_of}{asked} after it was asked{then}: \
         what it writes to stdout is probably buffered"
    )
}

/// Nanoseconds from `t` to the first byte of an answer.
fn answered_after(answer: &Exchange, t: Moment) -> u64 {
    let answered = answer.t_response;
    answered.map_or(0, |answered| answered.0.saturating_sub(t.0))
}

/// When the server had written its last byte, if it ended in order: who is killed does not write
/// what stands in its buffers.
fn ended(facts: &Facts) -> Option<Moment> {
    matches!(facts.end()?, End::Exited { .. }).then_some(())?;
    let is_end = |kind: &EventKind| {
        let eof = EventKind::Eof {
            stream: StreamId::S2C,
            by: Closer::Writer,
        };
        *kind == eof || matches!(kind, EventKind::Exit { .. })
    };
    facts.events_that(is_end).map(|event| event.t).min()
}

/// What was answered between the moment in which the server was told to end and its end, right
/// behind the one and right before the other.
fn answers(facts: &Facts, since: Moment, ended: Moment) -> Vec<&Exchange> {
    let is_late = |answer: &&Exchange| {
        let (Some(first), Some(last)) = (answer.t_response, answer.t_response_last) else {
            return false;
        };
        answer.direction == Direction::ClientToServer
            && (since.0..=since.0 + AT_ONCE_NS).contains(&first.0)
            && ended.0.saturating_sub(last.0) <= AT_ONCE_NS
    };
    facts.last_answered.iter().filter(is_late).collect()
}

/// How sure it is that these answers stood in a buffer. One may have been ready at that moment.
fn certainty(was_told: bool, was_silent: bool, answers: &[&Exchange]) -> Option<Certainty> {
    let several = answers.len() > 1;
    match (was_told, was_silent) {
        (true, true) => Some(Certainty::Likely),
        (false, true) => several.then_some(Certainty::Likely),
        // Who is told to end may well refuse what it was about to do.
        (true, false) => {
            let is_result = |it: &&&Exchange| it.code.is_none() && it.status != Status::ToolError;
            let results = answers.iter().filter(is_result).count();
            match results {
                0 => None,
                1 => Some(Certainty::Possible),
                _ => Some(Certainty::Likely),
            }
        }
        (false, false) => None,
    }
}
