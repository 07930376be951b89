//! What was done besides comparing: sent, refused, lacking, bound; and where it is on record.

use super::update::Updated;
use crate::cli::comparison::Party;
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::Outcome;
use mcpreel_replay::player::{GivenUp, Refusal, Tally};
use mcpreel_wire::text::{count, escape, pad_end, plural};
use serde_json::{Value, json};

/// Columns of the names on the left.
const NAMES: usize = 9;

/// Refused calls, and handles, that are named.
const MOST_NAMED: usize = 10;

/// What is told of a run.
pub struct Told<'r> {
    pub outcome: &'r Outcome,
    /// The recording that it has left.
    pub made: &'r Party,
    /// What became of the cassette, where it was to be updated.
    pub updated: Option<&'r Updated>,
    /// Variables that the recorded server had and this one had not, where it does not do the same.
    pub lacking: Option<String>,
}

impl Told<'_> {
    /// For people.
    pub fn text(&self) -> Result<(), Failure> {
        let mut out = Output::stdout();
        out.line("")?;
        for (name, text) in self.rows() {
            out.line(&format!("{}  {text}", pad_end(name, NAMES)))?;
        }
        Ok(out.flush()?)
    }

    /// For programs, on one line.
    pub fn json(&self) -> Result<(), Failure> {
        let mut out = Output::stdout();
        let tally = &self.outcome.tally;
        let refused = tally.refusals.iter();
        let refused: Vec<_> = refused
            .map(|Refusal { seq, tool }| json!({"seq": seq.0, "tool": escape(tool)}))
            .collect();
        let unbound = tally.unbound.iter().map(|name| escape(name));
        out.json(&json!({
            "kind": "replay",
            "recording": self.made.id,
            "path": self.made.path,
            "interrupted": self.outcome.interrupted,
            "requests": self.outcome.requests,
            "sent": tally.sent,
            "answered": tally.answered,
            "ended_as_then": tally.ended_as_then,
            "refused": tally.refused,
            "refusals": refused,
            "unbound": unbound.collect::<Vec<_>>(),
            "given_up": tally.given_up.iter().map(given_up_json).collect::<Vec<_>>(),
            "lacking": self.lacking,
            "bound": tally.bound.iter().map(bound).collect::<Vec<_>>(),
            "updated": self.updated.map(|updated| matches!(updated, Updated::Written(_))),
            "secrets_in_update": self.updated.and_then(Updated::secrets),
        }))?;
        Ok(out.flush()?)
    }

    /// What a user has to do, where stdout has no place for it.
    pub fn hint(&self) {
        for (name, text) in self.rows() {
            if matches!(
                name,
                "refused" | "redacted" | "stopped" | "ended" | "cassette"
            ) {
                output::say(&format!("{name}: {text}"));
            }
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let tally = &self.outcome.tally;
        let mut rows = Vec::new();
        if let Some(signal) = self.outcome.interrupted {
            let text = format!("by signal {signal}: this is what was found until then");
            rows.push(("stopped", text));
        }
        let requests = plural(self.outcome.requests, "request");
        let (sent, answered) = (count(tally.sent), count(tally.answered));
        rows.push((
            "replayed",
            format!("{sent} of {requests} sent, {answered} answered"),
        ));
        if let Some(how) = &tally.ended_as_then {
            rows.push(("ended", format!("{how}, as in the recording")));
        }
        refusals(tally, &mut rows);
        lacks(tally, &mut rows);
        self.bound(&mut rows);
        given_up(tally, &mut rows);
        besides(tally, &mut rows);
        rows.extend(self.lacking.clone().map(|lacking| ("besides", lacking)));
        if let Some(updated) = self.updated {
            rows.push(("cassette", updated.in_words()));
        }
        let (id, short) = (&self.made.id, self.made.short());
        rows.push((
            "recording",
            format!("{id}; `mcpreel open {short}` opens it"),
        ));
        rows
    }

    fn bound(&self, rows: &mut Vec<(&'static str, String)>) {
        let all = &self.outcome.tally.bound;
        for bound in all.iter().take(MOST_NAMED) {
            let text = format!(
                "{} is {} now, from the answer to #{} at {}; sent {}",
                escape(&bound.recorded),
                escape(&bound.live),
                bound.seq.0,
                escape(&bound.from.to_string()),
                plural(bound.uses, "time"),
            );
            rows.push(("bound", text));
        }
        if all.len() > MOST_NAMED {
            rows.push(("", format!("and {} more", all.len() - MOST_NAMED)));
        }
    }
}

fn refusals(tally: &Tally, rows: &mut Vec<(&'static str, String)>) {
    if tally.refused == 0 {
        return;
    }
    let named = tally.refusals.iter().take(MOST_NAMED);
    let named = named.map(|Refusal { seq, tool }| format!("{} (#{})", escape(tool), seq.0));
    let mut named: Vec<_> = named.collect();
    if tally.refused > named.len() as u64 {
        named.push(format!("and {} more", tally.refused - named.len() as u64));
    }
    let calls = plural(tally.refused, "call");
    rows.push(("refused", format!("{calls}: {}", named.join(", "))));
    let way = "--allow-tool NAME allows one tool, --allow-side-effects all of them";
    rows.push(("", way.to_owned()));
}

fn lacks(tally: &Tally, rows: &mut Vec<(&'static str, String)>) {
    let names: Vec<_> = tally.unbound.iter().map(|name| escape(name)).collect();
    if let Some(first) = names.first() {
        let all = names.join(", ");
        rows.push((
            "redacted",
            format!("{all}; supply them: --bind {first}=env:NAME"),
        ));
    }
}

/// What became of what the recorded client gave up: whether there is an answer is no difference, but
/// may be what somebody wants to know.
fn given_up(tally: &Tally, rows: &mut Vec<(&'static str, String)>) {
    for one in tally.given_up.iter().take(MOST_NAMED) {
        let now = if one.is_answered {
            "is answered now"
        } else {
            "is not answered now either"
        };
        let (what, seq) = (escape(&one.what), one.seq.0);
        rows.push((
            "given up",
            format!("{what} (#{seq}), given up in the recording, {now}"),
        ));
    }
    let more = tally.given_up.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        rows.push(("", format!("and {more} more")));
    }
}

fn besides(tally: &Tally, rows: &mut Vec<(&'static str, String)>) {
    for (number, noun, text) in [
        (
            tally.unexpected,
            "question",
            "of the server that the recording has not",
        ),
        (tally.uncompared, "answer", "too long to be compared"),
        (tally.forgotten, "value", "too many to be bound"),
    ] {
        if number > 0 {
            rows.push(("besides", format!("{} {text}", plural(number, noun))));
        }
    }
}

fn given_up_json(one: &GivenUp) -> Value {
    json!({"seq": one.seq.0, "what": escape(&one.what), "answered": one.is_answered})
}

fn bound(bound: &Bound) -> Value {
    json!({
        "recorded": escape(&bound.recorded),
        "live": escape(&bound.live),
        "seq": bound.seq.0,
        "path": escape(&bound.from.to_string()),
        "times": bound.uses,
    })
}
