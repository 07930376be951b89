//! Private keys: in one text, or in lines of which each is a frame.

use super::encodings::is_letter;
use super::find::Finder;
use super::policy::id;
use super::report::Found;
use super::token::Kind;
use std::ops::Range;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// Bytes between the beginning of the first line and what tells that it is a private key.
const HEADER: usize = 48;

/// Lines of a key; the largest RSA keys have some two hundred.
const MOST_LINES: usize = 512;

/// Shorter words are no line of a key, unless they are its last.
const LINE: usize = 8;

/// Whether a text has been searched for an end in vain.
#[derive(Debug, Default)]
pub(super) struct Scan {
    until: usize,
    has_no_end: bool,
}

/// Where the body of a key begins whose kind stands at `at`: after its first line.
fn body_at(text: &[u8], at: usize) -> Option<usize> {
    let near = at.saturating_sub(HEADER);
    memchr::memmem::rfind(&text[near..at], BEGIN)?;
    let after = &text[at..text.len().min(at + HEADER)];
    Some(at + memchr::memmem::find(after, DASHES)? + DASHES.len())
}

/// Finds the body of a key whose kind stands at `at`.
pub(super) fn find(
    finder: &Finder<'_>,
    text: &[u8],
    at: usize,
    scan: &mut Scan,
    found: &mut Found,
) {
    if let Some(lines) = lines_at(text, at) {
        return find_putty(finder, text, lines, found);
    }
    let Some(start) = body_at(text, at).filter(|start| *start > scan.until) else {
        return;
    };
    let rest = &text[start..];
    let end = if scan.has_no_end {
        None
    } else {
        memchr::memmem::find(rest, END)
    };
    scan.has_no_end |= end.is_none();
    let end = end.unwrap_or_else(|| {
        rest.iter()
            .position(|byte| !is_of_body(*byte))
            .unwrap_or(rest.len())
    });
    scan.until = start + end;
    let body = trimmed(text, start..start + end);
    let value = words(&text[body.clone()]).concat();
    if value.len() >= 2 * LINE {
        finder.add_value(body, value.into(), id::PEM, Kind::Secret, found);
    }
}

fn is_of_body(byte: u8) -> bool {
    super::encodings::is_letter(byte)
        || byte.is_ascii_whitespace()
        || matches!(byte, b'=' | b'\\' | b':' | b',')
}

/// Without white space at its ends, spelled out or escaped.
fn trimmed(text: &[u8], span: Range<usize>) -> Range<usize> {
    let body = &text[span.clone()];
    let front = spaces(body.iter());
    let back = body.len() - body[front..].trim_ascii_end().len() - front;
    let kept = &body[front..body.len() - back];
    let escaped = kept
        .windows(2)
        .rev()
        .step_by(2)
        .take_while(|pair| is_escape(pair))
        .count()
        * 2;
    span.start + front..span.end - back - escaped.min(kept.len())
}

fn is_escape(pair: &[u8]) -> bool {
    matches!(pair, b"\\n" | b"\\r")
}

fn spaces<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    let (mut count, mut escaped) = (0, false);
    for byte in bytes {
        match byte {
            b'\\' if !escaped => escaped = true,
            b'n' | b'r' if escaped => escaped = false,
            byte if byte.is_ascii_whitespace() && !escaped => {}
            _ => return count - usize::from(escaped),
        }
        count += 1;
    }
    count
}

/// The words of a body, which are its lines.
pub(super) fn words(body: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at <= body.len() {
        let length = match body.get(at..) {
            Some([b'\\', b'n' | b'r', ..]) => 2,
            Some([byte, ..]) if !byte.is_ascii_whitespace() => 0,
            _ => 1,
        };
        if length > 0 {
            words.extend(Some(&body[start..at]).filter(|word| !word.is_empty()));
            start = at + length;
        }
        at += length.max(1);
    }
    words
}

/// A key whose lines come one by one on a stream.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Option<Vec<Box<[u8]>>>,
    most: usize,
}

impl Lines {
    /// Takes the next line of the stream. Returns the lines of a key that has ended before or with
    /// it.
    pub fn push(&mut self, line: &[u8]) -> Option<Vec<Box<[u8]>>> {
        let begins = memchr::memmem::find(line, b"PRIVATE KEY").and_then(|at| body_at(line, at));
        let Some(mut lines) = self.open.take() else {
            let counted = lines_in(line);
            let is_begun = begins.is_some_and(|at| line[at..].trim_ascii().is_empty());
            self.open = (is_begun || counted.is_some()).then(Vec::new);
            self.most = counted.unwrap_or(MOST_LINES).min(MOST_LINES);
            return None;
        };
        let word = line_of_key(line).filter(|_| lines.len() < self.most);
        let ended = memchr::memmem::find(line, END).is_some();
        if ended || begins.is_some() || (word.is_none() && !is_header(line)) {
            self.open = begins.map(|_| Vec::new());
            return (!lines.is_empty()).then_some(lines);
        }
        lines.extend(word.map(Box::from));
        self.open = Some(lines);
        None
    }

