//! What came of a comparison, in every form: of two recordings, or of a replay with what it
//! replays.
//!
//! ```text
//!  Report ─ verdict ─┬─ text       for people
//!                    └─ machines   for programs, test reports, annotations; without secrets
//! ```
//!
//! Texts in a [`Report`] are escaped already; what comes from elsewhere is escaped here.

mod comparison_text;
mod machines;
mod party;
mod verdict;

pub use party::Party;

use super::exit::Failure;
use super::output::{Output, shown};
use super::quantity::{self, words};
use super::redact::{self, Secrets};
use clap::{Args, ValueEnum};
use mcpreel_redact::{Learner, Place};
use mcpreel_replay::diff::{Budget, Class, Judge, Options, Outcome, Report, Threshold};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_replay::rules::{Rules, files};
use mcpreel_share::phrases::sentence;
use mcpreel_wire::text::plural;
use std::path::{Path, PathBuf};

/// What counts as a difference, and from where on it is a failure.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What counts")]
pub struct Strictness {
    /// A file of rules about values that may differ; NAME.rules.toml beside the left recording is
    /// read as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// How long an answer may take: 500ms, or 2x for twice as long as on the left
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub latency_budget: Option<Budget>,
    /// Numbers are equal only if written alike: 1 and 1.0 differ
    #[arg(long)]
    pub exact_numbers: bool,
    /// From which class of difference on the exit code is 1
    #[arg(long, value_name = "CLASS", default_value = "changed", value_parser = threshold())]
    pub fail_on: Threshold,
}

/// As what a report is written.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "How it is written")]
pub struct Form {
    /// For whom
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: the verdict first, then what the server offers, then call by call
    #[default]
    Text,
    /// For programs: one JSON object per difference and line, a summary first
    Json,
    /// For test reports: a case per method and tool
    Junit,
    /// For GitHub Actions: annotations
    Github,
}

impl Form {
    /// What is asked for.
    pub fn format(self) -> ReportFormat {
        if self.json {
            ReportFormat::Json
        } else {
            self.format
        }
    }
}

/// A class, or `never`.
fn threshold() -> impl clap::builder::TypedValueParser<Value = Threshold> {
    let mut all = Class::ALL.map(Class::as_str).to_vec();
    all.push(Threshold::Never.as_str());
    words(&all, Threshold::parse)
}

/// `500ms`, or `2x`.
fn budget(text: &str) -> Result<Budget, String> {
    let Some(times) = text.strip_suffix(['x', '×']) else {
        let nanos = quantity::nanoseconds(text).map(Budget::Absolute);
        return nanos.map_err(|_| {
            format!("`{text}` is no budget; write for example 500ms, or 2x for twice as long")
        });
    };
    let times = times.parse::<f64>().ok();
    let usable = times.filter(|times| times.is_finite() && *times >= 1.0);
    usable
        .map(Budget::Times)
        .ok_or_else(|| format!("`{text}` is no budget; it is at least 1x, as long as on the left"))
}

/// `OLD=NEW`.
pub fn rewrite(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(old, _)| !old.is_empty());
    let (old, new) = parts.ok_or_else(|| {
        format!("`{text}` rewrites nothing; write for example /home/ada/work=/tmp/copy")
    })?;
    Ok((old.to_owned(), new.to_owned()))
}

/// A comparison that is done.
#[derive(Clone, Copy)]
pub struct Compared<'r> {
    pub report: &'r Report,
    /// Who was compared, the reference first.
    pub parties: &'r [Party; 2],
    /// The files of rules that were used, escaped.
    pub rules: &'r [String],
    /// What compared them, as reports for machines call it: `mcpreel diff`.
    pub command: &'r str,
    /// Whether somebody stopped it: what was not reached is not known.
    pub is_cut_short: bool,
}

