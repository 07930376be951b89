//! A bug report in Markdown: what happened, at a glance, for somebody who was not there.
//!
//! ````text
//! # MCP session: `weather 2`
//!
//! ```text
//! why    the server was ended by SIGSEGV in the middle of transfer (#12); stderr says: …
//! sure   certain: the recording shows it
//! shown  #12  the client asked: tools/call transfer {to:"b"}
//! do     It crashed in native code: look for a core dump, and …
//! ```
//!
//! - client: `claude-ai 0.1.0` …                 versions, command, end
//! ## Sequence                                   a Mermaid diagram of what is around it
//! ## What was said                              the exchanges that matter, bodies cut
//! ## Last lines on stderr
//! ## Findings
//! ## To see it again                            commands for whoever has the recording
//! ````
//!
//! Everything that was said on the wire stands in code spans and fences, where it is neither
//! Markdown nor HTML, mentions nobody and links nowhere; control characters and such as change the
//! order of reading are escaped. Every part is bounded, and says how much it leaves out.
//!
//! * `picked`: which exchanges are told; `told`: one of them; `diagram`; `again`: commands; `code`:
//!   text off the wire.

mod again;
mod code;
mod diagram;
mod picked;
mod told;

use super::{Excerpt, Export, WriteError, Written};
use crate::phrases::{UNTIMED, recording::title_of, session, when};
use again::{again, careful};
use code::{code, fenced, frame};
use mcpreel_lint::cause::{Cause, Place, causes};
use mcpreel_store::reader::{FindingRow, ReadError, Recording, Summary};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::text::{clock, escape, escape_bytes, pad_end, plural, wrap};
use picked::Picked;
use std::fmt::Write as _;
use std::io::Write;

const LAST_WORDS: u32 = 20;

const LINE: usize = 300;

const FINDINGS: usize = 15;

/// Columns of a line of what happened, so that nobody has to scroll.
const COLUMNS: usize = 92;

/// Columns of the names before it.
const NAMES: usize = 7;

/// Facts that a reader of a report has no use for.
const LEFT_OUT: [&str; 2] = ["executable", "in"];

/// Writes a report of what went wrong, or of what is selected.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    let facts = recording.facts(excerpt.now)?;
    let causes = causes(&facts);
    let picked = Picked::of(&excerpt, (&facts, &causes), export.progress)?;
    let mut text = format!("# MCP session: {}\n\n", code(&title_of(&summary)));
    text.push_str(&why(&causes));
    text.push('\n');
    about(&excerpt, &summary, &mut text)?;
    sequence(&excerpt, &summary, &picked, &mut text)?;
    exchanges(recording, &summary, &picked, &mut text)?;
    if excerpt.is_cut() {
        let (found, all) = of_selected(&excerpt)?;
        findings(&found, all, &mut text);
    } else {
        last_words(recording, &mut text)?;
        findings(&recording.findings(0)?, summary.findings, &mut text);
    }
    again(recording, &summary, &picked, &mut text);
    out.write_all(text.as_bytes())?;
    Ok(Written {
        exchanges: picked.exchanges.len() as u64,
        left_out: picked.left_out,
        ..Written::default()
    })
}

/// A report of one exchange; `None` if there is no such exchange.
pub fn exchange(recording: &Recording, id: ExchangeId) -> Result<Option<String>, ReadError> {
    let Some(exchange) = recording.exchange(id)? else {
        return Ok(None);
    };
    let summary = recording.summary()?;
    let mut text = format!("## {}\n\n", told::title(&exchange));
    let facts = session::facts(&summary, 0).into_iter();
    let names = ["client", "server", "version", "command"];
    list(facts.filter(|(name, _)| names.contains(name)), &mut text);
    recorded(&summary, &mut text);
    let end = summary.session.phase.end();
    told::write(recording, &exchange, end, &mut text)?;
    let found = recording.findings_of_exchange(&exchange)?;
    findings(&found, found.len() as u64, &mut text);
    text.push_str(careful(&summary));
    Ok(Some(text))
}

/// Why it went wrong, what shows it, and what to do, as `mcpreel why` says it.
fn why(causes: &[Cause]) -> String {
    let mut lines = String::new();
    let Some((best, others)) = causes.split_first() else {
        return lines;
    };
    row("why", &best.sentence, &mut lines);
    if best.is_trouble() {
        let certainty = best.certainty;
        let sure = format!("{}: {}", certainty.as_str(), certainty.help());
        row("sure", &sure, &mut lines);
    }
    for (at, evidence) in best.evidence.iter().enumerate() {
        let place = match evidence.place {
            Place::Frame(seq) | Place::Stderr(seq) => format!("#{}  ", seq.0),
            Place::Event { .. } | Place::Session => String::new(),
        };
        let name = if at == 0 { "shown" } else { "" };
        row(name, &format!("{place}{}", evidence.text), &mut lines);
    }
    row("do", &best.advice, &mut lines);
    for (at, cause) in others.iter().enumerate() {
        let name = if at == 0 { "also" } else { "" };
        let said = format!("{}: {}", cause.certainty.as_str(), cause.sentence);
        row(name, &said, &mut lines);
    }
    fenced("text", &lines)
}

