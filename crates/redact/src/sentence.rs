//! The value of a name in a sentence, in any language: `the password for ada is this`,
//! `パスワードは「this」です`, `use this as your code`.
//!
//! Words are read from the name on. A word that links (`is`, `est`, `:`) says that the next one may be the
//! value; right behind the name no link is needed, and nowhere for what nobody would read. In the sentences
//! behind its own only what is linked or random is a value. What makes a word one stands in
//! [`looks_stated`] and [`looks_adjacent`].

use super::entropy::{is_dense, is_value};
use super::extent::{leading, lossy, near, valid};
use super::names::{Class, Name, words};
use super::rest;
use super::value::{
    Bond, Value, fits, is_name, is_other_name, looks_adjacent, looks_generated, looks_stated,
};
use regex::Regex;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes that are read behind a name.
const NEAR: usize = 256;

/// Words between a name and its value.
const WORDS: usize = 24;

/// A random word that stands for itself has so many letters.
const RANDOM: usize = 20;

/// Words in front of a name whose value follows at once.
const MARKS: [&[u8]; 4] = [b"with ", b"using ", b"and ", b"with the "];

/// Opening quotes, each with its closing one.
const QUOTES: [(char, char); 13] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '”'),
    ('«', '»'),
    ('»', '«'),
    ('‘', '’'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('＂', '＂'),
    ('【', '】'),
];

/// Signs between words, in any script.
fn is_between(char: char) -> bool {
    let is_blank = matches!(
        char,
        ' ' | '\t' | '\r' | '\n' | ',' | '(' | ')' | '!' | '?' | '*' | '_' | '>'
    );
    is_blank || is_link(char) || !char.is_ascii() && "（），、。；،؛।！？¡¿›»".contains(char)
}

/// Signs that link as a word does.
fn is_link(char: char) -> bool {
    matches!(char, ':' | '=' | '|' | '：' | '＝' | '→' | '—' | '–' | '│')
}

/// A word of a sentence.
struct Word {
    span: Range<usize>,
    is_quoted: bool,
    /// Whether a sign that links stands before it.
    is_linked: bool,
    before: Before,
    after: After,
    /// Where the next word is looked for.
    end: usize,
}

/// What stands before a word.
#[derive(PartialEq, Eq)]
enum Before {
    Word,
    Comma,
    Line,
}

/// What follows a word.
#[derive(PartialEq, Eq)]
enum After {
    Word,
    /// A sign that links: `for ada: this`.
    Link,
    /// The end of the sentence.
    End,
}

/// How far a sentence was read.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each may be so with each other"
)]
struct Reading<'t> {
    behind: &'t str,
    class: Class,
    /// Whether a word that links stands before.
    is_linked: bool,
    /// Whether no other word stands between the name and the next one.
    is_adjacent: bool,
    /// Whether the next word is the value without a link.
    is_marked: bool,
    is_over: bool,
}

impl Reading<'_> {
    /// Whether a word is the value; `is_first` where none was found before.
    fn is_value(&self, word: &Word, said: &str, is_first: bool) -> bool {
        let is_linked = self.is_linked;
        let is_stated = is_linked || self.is_adjacent && (self.is_marked || word.is_quoted);
        let is_near = is_stated || self.is_adjacent || !is_first && !self.is_over;
        match self.class {
            Class::Digits => is_stated && fits(self.class, said, Bond::Alone),
            _ if is_random(word, said) => true,
            Class::Password if self.is_over => is_linked && !word.is_quoted && looks_adjacent(said),
            _ if self.is_over => false,
            // `the password ("this")`
            Class::Password
                if self.is_adjacent
                    && word.is_quoted
                    && self.behind[..word.end].starts_with(" (") =>
            {
                fits(self.class, said, Bond::Cell)
            }
            Class::Password if word.before == Before::Comma && !is_stated && is_first => {
                looks_adjacent(said) && !is_other_name(said) && !is_name(said)
            }
            _ => is_near && is_candidate(self.class, said, is_stated, word.is_quoted),
        }
    }
}

/// Whether a word is one that nobody reads: a long one, or the first on its line.
fn is_random(word: &Word, said: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+".contains(&byte);
    (said.len() >= RANDOM || word.before == Before::Line)
        && is_dense(said)
        && said.trim_end_matches('=').bytes().all(is_word)
}

