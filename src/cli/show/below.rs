//! What stands below the exchanges of a recording: the first findings, and after a bad end the
//! last words of the server.

use super::rows::{finding_line, quote};
use crate::cli::exit::Failure;
use crate::cli::output::{Ink, Output};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{escape, plural};
use std::io::Read as _;

/// Findings that are shown; `--findings` shows all.
const MOST_FINDINGS: usize = 10;
/// Lines of stderr that are shown after a bad end.
const LAST_LINES: usize = 8;
/// Bytes of such a line that are looked at.
const LOOKED_AT: u64 = 4096;
/// Frames that are looked through at a time, from the end.
const STEP: u32 = 1024;

/// Writes both, where there is something.
pub fn write(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let summary = recording.summary()?;
    findings(recording, &summary, out)?;
    if is_bad(&summary) {
        last_words(recording, &summary, out)?;
    }
    Ok(())
}

fn findings(recording: &Recording, summary: &Summary, out: &mut Output) -> Result<(), Failure> {
    let found = recording.findings(0)?;
    if found.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line(&out.paint(Ink::Strong, "findings"))?;
    for finding in found.iter().take(MOST_FINDINGS) {
        out.line(&format!("  {}", finding_line(finding, out)))?;
    }
    let more = summary.findings.saturating_sub(MOST_FINDINGS as u64);
    if more > 0 {
        let more = plural(more, "more finding").replace("more findings", "more");
        let hint = format!(
            "  … {more}: mcpreel show {} --findings",
            escape(&summary.id)
        );
        out.line(&out.paint(Ink::Faint, &hint))?;
    }
    Ok(())
}

/// Whether the end asks for an explanation: a signal, an exit code, no start, or nothing agreed.
fn is_bad(summary: &Summary) -> bool {
    let session = &summary.session;
    match session.phase.end() {
        None => false,
        Some(End::Exited { code: 0 } | End::Unknown) => session.version().is_none(),
        Some(_) => true,
    }
}

fn last_words(recording: &Recording, summary: &Summary, out: &mut Output) -> Result<(), Failure> {
    let lines = last_lines(recording, summary.frames)?;
    if lines.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.line(&out.paint(Ink::Strong, "last lines on stderr"))?;
    for seq in lines {
        let mut raw = Vec::new();
        let mut beginning = recording.stream(seq)?.take(LOOKED_AT);
        beginning.read_to_end(&mut raw)?;
        let place = mcpreel_wire::text::pad_start(&format!("#{}", seq.0), 8);
        out.line(&format!(
            "{}  {}",
            out.paint(Ink::Faint, &place),
            quote(&raw)
        ))?;
    }
    Ok(())
}

/// The last frames of stderr, in their order.
fn last_lines(recording: &Recording, frames: u64) -> Result<Vec<Seq>, Failure> {
    let mut found = Vec::new();
    let mut end = frames;
    while end > 0 && found.len() < LAST_LINES {
        let begin = end.saturating_sub(u64::from(STEP));
        let heads = recording.heads(Seq(begin), STEP)?;
        let lines = heads
            .iter()
            .rev()
            .filter(|head| head.seq.0 <= end && head.stream == StreamId::STDERR);
        found.extend(lines.map(|head| head.seq));
        end = begin;
    }
    found.truncate(LAST_LINES);
    found.reverse();
    Ok(found)
}
