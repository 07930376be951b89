//! Strings: names are collected, values written as far as there is room.

use super::super::scan;
use super::{ELLIPSIS, Outline, Reason, State, SyntaxError};

impl Outline {
    pub(super) fn in_string(
        &mut self,
        rest: &[u8],
        offset: usize,
        key: bool,
    ) -> Result<usize, SyntaxError> {
        let run = scan::plain_run(rest);
        if run > 0 {
            self.string_bytes(&rest[..run], key);
        }
        match rest.get(run) {
            None => return Ok(run),
            Some(b'"') if key => self.plan_member(),
            Some(b'"') => {
                if self.plan.is_some() {
                    self.out.push(b'"');
                }
                self.value_ends();
            }
            Some(b'\\') => {
                self.escape.clear();
                self.escape.push(b'\\');
                self.state = State::Escape { key };
            }
            Some(_) => return scan::error(offset + run, Reason::Control),
        }
        Ok(run + 1)
    }

    pub(super) fn in_escape(
        &mut self,
        byte: u8,
        offset: usize,
        key: bool,
    ) -> Result<usize, SyntaxError> {
        let valid = match self.escape.len() {
            1 => b"\"\\/bfnrtu".contains(&byte),
            _ => byte.is_ascii_hexdigit(),
        };
        if !valid {
            return scan::error(offset - self.escape.len(), Reason::Escape);
        }
        self.escape.push(byte);
        if self.escape[1] != b'u' || self.escape.len() == 6 {
            self.escape_ends(key);
            self.state = State::String { key };
        }
        Ok(1)
    }

    /// Writes bytes of a string that stand for themselves, as far as there is room.
    fn string_bytes(&mut self, run: &[u8], key: bool) {
        if key {
            self.token.push(run);
        } else if self.plan.is_some() && !self.cut {
            let kept = run.len().min(self.room);
            self.write(&run[..kept]);
            if kept < run.len() {
                self.end_early();
            }
        }
    }

    /// Writes an escape whole or not at all, and no first half of a pair without room for both.
    fn escape_ends(&mut self, key: bool) {
        let escape = std::mem::take(&mut self.escape);
        let needed = if is_high_surrogate(&escape) {
            12
        } else {
            escape.len()
        };
        if key {
            self.token.push(&escape);
        } else if self.plan.is_some() && !self.cut {
            if self.room >= needed {
                self.write(&escape);
            } else {
                self.end_early();
            }
        }
        self.escape = escape;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.room -= bytes.len();
        if let Some(plan) = self.plan {
            self.budget.spend(plan.care, bytes.len());
        }
    }

    /// Ends the writing of a string that goes on.
    fn end_early(&mut self) {
        self.cut = true;
        let partial = partial_char(&self.out);
        self.out.truncate(self.out.len() - partial);
        self.out.extend_from_slice(ELLIPSIS.as_bytes());
    }
}

/// Whether `escape` is the first half of a surrogate pair.
fn is_high_surrogate(escape: &[u8]) -> bool {
    let digit = escape.get(3).map(u8::to_ascii_lowercase);
    matches!(escape, [_, b'u', b'd' | b'D', ..]) && matches!(digit, Some(b'8' | b'9' | b'a' | b'b'))
}

/// How many bytes at the end of `bytes` begin a character that is not all there.
fn partial_char(bytes: &[u8]) -> usize {
    let last = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80);
    let Some(back) = last else {
        return 0;
    };
    let needed = match bytes[bytes.len() - 1 - back] {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    if back + 1 < needed { back + 1 } else { 0 }
}
