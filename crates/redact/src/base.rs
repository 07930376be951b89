//! Base64 in texts: where it may be, and what it says.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;

/// Shorter runs have no room for a secret that is known by its shape.
const LEAST: usize = 24;

/// Of longer ones only the first alignments are tried beyond the first one: they are files.
const SHORT: usize = 4096;

/// Bytes that are looked at to see whether a run says something in text.
const PROBE: usize = 32;

/// Lines of text that is coded for mail are at least so long; their run goes on after the newline.
const LINE: usize = 60;

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Which bytes are letters of base64: it is asked of most bytes of a session.
const LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        let is_letter = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        letters[byte as usize] = is_letter;
        byte -= 1;
    }
    letters
};

/// A letter of base64, in either alphabet.
pub(super) fn is_letter(byte: u8) -> bool {
    LETTERS[usize::from(byte)]
}

/// Where base64 may stand: long runs of its letters, with their padding.
pub(super) fn runs(text: &[u8]) -> Runs<'_> {
    Runs { text, at: 0 }
}

pub(super) struct Runs<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            // A run that is long enough has a letter at every such step.
            let probe = self.at + LEAST - 1;
            if !is_letter(*self.text.get(probe)?) {
                self.at = probe + 1;
                continue;
            }
            let before = self.text[self.at..probe].iter().rev();
            let start = probe - before.take_while(|byte| is_letter(**byte)).count();
            let end = run_end(self.text, start);
            self.at = if end - start < LEAST { probe + 1 } else { end };
            if end - start >= LEAST && !is_hex(&self.text[start..end]) {
                return Some(start..end);
            }
        }
    }
}

/// Whether it is a hash, a trace or a UUID: no text has such a code.
fn is_hex(run: &[u8]) -> bool {
    run.iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Where the run that begins at `start` ends, with its padding.
fn run_end(text: &[u8], start: usize) -> usize {
    let mut line = start;
    loop {
        let letters = text[line..].iter().take_while(|byte| is_letter(**byte));
        let end = line + letters.count();
        let padded = end
            + text[end..]
                .iter()
                .take(2)
                .take_while(|byte| **byte == b'=')
                .count();
        let rest = &text[padded..];
        let newline = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => 0,
        };
        let goes_on = rest.get(newline).is_some_and(|byte| is_letter(*byte));
        if newline == 0 || padded != end || end - line < LINE || !goes_on {
            return padded;
        }
        line = padded + newline;
    }
}

/// What a run says: as it stands, and from its second, third and fourth letter on where that reads
/// like text, since what stands before may be no part of it.
pub(super) fn readings(run: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let marks = run
        .iter()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b'/' | b'-' | b'_' | b'+'));
    let after: Vec<_> = marks.map(|(at, _)| at + 1).take(4).collect();
    let shifts: Vec<usize> = if run.len() < SHORT {
        vec![1, 2, 3]
    } else {
        after
    };
    let shifted = shifts.into_iter().filter_map(|shift| {
        let rest = run.get(shift..)?;
        let probe = decode(&rest[..rest.len().min(PROBE)]);
        is_text(&probe).then(|| decode(rest))
    });
    std::iter::once_with(|| decode(run)).chain(shifted)
}

/// What a run means, as far as it can be read.
pub(super) fn decode(run: &[u8]) -> Vec<u8> {
    let mut letters: Vec<u8> = Vec::with_capacity(run.len());
    letters.extend(
        run.iter()
            .filter(|byte| is_letter(**byte))
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            }),
    );
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    ENGINE.decode(&letters).unwrap_or_default()
}

pub(super) fn is_text(bytes: &[u8]) -> bool {
    let printed = bytes
        .iter()
        .filter(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    !bytes.is_empty() && printed.count() * 8 >= bytes.len() * 7
}

/// Whether it is base64 of a name and a secret with a colon between them.
pub(super) fn is_pair(text: &[u8]) -> bool {
    plain_pair(text).is_some()
}

/// The secret of such a pair: what stands behind the colon, or before it where that is nothing. What
/// stands before it is the name of somebody: other texts have colons as well.
pub(super) fn secret_of_pair(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain = plain_pair(text)?;
    let colon = memchr::memchr(b':', &plain)?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._@+-\\%$".contains(byte);
    if !plain[..colon].iter().all(is_name) {
        return None;
    }
    let secret = plain.split_off(colon + 1);
    plain.truncate(colon);
    Some(if secret.is_empty() { plain } else { secret })
}

fn plain_pair(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().position(|byte| matches!(byte, b'=' | b'%'));
    let letters = &text[..end.unwrap_or(text.len())];
    if letters.len() < 6 || !letters.iter().all(|byte| is_letter(*byte)) {
        return None;
    }
    let plain = decode(letters);
    let is_pair = plain.contains(&b':') && plain.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_pair.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        runs(text.as_bytes()).map(|run| &text[run]).collect()
    }

    #[test]
    fn long_runs_are_found_wherever_they_stand() {
        let run = "Z2hwX2szSmQ4ZkxxMld6N1huNVJiMVRj";
        for before in 0..40 {
            let text = format!("{}{run}== and on", " ".repeat(before));
            assert_eq!(found(&text), [format!("{run}==")], "{before}");
        }
        assert_eq!(found("words and short ones, 0123456789abcdef"), [""; 0]);
        let line = "QUJD".repeat(19);
        let lines = format!("{line}\n{line}\r\nQUJD\n\nx");
        assert_eq!(found(&lines), [&lines[..lines.len() - 3]]);
    }

    #[test]
    fn a_run_is_read_whatever_stands_before_it() {
        for before in ["", "/", "f/", "ab-", "path"] {
            let run = format!("{before}Z2hwX2szSmQ4ZkxxMld6N1huNVJi");
            let says = |reading: Vec<u8>| memchr::memmem::find(&reading, b"_k3Jd8f").is_some();
            assert!(readings(run.as_bytes()).any(says), "{before}");
        }
    }

    #[test]
    fn a_pair_has_a_colon() {
        assert!(is_pair(b"YWRhOmh1bnRlcjI="));
        assert!(!is_pair(b"authentication"));
        assert!(!is_pair(b"YWRh"));
        let secret = |text: &[u8]| secret_of_pair(text).unwrap();
        assert_eq!(secret(b"YWRhOmh1bnRlcjI="), b"hunter2");
        assert_eq!(secret(b"aHVudGVyMjo="), b"hunter2");
        assert_eq!(secret_of_pair(b"eyJhIjoiYiJ9"), None, "it is an object");
    }
}
