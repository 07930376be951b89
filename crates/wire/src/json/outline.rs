//! A small text with the shape of one that is too large to hold.
//!
//! An [`Outline`] is fed a frame in chunks and writes a JSON text of bounded size as it goes.
//! Whatever says which message this is stays as it was, wherever it stands: ids, method, names,
//! URIs, `_meta`, error codes. The rest is shortened: strings are cut between characters and end
//! in `…`, arrays lose their later elements and end in `"…"`, objects lose members, and what is
//! nested deeply is empty. Every byte is checked against the grammar, so that bytes that are no
//! JSON have no outline; only numbers of over a kilobyte are not, and become `null`.

mod keep;

use super::scan::{self, Reason, SyntaxError};
pub use keep::OUTLINE_BYTES;
use keep::{Budget, Care, Plan, SHOWN_DEPTH, Scope};

/// How deep the text may nest: a byte per level is all that is held.
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
    /// The open containers that are not shown, all within the last of `levels`: whether each is an
    /// object.
    hidden: Vec<bool>,
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
            hidden: Vec::new(),
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
        self.hidden.last().copied().unwrap_or(shown)
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
        if self.hidden.len() == MAX_DEPTH {
            return scan::error(offset, Reason::TooDeep { limit: MAX_DEPTH });
        }
        self.hidden.push(object);
        self.plan = None;
        Ok(())
    }

    fn close(&mut self) {
        if !self.hidden.is_empty() {
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
        self.state = if self.levels.is_empty() && self.hidden.is_empty() {
            State::End
        } else {
            State::Separator
        };
    }

    /// Decides about the next element of an array.
    fn plan_element(&mut self) {
        if !self.hidden.is_empty() {
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
        if !self.hidden.is_empty() {
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

// The open containers that are shown, with what they may hold.

#[derive(Clone, Copy, Debug)]
struct Level {
    object: bool,
    scope: Scope,
    care: Care,
    shown: usize,
    dropped: bool,
}

/// What a member or element costs besides its text: quotes, comma, colon, brackets, ellipsis.
const OVERHEAD: usize = 16;

impl Level {
    /// The level of a container with this plan.
    fn new(plan: Plan, object: bool) -> Self {
        let scope = match (plan.scope, object) {
            (Scope::Line, true) => Scope::Message,
            (Scope::Line, false) => Scope::Batch,
            (scope, _) => scope,
        };
        Self {
            object,
            scope,
            care: plan.inside(),
            shown: 0,
            dropped: false,
        }
    }

    /// Makes place for one more item with a name of `name` bytes: its comma is written. `None` if
    /// the item has to go.
    fn admit(
        &mut self,
        plan: Plan,
        name: usize,
        budget: &mut Budget,
        out: &mut Vec<u8>,
    ) -> Option<Plan> {
        let fits = self.shown < keep::items(self.scope, plan.care)
            && budget.take(plan.care, name + OVERHEAD);
        if !fits {
            self.dropped = true;
            return None;
        }
        if self.shown > 0 {
            out.push(b',');
        }
        self.shown += 1;
        Some(plan)
    }
}

// Numbers and literals, which are judged when they end.

/// The longest member name, number or literal that is held.
const TOKEN_BYTES: usize = 1 << 10;

/// A member name, number or literal as far as it was read.
#[derive(Clone, Debug, Default)]
struct Token {
    start: usize,
    bytes: Vec<u8>,
    /// Whether it was longer than is held.
    long: bool,
}

impl Token {
    fn begin(&mut self, start: usize) {
        self.start = start;
        self.bytes.clear();
        self.long = false;
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > TOKEN_BYTES {
            self.long = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Outline {
    fn in_scalar(&mut self, rest: &[u8]) -> Result<usize, SyntaxError> {
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

    fn scalar_ends(&mut self) -> Result<(), SyntaxError> {
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

// Strings: names are collected, values written as far as there is room.

impl Outline {
    fn in_string(&mut self, rest: &[u8], offset: usize, key: bool) -> Result<usize, SyntaxError> {
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

    fn in_escape(&mut self, byte: u8, offset: usize, key: bool) -> Result<usize, SyntaxError> {
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
    let Some(back) = last else { return 0 };
    let needed = match bytes[bytes.len() - 1 - back] {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    if back + 1 < needed { back + 1 } else { 0 }
}

#[cfg(test)]
mod outline_tests;
