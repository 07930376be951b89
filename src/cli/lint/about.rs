//! `--list` and `--explain`: what the rules are.

use crate::cli::exit::{Exit, Outcome};
use crate::cli::lines;
use crate::cli::output::{Ink, Output};
use crate::lint::{self, Rule, families, page};
use crate::protocol::mcp::Revision;
use serde::Serialize;

/// A rule.
#[derive(Serialize)]
struct Line {
    rule: &'static str,
    family: &'static str,
    severity: &'static str,
    revisions: Vec<&'static str>,
    summary: &'static str,
    why: &'static str,
    fix: &'static str,
    section: Option<&'static str>,
    url: Option<String>,
}

impl Line {
    fn new(family: &'static str, rule: &Rule) -> Self {
        Self {
            rule: rule.id,
            family,
            severity: rule.severity.as_str(),
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
            let id = crate::text::pad_end(rule.id, 36);
            out.line(&format!("  {severity}  {id}  {}", rule.summary))?;
        }
        out.line("")?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// Prints what a rule means.
pub fn explain(id: &str) -> Outcome {
    let mut out = Output::stdout();
    if let Some(rule) = lint::rule(id) {
        let severity = lines::severity(rule.severity.as_str(), &out);
        let revisions = page::revisions(rule.revisions);
        out.line(&format!(
            "{}  {severity}  {revisions}",
            out.paint(Ink::Strong, id)
        ))?;
        out.line(&format!("  {}\n", rule.summary))?;
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
