//! Values below their name, as YAML has them, and as what a shell is given.
//!
//! ```text
//!  password: |          token:                keys_of_api:        credentials:      secret = <<END
//!    all of this          this, if it is        - this, if it       prod: this        all of this
//!    is the value         one word              - is one word       test: this        END
//! ```

use super::find::Finder;
use super::named::{LONG, bare};
use super::names::Class;
use super::plausible::Stands;
use super::prose::is_prose;
use super::report::Found;
use super::value::{is_space, skip};
use super::{code, entropy, lists, named};
use std::ops::Range;

/// How near to its name the end of a line is.
const NEAR: usize = 128;

/// Bytes of a value: keys and certificates have fewer.
const LONGEST: usize = 64 * 1024;

/// Lines that are looked at for one name without being any value of it: a text may have no more
/// than names with nothing beside them.
const MISSES: usize = 16;

/// Lines of what a shell is given.
const HERE: usize = 64;

/// Lines in front of the first one that say nothing, or are a comment.
const EMPTY: usize = 4;

#[derive(Debug)]
pub(super) struct Below {
    style: Style,
    start: usize,
    gutter: Gutter,
    indent: usize,
}

/// A line without what is in front of it.
#[derive(Debug)]
struct Line {
    span: Range<usize>,
    indent: usize,
    is_item: bool,
    next: usize,
}

/// What stands below a name, if nothing stands beside it.
pub(super) fn of(text: &[u8], name: &Range<usize>) -> Option<Below> {
    let quote = usize::from(matches!(text.get(name.end), Some(b'"' | b'\'')));
    let at = past(text, name.end + quote, b" \t");
    let sign = text.get(at).filter(|sign| matches!(sign, b':' | b'='))?;
    let at = past(text, at + 1, b" \t");
    let at = if *sign == b':' {
        past_tags(text, at).0
    } else {
        at
    };
    let near = &text[at..text.len().min(at + NEAR)];
    let end = memchr::memchr(b'\n', near)?;
    let style = style(near[..end].trim_ascii(), *sign)?;
    // Few names have the end of their line so near: no line is looked through for many of them.
    let line = memchr::memrchr(b'\n', &text[..name.start]).map_or(0, |newline| newline + 1);
    let gutter = Gutter::of(&text[line..name.end]);
    let front = line + gutter.length(&text[line..name.end]).unwrap_or(0);
    let indent = indent(&text[front..name.start.max(front)]);
    let mut below = Below {
        style,
        start: at + end + 1,
        gutter,
        indent,
    };
    if let Style::Until(word) = style
        && !below.is_closed(text, &word)
    {
        return None;
    }
    let first = below.lines(text).next()?;
    if style == Style::Lines && !first.is_item && is_member(&text[first.span]) {
        below.style = Style::Members;
    }
    Some(below)
}

/// How far a line is indented; what begins an item of a list counts.
fn indent(line: &[u8]) -> usize {
    let mut at = past(line, 0, b" \t");
    while line[at..].starts_with(b"- ") && at < NEAR {
        at = past(line, at + 1, b" \t");
    }
    at
}

/// Whether a line is a name with a value, or with what stands below it.
fn is_member(line: &[u8]) -> bool {
    let near = &line[..line.len().min(NEAR)];
    let name = near
        .iter()
        .take_while(|byte| super::rules::is_of_name(**byte) || matches!(byte, b'"' | b'\'' | b'.'));
    let name = name.count();
    name > 0 && matches!(&near[name..], [b':'] | [b':', b' ', ..])
}

/// The first place from `at` on at which none of these bytes stands, if they are few.
fn past(text: &[u8], at: usize, those: &[u8]) -> usize {
    let at = at.min(text.len());
    let near = text[at..].iter().take(NEAR);
    at + near.take_while(|byte| those.contains(byte)).count()
}

