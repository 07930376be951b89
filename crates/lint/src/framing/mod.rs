//! Rules about lines and text: what the stdio transport and JSON require, and what a text must not
//! hide.
//!
//! * here: bytes, JSON text, batches, headers before messages;
//! * `misframed`: messages that were printed over several lines, or on stderr;
//! * `values`: one walk over all values of a message: names, numbers, texts.

mod misframed;
mod values;

use crate::{Context, Family, Finding, FrameContext, Part, Revisions, Severity, quote, section};
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Problem};
use mcpreel_wire::text::plural;
use misframed::is_message;
pub(super) use misframed::{Misframed, may_be_of_stderr};
use regex::bytes::Regex;
use std::sync::LazyLock;

rules! {
    NOT_JSON = error("frame-not-json").of(section::STDIO)
        .finds("a line is not JSON")
        .why("A peer that meets such a line reports a parse error, skips it or closes the connection.")
        .fix("Write logs and banners to stderr, and only whole messages, one per line, to stdout.");

    TRUNCATED = error("frame-truncated").of(section::STDIO)
        .finds("the stream ends before the line does")
        .why("A line without its end is never read by the other side, so its message is lost.")
        .fix("Write the newline with the message and flush before closing the stream or exiting.");

    SHORTENED = note("frame-shortened")
        .finds("a message that the imported log had shortened")
        .why("The rest of the message could not be checked.")
        .fix("Nothing needs to be done; record the session with mcpreel to see the message whole.");

    INVALID_UTF8 = error("frame-invalid-utf8").of(section::STDIO)
        .finds("a line is not UTF-8")
        .why("Some peers stop reading altogether at the first byte that is not UTF-8.")
        .fix("Open both streams as UTF-8, whatever the locale says, and send binary data as base64.");

    EMBEDDED_NEWLINE = error("frame-embedded-newline").of(section::STDIO)
        .finds("one message spread over several lines")
        .why("A message ends at the newline, so the other side reads a row of broken lines instead.")
        .fix("Write each message without line breaks: turn pretty printing off.");

    CONTENT_LENGTH = error("frame-content-length").of(section::STDIO)
        .finds("messages with Content-Length headers before them")
        .why("Over stdio a message is one line without headers, so the other side cannot read any of them.")
        .fix("Use a transport of an MCP SDK: a JSON-RPC library for language servers frames messages in its own way.");

    NOT_OBJECT = error("frame-not-object").of(section::STDIO)
        .finds("a JSON value that is neither object nor array")
        .why("It is JSON but no message, and peers report an error for it or close the connection.")
        .fix("Find what prints a bare value to the stream and send it to stderr.");

    CRLF = note("frame-crlf").of(section::STDIO)
        .finds("a line ends with CR LF")
        .why("Most peers tolerate the CR, but one that splits strictly at LF keeps it as data.")
        .fix("Write to the stream in binary mode, so that no newline is translated.");

    BLANK_LINE = note("frame-blank-line").of(section::STDIO)
        .finds("an empty line")
        .why("Most peers skip it, but a strict one reports a parse error.")
        .fix("End each message with exactly one newline.");

    BOM = warning("frame-bom").of(section::JSON)
        .finds("a line begins with a byte order mark")
        .why("Most JSON parsers refuse the three bytes, and with them the first message.")
        .fix("Write UTF-8 without a byte order mark.");

    OVERSIZED = warning("frame-oversized")
        .finds("a line that is longer than peers accept")
        .why("Peers built with the TypeScript SDK close the connection above 10 MiB, and others drop lines above 16 MiB.")
        .fix("Send less at once: pages, a resource link instead of the content, or a shortened text.");

    DUPLICATE_KEY = warning("frame-duplicate-key").of(section::JSON)
        .finds("an object has the same member twice")
        .why("Parsers differ in which of the two they take, so both sides may read different messages.")
        .fix("Write each member once.");

    LONE_SURROGATE = warning("frame-lone-surrogate").of(section::JSON)
        .finds("half of a character: an escaped surrogate without its other half")
        .why("It stands for no character: strict parsers refuse the message, others replace it silently.")
        .fix("Cut text between characters, not between UTF-16 units.");

    DEEP_NESTING = note("frame-deep-nesting").of(section::JSON)
        .finds("JSON nested too deeply to be checked")
        .why("Parsers of peers may overflow, and a crash ends the session.")
        .fix("Flatten the structure, or send it as text or as a resource.");

    NUMBER_PRECISION = note("frame-number-precision").of(section::JSON)
        .finds("a number that does not survive in a double")
        .why("Peers written in JavaScript read another number, and an id that changes is never matched.")
        .fix("Send integers beyond 2^53 as strings.");

    OUTLINE_ONLY = note("frame-outline-only")
        .finds("a very long line of which only the outline was looked at")
        .why("Rules about values inside the message could not be checked for it.")
        .fix("Nothing needs to be done, but a shorter message would be checked whole.");

    BATCH_EMPTY = error("batch-empty").of(section::JSONRPC_BATCH)
        .finds("an empty batch")
        .why("An empty array holds no message, and the answer to it is an error.")
        .fix("Send nothing when there is nothing to send.");

    BATCH_TOO_LONG = warning("batch-too-long").of(section::JSONRPC_BATCH)
        .finds("a batch that is too long to be checked whole")
        .why("The rest of the batch was neither paired nor checked.")
        .fix("Split the batch into smaller ones.");

    BATCH_NOT_ALLOWED = error("batch-not-allowed").of(section::STDIO)
        .only(Revisions::ALL.without(Revision::V2025_03_26))
        .milder_in(Severity::Warning, Revisions::between(Revision::V2024_11_05, Revision::V2024_11_05))
        .finds("a batch, in a revision that has none")
        .why("Only 2025-03-26 has batches: peers of other revisions refuse or ignore the whole array.")
        .fix("Send each message on a line of its own.");

    BATCH_INITIALIZE = error("batch-contains-initialize").of(section::LIFECYCLE)
        .only(Revisions::between( Revision::V2025_03_26, Revision::V2025_03_26, ))
        .finds("`initialize` inside a batch")
        .why("Before the handshake it is unknown whether the other side takes batches.")
        .fix("Send `initialize` alone and wait for its answer.");

    STDERR_JSONRPC = warning("stderr-jsonrpc").of(section::STDIO)
        .finds("an answer of the server on stderr")
        .why("The client reads messages from stdout only, so it waits for this one until it gives up.")
        .fix("Write protocol messages to stdout and logs to stderr; check which stream was handed to the transport.");

    CONTROL_CHARACTERS = warning("text-control-characters")
        .finds("control characters in a text that people or models are shown")
        .why("Escape sequences can move the cursor, recolour or rewrite what a terminal shows.")
        .fix("Strip control characters from names, titles, descriptions and messages before sending them.");

    HIDDEN_UNICODE = warning("text-hidden-unicode")
        .finds("invisible characters in a text that people or models are shown")
        .why("A model reads characters that a person does not see: instructions can hide in them.")
        .fix("Remove invisible and direction-changing characters, and ask where they came from.");
}

