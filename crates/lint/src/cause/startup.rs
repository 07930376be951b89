//! Causes in the server's process: why it did not start, or started slowly or noisily, and how it
//! ended.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, phrases};
use crate::quote;
use mcpreel_trace::event::{EventKind, ProcessName};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural, size};

pub(super) fn server_not_found(facts: &Facts) -> Option<Cause> {
    not_started(facts, |exit_code| exit_code == 127)
}

pub(super) fn server_not_executable(facts: &Facts) -> Option<Cause> {
    not_started(facts, |exit_code| exit_code == 126)
}

pub(super) fn server_not_started(facts: &Facts) -> Option<Cause> {
    not_started(facts, |exit_code| !matches!(exit_code, 126 | 127))
}

fn not_started(facts: &Facts, is_meant: fn(u8) -> bool) -> Option<Cause> {
    let Some(End::NotStarted { exit_code, message }) = facts.end() else {
        return None;
    };
    let (what, advice) = match exit_code {
        127 => (
            "the server's command was not found",
            "Hosts start servers with their own PATH, not with that of your shell: write the whole \
             path of the command into the host's configuration (`command -v` in a terminal tells \
             it), or set PATH there. If it is a script, its first line names a program that has to \
             be found too.",
        ),
        126 => (
            "the server's command cannot be run",
            "Make it executable (`chmod +x`), or start it with the program that runs such files, \
             for example `node` or `python3`; a program that was built for another machine has to \
             be built for this one.",
        ),
        _ => (
            "the server was not started",
            "The reason is the system's, not the server's: look for limits on processes, memory and \
             open files of the host.",
        ),
    };
    let sentence = format!("{what}: {}", phrases::noted(message));
    let cause = Cause::new(Certain, sentence, advice).shown(phrases::end_of(facts));
    is_meant(*exit_code).then_some(cause)
}

/// Something was printed on stdout before the first message.
pub(super) fn banner(facts: &Facts) -> Option<Cause> {
    let mut banner = facts.noise.iter().filter(|line| is_early(facts, line));
    let first = banner.clone().find(|line| !line.text().is_empty())?;
    // A server that died at once left no time for harm, and who goes on lives with the banner.
    let is_harmless = died_at_start(facts).is_some() || facts.went_on && facts.survived(first.seq);
    let sentence = format!(
        "the server printed \"{}\" on stdout before its first message; stdout carries nothing but \
         messages, and strict clients give up at such a line",
        phrases::said(first)
    );
    let advice = "Print it on stderr, or not at all. Where a launcher prints it (npx, uvx, npm run), \
                  start the server's program itself in the host's configuration, or silence the \
                  launcher.";
    let cause = Cause::new(
        if is_harmless { Possible } else { Likely },
        sentence,
        advice,
    );
    Some(cause.shown(banner.by_ref().map(phrases::line)))
}

/// Whether a line that is no message stands on stdout before the first message.
pub(super) fn is_early(facts: &Facts, line: &Line) -> bool {
    line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said)
}

/// The server ended before it said anything.
pub(super) fn died_at_start(facts: &Facts) -> Option<Cause> {
    let end = facts.ended_by_itself()?;
    if facts.first_said.is_some() {
        return None;
    }
    let closed = facts
        .session
        .closed_first
        .map_or(facts.now, |closed| closed.t);
    let lived = facts.session.spawned.map_or_else(String::new, |spawned| {
        format!(
            ", {} after its start and",
            duration(closed.ns_since(spawned))
        )
    });
    let stderr_says = phrases::stderr_says(facts);
    let certainty = match end {
        End::Exited { code: 0 } if stderr_says.is_empty() => Likely,
        _ => Certain,
    };
    let ended = phrases::ended(end);
    let cause = Cause::new(
        certainty,
        format!("the server {ended}{lived} before it answered anything{stderr_says}"),
        "Run the same command in a terminal, in the same folder and with the few variables that a \
         host passes on. Arguments, missing modules and missing variables are the usual reasons; \
         exit code 127 means a program that is not on the host's PATH.",
    );
    let cause = cause.shown(phrases::stderr(facts, 4));
    Some(cause.shown(phrases::end_of(facts)))
}

