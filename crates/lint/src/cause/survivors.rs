//! Processes of the server that live on after it.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use crate::quote;
use mcpreel_trace::event::{EventKind, ProcessName};

pub(super) const KIND: Kind = Kind::new("survivors-left", find);

const NAMED: usize = 3;

fn find(facts: &Facts) -> Option<Cause> {
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
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence).advise(
        "Launchers (npx, sh -c, uv run) do not pass the end on to what they start: start the \
         server's program itself, or `exec` it; end what is left over by hand.",
    );
    Some(cause.shown([words::event(
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
