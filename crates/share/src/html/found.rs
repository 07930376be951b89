//! What rules found, and the rules that found it.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use mcpreel_lint::Rule;
use mcpreel_store::reader::FindingRow;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    severity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<u64>,
    text: &'a str,
}

#[derive(Serialize)]
struct About {
    id: &'static str,
    summary: &'static str,
    why: &'static str,
    fix: &'static str,
    section: Option<(&'static str, String)>,
}

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut rules = BTreeMap::new();
    let mut blocks = Blocks::new(&mut *out, "findings");
    let mut after = 0;
    loop {
        let page = excerpt.recording.findings(after)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for row in page.iter().filter(|row| is_meant(excerpt, row)) {
            blocks.push(&finding(row))?;
            // One that a newer version found by a rule of its own stays without words.
            rules.extend(mcpreel_lint::rule(&row.rule).map(|rule| (rule.id, rule)));
        }
    }
    blocks.finish()?;
    let mut blocks = Blocks::new(out, "rules");
    for rule in rules.into_values() {
        blocks.push(&about(rule))?;
    }
    Ok(blocks.finish()?)
}

/// What is about the process belongs to the recording as a whole, not to a part of it.
fn is_meant(excerpt: &Excerpt<'_>, row: &FindingRow) -> bool {
    row.frame
        .map_or_else(|| !excerpt.is_cut(), |seq| excerpt.has(seq))
}

fn finding(row: &FindingRow) -> Finding<'_> {
    Finding {
        rule: &row.rule,
        severity: &row.severity,
        n: row.frame.map(|seq| seq.0),
        x: row.exchange.map(|id| id.0),
        path: row.path.as_deref(),
        related: row.related.iter().map(|seq| seq.0).collect(),
        text: &row.detail,
    }
}

fn about(rule: &'static Rule) -> About {
    About {
        id: rule.id,
        summary: rule.summary,
        why: rule.why,
        fix: rule.fix,
        section: rule.reference(),
    }
}
