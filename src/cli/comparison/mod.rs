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

use super::args::{ReportFormat, Strictness};
use super::exit::Failure;
use super::output::Output;
use super::redact::{self, Secrets};
use mcpreel_redact::{Learner, Place};
use mcpreel_replay::diff::{Judge, Options, Outcome, Report};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_replay::rules::Rules;
use mcpreel_replay::rules::files;
use mcpreel_share::phrases::sentence;
use mcpreel_wire::text::{escape, plural};
use std::path::{Path, PathBuf};

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

/// A judge, and where its rules are from.
pub struct Judging {
    pub judge: Judge,
    /// The files of its rules, each with how many it has, escaped.
    pub files: Vec<String>,
}

/// The judge of what is compared with `recording`. A bad file of rules is a wrong argument.
pub fn judge(
    strictness: &Strictness,
    rewrites: Rewrites,
    recording: &Path,
) -> Result<Judging, Failure> {
    let (rules, files) = rules(&strictness.rules, recording)?;
    let options = Options {
        latency_budget: strictness.latency_budget,
        exact_numbers: strictness.exact_numbers,
        fail_on: strictness.fail_on,
        rewrites,
        pairs: Vec::new(),
    };
    Ok(Judging {
        judge: Judge::new(rules, options),
        files,
    })
}

/// The rules of the files `named` and of the one beside `recording`; and where they are from.
pub fn rules(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<String>), Failure> {
    let read = files::read(named, recording);
    let (rules, files) = read.map_err(|error| Failure::Usage(sentence(&error)))?;
    let files = files.iter().map(|file| {
        let name = file.path.display().to_string();
        let count = plural(file.rules as u64, "rule");
        format!("{count} of {}", escape(&name))
    });
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
        if let Outcome::Remark(remark) = &mut account.outcome {
            visit("", &mut remark.text);
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
    use super::last_member;

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
