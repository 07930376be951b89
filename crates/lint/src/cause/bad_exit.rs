//! The server was told to end, and ended with an exit code other than 0.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use mcpreel_trace::session::End;

pub(super) const KIND: Kind = Kind::new("bad-exit-code", find);

fn find(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    let is_bad = matches!(end, End::Exited { code } if *code != 0);
    if !is_bad || !facts.was_told_to_end() {
        return None;
    }
    let sentence = format!(
        "the server {} when it was told to end{}",
        words::ended(end),
        words::stderr_says(facts)
    );
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence).advise(
        "Nothing is lost by it, but hosts may report a failure: let the server end with 0 when its \
         input ends.",
    );
    let cause = cause
        .shown(words::end_of(facts))
        .shown(words::leaving(facts));
    Some(cause.shown(words::stderr(facts, 3)))
}
