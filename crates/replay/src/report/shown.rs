//! Texts off the wire as they stand in a report: escaped, on one line, cut.

use crate::compare::Excerpt;
use mcpreel_wire::text::escape;

/// Bytes of a text that are shown, escapes included.
pub const MAX_SHOWN: usize = 256;

/// What stands for what is left out.
const ELLIPSIS: char = '…';

pub fn name(text: &str) -> Box<str> {
    // What is escaped is no shorter, so that more need not be looked at.
    cut(&escape(beginning(text)), text.len() > MAX_SHOWN).into()
}

/// A rule in several lines, each escaped; `None` where it is too long to be pasted.
pub fn rule(text: &str) -> Option<Box<str>> {
    let fits = text.len() <= 2 * MAX_SHOWN;
    let lines = || text.lines().map(|line| escape(line)).collect::<Vec<_>>();
    fits.then(|| lines().join("\n").into())
}

pub fn value(excerpt: &Excerpt) -> Box<str> {
    let text = escape(&excerpt.text);
    let before = if excerpt.before > 0 { "…" } else { "" };
    cut(&format!("{before}{text}"), excerpt.after > 0).into()
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(MAX_SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// At most [`MAX_SHOWN`] bytes, of which the last say so where there are `more`.
fn cut(text: &str, more: bool) -> String {
    if !more && text.len() <= MAX_SHOWN {
        return text.to_owned();
    }
    let mut end = text.len().min(MAX_SHOWN - ELLIPSIS.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_cut() {
        assert_eq!(&*name("a\u{1b}[31m\n"), "a\\x1b[31m\\n");
        let exactly = "é".repeat(128);
        assert_eq!(&*name(&exactly), exactly);
        let long = name(&"é".repeat(129));
        assert_eq!((long.len(), long.ends_with("é…")), (255, true));
        let grows = name(&"\u{202e}".repeat(80));
        assert!(grows.len() <= MAX_SHOWN && grows.ends_with('…'));
    }

    #[test]
    fn a_value_says_what_is_left_out_of_it() {
        let excerpt = |before, text: &str, after| Excerpt {
            before,
            text: text.into(),
            after,
        };
        assert_eq!(&*value(&excerpt(0, "{}", 0)), "{}");
        assert_eq!(&*value(&excerpt(9, "abc", 2)), "…abc…");
        let long = value(&excerpt(1, &"x".repeat(1024), 0));
        assert_eq!(long.len(), MAX_SHOWN);
        assert!(long.starts_with('…') && long.ends_with('…'));
    }
}
