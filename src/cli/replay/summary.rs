//! The summary of a replay besides its comparison: what was sent, refused and bound, and where
//! it is on record.

use super::update::Updated;
use crate::cli::comparison::{Party, ReportFormat};
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::Outcome;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Value, json};

/// Refused calls, handles, variables and the like that are named.
pub const MOST_NAMED: usize = 10;

const UNEXPECTED: &str = "of the server that the recording has not";

pub struct Summary<'r> {
    pub outcome: &'r Outcome,
    /// The recording that was replayed, and the one that the replay has left.
    pub parties: &'r [Party; 2],
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
                for (name, text) in self.rows() {
                    out.fact(name, &text)?;
                }
            }
            ReportFormat::Json => out.json(&self.json())?,
            // These have no place for more: stderr gets what the user has to do.
            ReportFormat::Junit | ReportFormat::Github => {
                let wanted = ["refused", "stopped", "ended", "cassette"];
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
        let refusals = tally.refused.kept.iter();
        let refusals = refusals.map(|(seq, tool)| json!({"seq": seq.0, "tool": escape(tool)}));
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
            "recording": self.parties[1].id,
            "path": self.parties[1].path,
            "interrupted": self.outcome.interrupted,
            "requests": self.outcome.requests,
            "sent": tally.sent,
            "answered": tally.answered,
            "ended_as_then": tally.ended_as_then,
            "refused": tally.refused.count,
            "refusals": refusals.collect::<Vec<_>>(),
            "unbound": self.outcome.report.lacking,
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
        let refused = &tally.refused;
        if refused.count > 0 {
            let calls = refused.kept.iter();
            let calls = calls.map(|(seq, tool)| format!("{} (#{})", escape(tool), seq.0));
            let calls = output::some(calls, refused.count, MOST_NAMED).join(", ");
            let number = plural(refused.count, "call");
            rows.push(("refused", format!("{number}: {calls}")));
            let again = self.parties[0].command("replay");
            let way = format!(
                "`{again} --allow-side-effects` makes them, --allow-tool NAME those of one tool"
            );
            rows.push(("", way));
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
        let (made, open) = (&self.parties[1], self.parties[1].command("open"));
        rows.push(("recording", format!("{}; `{open}` opens it", made.id)));
        rows
    }
}

fn bound(bound: &Bound) -> String {
    let [recorded, live] = [&bound.recorded, &bound.live].map(|text| escape(text));
    let (from, times) = (bound.from.to_string(), plural(bound.uses, "time"));
    let (seq, from) = (bound.seq.0, escape(&from));
    format!("{recorded} is {live} now, from the answer to #{seq} at {from}; sent {times}")
}
