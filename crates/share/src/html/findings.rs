//! Findings with the rules that found them, and the marks and notes that people put on frames.

use super::block::Blocks;
use crate::export::{Excerpt, ExportError, all_rows};
use mcpreel_lint::Rule;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Annotation;
use mcpreel_wire::text::cut;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

pub(super) fn write_findings(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let mut rules = BTreeMap::new();
    let mut blocks = Blocks::new(&mut *out, "findings");
    let page = |after: &u64| excerpt.recording.findings(*after);
    for row in all_rows(0, page, |row| row.id) {
        let row = row?;
        if is_meant(excerpt, &row) {
            blocks.push_sparse(finding(&row))?;
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

/// A finding about the process belongs to the whole recording, not to a part of it.
fn is_meant(excerpt: &Excerpt<'_>, row: &FindingRow) -> bool {
    row.frame
        .map_or_else(|| !excerpt.is_cut(), |seq| excerpt.has(seq))
}

fn finding(row: &FindingRow) -> Value {
    let related: Vec<_> = row.related.iter().map(|seq| seq.0).collect();
    json!({
        "rule": row.rule,
        "severity": row.severity,
        "n": row.frame.map(|seq| seq.0),
        "x": row.exchange.map(|id| id.0),
        "path": row.path,
        "related": (!related.is_empty()).then_some(related),
        "text": row.detail,
    })
}

fn about(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "section": rule.reference(),
    })
}

/// Columns of a note: whoever writes more writes a text of its own.
const NOTE: usize = 4000;

pub(super) fn write_notes(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let mut blocks = Blocks::new(out, "notes");
    let short = |text: &Option<Box<str>>| text.as_deref().map(|text| cut(text, NOTE));
    let page = |after: &Seq| excerpt.recording.annotations(*after);
    for row in all_rows(Seq(0), page, |(seq, _)| *seq) {
        let (seq, Annotation { mark, note }) = row?;
        if excerpt.has(seq) {
            let (mark, note) = (short(&mark), short(&note));
            blocks.push_sparse(json!({"n": seq.0, "mark": mark, "note": note}))?;
        }
    }
    Ok(blocks.finish()?)
}
