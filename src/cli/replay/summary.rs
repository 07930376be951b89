//! The summary of a replay besides its comparison: what was sent, refused and bound, and where
//! it is on record.

use super::update::Updated;
use crate::cli::comparison::Party;
use crate::cli::comparison::ReportFormat;
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::Outcome;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Value, json};

/// Refused calls, handles and the like that are named.
const MOST_NAMED: usize = 10;

const UNEXPECTED: &str = "of the server that the recording has not";

pub struct Summary<'r> {
    pub outcome: &'r Outcome,
    /// The recording that it has left.
    pub made: &'r Party,
    /// The result of `--update`.
    pub updated: Option<&'r Updated>,
}

impl Summary<'_> {
    /// Writes it below the report of the comparison.
    pub fn write(&self, format: ReportFormat) -> Result<(), Failure> {
        let mut out = Output::stdout();
        match format {
            ReportFormat::Text => {
                out.line("")?;
                output::facts(&self.rows(), &mut out)?;
            }
            ReportFormat::Json => out.json(&self.json())?,
            // These have no place for more: stderr gets what the user has to do.
            ReportFormat::Junit | ReportFormat::Github => {
                let wanted = ["refused", "redacted", "stopped", "ended", "cassette"];
                for (name, text) in self.rows() {
                    if wanted.contains(&name) {
                        output::say(&format!("{name}: {text}"));
                    }
                }
            }
        }
        Ok(out.flush()?)
    }

    fn json(&self) -> Value {
        let tally = &self.outcome.tally;
        let refusals = tally.refusals.iter();
        let refusals = refusals.map(|it| json!({"seq": it.seq.0, "tool": escape(&it.tool)}));
        let bound = tally.bound.iter().map(|it| {
            json!({
                "recorded": escape(&it.recorded),
                "live": escape(&it.live),
                "seq": it.seq.0,
                "path": escape(&it.from.to_string()),
                "times": it.uses,
            })
        });
        let secrets = match self.updated {
            Some(Updated::Written(secrets)) => Some(secrets),
            _ => None,
        };
        json!({
            "kind": "replay",
            "recording": self.made.id,
            "path": self.made.path,
            "interrupted": self.outcome.interrupted,
            "requests": self.outcome.requests,
            "sent": tally.sent,
            "answered": tally.answered,
            "ended_as_then": tally.ended_as_then,
            "refused": tally.refused,
            "refusals": refusals.collect::<Vec<_>>(),
            "unbound": tally.unbound.iter().map(|name| escape(name)).collect::<Vec<_>>(),
            "bound": bound.collect::<Vec<_>>(),
            "updated": self.updated.map(|_| secrets.is_some()),
            "secrets_in_update": secrets,
        })
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
        let replayed = format!("{sent} of {requests} sent, {answered} answered");
        rows.push(("replayed", replayed));
        if let Some(how) = &tally.ended_as_then {
            rows.push(("ended", format!("{how}, as in the recording")));
        }
        if tally.refused > 0 {
            let calls = tally.refusals.iter();
            let calls = calls.map(|it| format!("{} (#{})", escape(&it.tool), it.seq.0));
            let calls = output::some(calls, tally.refused, MOST_NAMED).join(", ");
            let refused = plural(tally.refused, "call");
            rows.push(("refused", format!("{refused}: {calls}")));
            let way = "--allow-tool NAME allows one tool, --allow-side-effects all of them";
            rows.push(("", way.to_owned()));
        }
        if let Some(first) = tally.unbound.first() {
            let (all, first) = (tally.unbound.join(", "), escape(first));
            let text = format!("{}; supply them: --bind {first}=env:NAME", escape(&all));
            rows.push(("redacted", text));
        }
        let number = tally.bound.len() as u64;
        let bound = output::some(tally.bound.iter().map(bound), number, MOST_NAMED);
        rows.extend(bound.into_iter().map(|text| ("bound", text)));
        for (number, noun, text) in [
            (tally.unexpected, "question", UNEXPECTED),
            (tally.uncompared, "answer", "too long to be compared"),
            (tally.forgotten, "value", "too many to be bound"),
        ] {
            if number > 0 {
                rows.push(("besides", format!("{} {text}", plural(number, noun))));
            }
        }
        rows.extend(self.updated.map(|updated| ("cassette", updated.in_words())));
        let (id, short) = (&self.made.id, self.made.short());
        let text = format!("{id}; `mcpreel open {short}` opens it");
        rows.push(("recording", text));
        rows
    }
}

fn bound(bound: &Bound) -> String {
    let [recorded, live] = [&bound.recorded, &bound.live].map(|text| escape(text));
    let (from, times) = (bound.from.to_string(), plural(bound.uses, "time"));
    let (seq, from) = (bound.seq.0, escape(&from));
    format!("{recorded} is {live} now, from the answer to #{seq} at {from}; sent {times}")
}
