//! Finding where tokens end, many bytes at a time where it counts.

use super::error::{Reason, SyntaxError};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Bytes at the start of a string that are looked at word by word.
const NEAR: usize = 32;

/// How many bytes at the start of `bytes` a JSON string holds as they are: up to the first quote,
/// backslash or control character.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    // Most strings end within the first words; only in long ones do blocks pay.
    let (near, far) = bytes.split_at(bytes.len().min(NEAR));
    let run = plain_words(near);
    if run < near.len() {
        return run;
    }
    let (blocks, _) = far.as_chunks::<64>();
    let blocks = blocks.iter().take_while(|block| is_plain(block)).count() * 64;
    run + blocks + plain_words(&far[blocks..])
}

/// The same, eight bytes at a time.
fn plain_words(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return index * 8 + stops.trailing_zeros() as usize / 8;
        }
    }
    let done = bytes.len() - tail.len();
    let rest = tail.iter().position(|&byte| is_stop(byte));
    done + rest.unwrap_or(tail.len())
}

/// Whether nothing in a block ends a run. What is left of each byte is 0 where it does: the least
/// of many is found without a branch, on whole vectors.
fn is_plain(block: &[u8; 64]) -> bool {
    let left = |byte: u8| (byte ^ b'"').min(byte ^ b'\\').min(byte & !0x1f);
    block
        .iter()
        .fold(u8::MAX, |least, &byte| least.min(left(byte)))
        > 0
}

/// The high bit of each byte that ends a run. Borrows can set bits above the first hit, never
/// below it, so the lowest one is exact.
fn stops(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let quotes = zeros(word ^ (ONES * 0x22));
    let backslashes = zeros(word ^ (ONES * 0x5c));
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    quotes | backslashes | controls
}

fn is_stop(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether `byte` is white space between tokens.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Where the string that begins at `start` (its quote) ends, after its closing quote, and whether
/// it has escapes.
pub(super) fn string(text: &[u8], start: usize) -> Result<(usize, bool), SyntaxError> {
    let mut at = start + 1;
    let mut escaped = false;
    loop {
        at += plain_run(&text[at..]);
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape(text, at)?;
            }
            Some(_) => return error(at, Reason::Control),
            None => return error(at, Reason::End),
        }
    }
}

/// Where the escape that begins at `start` (its backslash) ends.
fn escape(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    match text.get(start + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(start + 2),
        Some(b'u') => {
            for at in start + 2..start + 6 {
                match text.get(at) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => return error(start, Reason::Escape),
                    None => return error(at, Reason::End),
                }
            }
            Ok(start + 6)
        }
        Some(_) => error(start, Reason::Escape),
        None => error(start + 1, Reason::End),
    }
}

/// Where the number that begins at `start` ends.
pub(super) fn number(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let mut at = start;
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    if text.get(at) == Some(&b'0') {
        at += 1;
    } else {
        at = digits(text, at)?;
    }
    if text.get(at) == Some(&b'.') {
        at = digits(text, at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits(text, at)?;
    }
    match text.get(at) {
        Some(b'0'..=b'9') => error(at, Reason::Number),
        _ => Ok(at),
    }
}

fn digits(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let mut at = start;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    match (at > start, at < text.len()) {
        (true, _) => Ok(at),
        (false, true) => error(at, Reason::Number),
        (false, false) => error(at, Reason::End),
    }
}

/// Where `word`, which should begin at `start`, ends.
pub(super) fn literal(text: &[u8], start: usize, word: &[u8]) -> Result<usize, SyntaxError> {
    let found = &text[start..text.len().min(start + word.len())];
    if found == word {
        Ok(start + word.len())
    } else if word.starts_with(found) {
        error(text.len(), Reason::End)
    } else {
        error(start, Reason::Value)
    }
}

/// Shorthand for an error at `offset`.
pub(super) fn error<T>(offset: usize, reason: Reason) -> Result<T, SyntaxError> {
    Err(SyntaxError { offset, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_at_a_time_find_what_one_at_a_time_finds(
            bytes in prop::collection::vec(
                prop_oneof![80 => Just(b'a'), 2 => any::<u8>(), 1 => Just(0x1f), 9 => Just(0x20)],
                0..240,
            )
        ) {
            let slow = bytes.iter().position(|&byte| is_stop(byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(&bytes), slow);
        }
    }
}
