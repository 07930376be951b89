//! Lines and text: what the stdio transport and JSON ask of them, and what a text must not hide.
//!
//! * `line`: bytes, JSON text, batches;
//! * `pretty`: messages that were printed over several lines;
//! * `values`: one walk over every value of a message, with `numbers` and `text`, and `shown`,
//!   which says where a text is shown to somebody;
//! * `stderr`: messages that went to the wrong stream.

mod line;
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
use crate::trace::correlator::Observation;
use crate::trace::frame::FrameHead;

/// The family of these rules. It remembers lines that may be one message, and what came on stderr.
#[derive(Debug, Default)]
pub struct Framing {
    pretty: pretty::Pretty,
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
            &rules::INVALID_UTF8,
            &rules::EMBEDDED_NEWLINE,
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
        self.pretty.look(seen, findings);
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
