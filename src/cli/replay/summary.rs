//! The summary of a replay besides its comparison: what was sent, refused, lacking and bound, and where
//! it is on record.

use super::update::Updated;
use crate::cli::comparison::Party;
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::{GivenUp, Outcome, Refusal};
use mcpreel_wire::text::{count, escape, plural};
use serde_json::json;

/// Refused calls, and handles, that are named.
const MOST_NAMED: usize = 10;

pub struct Summary<'r> {
    pub outcome: &'r Outcome,
    /// The recording that it has left.
    pub made: &'r Party,
    /// The result of `--update`.
    pub updated: Option<&'r Updated>,
    /// Variables that the recorded server had and this one had not, where it does not do the same.
    pub lacking: Option<String>,
}

impl Summary<'_> {
    /// For people.
    pub fn text(&self) -> Result<(), Failure> {
        let mut out = Output::stdout();
        out.line("")?;
        output::facts(&self.rows(), &mut out)?;
        Ok(out.flush()?)
    }

    /// For programs, on one line.
    pub fn json(&self) -> Result<(), Failure> {
        let mut out = Output::stdout();
        let tally = &self.outcome.tally;
        let refusals = tally.refusals.iter();
        let refusals = refusals.map(|it| json!({"seq": it.seq.0, "tool": escape(&it.tool)}));
        let given_up = tally.given_up.iter().map(
            |it| json!({"seq": it.seq.0, "what": escape(&it.what), "answered": it.is_answered}),
        );
        let bound = tally.bound.iter().map(|it| {
            json!({
                "recorded": escape(&it.recorded),
                "live": escape(&it.live),
                "seq": it.seq.0,
                "path": escape(&it.from.to_string()),
                "times": it.uses,
            })
        });
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
            "refusals": refusals.collect::<Vec<_>>(),
            "unbound": unbound.collect::<Vec<_>>(),
            "given_up": given_up.collect::<Vec<_>>(),
            "lacking": self.lacking,
            "bound": bound.collect::<Vec<_>>(),
            "updated": self.updated.map(|updated| matches!(updated, Updated::Written(_))),
            "secrets_in_update": match self.updated {
                Some(Updated::Written(secrets)) => Some(secrets),
                _ => None,
            },
        }))?;
        Ok(out.flush()?)
    }

    /// Tells what a user has to do, where stdout has no place for it.
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
        let mut row = |name, text: String| rows.push((name, text));
        if let Some(signal) = self.outcome.interrupted {
            let text = format!("by signal {signal}: this is what was found until then");
            row("stopped", text);
        }
        let requests = plural(self.outcome.requests, "request");
        let (sent, answered) = (count(tally.sent), count(tally.answered));
        row(
            "replayed",
            format!("{sent} of {requests} sent, {answered} answered"),
        );
        if let Some(how) = &tally.ended_as_then {
            row("ended", format!("{how}, as in the recording"));
        }
        if tally.refused > 0 {
            let named = |it: &Refusal| format!("{} (#{})", escape(&it.tool), it.seq.0);
            let named = tally.refusals.iter().map(named);
            let named = output::some(named, tally.refused, MOST_NAMED).join(", ");
            row(
                "refused",
                format!("{}: {named}", plural(tally.refused, "call")),
            );
            let way = "--allow-tool NAME allows one tool, --allow-side-effects all of them";
            row("", way.to_owned());
        }
        let lacking: Vec<_> = tally.unbound.iter().map(|name| escape(name)).collect();
        if let Some(first) = lacking.first() {
            let all = lacking.join(", ");
            row(
                "redacted",
                format!("{all}; supply them: --bind {first}=env:NAME"),
            );
        }
        let all = tally.bound.len() as u64;
        for text in output::some(tally.bound.iter().map(bound), all, MOST_NAMED) {
            row("bound", text);
        }
        let all = tally.given_up.len() as u64;
        for text in output::some(tally.given_up.iter().map(given_up), all, MOST_NAMED) {
            row("given up", text);
        }
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
                row("besides", format!("{} {text}", plural(number, noun)));
            }
        }
        if let Some(lacking) = &self.lacking {
            row("besides", lacking.clone());
        }
        if let Some(updated) = self.updated {
            row("cassette", updated.in_words());
        }
        let (id, short) = (&self.made.id, self.made.short());
        row(
            "recording",
            format!("{id}; `mcpreel open {short}` opens it"),
        );
        rows
    }
}

fn bound(bound: &Bound) -> String {
    format!(
        "{} is {} now, from the answer to #{} at {}; sent {}",
        escape(&bound.recorded),
        escape(&bound.live),
        bound.seq.0,
        escape(&bound.from.to_string()),
        plural(bound.uses, "time"),
    )
}

/// Whether a request that the recorded client gave up is answered now is no difference, but may be
/// what the user wants to know.
fn given_up(one: &GivenUp) -> String {
    let now = if one.is_answered {
        "is answered now"
    } else {
        "is not answered now either"
    };
    let (what, seq) = (escape(&one.what), one.seq.0);
    format!("{what} (#{seq}), given up in the recording, {now}")
}

/// The beginnings of variables of a terminal, a shell, a desktop or Cargo: they differ from window to
/// window, and servers do not go by them.
const OF_A_WINDOW: &str =
    "CARGO COLORTERM COLUMNS DBUS_ DISPLAY LINES OLDPWD PWD SHLVL SSH_ TERM TMUX WINDOWID XDG_";

/// A sentence that names the recorded server's variables that are not set now; `None` where all are.
/// Their values were never on record.
pub fn lacking(recorded: &[String]) -> Option<String> {
    let missing = recorded.iter().filter(|name| {
        let mut of_a_window = OF_A_WINDOW.split(' ');
        let is_of_a_window = *name == "_" || of_a_window.any(|known| name.starts_with(known));
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        is_name && !is_of_a_window && std::env::var_os(name).is_none()
    });
    let missing: Vec<_> = missing.map(|name| escape(name).into_owned()).collect();
    let count = missing.len() as u64;
    let variables = plural(count, "variable");
    let named = output::some(missing, count, MOST_NAMED).join(", ");
    (count > 0)
        .then(|| format!("the recorded server had {variables} that you have not set: {named}"))
}
