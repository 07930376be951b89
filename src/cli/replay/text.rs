//! What came of a replay, for people: the verdict first, then what differs, then what was done
//! otherwise than in the recording, then where it is on record.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::replay::client::target::Outcome;
use crate::replay::client::{Refusal, Tally};
use crate::replay::compare::Class;
use crate::replay::judge::{Missing, Skip};
use crate::replay::report::{Account, Outcome as Found, Report, Trouble};
use crate::store::library::{Library, short_id};
use crate::store::reader::Summary;
use crate::text::{count, escape, pad_end, plural};
use std::path::PathBuf;

/// Columns of the names on the left.
const NAMES: usize = 10;

/// Exchanges of which something is told; the others are counted.
const MOST_TOLD: usize = 50;

/// Refused calls that are named.
const MOST_NAMED: usize = 10;

/// Writes it. `made` is the new recording.
pub fn write(
    outcome: &Outcome,
    summary: &Summary,
    made: Option<&(String, PathBuf)>,
) -> Result<(), Failure> {
    let mut out = Output::stdout();
    write_verdict(outcome, summary, &mut out)?;
    for (_, text) in outcome
        .report
        .troubles
        .iter()
        .filter(|(what, _)| is_told(*what))
    {
        row("", text, &mut out)?;
    }
    write_accounts(&outcome.report, &mut out)?;
    write_tally(&outcome.tally, &mut out)?;
    if let Some((id, path)) = made {
        let others = path.parent().and_then(|dir| Library::new(dir).list().ok());
        let short = short_id(id, &others.unwrap_or_default()).to_owned();
        row(
            "recording",
            &format!("{id}; `mcpreel open {short}` opens it"),
            &mut out,
        )?;
    }
    out.flush()?;
    Ok(())
}

/// Refusals have lines of their own.
fn is_told(trouble: Trouble) -> bool {
    trouble != Trouble::Refused
}

fn write_verdict(outcome: &Outcome, summary: &Summary, out: &mut Output) -> Result<(), Failure> {
    let (tally, report) = (&outcome.tally, &outcome.report);
    let (word, ink) = match (outcome.interrupted, report.exit_code()) {
        (Some(_), _) => ("interrupted", Ink::Warn),
        (None, 0) => ("alike", Ink::Good),
        (None, 1) => ("differs", Ink::Bad),
        (None, 3) => ("unusable", Ink::Bad),
        (None, 4) => ("crash", Ink::Bad),
        (None, 5) => ("hang", Ink::Bad),
        (None, 7) => ("refused", Ink::Warn),
        _ => ("failed", Ink::Bad),
    };
    let classes = Class::ALL.iter().filter(|class| report.count(**class) > 0);
    let classes =
        classes.map(|class| format!("{} {}", count(report.count(*class)), class.as_str()));
    let classes: Vec<_> = classes.collect();
    let differences = match classes.is_empty() {
        true => "nothing differs".to_owned(),
        false => classes.join(", "),
    };
    let what = format!(
        "{} of {} sent, {} answered; {differences}",
        count(tally.sent),
        plural(outcome.requests, "request"),
        count(tally.answered),
    );
    let word = out.paint(ink, &pad_end(word, NAMES));
    out.line(&format!("{word}  {what}"))?;
    row(
        "replayed",
        &format!("{} ({})", summary.id, escape(&summary.name)),
        out,
    )?;
    if report.compared == 0 && report.troubles.is_empty() {
        let why = match (outcome.requests, tally.unwanted) {
            (0, _) => "the recording has no request of the client",
            (_, 1..) if tally.sent == 0 => "--only fits no request",
            _ => "no request was answered both in the recording and now",
        };
        row("", &format!("nothing was compared: {why}"), out)?;
    }
    Ok(())
}