    /// The lines of a key that has not ended.
    pub fn finish(&mut self) -> Option<Vec<Box<[u8]>>> {
        self.open.take().filter(|lines| !lines.is_empty())
    }
}

/// The part of a key in a line: its last word, since a logger may write something in front.
pub(super) fn line_of_key(line: &[u8]) -> Option<&[u8]> {
    let word = line.trim_ascii().rsplit(u8::is_ascii_whitespace).next()?;
    let is_one = !word.is_empty()
        && word
            .iter()
            .all(|byte| super::encodings::is_letter(*byte) || *byte == b'=');
    let is_alone = word.len() == line.trim_ascii().len();
    (is_one && (is_alone || word.len() >= LINE)).then_some(word)
}

/// A header in a key, or the empty line after it.
fn is_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"Proc-Type:") || line.starts_with(b"DEK-Info:")
}

// Private keys as `PuTTY` writes them: so many lines behind what says how many.
//
// ```text
//  Private-Lines: 2
//  AAAAgQC…
//  AAAA…
//  Private-MAC: …
// ```

/// What is said in front of their number.
pub(crate) const PUTTY: &str = "Private-Lines: ";

/// A longer line says something else.
const PUTTY_LINE: usize = 256;

const LEAST: usize = 32;

/// How many lines follow in a text, at `at`, and where they begin.
fn lines_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let after = text[at..].strip_prefix(PUTTY.as_bytes())?;
    let digits = after
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let count = std::str::from_utf8(&after[..digits]).ok()?.parse().ok()?;
    let start = past_newline(text, at + PUTTY.len() + digits)?;
    Some((count, start))
}

/// How many lines follow this one, which is a frame.
fn lines_in(line: &[u8]) -> Option<usize> {
    let is_short = line.len() < PUTTY_LINE && line.trim_ascii_end().last()?.is_ascii_digit();
    if !is_short {
        return None;
    }
    let at = memchr::memmem::find(line, PUTTY.as_bytes())?;
    let (count, start) = lines_at(line, at)?;
    (start == line.len()).then_some(count)
}

fn find_putty(finder: &Finder<'_>, text: &[u8], (count, start): (usize, usize), found: &mut Found) {
    let (mut at, mut end, mut value) = (start, start, Vec::new());
    for _ in 0..count {
        let letters = text[at..].iter().take(PUTTY_LINE);
        let letters = letters
            .take_while(|byte| is_letter(**byte) || **byte == b'=')
            .count();
        value.extend_from_slice(&text[at..at + letters]);
        end = at + letters;
        match past_newline(text, end).filter(|_| letters > 0) {
            Some(next) => at = next,
            None => break,
        }
    }
    if value.len() >= LEAST {
        finder.add_value(start..end, value.into(), id::PEM, Kind::Secret, found);
    }
}

/// Behind a newline, spelled out or escaped, that begins at `at`.
fn past_newline(text: &[u8], at: usize) -> Option<usize> {
    let ends: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    let rest = text.get(at..)?;
    let end = ends.iter().find(|end| rest.starts_with(end))?;
    Some(at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_key_are_collected_until_its_end() {
        let mut lines = Lines::default();
        let all = [
            "log: -----BEGIN RSA PRIVATE KEY-----\n",
            "Proc-Type: 4,ENCRYPTED\n",
            "\n",
            "12:00 log: MIIEpAIBAAKCAQEA\n",
            "AB==\n",
        ];
        for line in all {
            assert_eq!(lines.push(line.as_bytes()), None, "{line}");
        }
        let key = lines.push(b"-----END RSA PRIVATE KEY-----\n").unwrap();
        assert_eq!(
            key,
            [
                Box::from(*b"MIIEpAIBAAKCAQEA") as Box<[u8]>,
                Box::from(*b"AB==")
            ]
        );
        assert_eq!(lines.push(b"AB==\n"), None);
        lines.push(b"-----BEGIN PRIVATE KEY-----\n");
        lines.push(b"MIIEpAIBAAKCAQEA\n");
        assert_eq!(
            lines
                .push(b"server: started, all is well.\n")
                .unwrap()
                .len(),
            1
        );
    }
}

#[cfg(test)]
mod putty_tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_says_how_many() {
        let text = b"x Private-Lines: 12\r\nAAAA\n";
        assert_eq!(lines_at(text, 2), Some((12, 21)));
        assert_eq!(lines_in(b"log: Private-Lines: 3\n"), Some(3));
        for line in [
            "Private-Lines: ",
            "Private-Lines: 3 of 4\n",
            "Private-Lines: 3\nAAAA",
        ] {
            assert_eq!(lines_in(line.as_bytes()), None, "{line}");
        }
    }
}