/// A name and what there is to say, which goes on below itself.
fn row(name: &str, text: &str, lines: &mut String) {
    for (at, line) in wrap(&escape(text), COLUMNS).iter().enumerate() {
        let name = pad_end(if at == 0 { name } else { "" }, NAMES);
        let _ = writeln!(lines, "{name}{line}");
    }
}

/// Who spoke, in which versions, what was started, and how it ended.
fn about(excerpt: &Excerpt<'_>, summary: &Summary, text: &mut String) -> Result<(), ReadError> {
    let facts = session::facts(summary, excerpt.recording.given_up_count()?);
    let facts = facts
        .into_iter()
        .filter(|(name, _)| !LEFT_OUT.contains(name));
    list(facts, text);
    recorded(summary, text);
    let live = excerpt.now.map(|now| ("live", session::live(now)));
    let is_untimed = excerpt.recording.is_untimed()?;
    let untimed = is_untimed.then(|| ("times", UNTIMED.to_owned()));
    let note = excerpt.selection.note();
    let told = note.map(|note| ("told", session::only(note)));
    list(live.into_iter().chain(untimed).chain(told), text);
    Ok(())
}

fn list(facts: impl Iterator<Item = (&'static str, String)>, text: &mut String) {
    for (name, value) in facts {
        let _ = writeln!(text, "- {name}: {}", code(&value));
    }
}

fn recorded(summary: &Summary, text: &mut String) {
    let by = match summary.context.mcpreel.as_str() {
        "" => env!("CARGO_PKG_VERSION"),
        version => version,
    };
    let mut words = format!("by mcpreel {by}, {}", summary.id);
    if summary.wall_ns > 0 {
        let _ = write!(words, ", {}", when::rfc3339(summary.wall_ns));
    }
    let _ = write!(words, ", {} long", clock(summary.t_last_ns));
    let _ = writeln!(text, "- recorded: {}", code(&words));
}

fn sequence(
    excerpt: &Excerpt<'_>,
    summary: &Summary,
    picked: &Picked,
    text: &mut String,
) -> Result<(), ReadError> {
    let around = picked.around(excerpt)?;
    let drawn = diagram::draw(excerpt.recording, summary, &around)?;
    let _ = write!(text, "\n## Sequence\n\n{}", fenced("mermaid", &drawn));
    Ok(())
}

fn exchanges(
    recording: &Recording,
    summary: &Summary,
    picked: &Picked,
    text: &mut String,
) -> Result<(), ReadError> {
    let end = summary.session.phase.end();
    text.push_str("\n## What was said\n");
    if picked.exchanges.is_empty() {
        text.push_str("\nNothing was asked.\n");
    }
    for exchange in &picked.exchanges {
        let at = frame(exchange.request.0.0);
        let _ = write!(text, "\n### {at} {}\n\n", told::title(exchange));
        told::write(recording, exchange, end, text)?;
    }
    if picked.left_out > 0 {
        let more = plural(picked.left_out, "more exchange");
        let _ = writeln!(text, "\n({more} not told here)");
    }
    Ok(())
}

fn last_words(recording: &Recording, text: &mut String) -> Result<(), ReadError> {
    let words = recording.last_words(LAST_WORDS)?;
    if words.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for line in &words {
        let line = escape_bytes(line.trim_ascii_end());
        let _ = writeln!(lines, "{}", mcpreel_wire::text::cut(&line, LINE));
    }
    let _ = write!(
        text,
        "\n## Last lines on stderr\n\n{}",
        fenced("text", &lines)
    );
    Ok(())
}

/// The first findings in what is selected, and how many there are.
fn of_selected(excerpt: &Excerpt<'_>) -> Result<(Vec<FindingRow>, u64), ReadError> {
    let (mut first, mut all, mut after) = (Vec::new(), 0, 0);
    loop {
        let page = excerpt.recording.findings(after)?;
        let Some(last) = page.last() else {
            return Ok((first, all));
        };
        after = last.id;
        for finding in page {
            if finding.frame.is_some_and(|seq| excerpt.has(seq)) {
                all += 1;
                first.extend((all <= FINDINGS as u64).then_some(finding));
            }
        }
    }
}

fn findings(found: &[FindingRow], all: u64, text: &mut String) {
    if found.is_empty() {
        return;
    }
    text.push_str("\n## Findings\n\n");
    for finding in found.iter().take(FINDINGS) {
        let place = finding.frame.map(|seq| format!(" {}", frame(seq.0)));
        let rule = mcpreel_lint::rule(&finding.rule).map(|rule| format!("{}: ", rule.summary));
        let said = format!("{}{}", rule.unwrap_or_default(), finding.detail);
        let _ = writeln!(
            text,
            "- {}{} {}: {}",
            code(&finding.severity),
            place.unwrap_or_default(),
            code(&finding.rule),
            code(&said)
        );
    }
    let more = all.saturating_sub(FINDINGS.min(found.len()) as u64);
    if more > 0 {
        let _ = writeln!(text, "\n({} not listed here)", plural(more, "more finding"));
    }
}

#[cfg(test)]
mod tests;
