//! Causes in how a session ends: crashes, answers at the last moment, exit codes, leftovers.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::Facts;
use super::stderr_lines::LastWords;
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, phrases, startup};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural, size};

/// Age of a request at the end of the session from which its silence tells something, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// The server answered only when it was told to end: what it had written stood in a buffer until
/// then. One that is killed does not write what stands in its buffers.
pub(super) fn answered_at_exit(facts: &Facts) -> Option<Cause> {
    matches!(facts.end()?, End::Exited { .. }).then_some(())?;
    let told = facts.told_to_end()?;
    let is_last = |answer: &&Exchange| {
        let moments = told.0..=told.0 + AT_ONCE_NS;
        answer.direction == Direction::ClientToServer
            && answer.t_response.is_some_and(|t| moments.contains(&t.0))
    };
    let answers: Vec<_> = facts.last_answered.iter().filter(is_last).collect();
    let first = *answers.iter().min_by_key(|answer| answer.t_request)?;
    if told.ns_since(first.t_request) < PATIENCE_NS {
        return None;
    }
    // A server that is told to end may well refuse what it was about to do, or end one thing.
    let is_result = |it: &&&Exchange| it.code.is_none() && it.status != Status::ToolError;
    let first_byte = facts.session.first_byte.s2c;
    let was_silent = first_byte.is_some_and(|said| said >= told);
    let certainty = match answers.iter().filter(is_result).count() {
        _ if was_silent => Likely,
        0 => return None,
        1 => Possible,
        _ => Likely,
    };
    let (what, first_of) = if let [answer] = answers[..] {
        (phrases::call_at(answer), "")
    } else {
        let count = plural(answers.len() as u64, "request");
        let calls = phrases::calls(answers.iter().copied());
        (format!("{count} ({calls})"), "the first ")
    };
    let after = |answer: &Exchange, t| duration(answer.t_response.unwrap_or(t).ns_since(t));
    let sentence = format!(
        "the server answered {what} only when it ended, {first_of}{} after it was asked and {} after \
         it was told to end: what it writes to stdout is probably buffered",
        after(first, first.t_request),
        after(answers[0], told)
    );
    let advice = "Flush stdout after each message: `flush=True` or `python -u`, `fflush`, `$| = 1`, \
                  `--line-buffered`. If the server reads all its input before it works, let it \
                  read line by line.";
    let cause = Cause::new(certainty, sentence, advice);
    let shown = answers.iter().take(2);
    let cause = shown.fold(cause, |cause, answer| cause.shown_call(answer));
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::end_of(facts)))
}

/// Signals that the system sends to a process for what its own code did.
const CRASHES: [&str; 5] = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE"];

/// A mock says so on stderr before it ends because a fault or the recording asks for it.
pub const MOCK_ENDS: &str = "this mock ends now, as it was asked to";

