//! The server was not started for a reason that is neither its command nor its file.

use super::facts::Facts;
use super::{Cause, Kind, words};
use mcpreel_trace::session::End;

pub(super) const KIND: Kind = Kind::new("server-not-started", find);

fn find(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted { exit_code, message }) = facts.end() else {
        return None;
    };
    if matches!(exit_code, 126 | 127) {
        return None;
    }
    let sentence = format!("the server was not started: {}", words::noted(message));
    let cause = Cause::certain(KIND.id, sentence).advise(
        "The reason is the system's, not the server's: look for limits on processes, memory and \
         open files of the host.",
    );
    Some(cause.shown(words::end_of(facts)))
}