/// The values of `name` in the sentence behind it, or before it.
pub(super) fn values(text: &[u8], name: &Name, next: usize) -> Vec<Value> {
    // The next name may be a part of the value.
    let next = next.max(name.span.end);
    let next = next + leading(near(text, next, NEAR), |byte| !byte.is_ascii_whitespace());
    let behind = valid(near(text, name.span.end, NEAR.min(next - name.span.end)));
    let (before, called) = (&text[..name.span.start], &text[name.span.clone()]);
    let Some(mut at) = begin(behind) else {
        return Vec::new();
    };
    let mut reading = Reading {
        behind,
        class: name.class,
        is_linked: false,
        is_adjacent: true,
        // Other languages have the verb at the end; `PIN 4711` has none.
        is_marked: !called.is_ascii()
            || called == b"PIN"
            || MARKS.iter().any(|mark| before.ends_with(mark)),
        // A verb, in `pass on the value`: only what a link states or nobody reads is a password.
        is_over: called == b"pass" && next_word(behind, at).is_some_and(|word| !word.is_quoted),
    };
    let is_digits = name.class == Class::Digits;
    let mut found = Vec::new();
    for _ in 0..WORDS {
        let Some(word) = next_word(behind, at) else {
            break;
        };
        at = word.end;
        let said = &behind[word.span.clone()];
        if word.before == Before::Line {
            (reading.is_over, reading.is_adjacent, reading.is_linked) = (true, false, false);
        }
        reading.is_linked |= word.is_linked;
        let is_count = is_digits && counts(&text[name.span.end + at..]);
        let is_one = !is_count && reading.is_value(&word, said, found.is_empty());
        if is_one {
            let start = name.span.end + word.span.start;
            found.push(Value::new(start..start + said.len(), Bond::Line));
        } else if is_one_of(&words().links, &word, said) {
            reading.is_linked = true;
        } else if is_one_of(&words().joins, &word, said) {
            reading.is_adjacent = !reading.is_over;
            continue;
        } else if !found.is_empty() {
            break;
        }
        reading.is_adjacent = false;
        match word.after {
            After::Word => {}
            // `password mismatch, client: this`
            After::Link if word.before == Before::Comma => reading.is_linked = false,
            After::Link => {
                reading.is_linked = true;
                let line = name.span.end + at;
                if found.is_empty() && rest::is_begun(&text[line..]) {
                    return rest::below(text, name, line);
                }
            }
            After::End => (reading.is_over, reading.is_linked) = (true, false),
        }
    }
    if found.is_empty() {
        found.extend(given_as(text, name).or_else(|| answered(text, name)));
    }
    found
}

/// Where the words behind a name begin, if it is a word of a sentence: a blank follows, a word of a
/// script without blanks, or the end of what marks the name.
fn begin(behind: &str) -> Option<usize> {
    let marks = ['`', '*', '"', '\'', '»', '”', '」', ')', '?'];
    let rest = behind.trim_start_matches(marks);
    let (first, marks) = (rest.chars().next(), behind.len() - rest.len());
    let is_word = first.is_none_or(|char| " ,.\n".contains(char) || !char.is_ascii());
    is_word.then_some(marks)
}

/// Whether a word may be the value: of a password what a person may have chosen, of others only
/// what nobody reads.
fn is_candidate(class: Class, said: &str, is_stated: bool, is_quoted: bool) -> bool {
    match class {
        Class::Key | Class::Token => {
            let is_long = is_stated && said.is_ascii() && said.len() >= RANDOM;
            is_value(said.as_bytes()) || is_long && looks_generated(said)
        }
        Class::Password if !is_quoted && is_other_name(said) => false,
        Class::Password if is_stated => looks_stated(said, is_quoted),
        Class::Password => looks_adjacent(said),
        Class::Many | Class::Variable => is_value(said.as_bytes()),
        _ => false,
    }
}

fn is_one_of(words: &HashSet<String>, word: &Word, said: &str) -> bool {
    !word.is_quoted && words.contains(&said.to_lowercase())
}

/// Whether what follows a number is what it counts: `123 items`.
pub(super) fn counts(after: &[u8]) -> bool {
    let word = after.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..leading(word, |byte| byte.is_ascii_lowercase())];
    word.len() > 2 && word.ends_with(b"s")
}

