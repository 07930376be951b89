//! A bug report in Markdown: what happened, at a glance, for somebody who was not there.
//!
//! ````text
//! # MCP session: `weather 2`
//!
//! ```text
//! why        the server was ended by SIGSEGV in the middle of transfer (#12); stderr says: …
//! certainty  certain: the recording shows it
//! evidence   #12  the client asked: tools/call transfer {to:"b"}
//! next       It crashed in native code: look for a core dump, and …
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
//! The diagram is made in `diagram`.

mod diagram;

use super::{Excerpt, Export, ExportError, Written, all_rows};
use crate::phrases;
use crate::phrases::phrases_network;
use crate::phrases::phrases_story::{self, Row, Told, Tone};
use crate::phrases::recording::title_of;
use crate::phrases::when;
use diagram::Picked;
use mcpreel_lint::cause::{Cause, causes};
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::http::head::status_line;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::layout::each_line;
use mcpreel_wire::text::{Limits, clock, count, cut, escape, escape_bytes, plural, since, size};
use std::fmt::Write as _;
use std::io::Write;

const LAST_WORDS: u32 = 20;

const LINE: usize = 300;

const FINDINGS: usize = 15;

/// Columns of a line of what happened, so that nobody has to scroll.
const COLUMNS: usize = 92;

/// Columns of the names before it.
const NAMES: usize = 11;

/// Facts that a reader of a report has no use for.
const LEFT_OUT: [&str; 2] = ["executable", "in"];

/// Writes a report of what went wrong, or of what is selected.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    let facts = recording.facts(excerpt.now)?;
    let causes = causes(&facts);
    let picked = Picked::of(&excerpt, (&facts, &causes), export.progress)?;
    let title = code(&title_of(&summary));
    let mut text = format!("# MCP session: {title}\n\n{}\n", why(&causes));
    about(&excerpt, &summary, &mut text)?;
    let around = picked.around(&excerpt)?;
    let drawn = diagram::draw(recording, &summary, (&around, excerpt.last))?;
    let _ = write!(text, "\n## Sequence\n\n{}", fenced("mermaid", &drawn));
    exchanges(recording, &summary, &picked, &mut text)?;
    if !excerpt.is_cut() {
        last_words(recording, &mut text)?;
    }
    findings(&excerpt, &mut text)?;
    again(recording, &summary, &picked, &mut text);
    out.write_all(text.as_bytes())?;
    Ok(Written {
        exchanges: picked.exchanges.len() as u64,
        left_out: picked.left_out,
        ..Written::default()
    })
}

/// Why it went wrong, what shows it, and what to do, as `mcpreel why` says it.
fn why(causes: &[Cause]) -> String {
    let lines = phrases::why(causes, "", COLUMNS);
    let lines = lines
        .iter()
        .map(|(name, line)| format!("{name:NAMES$}{line}\n"));
    fenced("text", &lines.collect::<String>())
}

/// The two sides, their versions, the command, and the end.
fn about(excerpt: &Excerpt<'_>, summary: &Summary, text: &mut String) -> Result<(), ReadError> {
    let mut facts = excerpt.facts(summary)?;
    facts.retain(|(name, _)| !LEFT_OUT.contains(name));
    facts.push(recorded(summary));
    for (name, value) in facts {
        let _ = writeln!(text, "- {name}: {}", code(&value));
    }
    Ok(())
}

fn recorded(summary: &Summary) -> (&'static str, String) {
    let by = match summary.context.mcpreel.as_str() {
        "" => env!("CARGO_PKG_VERSION"),
        version => version,
    };
    let mut words = format!("by mcpreel {by}, {}", summary.id);
    if summary.wall_ns > 0 {
        let _ = write!(words, ", {}", when::rfc3339(summary.wall_ns));
    }
    let _ = write!(words, ", {} long", clock(summary.t_last_ns));
    let original = summary.parent.as_deref();
    let original = original.filter(|_| summary.redaction.is_some());
    let _ = original.map_or(Ok(()), |id| write!(words, "; redacted from {id}"));
    ("recorded", words)
}

