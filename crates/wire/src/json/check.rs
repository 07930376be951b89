//! The grammar of JSON over a text that comes in chunks and is too large to hold.

use super::scan::{self, Reason, SyntaxError};

/// How deep the text may nest: each level takes a byte of memory.
const MAX_DEPTH: usize = 1 << 20;

/// The longest number or literal that is held and checked.
const TOKEN_BYTES: usize = 1 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Checks a text chunk by chunk, and says the same of it as a parser that has all of it. A number
/// over a kilobyte is taken as correct.
#[derive(Clone, Debug, Default)]
pub(super) struct Checker {
    state: State,
    /// The open containers, outermost first: whether each is an object.
    open: Vec<bool>,
    /// Where the number or literal that is being read begins, and its bytes so far.
    token: (usize, Vec<u8>),
    /// Where the escape that is being read begins.
    escape: usize,
    /// The bytes before the current chunk.
    offset: usize,
    error: Option<SyntaxError>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The text has not begun, but perhaps so many bytes of a byte order mark.
    Start(usize),
    #[default]
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    Separator,
    String {
        key: bool,
    },
    Escape {
        key: bool,
    },
    Scalar,
    End,
}

impl Checker {
    pub fn new() -> Self {
        Self {
            state: State::Start(0),
            ..Self::default()
        }
    }

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

