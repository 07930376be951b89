//! Causes in how a session ends: crashes, answers at the last moment, exit codes, leftovers.

use super::facts::Facts;
use super::{Cause, Certainty, phrases};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind, ProcessName};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural, size};

/// What a program has buffered comes at once when it is told to end, and nothing but its end comes
/// behind it, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

/// Who ends by itself does so right behind its last words, nanoseconds.
const RIGHT_BEFORE_NS: u64 = 100_000_000;

/// What is waited for less may merely have crossed the end, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

/// The server answered only when it ended: what it had written stood in a buffer until then.
pub(super) fn answered_at_exit(facts: &Facts) -> Option<Cause> {
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
    let cause = Cause::new(certainty, sentence(&answers, first, told)).advise(
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

/// `the server answered search (#4) only when it ended, 9.0 s after it was asked and 20 ms after it
/// was told to end: …`; of several answers the times are those of the one that was asked `first`.
fn sentence(answers: &[&Exchange], first: &Exchange, told: Option<Moment>) -> String {
    let (what, first_of) = match answers {
        [answer] => (phrases::call_at(answer), ""),
        answers => {
            let calls = phrases::calls(answers.iter().copied());
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

/// The server ended by itself in the middle of a session.
pub(super) fn crashed(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    let is_end = matches!(end, End::Exited { .. } | End::Killed { .. }) || facts.ended_somehow();
    if !is_end || facts.first_said.is_none() || facts.was_told_to_end() {
        return None;
    }
    let lost: Vec<_> = facts.lost.asked(Direction::ClientToServer).collect();
    let (when, certainty) = match (lost.len(), end) {
        (0, End::Exited { code: 0 }) => (
            " by itself, with no call open".to_owned(),
            Certainty::Likely,
        ),
        (0, _) => (", with no call open".to_owned(), Certainty::Certain),
        _ => {
            let calls = phrases::calls(lost.iter().copied());
            (format!(" in the middle of {calls}"), Certainty::Certain)
        }
    };
    let sentence = format!(
        "the server {}{when}{}",
        phrases::ended(end),
        phrases::stderr_says(facts)
    );
    let cause = Cause::new(certainty, sentence).advise(advice(facts, end));
    let cause = cause.shown(lost.into_iter().take(3).map(phrases::request));
    let cause = cause.shown(phrases::end_of(facts));
    Some(cause.shown(phrases::stderr(facts, 4)))
}

/// What to do about a server that ended with an exit code.
fn by_itself(facts: &Facts) -> &'static str {
    let was_open = facts.lost.asked(Direction::ClientToServer).next().is_some();
    match (phrases::has_last_words(facts), was_open) {
        (true, true) => {
            "The server's own last lines on stderr say why it ended; repeat the request that was \
             open to see it again."
        }
        (true, false) => "The server's own last lines on stderr say why it ended.",
        (false, true) => {
            "It said nothing on stderr: repeat the request that was open, and look for what ends \
             the process in the code that serves it."
        }
        (false, false) => {
            "It said nothing on stderr: look for what ends the process, for example a limit on idle \
             time, a supervisor, or a loop that has come to its end."
        }
    }
}

fn advice(facts: &Facts, end: &End) -> String {
    let End::Killed { signal } = end else {
        return by_itself(facts).to_owned();
    };
    match signal.as_str() {
        "SIGKILL" => {
            let used = facts.session.usage.map(|usage| size(usage.max_rss_bytes));
            let used = used.map_or_else(String::new, |used| {
                format!(" (the server had {used} at its peak)")
            });
            format!(
                "Somebody killed it, or the system did because it was out of memory{used}: look \
                 into the kernel's log."
            )
        }
        "SIGSEGV" | "SIGBUS" | "SIGILL" | "SIGABRT" | "SIGFPE" => {
            "It crashed in native code: look for a core dump, and for a native module in the tool \
             that was called."
                .to_owned()
        }
        "SIGPIPE" => "It wrote where nobody reads any more.".to_owned(),
        _ => "Look for who sent the signal: the system, a supervisor, or a person.".to_owned(),
    }
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
    let cause = Cause::new(Certainty::Possible, sentence).advise(
        "Nothing is lost by it, but hosts may report a failure: let the server end with 0 when its \
         input ends.",
    );
    let cause = cause
        .shown(phrases::end_of(facts))
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 3)))
}

const NAMED: usize = 3;

/// Processes of the server that live on after it.
pub(super) fn survivors_left(facts: &Facts) -> Option<Cause> {
    let mut events = facts.events.iter().rev();
    let (event, processes) = events.find_map(|event| match &event.kind {
        EventKind::Survivors { processes } if !processes.is_empty() => Some((event, processes)),
        _ => None,
    })?;
    let mut names: Vec<_> = processes.iter().take(NAMED).map(name).collect();
    if processes.len() > NAMED {
        names.push("…".to_owned());
    }
    let sentence = format!(
        "the server ended and left processes behind that still hold its pipes: {}",
        names.join(", ")
    );
    let cause = Cause::new(Certainty::Possible, sentence).advise(
        "Launchers (npx, sh -c, uv run) do not pass the end on to what they start: start the \
         server's program itself, or `exec` it; end what is left over by hand.",
    );
    Some(cause.shown([phrases::event(
        event,
        "processes still hold the server's pipes",
    )]))
}

fn name(process: &ProcessName) -> String {
    match process.name.as_str() {
        "" => format!("pid {}", process.pid),
        name => format!("{} (pid {})", quote::text(name), process.pid),
    }
}
