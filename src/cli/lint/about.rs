//! `--list` and `--explain`: what the rules are.

use crate::cli::exit::{Exit, Outcome};
use crate::cli::lines;
use crate::cli::output::{Ink, Output};
use mcpreel_lint::{Rule, catalogue, families, page};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{pad_end, width};
use serde::Serialize;

/// A rule.
#[derive(Serialize)]
struct Line {
    rule: &'static str,
    family: &'static str,
    severity: &'static str,
    milder: Vec<Milder>,
    revisions: Vec<&'static str>,
    summary: &'static str,
    why: &'static str,
    fix: &'static str,
    section: Option<&'static str>,
    url: Option<String>,
}

/// Where what a rule finds is less bad than the rule says.
#[derive(Serialize)]
struct Milder {
    severity: &'static str,
    #[serde(rename = "where")]
    place: String,
}

impl Line {
    fn new(family: &'static str, rule: &Rule) -> Self {
        Self {
            rule: rule.id,
            family,
            severity: rule.severity.as_str(),
            milder: page::milder(rule)
                .into_iter()
                .map(|(severity, place)| Milder {
                    severity: severity.as_str(),
                    place,
                })
                .collect(),
            revisions: rule.revisions.iter().map(Revision::as_str).collect(),
            summary: rule.summary,
            why: rule.why,
            fix: rule.fix,
            section: rule.reference().map(|(title, _)| title),
            url: rule.reference().map(|(_, url)| url),
        }
    }
}

/// Prints every rule.
pub fn list(json: bool) -> Outcome {
    let mut out = Output::stdout();
    let ids = catalogue().iter().map(|rule| width(rule.id));
    let widest = ids.max().unwrap_or(0);
    for family in families() {
        if json {
            for rule in family.rules() {
                out.json(&Line::new(family.name(), rule))?;
            }
            continue;
        }
        out.line(&out.paint(Ink::Strong, family.name()))?;
        for rule in family.rules() {
            let severity = lines::severity(rule.severity.as_str(), &out);
            let id = pad_end(rule.id, widest);
            let milder = out.paint(Ink::Faint, &page::in_brackets(rule, str::to_owned));
            out.line(&format!("  {severity}  {id}  {}{milder}", rule.summary))?;
        }
        out.line("")?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// Prints what a rule means.
pub fn explain(id: &str) -> Outcome {
    let mut out = Output::stdout();
    if let Some(rule) = mcpreel_lint::rule(id) {
        let severity = lines::severity(rule.severity.as_str(), &out);
        let revisions = page::revisions(rule.revisions);
        out.line(&format!(
            "{}  {severity}  {revisions}",
            out.paint(Ink::Strong, id)
        ))?;
        out.line(&format!("  {}\n", rule.summary))?;
        for (severity, place) in page::milder(rule) {
            out.line(&format!("  {:<7}  {place}", severity.as_str()))?;
        }
        out.line(&format!("  why      {}", rule.why))?;
        out.line(&format!("  fix      {}", rule.fix))?;
        if let Some((title, url)) = rule.reference() {
            out.line(&format!("  section  {title}"))?;
            out.line(&format!("           {url}"))?;
        }
    }
    out.flush()?;
    Ok(Exit::Fine)
}