fn exchanges(
    recording: &Recording,
    summary: &Summary,
    picked: &Picked,
    text: &mut String,
) -> Result<(), ReadError> {
    let why = phrases::why_lost(summary);
    text.push_str("\n## What was said\n");
    if picked.exchanges.is_empty() {
        text.push_str("\nNothing was asked.\n");
    }
    for exchange in &picked.exchanges {
        exchange_facts(exchange, why.as_deref(), text);
        let (seq, part) = exchange.request;
        let asked = body_of(recording, seq, part, exchange.request_size)?;
        let _ = write!(text, "\nRequest {}, {asked}", frame(seq.0));
        match exchange.response {
            Some((seq, part)) => {
                let answer = body_of(recording, seq, part, exchange.response_size)?;
                let _ = write!(text, "\nAnswer {}, {answer}", frame(seq.0));
            }
            None if exchange.status == Status::Open => {
                text.push_str("\nThere is no answer yet.\n");
            }
            None => text.push_str("\nThere is no answer on record.\n"),
        }
        heads(recording, exchange, text)?;
        meanwhile(recording, exchange, text)?;
    }
    if picked.left_out > 0 {
        let more = plural(picked.left_out, "more exchange");
        let failed = match picked.failed {
            0 => String::new(),
            failed => format!(", of which {} failed", count(failed)),
        };
        let _ = writeln!(text, "\n({more} not told here{failed})");
    }
    Ok(())
}

fn last_words(recording: &Recording, text: &mut String) -> Result<(), ReadError> {
    let words = recording.last_words(LAST_WORDS)?;
    if words.is_empty() {
        return Ok(());
    }
    let lines = words
        .iter()
        .map(|line| cut(&escape_bytes(line.trim_ascii_end()), LINE));
    let fence = fenced("text", &lines.collect::<Vec<_>>().join("\n"));
    let _ = write!(text, "\n## Last lines on stderr\n\n{fence}");
    Ok(())
}

/// The first findings in what is selected, and how many more there are.
fn findings(excerpt: &Excerpt<'_>, text: &mut String) -> Result<(), ReadError> {
    let mut found = 0_usize;
    for finding in all_rows(0, |after| excerpt.recording.findings(*after), |row| row.id) {
        let finding = finding?;
        if excerpt.is_cut() && !finding.frame.is_some_and(|seq| excerpt.has(seq)) {
            continue;
        }
        found += 1;
        if found == 1 {
            text.push_str("\n## Findings\n\n");
        }
        if found <= FINDINGS {
            let place = finding.frame.map(|seq| format!(" {}", frame(seq.0)));
            let rule = mcpreel_lint::rule(&finding.rule).map(|rule| format!("{}: ", rule.summary));
            let said = code(&format!("{}{}", rule.unwrap_or_default(), finding.detail));
            let (severity, rule) = (code(&finding.severity), code(&finding.rule));
            let place = place.unwrap_or_default();
            let _ = writeln!(text, "- {severity}{place} {rule}: {said}");
        }
    }
    if let more @ 1.. = found.saturating_sub(FINDINGS) as u64 {
        let _ = writeln!(text, "\n({} not listed here)", plural(more, "more finding"));
    }
    Ok(())
}

/// Commands for a reader who has the recording.
fn again(recording: &Recording, summary: &Summary, picked: &Picked, text: &mut String) {
    let name = recording.path().file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let mut lines = String::new();
    if let Some(exchange) = picked.exchanges.first() {
        let at = format!("{name}#{}", exchange.request.0.0);
        let _ = writeln!(lines, "mcpreel show {}", phrases::command(&[at]));
    }
    let file = phrases::command(&[name]);
    let _ = write!(
        lines,
        "mcpreel why {file}\n\
         mcpreel replay {file} -- ./your-build   # the recorded client, against another server\n\
         mcpreel mock {file}                     # the recorded server, for a host\n"
    );
    text.push_str("\n## To see it again\n\n");
    text.push_str("With the recording (`mcpreel export --format recording` makes a copy without secrets):\n\n");
    text.push_str(&fenced("sh", &lines));
    text.push_str(match summary.redaction {
        Some(_) => "\nRedacted by mcpreel; read it before you post it.\n",
        None => "\nNot redacted: read it before you post it.\n",
    });
}

/// Limits of a message in a report.
const BODY: Limits = Limits {
    lines: 60,
    line: 400,
};

/// Bytes of a message that are looked at for that.
const LOOKED_AT: usize = 64 * 1024;

/// Rows of what happened meanwhile.
const MEANWHILE: usize = 40;

/// The heading of an exchange, and what is known of it; `end` is that of the session.
///
/// ```text
/// ### `#15` `tools/call search`: error
///
/// - asked: `by the client at 00:00.041, id 3, legacy`
/// - code: …
/// ```
fn exchange_facts(exchange: &Exchange, why: Option<&str>, text: &mut String) {
    let (status, seq) = (exchange.status.as_str(), frame(exchange.request.0.0));
    let name = exchange.name.as_deref().unwrap_or_default();
    let what = code(format!("{} {name}", exchange.method).trim_end());
    let _ = writeln!(text, "\n### {seq} {what}: {status}\n");
    for (name, value) in phrases_story::facts(exchange, why) {
        let _ = writeln!(text, "- {name}: {}", code(&value));
    }
}