/// The family of these rules. It remembers what came on stderr; lines that may be parts of one
/// message are remembered by `Misframed`, which looks at what all families found in them.
#[derive(Debug, Default)]
pub struct Framing {
    stderr: misframed::Stderr,
}

impl Family for Framing {
    fn passed(&mut self, context: &Context<'_>) {
        self.stderr.passed(context, false);
    }

    fn frame(&mut self, seen: &FrameContext<'_>) {
        look(seen);
    }

    fn part(&mut self, part: &Part<'_>) {
        values::look(part);
    }

    fn stderr(&mut self, head: &FrameHead, raw: &[u8], context: &Context<'_>) {
        self.stderr.line(head, raw, context);
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>) {
        self.stderr.passed(context, true);
    }
}

// What is wrong with a line as bytes, as JSON text and as a batch.

/// The longest line that every known peer reads. Longer ones are read by some only.
const READ_BY_ALL: u64 = 10 << 20;

fn look(seen: &FrameContext<'_>) {
    let of_messages = seen.content.messages.iter().flat_map(|m| &m.problems);
    let problems = seen.content.problems.iter().chain(of_messages);
    seen.findings
        .extend(problems.filter_map(|problem| finding(problem, seen)));
    if seen.head.size > READ_BY_ALL {
        let detail = format!("{} bytes, the limit is {READ_BY_ALL}", seen.head.size);
        seen.findings.push(OVERSIZED.at(seen.head.seq, detail));
    }
    // An empty batch is wrong in every revision, which is reported once.
    if seen.content.batch && !seen.content.problems.contains(&Problem::EmptyBatch) {
        seen.findings.extend(not_allowed(seen));
        seen.findings.extend(with_initialize(seen));
    }
}

