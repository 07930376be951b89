//! The server ended before it said anything.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("died-at-start", find);

fn find(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    let is_end = matches!(end, End::Exited { .. } | End::Killed { .. }) || facts.ended_somehow();
    if !is_end || facts.first_said.is_some() || facts.was_told_to_end() {
        return None;
    }
    let lived = facts.session.spawned.map(|Moment(t)| t);
    let lived = lived.map_or_else(String::new, |t| {
        let lived = duration(ended_at(facts).0.saturating_sub(t));
        format!(", {lived} after its start and")
    });
    let sentence = format!(
        "the server {}{lived} before it answered anything{}",
        words::ended(end),
        words::stderr_says(facts)
    );
    let certainty = match end {
        End::Exited { code: 0 } if !words::has_last_words(facts) => Certainty::Likely,
        _ => Certainty::Certain,
    };
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice(facts, end));
    let cause = cause.shown(words::stderr(facts, 4));
    Some(cause.shown(words::end_of(facts)))
}

fn ended_at(facts: &Facts) -> Moment {
    let closed = facts.session.closed_first.map(|closed| closed.t);
    closed.unwrap_or(facts.now)
}

/// Shells and `env` end with 127 where they find no program.
fn advice(facts: &Facts, end: &End) -> String {
    let host = words::host(&facts.context.host);
    match end {
        End::Exited { code: 127 } => format!(
            "A program that the server's command starts was not found: {host} starts servers with \
             its own PATH, so name that program by its whole path, or set PATH in the configuration."
        ),
        End::Exited { code: 126 } => {
            "A program that the server's command starts cannot be run: look at its permissions."
                .to_owned()
        }
        End::Exited { code: 0 } => {
            "The server thought that it had nothing to do: look whether its arguments make it print \
             a help or a version, or fork into the background."
                .to_owned()
        }
        _ => "Run the same command in a terminal, in the same folder and with the few variables \
              that a host passes on; arguments, missing modules and missing variables are the usual \
              reasons."
            .to_owned(),
    }
}