fn write_accounts(report: &Report, out: &mut Output) -> Result<(), Failure> {
    let told = |account: &&Account| !matches!(account.outcome, Found::Missing(Missing::Refused(_)));
    let accounts: Vec<_> = report.accounts.iter().filter(told).collect();
    for account in accounts.iter().take(MOST_TOLD) {
        let (name, text) = told_of(account);
        row(name, &text, out)?;
        for difference in &account.differences {
            let side = |text: &Option<Box<str>>| text.as_deref().unwrap_or("nothing").to_owned();
            let (left, right) = (side(&difference.left), side(&difference.right));
            row(
                "",
                &format!("      {}: {left} → {right}", difference.path),
                out,
            )?;
        }
    }
    if accounts.len() > MOST_TOLD {
        row(
            "",
            &format!("and {} more", count((accounts.len() - MOST_TOLD) as u64)),
            out,
        )?;
    }
    Ok(())
}

/// What is to be said of an exchange, and under which name.
fn told_of(account: &Account) -> (&'static str, String) {
    let seq = account
        .left
        .map_or_else(String::new, |seq| format!("#{} ", seq.0));
    let name = account
        .name
        .as_deref()
        .map_or_else(String::new, |name| format!(" {name}"));
    let what = format!("{seq}{}{name}", account.method);
    let class = account.class.map_or("", Class::as_str);
    match &account.outcome {
        Found::Differs => ("differs", format!("{what}: {class}")),
        Found::More => ("more", format!("{what} was not in the recording")),
        Found::Remark(remark) => ("differs", format!("{seq}{class}: {}", remark.text)),
        Found::Missing(missing) => match missing {
            Missing::NeverAnswered => ("unanswered", what),
            Missing::NeverAsked => ("not asked", format!("{what} by the server")),
            Missing::Removed => ("removed", what),
            Missing::Refused(_) => ("refused", what),
            Missing::Skipped(Skip::Redacted(names)) => {
                ("skipped", format!("{what}: redacted {names}"))
            }
            Missing::Skipped(Skip::NotNeeded) => (
                "skipped",
                format!("{what}: the server no longer asks for input"),
            ),
            Missing::Skipped(Skip::Unreached(lack)) => ("skipped", format!("{what}: lacks {lack}")),
        },
    }
}

fn write_tally(tally: &Tally, out: &mut Output) -> Result<(), Failure> {
    if tally.refused > 0 {
        let named = tally.refusals.iter().take(MOST_NAMED);
        let named = named.map(|Refusal { seq, tool }| format!("{} (#{})", escape(tool), seq.0));
        let mut named: Vec<_> = named.collect();
        if tally.refused > named.len() as u64 {
            named.push(format!("and {} more", tally.refused - named.len() as u64));
        }
        let calls = plural(tally.refused, "call");
        row("refused", &format!("{calls}: {}", named.join(", ")), out)?;
        let way = "--allow-tool NAME allows one tool, --allow-side-effects all of them";
        row("", way, out)?;
    }
    if !tally.unbound.is_empty() {
        let names: Vec<_> = tally.unbound.iter().map(|name| escape(name)).collect();
        let first = names.first().map(ToString::to_string).unwrap_or_default();
        let text = format!("{}; supply them: --bind {first}=env:NAME", names.join(", "));
        row("redacted", &text, out)?;
    }
    for bound in &tally.bound {
        let text = format!(
            "{} is {} now, from the answer to #{} at {}; sent {}",
            escape(&bound.recorded),
            escape(&bound.live),
            bound.seq.0,
            escape(&bound.from.to_string()),
            plural(bound.uses, "time"),
        );
        row("bound", &text, out)?;
    }
    for (number, noun, text) in [
        (tally.unwanted, "request", "left out by --only"),
        (
            tally.unexpected,
            "question",
            "of the server that the recording has not",
        ),
        (tally.uncompared, "answer", "too long to be compared"),
        (tally.late, "answer", "to a cancelled request"),
        (
            tally.cut,
            "line",
            "of the client that broke off in the recording, not sent",
        ),
        (tally.forgotten, "value", "too many to be bound"),
    ] {
        if number > 0 {
            row("besides", &format!("{} {text}", plural(number, noun)), out)?;
        }
    }
    Ok(())
}

fn row(name: &str, text: &str, out: &mut Output) -> Result<(), Failure> {
    Ok(out.line(&format!("{}  {text}", pad_end(name, NAMES)))?)
}