/// The size of a message, and below it what it says, as far as there is room.
fn body_of(recording: &Recording, seq: Seq, part: u32, bytes: u64) -> Result<String, ReadError> {
    let message = match bytes {
        ..=COLLECT_LIMIT => recording.message_bytes(seq, part)?,
        _ => None,
    };
    let whole = message
        .as_ref()
        .map_or(bytes, |message| message.len() as u64);
    // Of one that is too long to hold the beginning of its frame.
    let mut raw = match message {
        Some(message) => message,
        None => recording.piece(seq, 0..LOOKED_AT as u64)?,
    };
    raw.truncate(LOOKED_AT);
    let mut lines = String::new();
    let left_out = each_line(&raw, BODY, &mut |line| {
        lines.push_str(line);
        lines.push('\n');
    });
    let left_out = left_out as u64 + whole.saturating_sub(raw.len() as u64);
    let language = if left_out == 0 { "json" } else { "text" };
    let mut text = format!("{}:\n\n{}", size(bytes), fenced(language, &lines));
    if left_out > 0 {
        let _ = writeln!(text, "({} of it not shown)", size(left_out));
    }
    Ok(text)
}

/// Adds the heads of the HTTP exchange that carried an exchange, folded.
///
/// ```text
/// <details><summary>HTTP: 404</summary>
/// ```
fn heads(recording: &Recording, exchange: &Exchange, text: &mut String) -> Result<(), ReadError> {
    let Some(http) = recording.http(exchange.http)? else {
        return Ok(());
    };
    let mut lines = Vec::new();
    for seq in [Some(http.request), http.response].into_iter().flatten() {
        let Some(head) = recording.head(seq)? else {
            continue;
        };
        let raw = phrases_network::legible(&head, recording.piece(seq, 0..LOOKED_AT as u64)?);
        each_line(&raw, BODY, &mut |line| lines.push(line.to_owned()));
        lines.push(String::new());
    }
    lines.pop();
    let status = http.status.map_or("no response".to_owned(), status_line);
    let fence = fenced("http", &lines.join("\n"));
    let _ = write!(
        text,
        "\n<details><summary>HTTP: {status}</summary>\n\n{fence}\n</details>\n"
    );
    Ok(())
}

/// Adds what happened between the request and the answer, if anything did.
fn meanwhile(
    recording: &Recording,
    exchange: &Exchange,
    text: &mut String,
) -> Result<(), ReadError> {
    let Some(story) = recording.story(exchange.id)? else {
        return Ok(());
    };
    let told = Told::new(story);
    let others = told.rows.iter().filter(|row| row.tone != Tone::Own);
    let mut lines: Vec<_> = others.map(story_line).collect();
    let left_out = told.left_out + lines.len().saturating_sub(MEANWHILE) as u64;
    lines.truncate(MEANWHILE);
    lines.extend((left_out > 0).then(|| format!("… {left_out} more")));
    if !lines.is_empty() {
        let fence = fenced("text", &lines.join("\n"));
        let _ = write!(text, "\nMeanwhile:\n\n{fence}");
    }
    Ok(())
}

fn story_line(row: &Row) -> String {
    let arrow = match row.direction {
        Some(Direction::ClientToServer) => "->",
        Some(Direction::ServerToClient) => "<-",
        None => "",
    };
    let (at, word) = (since(row.t.0), row.word);
    format!("{at:>9}  {arrow:2} {word:12}  {}", row.text)
}

/// Columns of a code span: what is longer belongs in a fence.
const SPAN: usize = 200;

/// The text as a code span on one line: between more backticks than there are in it.
fn code(text: &str) -> String {
    let text = cut(&escape(text), SPAN);
    if text.trim().is_empty() {
        return "–".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    // A space on both sides is taken away again where there is one.
    let needs_room = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let room = if needs_room { " " } else { "" };
    format!("{ticks}{room}{text}{room}{ticks}")
}

/// The address of a frame. Outside a code span a number sign and a number would be a link to an
/// issue.
fn frame(seq: u64) -> String {
    format!("`#{seq}`")
}

/// A fence around lines that are escaped already, longer than any run of backticks in them.
fn fenced(language: &str, lines: &str) -> String {
    let ticks = "`".repeat(longest_run(lines).max(2) + 1);
    let is_ended = lines.ends_with('\n') || lines.is_empty();
    let end = if is_ended { "" } else { "\n" };
    format!("{ticks}{language}\n{lines}{end}{ticks}\n")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`');
    runs.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod markdown_tests;
