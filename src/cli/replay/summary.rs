//! The summary of a replay besides its comparison: what was sent, refused, lacking and bound, and where
//! it is on record.

use super::update::Updated;
use crate::cli::comparison::Party;
use crate::cli::exit::Failure;
use crate::cli::output::{self, Output};
use mcpreel_replay::bind::Bound;
use mcpreel_replay::player::{GivenUp, Outcome, Refusal};
use mcpreel_wire::text::{count, escape, pad_end, plural};
use serde_json::json;

/// Columns of the names on the left.
const NAMES: usize = 9;

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
        for (name, text) in self.rows() {
            out.line(&format!("{}  {text}", pad_end(name, NAMES)))?;
        }
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
            let named = first(&tally.refusals, tally.refused, named).join(", ");
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
        for text in first(&tally.bound, tally.bound.len() as u64, bound) {
            row("bound", text);
        }
        for text in first(&tally.given_up, tally.given_up.len() as u64, given_up) {
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

/// The first items in words, and how many more there are of `count`.
fn first<T>(items: &[T], count: u64, words: impl Fn(&T) -> String) -> Vec<String> {
    let mut named: Vec<_> = items.iter().take(MOST_NAMED).map(words).collect();
    let more = count - named.len() as u64;
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named
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

/// Variables of a terminal, a shell or a desktop: they differ from window to window, and servers do
/// not go by them.
const OF_A_WINDOW: [&str; 14] = [
    "_",
    "COLORTERM",
    "COLUMNS",
    "DBUS_",
    "DISPLAY",
    "LINES",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SSH_",
    "TERM",
    "TMUX",
    "WINDOWID",
    "XDG_",
];

/// A sentence that names the recorded server's variables that are not set now; `None` where all are.
/// Their values were never on record.
pub fn lacking(recorded: &[String]) -> Option<String> {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let is_of_a_window = |name: &str| {
        let mut known = OF_A_WINDOW.iter();
        known.any(|known| name == *known || known.len() > 1 && name.starts_with(known))
    };
    let missing = recorded.iter().filter(|name| {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        is_name && !is_of_a_window(name) && !is_set(name)
    });
    let missing: Vec<_> = missing.collect();
    let named = first(&missing, missing.len() as u64, |name| {
        escape(name).into_owned()
    });
    let variables = plural(missing.len() as u64, "variable");
    let named = named.join(", ");
    (!missing.is_empty())
        .then(|| format!("the recorded server had {variables} that you have not set: {named}"))
}
