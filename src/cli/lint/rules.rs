//! `--list` and `--explain`: what the rules are.

use crate::cli::exit::{Exit, Outcome};
use crate::cli::output::{Ink, Output};
use crate::cli::rows::severity as severity_in_colour;
use mcpreel_lint::{Rule, catalogue, families, page};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{pad_end, width};
use serde_json::{Value, json};

fn object(family: &str, rule: &Rule) -> Value {
    let milder = page::milder(rule).into_iter();
    let milder =
        milder.map(|(severity, place)| json!({"severity": severity.as_str(), "where": place}));
    json!({
        "rule": rule.id,
        "family": family,
        "severity": rule.severity.as_str(),
        "milder": milder.collect::<Vec<_>>(),
        "revisions": rule.revisions.iter().map(Revision::as_str).collect::<Vec<_>>(),
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "section": rule.reference().map(|(title, _)| title),
        "url": rule.reference().map(|(_, url)| url),
    })
}

/// Prints every rule.
pub fn list(json: bool) -> Outcome {
    let mut out = Output::stdout();
    let ids = catalogue().iter().map(|rule| width(rule.id));
    let widest = ids.max().unwrap_or(0);
    for family in families() {
        if json {
            for rule in family.rules() {
                out.json(&object(family.name(), rule))?;
            }
            continue;
        }
        out.inked(Ink::Strong, family.name())?;
        for rule in family.rules() {
            let severity = severity_in_colour(rule.severity.as_str(), &out);
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
        let severity = severity_in_colour(rule.severity.as_str(), &out);
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
