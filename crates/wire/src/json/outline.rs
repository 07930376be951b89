//! A small text with the shape of one that is too large to hold.
//!
//! An [`Outline`] is fed a frame in chunks and writes a JSON text of bounded size as it goes.
//! Whatever says which message this is stays as it was, wherever it stands: ids, method, names,
//! URIs, `_meta`, error codes. The rest is shortened: strings are cut between characters and end
//! in `…`, arrays lose their later elements and end in `"…"`, objects lose members, and what is
//! nested deeply is empty. Every byte is checked against the grammar, so that bytes that are no
//! JSON have no outline; only numbers of over a kilobyte are not, and become `null`.

mod keep;
mod scalar;
mod stack;
mod string;

use super::error::{Reason, SyntaxError};
use super::scan;
use keep::{Budget, Care, Plan, SHOWN_DEPTH, Scope};
use scalar::Token;
use stack::{Kinds, Level};

pub use keep::OUTLINE_BYTES;

/// How deep the text may nest: a bit per level is all that is held.
const MAX_DEPTH: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const ELLIPSIS: &str = "…";

/// The outline of a text that comes in chunks.
#[derive(Clone, Debug)]
pub struct Outline {
    out: Vec<u8>,
    budget: Budget,
    state: State,
    /// The open containers that are shown, outermost first.
    levels: Vec<Level>,
    /// The open containers that are not shown, all within the last of `levels`.
    hidden: Kinds,
    /// What becomes of the value that comes or is being read; `None` hides it.
    plan: Option<Plan>,
    token: Token,
    /// An escape as far as it was read.
    escape: Vec<u8>,
    /// Bytes of the current string that may still be written.
    room: usize,
    /// Whether the current string had more than that, so that no more of it is written.
    cut: bool,
    /// The bytes before the current chunk.
    offset: usize,
    /// The last bytes of the line, as far as they can be its terminator.
    tail: Vec<u8>,
    error: Option<SyntaxError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    Separator,
    String { key: bool },
    Escape { key: bool },
    Scalar,
    End,
}

impl Default for Outline {
    fn default() -> Self {
        Self::new()
    }
}

impl Outline {
    /// The outline of a text that begins with the first chunk.
    pub fn new() -> Self {
        Self {
            out: Vec::new(),
            budget: Budget::new(),
            state: State::Start,
            levels: Vec::new(),
            hidden: Kinds::default(),
            plan: Some(Plan {
                care: Care::Exact,
                scope: Scope::Line,
            }),
            token: Token::default(),
            escape: Vec::new(),
            room: 0,
            cut: false,
            offset: 0,
            tail: Vec::new(),
            error: None,
        }
    }

    /// The outline of a text that is all there.
    pub fn of(text: &[u8]) -> Result<Vec<u8>, SyntaxError> {
        let mut outline = Self::new();
        outline.push(text);
        outline.finish()
    }

    /// Reads the next bytes of the text.
    pub fn push(&mut self, chunk: &[u8]) {
        let mut at = 0;
        while at < chunk.len() && self.error.is_none() {
            match self.step(&chunk[at..], self.offset + at) {
                Ok(used) => at += used,
                Err(error) => self.error = Some(error),
            }
        }
        self.offset += chunk.len();
    }

