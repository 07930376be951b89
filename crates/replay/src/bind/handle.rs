//! Handles: texts that a server made up, for clients to give back.

use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Bytes of a handle, and bits of entropy that it has at least, by how often its characters occur
/// in it. Shorter texts are too likely to mean something else.
const SHORTEST: usize = 8;
const LONGEST: usize = 512;
const BITS: f64 = 20.0;

/// The same of a text that a rule calls a handle.
const SHORTEST_TELLING: usize = 6;
const TELLING_BITS: f64 = 12.0;

/// Longer texts are not searched for handles.
const LONGEST_TEXT: usize = 64 * 1024;

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\w-]+").expect("the pattern is a constant"));

static MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\d{4}-\d\d-\d\d[\d Tt:.+Zz-]*$").expect("the pattern is a constant")
});

/// Whether `text` looks like a handle: no white space, some digit and some letter (or digits
/// alone), and characters enough that differ. Names of tools have no digits, as a rule.
pub(super) fn is_handle(text: &str) -> bool {
    is_made_up(text, SHORTEST, BITS)
}

/// Whether a handle can be told by itself wherever it stands: nobody says by chance what is as long
/// and has letters and digits. `7`, `ok` and `completed` may mean anything.
pub(super) fn is_telling(text: &str) -> bool {
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_handle(text) || has_letter && is_made_up(text, SHORTEST_TELLING, TELLING_BITS)
}

fn is_made_up(text: &str, shortest: usize, least: f64) -> bool {
    (shortest..=LONGEST).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && !MOMENT.is_match(text)
        && bits(text) >= least
}

/// The handles that two texts are, or have at the same places where all else in them is alike: each
/// as it was and as it is.
pub(super) fn pairs<'t>(then: &'t str, now: &'t str) -> Vec<(&'t str, &'t str)> {
    if then == now || then.len().max(now.len()) > LONGEST_TEXT {
        return Vec::new();
    }
    // Numbers and moments differ in any text that is about now, whole words as well.
    let is_alike = WORD.replace_all(then, "\0") == WORD.replace_all(now, "\0");
    let words = |text| WORD.find_iter(text).map(|word| word.as_str());
    let words = words(then).zip(words(now)).filter(|_| is_alike);
    let words = words.filter(|pair| *pair != (then, now));
    let all = std::iter::once((then, now)).chain(words);
    all.filter(|(then, now)| then != now && is_handle(then) && is_handle(now))
        .collect()
}

/// The parts of a text that may be handles: all of it, and words in it.
pub(super) fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.len() > LONGEST_TEXT { "" } else { text };
    let words = WORD.find_iter(text).map(|word| word.as_str());
    let words = words.filter(move |word| word.len() < text.len());
    std::iter::once(text)
        .chain(words)
        .filter(|part| is_handle(part))
}

/// `text` with the handles replaced for which there is another: all of it, or words of it. `None`
/// where there is none.
pub(super) fn replaced(
    text: &str,
    mut other: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    if let Some(other) = other(text) {
        return Some(other);
    }
    let mut any = false;
    let mut replace = |word: &Captures<'_>| {
        let other = other(&word[0]);
        any |= other.is_some();
        other.unwrap_or_else(|| word[0].to_owned())
    };
    if text.len() > LONGEST_TEXT {
        return None;
    }
    let replaced = WORD.replace_all(text, &mut replace).into_owned();
    any.then_some(replaced)
}

/// The bits that it takes to tell a text from others with the same characters.
fn bits(text: &str) -> f64 {
    let mut counts = BTreeMap::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_insert(0_u32) += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 512")]
    let length = text.len() as f64;
    let share = |count: u32| -f64::from(count) * (f64::from(count) / length).log2();
    counts.into_values().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_made_up_is_told_from_what_it_means() {
        for text in "sess_8f3kd92k 6fa459ea-ee8a-3ca4-894e-db77e160355e eyJhbGciOiJIUzI1NiJ9 \
            cur-00012345 01HZX3Q9G7 urn:job:77af31 1795003817264"
            .split_whitespace()
        {
            assert!(is_handle(text) && is_telling(text), "{text}");
        }
        for text in "search_docs getWeatherData short1 2026-11-20T15:17:03.123Z 2026-11-20 \
            00000000000 application/json"
            .split_whitespace()
        {
            assert!(!is_handle(text), "{text}");
        }
        for text in ["h-37c2", "abc123", "urn:a7"] {
            assert!(is_telling(text), "{text}");
        }
        for text in "7 42 12345 ok failed completed aaaaa1 v1 2026-11-20".split(' ') {
            assert!(!is_telling(text), "{text}");
        }
    }

    #[test]
    fn handles_are_found_in_texts_that_are_alike_otherwise_and_replaced_there() {
        let (then, now) = ("a1b2c3d4e5", "f6a7b8c9d0");
        assert_eq!(pairs(then, now), [(then, now)]);
        for text in [r#"{"session":"{}","n":3}"#, "see {}."] {
            let [old, new] = [then, now].map(|handle| text.replace("{}", handle));
            assert_eq!(pairs(&old, &new), [(then, now)], "{text}");
            let other = |part: &str| (part == then).then(|| now.to_owned());
            assert_eq!(replaced(&old, other), Some(new));
        }
        let uris = ("db://a1b2c3d4e5/rows", "db://f6a7b8c9d0/rows");
        assert_eq!(pairs(uris.0, uris.1), [uris, (then, now)]);
        assert!(pairs("opened a1b2c3d4e5", "failed: f6a7b8c9d0").is_empty());
        assert!(pairs("same a1b2c3d4e5", "same a1b2c3d4e5").is_empty());
        let other = |part: &str| (part == then).then(|| now.to_owned());
        assert_eq!(replaced("xa1b2c3d4e5", other), None);
    }
}