/// Writes what came of a comparison.
pub fn write(compared: &Compared<'_>, format: ReportFormat) -> Result<(), Failure> {
    let mut out = Output::stdout();
    if format == ReportFormat::Text {
        comparison_text::write(compared, &mut out)?;
        return Ok(out.flush()?);
    }
    let compared = &Compared {
        report: &redacted(compared.report)?,
        ..*compared
    };
    match format {
        ReportFormat::Text | ReportFormat::Json => machines::json(compared, &mut out)?,
        ReportFormat::Junit => machines::junit(compared, &mut out)?,
        ReportFormat::Github => machines::github(compared, &mut out)?,
    }
    Ok(out.flush()?)
}

/// The judge of what is compared with `recording`, and the files of its rules in words. A bad file of
/// rules is a wrong argument.
pub fn judge(
    strictness: &Strictness,
    rewrites: Rewrites,
    recording: &Path,
) -> Result<(Judge, Vec<String>), Failure> {
    let (rules, files) = rules(&strictness.rules, recording)?;
    let options = Options {
        latency_budget: strictness.latency_budget,
        exact_numbers: strictness.exact_numbers,
        fail_on: strictness.fail_on,
        rewrites,
        pairs: Vec::new(),
    };
    Ok((Judge::new(rules, options), files))
}

/// The rules of the files `named` and of the one beside `recording`; and how many are of which file,
/// in words.
pub fn rules(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<String>), Failure> {
    let read = files::read(named, recording);
    let (rules, files) = read.map_err(|error| Failure::Usage(sentence(&error)))?;
    let files = files.iter();
    let files =
        files.map(|it| format!("{} of {}", plural(it.rules as u64, "rule"), shown(&it.path)));
    Ok((rules, files.collect()))
}

/// The same report with tokens in place of secrets: reports for machines end in the logs of build
/// servers, which strangers read. Each value is looked at under the name of its member.
fn redacted(report: &Report) -> Result<Report, Failure> {
    let mut report = report.clone();
    let mut learner = Learner::new(redact::policy(&Secrets::default())?);
    texts(&mut report, &mut |name, text| {
        learner.text(&format!("{name}{text}"));
    });
    let mut redactor = learner.finish();
    texts(&mut report, &mut |name, text| {
        let all = format!("{name}{text}");
        let all = redactor.text(Place::Start, &all, &mut mcpreel_redact::Report::default());
        *text = all.strip_prefix(name).unwrap_or(&all).into();
    });
    Ok(report)
}

/// Gives each text of a report to `visit`, and before it the name of the member that it is the
/// value of: `"token": `.
fn texts(report: &mut Report, visit: &mut dyn FnMut(&str, &mut Box<str>)) {
    let offers = report.offers.iter_mut().map(|offer| &mut offer.difference);
    let accounts = report.accounts.iter_mut();
    let differences = accounts.flat_map(|account| &mut account.differences);
    for difference in offers.chain(differences) {
        let name = match last_member(&difference.path) {
            "" => String::new(),
            name => format!("\"{name}\": "),
        };
        let values = [&mut difference.left, &mut difference.right].into_iter();
        values.flatten().for_each(|value| visit(&name, value));
        if let Some(note) = &mut difference.note {
            visit("", note);
        }
    }
    for account in &mut report.accounts {
        if let Outcome::Remark(text) = &mut account.outcome {
            visit("", text);
        }
    }
    for (_, text) in &mut report.troubles {
        visit("", text);
    }
}

/// `token` of `result.list[2].token[0]`
fn last_member(path: &str) -> &str {
    let path = path.trim_end_matches(|sign: char| sign.is_ascii_digit() || "[]".contains(sign));
    let name = path.rsplit(['.', '[']).next().unwrap_or_default();
    name.trim_matches(|sign| "[]\"".contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_or_a_factor() {
        assert_eq!(budget("500ms"), Ok(Budget::Absolute(500_000_000)));
        assert_eq!(budget("1.5x"), Ok(Budget::Times(1.5)));
        for wrong in ["2", "x", "0.5x", "-1x", "NaNx", "infx", "2 days"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_has_the_name_of_its_member() {
        for (path, name) in [
            ("result.list[2].token[0]", "token"),
            ("params.api_key", "api_key"),
            (r#"params["api.key"]"#, "key"),
            ("result", "result"),
            ("", ""),
        ] {
            assert_eq!(last_member(path), name, "{path}");
        }
    }
}
