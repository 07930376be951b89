//! What is wrong with a line as bytes, as JSON text and as a batch.

use super::rules::{
    BATCH_EMPTY, BATCH_INITIALIZE, BATCH_NOT_ALLOWED, BATCH_TOO_LONG, BLANK_LINE, BOM, CRLF,
    DEEP_NESTING, INVALID_UTF8, NOT_JSON, NOT_OBJECT, OUTLINE_ONLY, OVERSIZED, SHORTENED,
    TRUNCATED,
};
use crate::finding::{Finding, Findings};
use crate::quote;
use crate::seen::Seen;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Problem};
use mcpreel_wire::text::plural;

/// The longest line that every known peer reads. Longer ones are read by some only.
const READ_BY_ALL: u64 = 10 << 20;

pub(super) fn look(seen: &Seen<'_>, findings: &mut Findings) {
    let of_messages = seen.content.messages.iter().flat_map(|m| &m.problems);
    let problems = seen.content.problems.iter().chain(of_messages);
    findings.extend(problems.filter_map(|problem| finding(problem, seen)));
    if seen.head.size > READ_BY_ALL {
        let detail = format!("{} bytes, the limit is {READ_BY_ALL}", seen.head.size);
        findings.push(OVERSIZED.at(seen.head.seq, detail));
    }
    if seen.content.batch {
        findings.extend(not_allowed(seen));
        findings.extend(with_initialize(seen));
    }
}

fn finding(problem: &Problem, seen: &Seen<'_>) -> Option<Finding> {
    let frame = seen.head.seq;
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
        Problem::Shortened => {
            let detail = format!("{} bytes of it", seen.head.size);
            let exchange = seen.messages.first().and_then(|first| first.exchange);
            SHORTENED.at(frame, detail).about(exchange)
        }
        Problem::InvalidUtf8 { offset } => {
            let from = line(seen.raw.get(*offset..).unwrap_or_default());
            INVALID_UTF8.at(frame, format!("byte {offset}: {}", quote::bytes(from)))
        }
        Problem::NotObject { found } => {
            NOT_OBJECT.at(frame, format!("{found}: {}", quote::bytes(line(seen.raw))))
        }
        Problem::CarriageReturn => CRLF.at(frame, "CR LF"),
        Problem::Blank => BLANK_LINE.at(frame, plural(seen.head.size, "byte")),
        Problem::ByteOrderMark => BOM.at(frame, "EF BB BF"),
        Problem::TooDeep { limit } => DEEP_NESTING.at(frame, format!("more than {limit} levels")),
        Problem::OutlineOnly => OUTLINE_ONLY.at(frame, format!("{} bytes", seen.head.size)),
        Problem::EmptyBatch => BATCH_EMPTY.at(frame, "[]"),
        Problem::BatchTooLong { parts, limit } => {
            BATCH_TOO_LONG.at(frame, format!("{limit} of {parts} messages were looked at"))
        }
        Problem::BatchOfOther { invalid, limit } => {
            let detail = format!("{limit} of {invalid} members that are no messages are told");
            BATCH_TOO_LONG.at(frame, detail)
        }
        _ => return None,
    })
}

fn line(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    raw.strip_suffix(b"\r").unwrap_or(raw)
}

/// The first revision does not mention batches, the second allows them, later ones do not. Before
/// a version is agreed on nobody knows.
fn not_allowed(seen: &Seen<'_>) -> Option<Finding> {
    let version = seen.session.version()?;
    let messages = plural(members(seen) as u64, "message");
    let detail = format!("{messages} under {}", quote::text(version));
    let finding = BATCH_NOT_ALLOWED.at(seen.head.seq, detail);
    Some(finding.judged_by(Revision::judging(version)?))
}

/// The members of a batch, as far as is known.
fn members(seen: &Seen<'_>) -> usize {
    let known = seen.content.messages.len();
    seen.root.map_or(known, |root| root.elements().count())
}

fn with_initialize(seen: &Seen<'_>) -> Option<Finding> {
    let mut of_client = seen
        .parts()
        .filter(|part| part.direction() == Direction::ClientToServer);
    let part = of_client.find(|part| match &part.message.body {
        Body::Request(request) => &*request.method == "initialize",
        _ => false,
    })?;
    let place = part.message.part;
    let detail = format!("part {place} of a batch of {}", members(seen));
    Some(part.at(&BATCH_INITIALIZE, detail))
}
