//! A report for programs, without what is secret: it ends in the logs of build servers, which
//! strangers read.
//!
//! Looked at is what the report says, each value under the name of its member. What only another
//! place of a recording would tell to be secret stays.

use crate::cli::exit::Failure;
use crate::cli::redact::{self, Secrets};
use mcpreel_redact::{Learner, Place, Redactor};
use mcpreel_replay::report::{Difference, Outcome, Report};

/// The same report with tokens in place of secrets.
pub(super) fn redacted(report: &Report) -> Result<Report, Failure> {
    let mut report = report.clone();
    let mut learner = Learner::new(redact::policy(&Secrets::default())?);
    texts(&mut report, &mut |name, text| {
        learner.text(&format!("{}{text}", named(name)));
    });
    let mut redactor = learner.finish();
    texts(&mut report, &mut |name, text| {
        *text = shown(&mut redactor, name, text);
    });
    Ok(report)
}

/// Gives each text of a report to `visit`, and the name of the member that it is the value of.
fn texts(report: &mut Report, visit: &mut dyn FnMut(&str, &mut Box<str>)) {
    for offer in &mut report.offers {
        difference(&mut offer.difference, visit);
    }
    for account in &mut report.accounts {
        for one in &mut account.differences {
            difference(one, visit);
        }
        if let Outcome::Remark(remark) = &mut account.outcome {
            visit("", &mut remark.text);
        }
    }
    for (_, text) in &mut report.troubles {
        visit("", text);
    }
}

fn difference(difference: &mut Difference, visit: &mut dyn FnMut(&str, &mut Box<str>)) {
    let name = last_member(&difference.path);
    let values = [&mut difference.left, &mut difference.right];
    for value in values.into_iter().flatten() {
        visit(name, value);
    }
    if let Some(note) = &mut difference.note {
        visit("", note);
    }
}

/// `token` of `result.list[2].token[0]`
fn last_member(path: &str) -> &str {
    let path = path.trim_end_matches(|sign: char| sign.is_ascii_digit() || "[]".contains(sign));
    let name = path.rsplit(['.', '[']).next().unwrap_or_default();
    name.trim_matches(|sign| "[]\"".contains(sign))
}

fn named(name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    format!("\"{name}\": ")
}

fn shown(redactor: &mut Redactor, name: &str, text: &str) -> Box<str> {
    let before = named(name);
    let all = format!("{before}{text}");
    let all = redactor.text(Place::Start, &all, &mut mcpreel_redact::Report::default());
    all.strip_prefix(&*before).unwrap_or(&all).into()
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
