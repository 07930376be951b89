//! What came of a comparison, in every form: of two recordings, or of a replay with what it
//! replays.
//!
//! ```text
//!  Report ─ grouped ─┬─ text     for people
//!            words ──┼─ json     for programs
//!                    ├─ junit    for test reports
//!                    └─ github   for annotations
//! ```
//!
//! * [`strict`]: the judge that the command line asks for, with its rules;
//! * [`party`]: the two sides, and the commands that open a place of one;
//! * `redacted`: what programs get, without secrets;
//! * `grouped`: what is said of one call, together;
//! * `members`: what is said of one tool that the server offers, in a line.
//!
//! Texts in a [`Report`] are escaped already; what comes from elsewhere is escaped here.

mod github;
mod grouped;
mod json;
mod junit;
mod members;
mod party;
mod pen;
mod redacted;
mod strict;
mod text;
mod words;

pub use party::Party;
pub use strict::{Judging, judge, rules};

use super::args::ReportFormat;
use super::exit::Failure;
use super::output::Output;
use mcpreel_replay::report::Report;

/// A comparison that is done.
#[derive(Clone, Copy)]
pub struct Compared<'r> {
    /// What came of it.
    pub report: &'r Report,
    /// Who was compared, the one to go by first.
    pub parties: &'r [Party; 2],
    /// By which files of rules, escaped.
    pub rules: &'r [String],
    /// What compared them, as reports for machines call it: `mcpreel diff`.
    pub command: &'r str,
    /// Whether somebody stopped it: what was not reached is not known.
    pub is_cut_short: bool,
}

/// Writes what came of it.
pub fn write(compared: &Compared<'_>, format: ReportFormat) -> Result<(), Failure> {
    let mut out = Output::stdout();
    let is_for_programs = format != ReportFormat::Text;
    let redacted = is_for_programs.then(|| redacted::redacted(compared.report));
    let redacted = redacted.transpose()?;
    let compared = &Compared {
        report: redacted.as_ref().unwrap_or(compared.report),
        ..*compared
    };
    match format {
        ReportFormat::Text => text::write(compared, &mut out)?,
        ReportFormat::Json => json::write(compared, &mut out)?,
        ReportFormat::Junit => junit::write(compared, &mut out)?,
        ReportFormat::Github => github::write(compared, &mut out)?,
    }
    Ok(out.flush()?)
}