/// The server ended by itself in the middle of a session, or failed in a call that the host did not
/// wait for.
pub(super) fn crashed(facts: &Facts) -> Option<Cause> {
    facts.first_said?;
    let lost = facts.lost.exchanges.iter();
    let asked = lost.filter(|call| call.direction == Direction::ClientToServer);
    let by_itself = facts.ended_by_itself();
    let end = by_itself.or_else(|| failed_in_call(facts, asked.clone().next()?))?;
    let (vain, lost): (Vec<_>, Vec<_>) =
        asked.partition(|call| facts.session.ends.has_server_closed(call.t_request));
    let (when, certainty) = match (lost.len(), end) {
        (0, End::Exited { code: 0 }) => (" by itself, with no call open".to_owned(), Likely),
        (0, _) => (", with no call open".to_owned(), Certain),
        _ => {
            let calls = phrases::calls(lost.iter().copied());
            let (left, certainty) = match by_itself {
                Some(_) => ("", Certain),
                None => (phrases::after_host(facts), Likely),
            };
            (format!(" in the middle of {calls}{left}"), certainty)
        }
    };
    // A launcher (npx, a shell) ends with 128 and the number of the signal that ended its child.
    let was_killed = match end {
        End::Killed { signal } => &**signal == "SIGKILL",
        end => *end == End::Exited { code: 137 },
    };
    let is_mock = facts.last_words.iter().any(|line| {
        let said = String::from_utf8_lossy(line.text());
        said.contains(MOCK_ENDS)
    });
    let advice = match end {
        _ if is_mock => "The mock ends on purpose: check that the host handles it.",
        _ if was_killed => "Someone killed it, or memory ran out: look into the kernel's log.",
        End::Killed { signal } if CRASHES.contains(&&**signal) => {
            "It crashed in native code: look for a core dump, and for a native module in the tool."
        }
        End::Killed { .. } => "Find who sent the signal: the system, a supervisor, or a person.",
        _ if facts
            .last_words
            .iter()
            .any(|line| line.stream == StreamId::S2C) =>
        {
            "Read the traceback, which stands on stdout: start the server without `2>&1`, so that \
             stdout carries nothing but messages."
        }
        _ => "Read the last lines on stderr; if there are none, repeat the open request.",
    };
    let ended = phrases::ended(end);
    let asked = lost.first().map(|call| call.t_request);
    let sentence = if is_mock {
        format!("the mock {ended}{when}, as it was asked to")
    } else {
        let said = phrases::stderr_says(facts, asked);
        format!("{} {ended}{when}{said}", phrases::server(facts))
    };
    let in_vain = phrases::if_any(vain.len() as u64, |n| {
        let was = if n == 1 { "was" } else { "were" };
        let calls = phrases::calls(vain.iter().copied());
        format!("; {calls} {was} sent when it had already closed its output")
    });
    let cause = Cause::new(certainty, sentence + &in_vain, advice);
    let usage = facts.session.usage.filter(|_| was_killed);
    let usage = usage.map(|usage| {
        let text = format!("the server used {} at its peak", size(usage.max_rss_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = cause
        .shown(lost.into_iter().chain(vain).take(3).map(phrases::request))
        .shown(phrases::end_of(facts))
        .shown(phrases::stderr(facts, asked, 4));
    Some(cause.shown(usage))
}

/// How the server ended, if a fault in `call` ended it while nothing but its input had.
fn failed_in_call<'f>(facts: &'f Facts, call: &Exchange) -> Option<&'f End> {
    let is_fault = LastWords::of(facts, Some(call.t_request)).names_fault;
    let is_exit = matches!(facts.stop()?.kind, EventKind::Exit { .. });
    let end = facts.end().filter(|end| has_bad_code(end))?;
    (is_fault && is_exit).then_some(end)
}

pub(super) fn has_bad_code(end: &End) -> bool {
    matches!(end, End::Exited { code } if *code != 0)
}

/// The server was told to end, and ended with an exit code other than 0.
pub(super) fn bad_exit_code(facts: &Facts) -> Option<Cause> {
    let end = facts.end().filter(|end| has_bad_code(end))?;
    facts.told_to_end()?;
    if crashed(facts).is_some() || startup::died_at_start(facts).is_some() {
        return None;
    }
    let (ended, said) = (phrases::ended(end), phrases::stderr_says(facts, None));
    let cause = Cause::new(
        Possible,
        format!("the server {ended} when it was told to end{said}"),
        "Nothing is lost, but hosts may report a failure: let the server exit with 0.",
    );
    let cause = cause
        .shown(phrases::end_of(facts))
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, None, 3)))
}

/// Processes of the server live on after it.
pub(super) fn survivors_left(facts: &Facts) -> Option<Cause> {
    let group = facts.found("survivors-left")?;
    let sentence = format!(
        "the server ended and left processes that still hold its pipes: {}",
        group.first.first()?.detail
    );
    let advice = "Launchers (npx, sh -c, uv run) leave what they started: start the server's program \
                  itself, or `exec` it, and kill what is left.";
    Some(Cause::new(Possible, sentence, advice).shown(phrases::findings(group)))
}