    pub fn finish(mut self) -> Result<(), SyntaxError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.state == State::Scalar {
            self.scalar_ends()?;
        }
        match self.state {
            State::End => Ok(()),
            State::Start(_) => scan::error(self.offset, Reason::Empty),
            _ => scan::error(self.offset, Reason::End),
        }
    }

    /// Reads what `rest` begins with, which stands at `offset` of the text, and returns how many
    /// bytes that was.
    fn step(&mut self, rest: &[u8], offset: usize) -> Result<usize, SyntaxError> {
        let byte = rest[0];
        match self.state {
            State::String { key } => return self.in_string(rest, offset, key),
            State::Escape { key } => self.in_escape(byte, offset, key)?,
            State::Scalar => return self.in_scalar(rest),
            State::Start(read) if read == offset && BYTE_ORDER_MARK.get(read) == Some(&byte) => {
                self.state = State::Start(read + 1);
            }
            State::Start(1 | 2) => return scan::error(0, Reason::Value),
            _ if scan::is_white(byte) => {}
            State::FirstElement if byte == b']' => self.close(),
            State::FirstKey if byte == b'}' => self.close(),
            State::Start(_) | State::Value | State::FirstElement => self.value(byte, offset)?,
            State::FirstKey | State::Key if byte == b'"' => {
                self.state = State::String { key: true };
            }
            State::FirstKey | State::Key => return scan::error(offset, Reason::Key),
            State::Colon if byte == b':' => self.state = State::Value,
            State::Colon => return scan::error(offset, Reason::Colon),
            State::Separator => self.separator(byte, offset)?,
            State::End => return scan::error(offset, Reason::Trailing),
        }
        Ok(1)
    }

    fn value(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        match byte {
            b'{' | b'[' if self.open.len() == MAX_DEPTH => {
                return scan::error(offset, Reason::TooDeep { limit: MAX_DEPTH });
            }
            b'{' => self.state = State::FirstKey,
            b'[' => self.state = State::FirstElement,
            b'"' => self.state = State::String { key: false },
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.token.0 = offset;
                self.token.1.clear();
                self.token.1.push(byte);
                self.state = State::Scalar;
            }
            _ => return scan::error(offset, Reason::Value),
        }
        if matches!(byte, b'{' | b'[') {
            self.open.push(byte == b'{');
        }
        Ok(())
    }

    fn separator(&mut self, byte: u8, offset: usize) -> Result<(), SyntaxError> {
        let in_object = self.open.last() == Some(&true);
        match (byte, in_object) {
            (b',', true) => self.state = State::Key,
            (b',', false) => self.state = State::Value,
            (b'}', true) | (b']', false) => self.close(),
            (_, true) => return scan::error(offset, Reason::ObjectEnd),
            (_, false) => return scan::error(offset, Reason::ArrayEnd),
        }
        Ok(())
    }

    fn close(&mut self) {
        self.open.pop();
        self.value_ends();
    }

    fn value_ends(&mut self) {
        self.state = if self.open.is_empty() {
            State::End
        } else {
            State::Separator
        };
    }

    fn in_string(&mut self, rest: &[u8], offset: usize, key: bool) -> Result<usize, SyntaxError> {
        let run = scan::plain_run(rest);
        match rest.get(run) {
            None => return Ok(run),
            Some(b'"') if key => self.state = State::Colon,
            Some(b'"') => self.value_ends(),
            Some(b'\\') => {
                self.escape = offset + run;
                self.state = State::Escape { key };
            }
            Some(_) => return scan::error(offset + run, Reason::Control),
        }
        Ok(run + 1)
    }

    fn in_escape(&mut self, byte: u8, offset: usize, key: bool) -> Result<(), SyntaxError> {
        let is_over = match (offset - self.escape, byte) {
            (1, b'u') => false,
            (1, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            (digit @ 2.., byte) if byte.is_ascii_hexdigit() => digit == 5,
            _ => return scan::error(self.escape, Reason::Escape),
        };
        if is_over {
            self.state = State::String { key };
        }
        Ok(())
    }

    fn in_scalar(&mut self, rest: &[u8]) -> Result<usize, SyntaxError> {
        let is_inside =
            |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.');
        let run = rest.iter().position(|byte| !is_inside(byte));
        let read = run.unwrap_or(rest.len());
        let token = &mut self.token.1;
        if token.len() <= TOKEN_BYTES {
            token.extend_from_slice(&rest[..read]);
        }
        if run.is_some() {
            self.scalar_ends()
                .map_err(|error| self.not_at_the_end(error))?;
        }
        Ok(read)
    }

    /// The error of a scalar that something follows, so that it does not just break off.
    fn not_at_the_end(&self, error: SyntaxError) -> SyntaxError {
        let (start, bytes) = &self.token;
        let is_number = matches!(bytes.first(), Some(b'-' | b'0'..=b'9'));
        let (offset, reason) = match (error.reason, is_number) {
            (Reason::End, true) => (error.offset, Reason::Number),
            (Reason::End, false) => (*start, Reason::Value),
            (reason, _) => (error.offset, reason),
        };
        SyntaxError { offset, reason }
    }

    fn scalar_ends(&mut self) -> Result<(), SyntaxError> {
        let (start, bytes) = &self.token;
        let end = match bytes[0] {
            b't' => scan::literal(bytes, 0, b"true"),
            b'f' => scan::literal(bytes, 0, b"false"),
            b'n' => scan::literal(bytes, 0, b"null"),
            _ if bytes.len() > TOKEN_BYTES => Ok(bytes.len()),
            _ => scan::number(bytes, 0),
        };
        match end {
            Ok(end) if end == bytes.len() => {
                self.value_ends();
                Ok(())
            }
            Ok(end) => scan::error(start + end, Reason::Number),
            Err(error) => scan::error(start + error.offset, error.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use proptest::prelude::*;

    fn check(text: &[u8], cuts: &[usize]) -> Result<(), SyntaxError> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut checker = Checker::new();
        for pair in cuts.windows(2) {
            checker.push(&text[pair[0]..pair[1]]);
        }
        checker.finish()
    }

    #[test]
    fn a_checker_refuses_what_a_parser_refuses_for_the_same_reason() {
        for text in [
            "",
            "\n",
            "[INFO] up",
            "{'a':1}",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "[1,]",
            "[1 2]",
            "{\"a\":1]",
            "01",
            "-x",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "{\"id\":3,\"res",
            "{} {}",
            "1\0",
            "trux",
            "tru",
            "1.",
            "[1.,2]",
            "\"\\",
            "[tr]",
            "{\"a\":1 \"b\"}",
        ] {
            let expected = Document::parse(text.as_bytes()).map(drop);
            assert_eq!(check(text.as_bytes(), &[]), expected, "{text:?}");
        }
        assert!(check(b"\xef\xbb\xbf{}", &[1, 2]).is_ok());
        for mark in [&b"\xef\xbb{}"[..], b" \xbb\xbf{}", b"\xef\xbb\xbf"] {
            assert!(check(mark, &[]).is_err());
        }
    }

    proptest! {
        #[test]
        fn a_checker_judges_as_a_parser_does_whatever_the_chunks(
            parts in prop::collection::vec(prop::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "\\u00e9", "1", "-", "0", ".5",
                "e1", "true", "fals", "null", " ", "\n", "\t", "é",
            ]), 0..14),
            cuts in prop::collection::vec(any::<usize>(), 0..5),
        ) {
            let text = parts.concat();
            let parsed = Document::parse(text.as_bytes()).map(drop);
            prop_assert_eq!(check(text.as_bytes(), &cuts).is_ok(), parsed.is_ok(), "{}", text);
            prop_assert_eq!(check(text.as_bytes(), &cuts), check(text.as_bytes(), &[]));
        }
    }
}
