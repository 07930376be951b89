//! Letters and digits in such a row that no word is: whatever stands around them, they are a value.

/// A shorter row may be the name of something.
const LEAST: usize = 8;

/// The same of a row in which all letters are small, or all are capitals.
const MIXED: usize = 16;

/// The same of a word with signs in it.
const SIGNED: usize = 10;

/// Signs that stand in what somebody made up or had made; the last two stand in no name of a thing.
const SIGNS: [u8; 10] = *b"-_@#^*+~!$";

/// Whether there is a row of letters and digits in a text in which small letters, capitals and digits
/// change so often that nobody reads it: of words and numbers a piece is longer.
pub(super) fn is_dense(text: &str) -> bool {
    let mut rows = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    rows.any(is_dense_row)
}

/// Whether a text has what words do not have: a digit, a capital behind a small letter, a sign.
pub(super) fn is_random(text: &str) -> bool {
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    let mut pairs = text.as_bytes().windows(2);
    let turns = pairs.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    turns || has(u8::is_ascii_digit) || has(|byte| b"!@#$%^&*+~".contains(byte))
}

/// Whether nobody says such a word: it is a value, whatever stands beside it.
pub(super) fn is_value(word: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    let is_row = word.len() >= MIXED && word.iter().all(u8::is_ascii_alphanumeric);
    is_row && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || is_signed(word)
        || is_dense(&String::from_utf8_lossy(word))
}

/// Whether it is written as names in code are, of several words: `MinLength12`, `utf8Decoder`.
pub(super) fn is_camel(value: &str) -> bool {
    let bytes = value.as_bytes();
    let turns = bytes
        .windows(2)
        .any(|two| !two[0].is_ascii_uppercase() && two[1].is_ascii_uppercase());
    turns && bytes.len() < MIXED && bytes.iter().all(u8::is_ascii_alphanumeric) && !is_dense(value)
}

/// Whether something in it is nothing that anybody reads, where its name says that it may be so.
pub(super) fn is_unread(value: &str) -> bool {
    is_dense(value) || is_mixed(value) || is_signed(value.as_bytes())
}

/// Whether there is a row in it in which letters and digits change so often that nobody reads it,
/// be it in hex digits: an id looks alike, and only its name tells.
fn is_mixed(text: &str) -> bool {
    let mut rows = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric());
    rows.any(|row| row.len() >= MIXED && is_mixed_row(row))
}

fn is_mixed_row(row: &[u8]) -> bool {
    row.iter().any(u8::is_ascii_alphabetic) && pieces(row) * 4 > row.len()
}

/// The same of a short text that is one such row, under a name that promises a key.
pub(super) fn is_short_key(text: &str) -> bool {
    let row = text.as_bytes();
    row.len() >= SIGNED && row.iter().all(u8::is_ascii_alphanumeric) && is_mixed_row(row)
}

/// Whether a word is one that nobody reads for the signs in it: `vj7-FAc9_QeWJ`, `d4Y!n24$xcX`.
fn is_signed(word: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    let is_made = word.len() >= SIGNED
        && word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || SIGNS.contains(byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase);
    if !is_made {
        return false;
    }
    let rows = word.split(|byte| !byte.is_ascii_alphanumeric());
    let odd = rows.filter(|row| is_odd(row)).count();
    let inner = &word[1..word.len() - 1];
    let telling = inner
        .iter()
        .filter(|byte| SIGNS[8..].contains(byte))
        .count();
    // Programs call things by the other signs; by this one nobody does.
    inner.contains(&b'!') || odd + telling > 1
}

/// Whether letters and digits stand in it as in no word, in no number, and in no name of several.
fn is_odd(row: &[u8]) -> bool {
    let is_lower = |at: usize| row.get(at).is_some_and(u8::is_ascii_lowercase);
    (1..row.len()).any(|at| {
        let begins = is_lower(at - 1) && row[at].is_ascii_uppercase();
        row[at - 1].is_ascii_digit() && row[at].is_ascii_alphabetic()
            || begins && !(is_lower(at + 1) && is_lower(at + 2))
    })
}

fn is_dense_row(row: &[u8]) -> bool {
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
            assert!(is_dense(text), "{text}");
        }
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
            assert!(!is_dense(text), "{text}");
        }
    }
}
