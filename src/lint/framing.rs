//! Lines: what the stdio transport and JSON ask of them.

use super::family::Family;
use super::finding::{Finding, Findings};
use super::quote;
use super::rule::{Rule, Severity};
use super::seen::Seen;
use crate::protocol::mcp::Revision;
use crate::protocol::message::Problem;
use crate::trace::frame::Seq;

static NOT_JSON: Rule = Rule::error("frame-not-json", "a line is no JSON text");
static TRUNCATED: Rule = Rule::error("frame-truncated", "the stream ends before the line does");
static INVALID_UTF8: Rule = Rule::error("frame-invalid-utf8", "a line is not UTF-8");
static NOT_OBJECT: Rule = Rule::error(
    "frame-not-object",
    "a JSON value that is neither object nor array",
);
static CRLF: Rule = Rule::note("frame-crlf", "a line ends with CR LF");
static BLANK_LINE: Rule = Rule::note("frame-blank-line", "an empty line");
static BOM: Rule = Rule::warning("frame-bom", "a line begins with a byte order mark");
static DUPLICATE_KEY: Rule = Rule::warning(
    "frame-duplicate-key",
    "an object has the same member twice; the last one counts",
);
static DEEP_NESTING: Rule = Rule::note(
    "frame-deep-nesting",
    "nested deeper than is looked at; parsers of peers may overflow",
);
static OUTLINE_ONLY: Rule = Rule::note(
    "frame-outline-only",
    "a very long line of which only the outline was looked at",
);
static BATCH_EMPTY: Rule = Rule::error("batch-empty", "an empty batch");
static BATCH_TOO_LONG: Rule = Rule::warning(
    "batch-too-long",
    "a batch of more messages than are looked at",
);
static BATCH_NOT_ALLOWED: Rule = Rule::error(
    "batch-not-allowed",
    "a batch, which only revision 2025-03-26 allows",
);

/// The family of framing rules; it remembers nothing.
#[derive(Debug, Default)]
pub struct Framing;

impl Family for Framing {
    fn name(&self) -> &'static str {
        "framing"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &NOT_JSON,
            &TRUNCATED,
            &INVALID_UTF8,
            &NOT_OBJECT,
            &CRLF,
            &BLANK_LINE,
            &BOM,
            &DUPLICATE_KEY,
            &DEEP_NESTING,
            &OUTLINE_ONLY,
            &BATCH_EMPTY,
            &BATCH_TOO_LONG,
            &BATCH_NOT_ALLOWED,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let of_messages = seen.content.messages.iter().flat_map(|m| &m.problems);
        let problems = seen.content.problems.iter().chain(of_messages);
        findings.extend(problems.filter_map(|problem| finding(problem, seen)));
        if seen.content.batch {
            findings.extend(batch_not_allowed(seen));
        }
    }
}

fn finding(problem: &Problem, seen: &Seen<'_>) -> Option<Finding> {
    let frame: Seq = seen.head.seq;
    Some(match problem {
        // A line that was cut off need not be JSON as well.
        Problem::NotJson { .. } if seen.content.problems.contains(&Problem::Truncated) => {
            return None;
        }
        Problem::NotJson { offset, reason } => {
            let line = quote::bytes(line(seen.raw));
            NOT_JSON.at(frame, format!("byte {offset}: {reason}: {line}"))
        }
        Problem::Truncated => TRUNCATED.at(
            frame,
            format!("{} bytes: {}", seen.head.size, quote::bytes(seen.raw)),
        ),
        Problem::InvalidUtf8 { offset } => {
            let from = seen.raw.get(*offset..).unwrap_or_default();
            INVALID_UTF8.at(
                frame,
                format!("byte {offset}: {}", quote::bytes(line(from))),
            )
        }
        Problem::NotObject { found } => {
            NOT_OBJECT.at(frame, format!("{found}: {}", quote::bytes(line(seen.raw))))
        }
        Problem::CarriageReturn => CRLF.at(frame, "CR LF"),
        Problem::Blank => BLANK_LINE.at(frame, format!("{} bytes", seen.head.size)),
        Problem::ByteOrderMark => BOM.at(frame, "EF BB BF"),
        Problem::DuplicateKey { key } => {
            DUPLICATE_KEY.at(frame, format!("\"{}\"", quote::text(key)))
        }
        Problem::TooDeep { limit } => DEEP_NESTING.at(frame, format!("more than {limit} levels")),
        Problem::OutlineOnly => OUTLINE_ONLY.at(frame, format!("{} bytes", seen.head.size)),
        Problem::EmptyBatch => BATCH_EMPTY.at(frame, "[]"),
        Problem::BatchTooLong { parts, limit } => {
            BATCH_TOO_LONG.at(frame, format!("{limit} of {parts} messages were looked at"))
        }
        _ => return None,
    })
}

/// A line without its terminator.
fn line(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    raw.strip_suffix(b"\r").unwrap_or(raw)
}

/// The first revision does not mention batches, the second allows them, later ones do not.
fn batch_not_allowed(seen: &Seen<'_>) -> Option<Finding> {
    let version = seen.session.version()?;
    let severity = match Revision::judging(version)? {
        Revision::V2024_11_05 => Severity::Warning,
        Revision::V2025_03_26 => return None,
        _ => Severity::Error,
    };
    let parts = seen.content.messages.len();
    let detail = format!("{parts} messages under {}", quote::text(version));
    let finding = BATCH_NOT_ALLOWED.at(seen.head.seq, detail);
    Some(finding.as_bad_as(severity))
}
