//! The server ended by itself in the middle of a session.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::size;

pub(super) const KIND: Kind = Kind::new("crashed", find);

fn find(facts: &Facts) -> Option<Cause> {
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
            let calls = words::calls(lost.iter().copied());
            (format!(" in the middle of {calls}"), Certainty::Certain)
        }
    };
    let sentence = format!(
        "the server {}{when}{}",
        words::ended(end),
        words::stderr_says(facts)
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice(facts, end));
    let cause = cause.shown(lost.into_iter().take(3).map(words::request));
    let cause = cause.shown(words::end_of(facts));
    Some(cause.shown(words::stderr(facts, 4)))
}

/// What to do about a server that ended with an exit code.
fn by_itself(facts: &Facts) -> &'static str {
    let was_open = facts.lost.asked(Direction::ClientToServer).next().is_some();
    match (words::has_last_words(facts), was_open) {
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
