//! What came of a replay, for people.

use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use crate::replay::client::Tally;
use crate::replay::client::target::Outcome;
use crate::replay::compare::Class;
use crate::store::library::short_id;
use crate::store::reader::Summary;
use crate::text::{escape, plural};
use std::path::PathBuf;

/// Writes it.
pub fn write(
    outcome: &Outcome,
    summary: &Summary,
    made: Option<&(String, PathBuf)>,
) -> Result<(), Failure> {
    let mut out = Output::stdout();
    let report = &outcome.report;
    let tally = &outcome.tally;
    let (word, ink) = match report.exit_code() {
        0 => ("alike", Ink::Good),
        1 => ("differs", Ink::Bad),
        3 => ("unusable", Ink::Bad),
        4 => ("crash", Ink::Bad),
        5 => ("hang", Ink::Bad),
        7 => ("refused", Ink::Warn),
        _ => ("failed", Ink::Bad),
    };
    let what = format!(
        "{} of {} sent, {} answered; {} of {} ({})",
        tally.sent,
        plural(outcome.requests, "request"),
        tally.answered,
        if report.exit_code() == 0 { "a replay" } else { "against a replay" },
        summary.id,
        escape(&summary.name)
    );
    out.line(&format!("{}   {what}", out.paint(ink, word)))?;
    for (_, text) in &report.troubles {
        out.line(&format!("          {text}"))?;
    }
    for class in Class::ALL {
        if report.count(class) > 0 {
            out.line(&format!("          {} {}", report.count(class), class.as_str()))?;
        }
    }
    for account in &report.accounts {
        out.line(&format!("          {account:?}"))?;
    }
    write_tally(tally, &mut out)?;
    if let Some((id, _)) = made {
        let short = short_id(id, &[]);
        out.line(&format!("recording {id}; `mcpreel open {short}` opens it"))?;
    }
    out.flush()?;
    Ok(())
}

fn write_tally(tally: &Tally, out: &mut Output) -> Result<(), Failure> {
    for bound in &tally.bound {
        out.line(&format!(
            "bound     {} → {} (#{} {})",
            escape(&bound.recorded),
            escape(&bound.live),
            bound.seq.0,
            bound.path
        ))?;
    }
    Ok(())
}
