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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn no_cut_is_wider_than_asked(text in "\\PC{0,40}", columns in 0usize..50) {
            prop_assert!(width(&cut(&text, columns)) <= columns);
            prop_assert!(width(&cut_middle(&text, columns)) <= columns);
        }
    }
}
