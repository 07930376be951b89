//! Causes in how a session ends: crashes, answers at the last moment, exit codes, leftovers.

use super::Certainty::{self, Certain, Likely, Possible};
use super::facts::Facts;
use super::{AT_ONCE_NS, Cause, SECOND_NS, phrases};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind, ProcessName};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural, size};

/// A server that ends by itself does so right behind its last words, nanoseconds.
const RIGHT_BEFORE_NS: u64 = SECOND_NS / 10;

/// A younger request may merely have crossed the end, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// The server answered only when it ended: what it had written stood in a buffer until then.
pub(super) fn answered_at_exit(facts: &Facts) -> Option<Cause> {
    let ended = stdout_ended(facts)?;
    let told = facts.told_to_end();
    let since = told.unwrap_or(Moment(ended.0.saturating_sub(RIGHT_BEFORE_NS)));
    let is_last = |answer: &&Exchange| {
        let times = answer.t_response.zip(answer.t_response_last);
        answer.direction == Direction::ClientToServer
            && times.is_some_and(|(first, last)| {
                (since.0..=since.0 + AT_ONCE_NS).contains(&first.0)
                    && ended.ns_since(last) <= AT_ONCE_NS
            })
    };
    let answers: Vec<_> = facts.last_answered.iter().filter(is_last).collect();
    let first = *answers.iter().min_by_key(|answer| answer.t_request)?;
    if since.ns_since(first.t_request) < PATIENCE_NS {
        return None;
    }
    let was_silent = facts
        .session
        .first_byte
        .s2c
        .is_some_and(|said| said >= since);
    let certainty = buffered(told.is_some(), was_silent, &answers)?;
    let (what, first_of) = if let [answer] = answers[..] {
        (phrases::call_at(answer), "")
    } else {
        let count = plural(answers.len() as u64, "request");
        let calls = phrases::calls(answers.iter().copied());
        (format!("{count} ({calls})"), "the first ")
    };
    let after = |answer: &Exchange, t| duration(answer.t_response.unwrap_or(t).ns_since(t));
    let then = told.map_or_else(String::new, |told| {
        format!(" and {} after it was told to end", after(answers[0], told))
    });
    let asked = after(first, first.t_request);
    let sentence = format!(
        "the server answered {what} only when it ended, {first_of}{asked} after it was asked{then}: \
         what it writes to stdout is probably buffered"
    );
    let cause = Cause::new(certainty, sentence).advise(
        "Flush stdout after each message: `flush=True` or `python -u`, `fflush`, `$| = 1`; in a pipe \
         of programs let each of them do it (`--line-buffered`, `--unbuffered`). Or the server reads \
         its input to the end before it works: let it read line by line.",
    );
    let shown = answers.iter().take(2);
    let cause = shown.fold(cause, |cause, answer| cause.shown_call(answer));
    Some(
        cause
            .shown(phrases::leaving(facts))
            .shown(phrases::end_of(facts)),
    )
}