fn finding(problem: &Problem, seen: &FrameContext<'_>) -> Option<Finding> {
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
            let detail =
                format!("only {limit} of {invalid} members that are no messages are listed");
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
fn not_allowed(seen: &FrameContext<'_>) -> Option<Finding> {
    let version = seen.session.version()?;
    let messages = plural(members(seen) as u64, "message");
    let detail = format!("{messages} under {}", quote::text(version));
    let finding = BATCH_NOT_ALLOWED.at(seen.head.seq, detail);
    Some(finding.judged_by(Revision::judging(version)?))
}

/// The members of a batch, as far as is known.
fn members(seen: &FrameContext<'_>) -> usize {
    let known = seen.content.messages.len();
    seen.root.map_or(known, |root| root.elements().count())
}

fn with_initialize(seen: &FrameContext<'_>) -> Option<Finding> {
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

// Messages with headers before them, as the Language Server Protocol frames them.
//
// ```text
//  Content-Length: 120⏎      a header line
//  ⏎                         the end of the headers
//  {…}Content-Length: 58⏎    the message has no end of its own: the next header is on its line
//  ⏎
//  {…}                       and the last one never ends
// ```

/// The longest header, bytes: its name, a number and some white space. It is looked for at the end
/// of lines that may be a gigabyte long.
const LONGEST: usize = 48;

/// The headers in the lines of one direction.
#[derive(Debug, Default)]
struct Headers {
    is_told: bool,
    /// Behind a line that is neither message nor header, a header is one that somebody logs.
    after_noise: bool,
}

impl Headers {
    /// Findings in a line that belongs to messages with headers: only the first header is told.
    /// `None` if the line does not.
    fn look(&mut self, seen: &FrameContext<'_>) -> Option<Vec<Finding>> {
        let line = seen.raw.trim_ascii();
        let header = header(seen.raw).filter(|(at, _)| match at {
            0 => !self.after_noise,
            _ => line.starts_with(b"{"),
        });
        if let Some((_, header)) = header {
            let is_first = !std::mem::replace(&mut self.is_told, true);
            let found = || CONTENT_LENGTH.at(seen.head.seq, quote::bytes(header));
            return Some(is_first.then(found).into_iter().collect());
        }
        let is_cut = seen.content.problems.contains(&Problem::Truncated);
        let is_other = is_cut || !is_message(seen.content);
        self.after_noise = is_other && !line.is_empty();
        (self.is_told && is_other).then(Vec::new)
    }
}

/// The header in a line and where it begins: at the beginning, or behind a message, which
/// ends before the header.
fn header(raw: &[u8]) -> Option<(usize, &[u8])> {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:^|\})(content-length:\s*\d+)\s*$").expect("our expressions are valid")
    });
    let line = raw.trim_ascii_end();
    // Most lines are messages, which end with a bracket: they are not looked through.
    if !line.last()?.is_ascii_digit() {
        return None;
    }
    let from = line.len().saturating_sub(LONGEST);
    let found = HEADER.captures(&line[from..])?.get(1)?;
    let at = from + found.start();
    (at == 0 || line[at - 1] == b'}').then_some((at, &line[at..]))
}

#[cfg(test)]
mod framing_tests;
