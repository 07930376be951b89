//! Letters and digits in such a row that no word is: whatever stands around them, they are a value.

use std::ops::Range;

/// A shorter row may be the name of something.
const LEAST: usize = 8;

/// Rows of letters and digits in which small letters, capitals and digits change so often that
/// nobody reads them: of words and numbers a piece is longer.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let each = std::iter::from_fn(move || {
        let begin = bytes[at..].iter().position(u8::is_ascii_alphanumeric)? + at;
        let row = bytes[begin..].iter();
        at = begin + row.take_while(|byte| byte.is_ascii_alphanumeric()).count();
        Some(begin..at)
    });
    each.filter(|row| is_dense(&bytes[row.clone()]))
}

/// Whether there is nothing in it that nobody reads.
pub(super) fn is_read(said: &[u8]) -> bool {
    rows(&String::from_utf8_lossy(said)).next().is_none()
}

fn is_dense(row: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| row.iter().any(test);
    row.len() >= LEAST
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && pieces(row) * 3 > row.len()
}

/// Words, as names in code are written, and numbers.
fn pieces(row: &[u8]) -> usize {
    let begins = |pair: &&[u8]| match pair {
        [before, after] if after.is_ascii_digit() => !before.is_ascii_digit(),
        [before, after] if after.is_ascii_uppercase() => !before.is_ascii_uppercase(),
        [before, _] => before.is_ascii_digit(),
        _ => false,
    };
    1 + row.windows(2).filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_dense() {
        for text in [
            "Kq8vWp3mXrT4Rb2Y",
            "KbasicZt8vWp3",
            "aB3xQ9zK",
            "x-Kq8vWp3m(",
        ] {
            assert_eq!(rows(text).count(), 1, "{text}");
        }
        let text = "my-Kq8vWp3mXrT4-key";
        assert_eq!(rows(text).next(), Some(3..15));
    }

    #[test]
    fn names_and_numbers_are_not() {
        for text in [
            "YOUR_API_KEY_2",
            "OpenAIKey2024",
            "Db2PasswordOfAda",
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "3f2a9c1e7b4d8a60",
            "${input:apiKey2}",
            "Aa1",
        ] {
            assert_eq!(rows(text).next(), None, "{text}");
        }
    }
}
