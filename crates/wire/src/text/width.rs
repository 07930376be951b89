//! Columns on a terminal, counted by what a reader sees as one character.
//!
//! The text is expected to be escaped already; see [`super::escape()`].

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What stands where something was cut out; one column wide.
const ELLIPSIS: char = '…';

/// How many columns the text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The text in at most `columns` columns, its end cut off where it is longer.
pub fn cut(text: &str, columns: usize) -> String {
    // Nothing takes more columns than bytes.
    if text.len() <= columns || width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut kept = head(text, room).to_owned();
    kept.push(ELLIPSIS);
    kept
}

/// The text in at most `columns` columns, its middle cut out where it is longer: for URIs and
/// paths, whose end says as much as their beginning.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let end = room / 2;
    let mut kept = head(text, room - end).to_owned();
    kept.push(ELLIPSIS);
    kept.push_str(tail(text, end));
    kept
}

/// A piece of an address that stands at the end of a line is no shorter, columns: a lone `/` there
/// would be harder to read than a break in the middle of a name.
const SHORTEST_PIECE: usize = 5;

/// The text in lines of at most `columns` columns, broken between words; a word that is longer is
/// broken behind a `/`, or where it has to be.
///
/// # Panics
///
/// Never: there is a line from the start.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().expect("there is a line from the start");
            let used = width(line);
            let gap = usize::from(used > 0);
            if used + gap + width(word) <= columns {
                line.push_str(&" "[..gap]);
                line.push_str(word);
                break;
            }
            if used == 0 {
                let fits = piece(word, columns);
                // A cluster that is wider than the whole line stands alone.
                let first = word.graphemes(true).next().unwrap_or(word);
                let taken = if fits.is_empty() { first } else { fits };
                line.push_str(taken);
                word = &word[taken.len()..];
                if word.is_empty() {
                    break;
                }
            }
            lines.push(String::new());
        }
    }
    lines
}

/// The text followed by as many spaces as fill `columns`; unchanged where it is as wide or wider.
pub fn pad_end(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

/// Like [`pad_end`], with the spaces in front: for numbers.
pub fn pad_start(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{:missing$}{text}", "")
}

/// The beginning of a word that is wider than `columns`: up to the last `/` in reach, so that an
/// address or a path is not broken within a name.
fn piece(word: &str, columns: usize) -> &str {
    let fits = head(word, columns);
    let whole = fits.rfind('/').map_or("", |at| &fits[..=at]);
    if width(whole) < SHORTEST_PIECE {
        return fits;
    }
    whole
}

/// The longest beginning that takes at most `columns`.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        used += cluster.width();
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// The longest end that takes at most `columns`.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true).rev() {
        used += cluster.width();
        if used > columns {
            return &text[at + cluster.len()..];
        }
    }
    text
}

// Sizes, durations and counts as people write them. Integer arithmetic: nothing is rounded twice.

/// Bytes with a decimal unit: `412 B`, `1.9 kB`, `200 kB`, `2.1 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    scaled(bytes, 1000, &UNITS)
}

/// A latency in words: `87 ns`, `412 µs`, `4.2 ms`, `842 ms`, `13.8 s`, `3 min 05 s`, `2 h 10 min`.
pub fn duration(nanos: u64) -> String {
    const UNITS: [&str; 3] = ["µs", "ms", "s"];
    const MINUTE: u64 = 60;
    // What would be written as 60.0 s is a minute.
    let tenths = nanos.saturating_add(50_000_000) / 100_000_000;
    let seconds = nanos.saturating_add(500_000_000) / 1_000_000_000;
    match (nanos, seconds) {
        (0, _) => "0 ms".to_owned(),
        (1..1_000, _) => format!("{nanos} ns"),
        _ if (100..10 * MINUTE).contains(&tenths) => format!("{}.{} s", tenths / 10, tenths % 10),
        (_, 0..MINUTE) => scaled(nanos, 1000, &UNITS),
        (_, MINUTE..3600) => format!("{} min {:02} s", seconds / MINUTE, seconds % MINUTE),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / MINUTE),
    }
}

/// A length of time as a clock shows it: `00:12:31`; hours go on past a day. Under a minute
/// `13.8 s`: there the tenths say more than the zeros.
pub fn clock(nanos: u64) -> String {
    let tenths = nanos / 100_000_000;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = nanos / 1_000_000_000;
    let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// A moment since the start: `12:04.318`, minutes, seconds and thousandths, from an hour on
/// `1:02:04.318`.
pub fn since(nanos: u64) -> String {
    let (millis, seconds) = (nanos / 1_000_000 % 1000, nanos / 1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}.{millis:03}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}.{millis:03}"),
    }
}

/// A number with its digits in groups of three: `1 204`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with its noun: `1 call`, `1 204 calls`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

/// `value` in the largest unit of which it has one or more (the first unit is worth `step`), one
/// decimal below ten.
fn scaled(value: u64, step: u64, units: &[&str]) -> String {
    let mut worth = step;
    for (at, unit) in units.iter().enumerate() {
        let tenths = (u128::from(value) * 10 + u128::from(worth) / 2) / u128::from(worth);
        let whole = (u128::from(value) + u128::from(worth) / 2) / u128::from(worth);
        let last = at + 1 == units.len();
        if tenths < 100 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        if whole < u128::from(step) || last {
            return format!("{whole} {unit}");
        }
        worth = worth.saturating_mul(step);
    }
    unreachable!("the last unit takes every value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_broken_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 5), ["abcde", "fgh", "ij"]);
        assert_eq!(wrap("東京都", 3), ["東", "京", "都"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("東", 1), ["東"]);
    }

    #[test]
    fn width_counts_what_is_seen() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("日本"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("🌧️"), 2);
    }

    #[test]
    fn cutting_keeps_the_end_of_a_uri() {
        assert_eq!(cut("search_docs", 7), "search…");
        assert_eq!(
            cut_middle("file:///home/ada/notes/a.md", 13),
            "file:/…s/a.md"
        );
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("short", 0), "");
        assert_eq!(cut_middle("short", 1), "…");
    }

    #[test]
    fn a_wide_character_is_never_halved() {
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut_middle("日本語日本語", 6), "日…語");
        assert_eq!(cut("ae\u{301}bc", 3), "ae\u{301}…");
    }

    proptest! {
        #[test]
        fn no_cut_is_wider_than_asked(text in "\\PC{0,40}", columns in 0usize..50) {
            prop_assert!(width(&cut(&text, columns)) <= columns);
            prop_assert!(width(&cut_middle(&text, columns)) <= columns);
        }
    }
}

#[cfg(test)]
mod units_tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_204), "1 204");
        assert_eq!(count(1_000_000), "1 000 000");
        assert_eq!(plural(1, "call"), "1 call");
        assert_eq!(plural(0, "call"), "0 calls");
    }
}