/// The next word of a text from `at` on.
fn next_word(text: &str, at: usize) -> Option<Word> {
    let rest = &text[at..];
    let begin = rest.find(|char| !is_between(char))?;
    let (start, first) = (at + begin, rest[begin..].chars().next()?);
    let between = &rest[..begin];
    let word = |span: Range<usize>, is_quoted, after, end| Word {
        span,
        is_quoted,
        is_linked: between.contains(is_link),
        before: match between {
            _ if between.contains('\n') => Before::Line,
            _ if between.starts_with(", ") || text[..at].ends_with(',') => Before::Comma,
            _ => Before::Word,
        },
        after,
        end,
    };
    let quote = QUOTES
        .iter()
        .find(|(open, _)| *open == first && !first.is_alphanumeric());
    if let Some((open, close)) = quote {
        let start = start + open.len_utf8();
        let line = text[start..].split('\n').next()?;
        if let Some(length) = line.find(*close) {
            let end = start + length;
            return Some(word(start..end, true, After::Word, end + close.len_utf8()));
        }
    }
    let is_end = |char: char| {
        char.is_whitespace()
            || char == '|'
            || !char.is_ascii() && "，。、；،؛।（）「『《“„«＂".contains(char)
    };
    let length = text[start..].find(is_end).unwrap_or(text.len() - start);
    let length = script(&text[start..start + length]).max(first.len_utf8());
    let said = &text[start..start + length];
    let (inner, ends) = said.split_at(without_end(said).len());
    let after = match ends {
        ends if ends.ends_with(':') => After::Link,
        ends if ends.contains([';', '.', '!', '?']) => After::End,
        _ => After::Word,
    };
    Some(word(
        start..start + inner.len(),
        false,
        after,
        start + said.len(),
    ))
}

/// How far a word goes in one script: languages without blanks have values of ASCII between their words.
fn script(said: &str) -> usize {
    let is_joined = |char: char| ('\u{2e80}'..'\u{fe00}').contains(&char);
    let first = said.chars().next().is_some_and(is_joined);
    said.find(|char| is_joined(char) != first && (first || is_joined(char)))
        .unwrap_or(said.len())
}

/// A word without the signs that may end a sentence behind it.
fn without_end(said: &str) -> &str {
    let ends = [
        ',', '.', ')', ';', ':', '?', '"', '\'', '`', '*', '”', '»', '’', '!',
    ];
    said.trim_end_matches(ends)
}

/// The speaker in front of an answer: `[10:42] ada: `.
static SPEAKER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?:\[?\d[\d:., -]*\]?\s*)?[\p{L}][\p{L}.\x20-]{0,23}[:>]\s+";
    Regex::new(pattern).expect("tests look for speakers")
});

/// The value in the line below a question for it.
fn answered(text: &[u8], name: &Name) -> Option<Value> {
    let near = near(text, name.span.end, NEAR);
    let line = memchr::memchr(b'\n', near).filter(|_| name.class == Class::Password)?;
    let below = valid(&near[line + 1..]);
    let below = below.split('\n').next()?;
    let speaker = SPEAKER.find(below)?;
    let answer = below[speaker.end()..].trim_end();
    let word = answer.rsplit(' ').next()?;
    let is_short = answer.split(' ').count() < 5;
    let start = name.span.end + line + 1 + speaker.end() + answer.len() - word.len();
    (is_short && looks_stated(word, false) && !is_other_name(word))
        .then(|| Value::new(start..start + word.len(), Bond::Alone))
}

/// The value in front of `as the password`.
fn given_as(text: &[u8], name: &Name) -> Option<Value> {
    let from = name.span.start.saturating_sub(NEAR);
    let before = lossy(text, &(from..name.span.start));
    let mut words = before.split(' ').rev().filter(|word| !word.is_empty());
    let is_article = |word: &&str| ["the", "your", "a", "an", "my", "our"].contains(word);
    words.by_ref().take(2).find(is_article)?;
    words.next().filter(|word| *word == "as")?;
    let word = words.find(|word| *word != "worked")?;
    let word = word.trim_matches(|char: char| "\"'`,.".contains(char));
    let at = memchr::memmem::rfind(&text[from..name.span.start], word.as_bytes())?;
    (!word.is_empty()).then(|| Value::new(from + at..from + at + word.len(), Bond::Said))
}
