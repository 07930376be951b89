//! The command of the server is there, but cannot be run.

use super::facts::Facts;
use super::{Cause, Kind, words};
use crate::quote;
use mcpreel_trace::session::End;

pub(super) const KIND: Kind = Kind::new("server-not-executable", find);

fn find(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted {
        exit_code: 126,
        message,
    }) = facts.end()
    else {
        return None;
    };
    let (program, message) = (program(facts), words::noted(message));
    // What is noted mostly begins with it.
    let named = if message.starts_with(&program) {
        String::new()
    } else {
        format!("{program}: ")
    };
    let sentence = format!("the server's command cannot be run: {named}{message}");
    let cause = Cause::certain(KIND.id, sentence).advise(
        "Make it executable (`chmod +x`), or start it with the program that runs such files, for \
         example `node` or `python3`; a program that was built for another machine has to be built \
         for this one.",
    );
    Some(cause.shown(words::end_of(facts)))
}

fn program(facts: &Facts) -> String {
    quote::text(facts.context.argv.first().map_or("", String::as_str))
}
