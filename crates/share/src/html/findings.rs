//! Findings with the rules that found them, and the marks and notes that people put on frames.

use super::block::Blocks;
use crate::export::{Excerpt, WriteError};
use mcpreel_lint::Rule;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::cut;
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

pub(super) fn write_findings(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
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

/// Columns of a note: whoever writes more writes a text of its own.
const NOTE: usize = 4000;

/// A mark, a note, or both, on the frame `n`.
#[derive(Serialize)]
struct Noted {
    n: u64,
    /// A word, empty for a plain mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(super) fn write_notes(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let mut blocks = Blocks::new(out, "notes");
    let mut after = Seq(0);
    loop {
        let page = excerpt.recording.annotations(after)?;
        let Some((last, _)) = page.last() else {
            break;
        };
        after = *last;
        for (seq, annotation) in page.iter().filter(|(seq, _)| excerpt.has(*seq)) {
            let short = |text: &Option<Box<str>>| text.as_deref().map(|text| cut(text, NOTE));
            blocks.push(&Noted {
                n: seq.0,
                mark: short(&annotation.mark),
                note: short(&annotation.note),
            })?;
        }
    }
    Ok(blocks.finish()?)
}