    /// The outline, at most [`OUTLINE_BYTES`] long, with the byte order mark and the line
    /// terminator of the text; or why the text is no JSON.
    pub fn finish(mut self) -> Result<Vec<u8>, SyntaxError> {
        if self.error.is_none() && self.state == State::Scalar {
            self.error = self.scalar_ends().err();
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        match self.state {
            State::End => {
                self.out.extend_from_slice(&self.tail);
                Ok(self.out)
            }
            State::Start => scan::error(self.offset, Reason::Empty),
            _ => scan::error(self.offset, Reason::End),
        }
    }

    /// Reads what `rest` begins with, which stands at `offset` of the text, and says how many
    /// bytes that was.
    fn step(&mut self, rest: &[u8], offset: usize) -> Result<usize, SyntaxError> {
        let byte = rest[0];
        match self.state {
            State::String { key } => return self.in_string(rest, offset, key),
            State::Escape { key } => return self.in_escape(byte, offset, key),
            State::Scalar => return self.in_scalar(rest),
            State::End => self.after_text(byte, offset)?,
            State::Start if self.mark_goes_on(byte, offset)? => self.out.push(byte),
            _ if scan::is_white(byte) => {}
            State::FirstElement if byte == b']' => self.close(),
            State::FirstKey if byte == b'}' => self.close(),
            State::Start | State::Value | State::FirstElement => self.value(byte, offset)?,
            State::FirstKey | State::Key => self.key(byte, offset)?,
            State::Colon if byte == b':' => self.state = State::Value,
            State::Colon => return scan::error(offset, Reason::Colon),
            State::Separator => self.separator(byte, offset)?,
        }
        Ok(1)
    }

    /// Whether `byte` belongs to a byte order mark before the text.
    fn mark_goes_on(&self, byte: u8, offset: usize) -> Result<bool, SyntaxError> {
        let begun = self.out.len();
        if begun == offset && BYTE_ORDER_MARK.get(offset) == Some(&byte) {
            return Ok(true);
        }
        if begun == 0 || begun == BYTE_ORDER_MARK.len() {
            return Ok(false);
        }
        scan::error(0, Reason::Value)
    }

    fn value(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        if !self.in_object() {
            self.plan_element();
        }
        match byte {
            b'{' | b'[' => return self.open(byte == b'{', offset),
            b'"' => {
                self.state = State::String { key: false };
                if let Some(plan) = self.plan {
                    self.room = self.budget.string(plan.care);
                    self.cut = false;
                    self.out.push(b'"');
                }
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.token.begin(offset);
                self.token.push(&[byte]);
                self.state = State::Scalar;
            }
            _ => return scan::error(offset, Reason::Value),
        }
        Ok(())
    }

    fn key(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        if byte != b'"' {
            return scan::error(offset, Reason::Key);
        }
        self.token.begin(offset);
        self.state = State::String { key: true };
        Ok(())
    }

    fn separator(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        match (byte, self.in_object()) {
            (b',', true) => self.state = State::Key,
            (b',', false) => self.state = State::Value,
            (b'}', true) | (b']', false) => self.close(),
            (_, true) => return scan::error(offset, Reason::ObjectEnd),
            (_, false) => return scan::error(offset, Reason::ArrayEnd),
        }
        Ok(())
    }

    /// Whether the innermost open container is an object.
    fn in_object(&self) -> bool {
        let shown = self.levels.last().is_some_and(|level| level.object);
        self.hidden.last().unwrap_or(shown)
    }

    fn open(&mut self, object: bool, offset: usize) -> Result<(), SyntaxError> {
        self.state = if object {
            State::FirstKey
        } else {
            State::FirstElement
        };
        match self.plan {
            Some(plan) if self.levels.len() < SHOWN_DEPTH => {
                self.out.push(if object { b'{' } else { b'[' });
                let level = Level::new(plan, object);
                self.levels.push(level);
                return Ok(());
            }
            Some(_) => self
                .out
                .extend_from_slice(if object { b"{}" } else { b"[]" }),
            None => {}
        }
        if self.hidden.len == MAX_DEPTH {
            return scan::error(offset, Reason::TooDeep { limit: MAX_DEPTH });
        }
        self.hidden.push(object);
        self.plan = None;
        Ok(())
    }

    fn close(&mut self) {
        if self.hidden.len > 0 {
            self.hidden.pop();
        } else if let Some(level) = self.levels.pop() {
            if level.dropped && !level.object {
                let comma = if level.shown > 0 { "," } else { "" };
                self.out.extend_from_slice(comma.as_bytes());
                self.out.extend_from_slice(b"\"\xe2\x80\xa6\"");
            }
            self.out.push(if level.object { b'}' } else { b']' });
        }
        self.value_ends();
    }

    fn value_ends(&mut self) {
        self.state = if self.levels.is_empty() && self.hidden.len == 0 {
            State::End
        } else {
            State::Separator
        };
    }

    /// Decides about the next element of an array.
    fn plan_element(&mut self) {
        if self.hidden.len > 0 {
            self.plan = None;
        } else if let Some(level) = self.levels.last_mut() {
            let plan = level.scope.element(level.care);
            self.plan = level.admit(plan, 0, &mut self.budget, &mut self.out);
        }
    }

    /// Decides about the member whose name was read.
    fn plan_member(&mut self) {
        self.state = State::Colon;
        self.plan = None;
        if self.hidden.len > 0 {
            return;
        }
        let (Some(level), key) = (self.levels.last_mut(), &self.token) else {
            return;
        };
        if key.long {
            level.dropped = true;
            return;
        }
        let plan = level.scope.member(level.care, &key.bytes);
        self.plan = level.admit(plan, key.bytes.len(), &mut self.budget, &mut self.out);
        if self.plan.is_some() {
            self.out.push(b'"');
            self.out.extend_from_slice(&key.bytes);
            self.out.extend_from_slice(b"\":");
        }
    }

    /// White space after the text, of which the line's terminator is kept.
    fn after_text(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        if !scan::is_white(byte) {
            return scan::error(offset, Reason::Trailing);
        }
        match byte {
            b'\n' if self.tail == b"\r" => self.tail.push(byte),
            b'\r' | b'\n' => self.tail = vec![byte],
            _ => self.tail.clear(),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