impl Below {
    /// The lines that belong to the name.
    fn lines<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Line> + use<'t> {
        let Self {
            style,
            start,
            gutter,
            indent,
        } = *self;
        let (mut at, mut count, mut empty, mut is_over) = (start, 0, 0, false);
        let is_block = matches!(style, Style::Block | Style::Until(_));
        std::iter::from_fn(move || {
            while !is_over && at < text.len().min(start + LONGEST) {
                let line = line(text, at, gutter)?;
                let said = &text[line.span.clone()];
                at = line.next;
                if said.is_empty() || count == 0 && !is_block && said.starts_with(b"#") {
                    empty += 1;
                    if is_block || count == 0 && empty <= EMPTY {
                        continue;
                    }
                    return None;
                }
                let is_item = style == Style::Lines && line.is_item;
                let goes_on = style != Style::Lines || count == 0 || is_item;
                count += 1;
                is_over = style == Style::Lines && !is_item;
                return (goes_on && style.holds(&line, said, indent, count)).then_some(line);
            }
            None
        })
    }

    /// Whether the word stands on a line of its own that ends it.
    fn is_closed(&self, text: &[u8], word: &[u8; 16]) -> bool {
        let mut at = self.start;
        let mut lines = std::iter::from_fn(|| {
            let line = (at < text.len()).then(|| line(text, at, self.gutter))??;
            at = line.next;
            Some(line.span)
        });
        lines
            .by_ref()
            .take(HERE)
            .any(|line| text[line] == *bare_word(word))
    }

    /// Finds what of it is secret; how far it was looked at.
    pub fn find(
        &self,
        finder: &Finder<'_>,
        text: &[u8],
        (name, class): (&Range<usize>, Class),
        found: &mut Found,
    ) -> usize {
        let is_value = matches!(self.style, Style::Block | Style::Until(_)) && !self.is_prose(text);
        let (mut until, mut goes_on, mut misses) = (name.end, true, 0);
        for line in self.lines(text) {
            let mark = found.hits.len();
            let span = line.span.clone();
            if self.style == Style::Members {
                lists::below(finder, text, (&span, class), found);
            } else if is_value && !is_comment(&text[span.clone()])
                || class == Class::Header && is_cookie(&text[span.clone()])
            {
                named::add(finder, text, span, class, Stands::Alone, found);
            } else if let Some((word, stands)) = word(text, name, &line.value(text)) {
                named::add(finder, text, word, class, stands, found);
            }
            let is_hit = found.hits.len() > mark;
            misses += usize::from(!is_hit);
            if misses > MISSES && self.style != Style::Block {
                break;
            }
            // What stands on a line that is none of its values may have a name of its own.
            goes_on &= is_hit && self.style != Style::Members;
            if goes_on {
                until = line.span.end;
            }
        }
        until
    }

    /// Whether it is said in sentences.
    fn is_prose(&self, text: &[u8]) -> bool {
        let mut lines = self.lines(text).map(|line| line.span);
        let Some(first) = lines.next() else {
            return false;
        };
        let end = lines.last().map_or(first.end, |last| last.end);
        let near = first.start..end.min(first.start + LONG);
        is_prose(&String::from_utf8_lossy(&text[near]))
    }
}

impl Style {
    /// Whether a line belongs to a name that is indented so far.
    fn holds(self, line: &Line, said: &[u8], indent: usize, count: usize) -> bool {
        match self {
            Self::Until(word) => count <= HERE && *said != *bare_word(&word),
            Self::Lines if line.is_item => line.indent >= indent,
            // What nobody says stands there as in a sentence, `The key:` above it.
            Self::Lines if line.indent == indent => lists::is_value(said),
            _ => line.indent > indent,
        }
    }
}

impl Line {
    /// What it says, without what begins an item.
    fn value(&self, text: &[u8]) -> Range<usize> {
        let item = usize::from(self.is_item);
        let start = past(text, self.span.start + item, b" ").min(self.span.end);
        past_tags(&text[..self.span.end], start).0..self.span.end
    }
}

