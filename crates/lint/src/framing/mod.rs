//! Rules about lines and text: what the stdio transport and JSON ask of them, and what a text must not hide.
//!
//! * `line`: bytes, JSON text, batches;
//! * `misframed`: messages that were printed over several lines (`pretty`), or with headers before
//!   them (`headers`), and what follows from that in each of their lines;
//! * `values`: one walk over every value of a message, with `numbers` and `text`, and `shown`,
//!   which says where a text is shown to somebody;
//! * `stderr`: messages that went to the wrong stream.

mod headers;
mod line;
mod misframed;
mod numbers;
mod pretty;
mod rules;
mod shown;
mod stderr;
mod text;
mod values;

use super::family::{Context, Family};
use super::finding::Findings;
use super::rule::Rule;
use super::seen::Seen;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::FrameHead;

pub(super) use misframed::Misframed;

/// The family of these rules. It remembers what came on stderr; lines that may be parts of one
/// message are remembered by `Misframed`, which looks at what all families found in them.
#[derive(Debug, Default)]
pub struct Framing {
    stderr: stderr::Stderr,
}

impl Family for Framing {
    fn name(&self) -> &'static str {
        "framing"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &rules::NOT_JSON,
            &rules::TRUNCATED,
            &rules::SHORTENED,
            &rules::INVALID_UTF8,
            &rules::EMBEDDED_NEWLINE,
            &rules::CONTENT_LENGTH,
            &rules::NOT_OBJECT,
            &rules::CRLF,
            &rules::BLANK_LINE,
            &rules::BOM,
            &rules::OVERSIZED,
            &rules::DUPLICATE_KEY,
            &rules::LONE_SURROGATE,
            &rules::DEEP_NESTING,
            &rules::NUMBER_PRECISION,
            &rules::OUTLINE_ONLY,
            &rules::BATCH_EMPTY,
            &rules::BATCH_TOO_LONG,
            &rules::BATCH_NOT_ALLOWED,
            &rules::BATCH_INITIALIZE,
            &rules::STDERR_JSONRPC,
            &rules::CONTROL_CHARACTERS,
            &rules::HIDDEN_UNICODE,
        ];
        RULES
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.stderr.passed(context.now, findings);
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        line::look(seen, findings);
        values::look(seen, findings);
        self.stderr.frame(seen);
    }

    fn stderr(&mut self, head: &FrameHead, raw: &[u8], _: &Context<'_>, findings: &mut Findings) {
        self.stderr.line(head, raw, findings);
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        self.stderr.finish(findings);
    }
}

#[cfg(test)]
mod tests;
