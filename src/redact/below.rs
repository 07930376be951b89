//! Values below their name, as YAML has them.
//!
//! ```text
//!  password: |          token:                keys_of_api:
//!    all of this          this, if it is        - this, if it
//!    is the value         one word              - is one word
//! ```

use super::code;
use super::dense;
use super::find::Finder;
use super::hit::Found;
use super::named::{self, LONG, bare};
use super::names::Class;
use super::plausible::{Stands, looks_random};
use super::prose::is_prose;
use std::ops::Range;

/// How near to its name the end of a line is.
const NEAR: usize = 128;

/// Bytes of a value: keys and certificates have fewer.
const LONGEST: usize = 64 * 1024;

/// Items of a list that are looked at for one name.
const ITEMS: usize = 16;

/// How values stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// All lines are the value: `|`, `>`.
    Block,
    /// Each line is one, in a list or alone.
    Lines,
}

/// Lines that stand below a name.
#[derive(Debug)]
pub(super) struct Below {
    style: Style,
    /// Each without what is in front of it.
    lines: Vec<Range<usize>>,
}

/// What stands below a name, if nothing stands beside it.
pub(super) fn of(text: &[u8], name: &Range<usize>) -> Option<Below> {
    let quote = usize::from(matches!(text.get(name.end), Some(b'"' | b'\'')));
    let at = past(text, name.end + quote, b" \t");
    let sign = text.get(at).filter(|sign| matches!(sign, b':' | b'='))?;
    let at = past(text, at + 1, b" \t");
    let is_block = matches!(text.get(at), Some(b'|' | b'>')) && *sign == b':';
    let at = if is_block {
        past(text, at + 1, b"+-0123456789 \t")
    } else {
        at
    };
    let near = &text[at..text.len().min(at + NEAR)];
    let end = memchr::memchr(b'\n', near)?;
    let is_over = near[..end].trim_ascii().is_empty() || near.starts_with(b"#");
    if !is_over {
        return None;
    }
    let style = if is_block { Style::Block } else { Style::Lines };
    let lines = lines(text, at + end + 1, indent(text, name.start), style);
    (!lines.is_empty()).then_some(Below { style, lines })
}

/// The first place from `at` on at which none of these bytes stands, if they are few.
fn past(text: &[u8], at: usize, those: &[u8]) -> usize {
    let at = at.min(text.len());
    let near = text[at..].iter().take(NEAR);
    at + near.take_while(|byte| those.contains(byte)).count()
}

/// How far the line is indented on which a name stands; what begins an item of a list counts.
fn indent(text: &[u8], name: usize) -> usize {
    // Few names have the end of their line so near: no line is looked through for many of them.
    let line = memchr::memrchr(b'\n', &text[..name]).map_or(0, |newline| newline + 1);
    past(&text[line..name], 0, b" \t-")
}

/// The lines that belong to a name that is indented so far.
fn lines(text: &[u8], start: usize, indent: usize, style: Style) -> Vec<Range<usize>> {
    let (mut lines, mut at) = (Vec::new(), start);
    while at < text.len().min(start + LONGEST) {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
        let begin = past(text, at, b" \t").min(end);
        let line = named::trimmed(text, begin..end);
        let is_item = style == Style::Lines && text[line.clone()].starts_with(b"- ");
        let is_deeper = begin - at > indent || is_item && begin - at == indent;
        let goes_on = style == Style::Block || lines.is_empty() || is_item && lines.len() < ITEMS;
        if line.is_empty() && style == Style::Block {
            at = end + 1;
            continue;
        }
        if !is_deeper || !goes_on || line.is_empty() {
            break;
        }
        lines.push(if is_item {
            past(text, line.start + 1, b" ")..line.end
        } else {
            line
        });
        at = end + 1;
        if !is_item && style == Style::Lines {
            break;
        }
    }
    lines
}

impl Below {
    /// Finds what of it is secret; how far it was looked at.
    pub fn find(
        &self,
        finder: &Finder<'_>,
        text: &[u8],
        (name, class): (&Range<usize>, Class),
        found: &mut Found,
    ) -> usize {
        let is_value = self.style == Style::Block && !self.is_prose(text);
        let (mut until, mut goes_on) = (name.end, true);
        for line in &self.lines {
            let mark = found.hits.len();
            if is_value {
                named::add(finder, text, line.clone(), class, Stands::Alone, found);
            } else if let Some((word, stands)) = word(text, name, line) {
                named::add(finder, text, word, class, stands, found);
            }
            // What stands on a line that is none of its values may have a name of its own.
            goes_on &= found.hits.len() > mark;
            if goes_on {
                until = line.end;
            }
        }
        until
    }

    /// Whether it is said in sentences.
    fn is_prose(&self, text: &[u8]) -> bool {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else {
            return false;
        };
        let near = first.start..last.end.min(first.start + LONG);
        is_prose(&String::from_utf8_lossy(&text[near]))
    }
}

/// What stands alone on its line, but for a comment: in quotes, or a word that nobody says.
fn word(text: &[u8], name: &Range<usize>, line: &Range<usize>) -> Option<(Range<usize>, Stands)> {
    let said = &text[line.clone()];
    let quote = said.first().filter(|first| matches!(first, b'"' | b'\''));
    let word = match quote {
        Some(quote) => named::quoted(text, line.start + 1, *quote, 0)?,
        None => bare(text, line.start),
    };
    let rest = word.end + usize::from(quote.is_some());
    let rest = text.get(rest..line.end)?.trim_ascii_start();
    if !rest.is_empty() && !rest.starts_with(b"#") && rest != b"," {
        return None;
    }
    if quote.is_some() {
        return Some((word, Stands::Alone));
    }
    let is_one = !code::is_code(text, name, &word)
        && is_value(&String::from_utf8_lossy(&text[word.clone()]));
    is_one.then_some((word, Stands::InText))
}

/// Whether a word is no path, no name, and none that is read.
fn is_value(word: &str) -> bool {
    let is_joined = word.contains(['/', '_', '.', '\\', '(', '[', '{', '<']);
    dense::rows(word).next().is_some() || !is_joined && looks_random(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines below the name that a text begins with.
    fn below(text: &str) -> Option<Vec<&str>> {
        let start = text.find("password").unwrap();
        let below = of(text.as_bytes(), &(start..start + 8))?;
        Some(below.lines.into_iter().map(|line| &text[line]).collect())
    }

    #[test]
    fn what_is_indented_stands_below_a_name() {
        for (text, lines) in [
            ("password: |\n  a b\n\n   c\nd", vec!["a b", "c"]),
            ("password: >-  # said\r\n  a\r\n", vec!["a"]),
            ("password:\n  a\n  b", vec!["a"]),
            ("- password: |2\n    a\n  user: b", vec!["a"]),
            ("password:\n- a\n- b\nc", vec!["a", "b"]),
            ("\"password\":\n  \"a\"", vec!["\"a\""]),
            ("password =\n\ta", vec!["a"]),
        ] {
            assert_eq!(below(text), Some(lines), "{text}");
        }
    }

    #[test]
    fn nothing_else_does() {
        for text in [
            "password: a\n  b",
            "password:\nb",
            "  password: |\n  user: b",
            "password:\n\n  b",
            "password\n  b",
            "password:",
        ] {
            assert_eq!(below(text), None, "{text}");
        }
    }
}