/// The line that begins at `at`; `None` where it is not one of these.
fn line(text: &[u8], at: usize, gutter: Gutter) -> Option<Line> {
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
    let front = at + gutter.length(&text[at..end])?;
    let begin = past(text, front, b" \t").min(end);
    let span = named::trimmed(text, begin..end);
    Some(Line {
        indent: begin - front,
        is_item: text[span.clone()].starts_with(b"- "),
        span,
        next: end + 1,
    })
}

/// Whether a line only says something about a value.
fn is_comment(line: &[u8]) -> bool {
    let said = String::from_utf8_lossy(line);
    line.starts_with(b"# ") && entropy::rows(&said).next().is_none()
}

/// Whether a line begins with a name and what that holds, as a cookie does.
fn is_cookie(line: &[u8]) -> bool {
    let name = line
        .iter()
        .take_while(|byte| super::rules::is_of_name(**byte));
    let name = name.count();
    name > 0
        && line.get(name) == Some(&b'=')
        && line.get(name + 1).is_some_and(u8::is_ascii_graphic)
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
    let is_one = !code::is_code(text, name, &word) && lists::is_item(&text[word.clone()]);
    is_one.then_some((word, Stands::InText))
}

// How values stand below their name, told by what follows it on its line.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// All lines are the value: `|`, `>`.
    Block,
    /// The same up to the line that is this word: `<<END`.
    Until([u8; 16]),
    Lines,
    Members,
}

/// How values stand below what is all that follows a name.
fn style(said: &[u8], sign: u8) -> Option<Style> {
    if said.is_empty() || said.starts_with(b"#") {
        return Some(Style::Lines);
    }
    if let Some(word) = said.strip_prefix(b"<<") {
        let word = word
            .strip_prefix(b"-")
            .or(word.strip_prefix(b"~"))
            .unwrap_or(word);
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let word = word.trim_ascii();
        let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"');
        let quoted = word.len() > 1 && word.iter().step_by(word.len() - 1).all(is_quote);
        let word = if quoted {
            &word[1..word.len() - 1]
        } else {
            word
        };
        let mut until = [0; 16];
        let is_one = !word.is_empty() && word.iter().all(is_of_word);
        until.get_mut(..word.len())?.copy_from_slice(word);
        return is_one.then_some(Style::Until(until));
    }
    let rest = said.strip_prefix(b"|").or(said.strip_prefix(b">"))?;
    let rest = &rest[past(rest, 0, b"+-0123456789 \t")..];
    let is_block = sign == b':' && (rest.is_empty() || rest.starts_with(b"#"));
    is_block.then_some(Style::Block)
}

/// A word without what fills the rest of its place.
fn bare_word(word: &[u8; 16]) -> &[u8] {
    let end = word.iter().position(|byte| *byte == 0);
    &word[..end.unwrap_or(word.len())]
}

// What stands in front of the lines of a listing: their numbers, or how they were changed.
//
// ```text
//    12 | password: |        12:password: |        +password: |
//    13 |   the value        13-  the value        +  the value
// ```

/// What stands in front of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gutter {
    Nothing,
    /// How it was changed, or that it is quoted.
    Sign(u8),
    Number,
}

/// What divides the number of a line from it.
const SIGNS: [&str; 6] = [":", "|", "-", "\t", "→", "│"];

impl Gutter {
    pub fn of(line: &[u8]) -> Self {
        match line {
            // A hyphen in front of white space begins an item of a list.
            [sign @ (b'+' | b'>'), ..] => Self::Sign(*sign),
            [b'-', next, ..] if !next.is_ascii_whitespace() && *next != b'-' => Self::Sign(b'-'),
            _ if number(line).is_some() => Self::Number,
            _ => Self::Nothing,
        }
    }