/// From here on a start is slow, nanoseconds; the shortest limits of hosts are near.
const SLOW_NS: u64 = 5 * SECOND_NS;

/// From here on many hosts have given up, nanoseconds.
const TOO_SLOW_NS: u64 = 10 * SECOND_NS;

/// The server took long to be ready.
pub(super) fn slow_start(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let opened = facts.opened()?;
    let ready = opened.t_response_last?;
    let took_ns = ready.ns_since(spawned);
    // A host that began late is not the server's slowness.
    let own_ns = opened.t_response?.ns_since(opened.t_request);
    if took_ns < SLOW_NS || own_ns < SLOW_NS / 2 || answered_at_exit(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let (certainty, then) = match took_ns {
        _ if opened.status == Status::Late || left => (Certain, ", when the client had given up"),
        TOO_SLOW_NS.. => (Likely, ""),
        _ => (Possible, ""),
    };
    let cause = Cause::new(
        certainty,
        format!(
            "the server was ready {} after its start{then}",
            duration(took_ns)
        ),
        "Launchers that fetch packages first (npx, uvx, docker) are the usual reason: install the \
         server and start its program itself, or raise the host's limit for starting.",
    );
    Some(cause.shown_call(opened))
}

// Causes in how a session ends: crashes, answers at the last moment, exit codes, leftovers.

/// A younger request may merely have crossed the end, nanoseconds.
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
    let was_silent = facts
        .session
        .first_byte
        .s2c
        .is_some_and(|said| said >= told);
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
    let advice = "Flush stdout after each message: `flush=True` or `python -u`, `fflush`, `$| = 1`; \
                  in a pipe of programs let each of them do it (`--line-buffered`, `--unbuffered`). \
                  Or the server reads its input to the end before it works: let it read line by line.";
    let cause = Cause::new(certainty, sentence, advice);
    let shown = answers.iter().take(2);
    let cause = shown.fold(cause, |cause, answer| cause.shown_call(answer));
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::end_of(facts)))
}

/// Signals that the system sends to a process for what its own code did.
const CRASHES: [&str; 5] = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE"];

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
    let advice = match end {
        End::Killed { signal } if &**signal == "SIGKILL" => {
            "Somebody killed it, or the system did because it was out of memory: look into the \
             kernel's log."
        }
        End::Killed { signal } if CRASHES.contains(&&**signal) => {
            "It crashed in native code: look for a core dump, and for a native module in the tool \
             that was called."
        }
        End::Killed { .. } => {
            "Look for who sent the signal: the system, a supervisor, or a person."
        }
        _ => {
            "The last lines on stderr mostly say why; if there are none, repeat the request that was \
             open."
        }
    };
    let (ended, said) = (phrases::ended(end), phrases::stderr_says(facts));
    let cause = Cause::new(certainty, format!("the server {ended}{when}{said}"), advice);
    let usage = facts
        .session
        .usage
        .filter(|_| matches!(end, End::Killed { .. }));
    let usage = usage.map(|usage| {
        let text = format!("the server used {} at its peak", size(usage.max_rss_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = cause
        .shown(lost.into_iter().take(3).map(phrases::request))
        .shown(phrases::end_of(facts))
        .shown(phrases::stderr(facts, 4));
    Some(cause.shown(usage))
}

/// The server was told to end, and ended with an exit code other than 0.
pub(super) fn bad_exit_code(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    facts.told_to_end()?;
    if !matches!(end, End::Exited { code } if *code != 0) {
        return None;
    }
    let (ended, said) = (phrases::ended(end), phrases::stderr_says(facts));
    let cause = Cause::new(
        Possible,
        format!("the server {ended} when it was told to end{said}"),
        "Nothing is lost by it, but hosts may report a failure: let the server end with 0 when its \
         input ends.",
    );
    let cause = cause
        .shown(phrases::end_of(facts))
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 3)))
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
    let advice = "Launchers (npx, sh -c, uv run) do not pass the end on to what they start: start \
                  the server's program itself, or `exec` it; end what is left over by hand.";
    let shown = phrases::event(event, "processes still hold the server's pipes");
    Some(Cause::new(Possible, sentence, advice).shown([shown]))
}