/// When the server had written its last byte, if it ended in order: a server that is killed does
/// not write what stands in its buffers.
fn stdout_ended(facts: &Facts) -> Option<Moment> {
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

/// The certainty that these answers stood in a buffer. One may have been ready at that moment.
fn buffered(was_told: bool, was_silent: bool, answers: &[&Exchange]) -> Option<Certainty> {
    if was_silent {
        return (was_told || answers.len() > 1).then_some(Likely);
    }
    // A server that is told to end may well refuse what it was about to do.
    let is_result = |it: &&&Exchange| it.code.is_none() && it.status != Status::ToolError;
    match answers.iter().filter(is_result).count() {
        0 => None,
        _ if !was_told => None,
        1 => Some(Possible),
        _ => Some(Likely),
    }
}

/// The server ended by itself in the middle of a session.
pub(super) fn crashed(facts: &Facts) -> Option<Cause> {
    let end = facts.ended_by_itself()?;
    facts.first_said?;
    let lost: Vec<_> = facts.lost.asked(Direction::ClientToServer).collect();
    let (when, certainty) = match (lost.len(), end) {
        (0, End::Exited { code: 0 }) => (" by itself, with no call open".to_owned(), Likely),
        (0, _) => (", with no call open".to_owned(), Certain),
        _ => {
            let calls = phrases::calls(lost.iter().copied());
            (format!(" in the middle of {calls}"), Certain)
        }
    };
    let sentence = format!(
        "the server {}{when}{}",
        phrases::ended(end),
        phrases::stderr_says(facts)
    );
    let cause = Cause::new(certainty, sentence)
        .advise(advice(facts, end, !lost.is_empty()))
        .shown(lost.into_iter().take(3).map(phrases::request))
        .shown(phrases::end_of(facts))
        .shown(phrases::stderr(facts, 4));
    Some(cause)
}

fn advice(facts: &Facts, end: &End, was_open: bool) -> String {
    let signal = match end {
        End::Killed { signal } => signal.as_str(),
        _ => "",
    };
    let advice = match signal {
        "" if phrases::has_last_words(facts) => {
            "The server's own last lines on stderr say why it ended."
        }
        "" if was_open => {
            "It said nothing on stderr: repeat the request that was open, and look for what ends \
             the process in the code that serves it."
        }
        "" => {
            "It said nothing on stderr: look for what ends the process, for example a limit on idle \
             time, a supervisor, or a loop that has come to its end."
        }
        "SIGKILL" => {
            let used = facts.session.usage.map_or_else(String::new, |usage| {
                format!(
                    " (the server had {} at its peak)",
                    size(usage.max_rss_bytes)
                )
            });
            return format!(
                "Somebody killed it, or the system did because it was out of memory{used}: look \
                 into the kernel's log."
            );
        }
        "SIGSEGV" | "SIGBUS" | "SIGILL" | "SIGABRT" | "SIGFPE" => {
            "It crashed in native code: look for a core dump, and for a native module in the tool \
             that was called."
        }
        "SIGPIPE" => "It wrote where nobody reads any more.",
        _ => "Look for who sent the signal: the system, a supervisor, or a person.",
    };
    advice.to_owned()
}

/// The server was told to end, and ended with an exit code other than 0.
pub(super) fn bad_exit_code(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    let is_bad = matches!(end, End::Exited { code } if *code != 0);
    if !is_bad || !facts.was_told_to_end() {
        return None;
    }
    let sentence = format!(
        "the server {} when it was told to end{}",
        phrases::ended(end),
        phrases::stderr_says(facts)
    );
    let cause = Cause::new(Possible, sentence)
        .advise(
            "Nothing is lost by it, but hosts may report a failure: let the server end with 0 when \
             its input ends.",
        )
        .shown(phrases::end_of(facts))
        .shown(phrases::leaving(facts))
        .shown(phrases::stderr(facts, 3));
    Some(cause)
}

/// Processes of the server live on after it.
pub(super) fn survivors_left(facts: &Facts) -> Option<Cause> {
    let mut events = facts.events.iter().rev();
    let (event, processes) = events.find_map(|event| match &event.kind {
        EventKind::Survivors { processes } if !processes.is_empty() => Some((event, processes)),
        _ => None,
    })?;
    let name = |process: &ProcessName| match process.name.as_str() {
        "" => format!("pid {}", process.pid),
        name => format!("{} (pid {})", quote::text(name), process.pid),
    };
    let sentence = format!(
        "the server ended and left processes behind that still hold its pipes: {}",
        phrases::first_few(processes.iter().map(name))
    );
    let cause = Cause::new(Possible, sentence).advise(
        "Launchers (npx, sh -c, uv run) do not pass the end on to what they start: start the \
         server's program itself, or `exec` it; end what is left over by hand.",
    );
    let text = "processes still hold the server's pipes";
    Some(cause.shown([phrases::event(event, text)]))
}