    /// How many bytes of a line it takes, if the line has one like this.
    pub fn length(self, line: &[u8]) -> Option<usize> {
        match self {
            Self::Nothing => Some(0),
            Self::Sign(sign) => line.starts_with(&[sign]).then_some(1),
            Self::Number => number(line),
        }
    }
}

fn number(line: &[u8]) -> Option<usize> {
    let line = &line[..line.len().min(32)];
    let space = |at: usize| line[at..].iter().take_while(|byte| **byte == b' ').count();
    let start = space(0);
    let digits = line[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + digits.count();
    let at = end + space(end);
    let sign = SIGNS
        .iter()
        .find(|sign| line[at..].starts_with(sign.as_bytes()))?;
    (end > start).then_some(at + sign.len())
}

// What YAML says about a value in front of it.

/// Behind what YAML says about a value in front of it, `!!str` and `&anchor`; and whether that says
/// that it only tells where the value comes from.
pub(super) fn past_tags(text: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut is_reference) = (start, false);
    for _ in 0..2 {
        let near = &text[at.min(text.len())..text.len().min(at + NEAR)];
        let end = near.iter().position(u8::is_ascii_whitespace);
        let Some(word) = end.map(|end| &near[..end]).filter(|word| is_tag(word)) else {
            break;
        };
        let next = skip(text, at + word.len(), is_space);
        is_reference |= word.starts_with(b"!") && !word.starts_with(b"!!");
        at = next;
    }
    (at, is_reference)
}

/// Whether a word is what YAML calls a tag or an anchor.
fn is_tag(word: &[u8]) -> bool {
    let of_name =
        |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'/' | b':');
    let ([b'!', b'!', name @ ..] | [b'!' | b'&', name @ ..]) = word else {
        return false;
    };
    !name.is_empty() && name.iter().all(of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines below the name that a text begins with.
    fn below(text: &str) -> Option<Vec<&str>> {
        let start = text.find("password").unwrap();
        let below = of(text.as_bytes(), &(start..start + 8))?;
        let lines = below.lines(text.as_bytes());
        let said = lines.map(|line| match below.style {
            Style::Lines => &text[line.value(text.as_bytes())],
            _ => &text[line.span],
        });
        Some(said.collect())
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
            ("password: !vault |\n  a", vec!["a"]),
            ("password: !!str\n  a", vec!["a"]),
            ("password:\n\n  # said\n  a", vec!["a"]),
            (
                "password:\n  a: b\n  c:\n   - d\ne",
                vec!["a: b", "c:", "- d"],
            ),
            ("password = <<END\na\n b\nEND\nc", vec!["a", "b"]),
            ("  1 | password: |\n  2 |   a\n  3 | b: c", vec!["a"]),
            ("+password:\n+  a\n   b", vec!["a"]),
            ("--a=b; password:\n  c", vec!["c"]),
            ("- - password:\n      c\n    d", vec!["c"]),
        ] {
            assert_eq!(below(text), Some(lines), "{text}");
        }
    }
}

#[cfg(test)]
mod gutter_tests {
    use super::*;

    #[test]
    fn numbers_and_signs_stand_in_front_of_lines() {
        for (line, gutter, length) in [
            ("  12 | a", Gutter::Number, 6),
            ("12:a", Gutter::Number, 3),
            ("   7\ta", Gutter::Number, 5),
            ("   7→a", Gutter::Number, 7),
            ("+a", Gutter::Sign(b'+'), 1),
            ("-a", Gutter::Sign(b'-'), 1),
            ("- a", Gutter::Nothing, 0),
            ("12 a", Gutter::Nothing, 0),
            ("", Gutter::Nothing, 0),
        ] {
            let of = Gutter::of(line.as_bytes());
            assert_eq!(of, gutter, "{line}");
            assert_eq!(of.length(line.as_bytes()), Some(length), "{line}");
        }
        assert_eq!(Gutter::Number.length(b"a"), None);
    }
}
