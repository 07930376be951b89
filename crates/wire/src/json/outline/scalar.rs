//! Numbers and literals, which are judged when they end.

use super::super::scan;
use super::{Outline, Reason, SyntaxError};

/// The longest member name, number or literal that is held.
const TOKEN_BYTES: usize = 1 << 10;

/// A member name, number or literal as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) bytes: Vec<u8>,
    /// Whether it was longer than is held.
    pub(super) long: bool,
}

impl Token {
    pub(super) fn begin(&mut self, start: usize) {
        self.start = start;
        self.bytes.clear();
        self.long = false;
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > TOKEN_BYTES {
            self.long = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Outline {
    pub(super) fn in_scalar(&mut self, rest: &[u8]) -> Result<usize, SyntaxError> {
        let inside =
            |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.');
        let run = rest.iter().position(|byte| !inside(byte));
        self.token.push(&rest[..run.unwrap_or(rest.len())]);
        let Some(run) = run else {
            return Ok(rest.len());
        };
        self.scalar_ends()
            .map_err(|error| self.not_at_the_end(error))?;
        Ok(run)
    }

    /// What is wrong with a scalar that something follows, other than that it ends.
    fn not_at_the_end(&self, error: SyntaxError) -> SyntaxError {
        let number = matches!(self.token.bytes.first(), Some(b'-' | b'0'..=b'9'));
        let (offset, reason) = match (error.reason, number) {
            (Reason::End, true) => (error.offset, Reason::Number),
            (Reason::End, false) => (self.token.start, Reason::Value),
            (reason, _) => (error.offset, reason),
        };
        SyntaxError { offset, reason }
    }

    pub(super) fn scalar_ends(&mut self) -> Result<(), SyntaxError> {
        let Token { start, bytes, long } = &self.token;
        let end = match bytes[0] {
            b't' => scan::literal(bytes, 0, b"true"),
            b'f' => scan::literal(bytes, 0, b"false"),
            b'n' => scan::literal(bytes, 0, b"null"),
            _ if *long => Ok(bytes.len()),
            _ => scan::number(bytes, 0),
        };
        let (offset, reason) = match end {
            Ok(end) if end == bytes.len() => {
                let text = if *long { b"null" } else { &bytes[..] };
                if let Some(plan) = self.plan {
                    self.out.extend_from_slice(text);
                    self.budget.spend(plan.care, text.len());
                }
                self.value_ends();
                return Ok(());
            }
            Ok(end) => (end, Reason::Number),
            Err(error) => (error.offset, error.reason),
        };
        scan::error(start + offset, reason)
    }
}
