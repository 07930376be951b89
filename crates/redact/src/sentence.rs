//! The value of a name in a sentence, in any language: `the password for ada is this`,
//! `パスワードは「this」です`, `use this as your code`.
//!
//! Words are read from the name on, to the end of its sentence. A word that links (`is`, `est`, `:`)
//! says that the next one may be the value; right behind the name no link is needed. What makes a
//! word a value stands in [`looks_stated`] and [`looks_adjacent`].

use super::block;
use super::entropy::is_value;
use super::extent::{leading, line_start, lossy, near};
use super::names::{self, Class, Name, words};
use super::value::{
    Placement, Value, is_method, is_other_name, looks_adjacent, looks_generated, looks_stated,
};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes of a sentence that are read.
const NEAR: usize = 192;

/// Words between a name and its value.
const WORDS: usize = 10;

/// Words between a link and the value: `is now this`.
const BEHIND_LINK: usize = 2;

/// Words in front of a name whose value follows at once.
const MARKS: [&[u8]; 4] = [b"with ", b"using ", b"and ", b"with the "];

/// Opening quotes, each with its closing one.
const QUOTES: [(char, char); 12] = [
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
];

/// Signs between words, in any script.
const BETWEEN: &str = " \t,()（），、。；!?！？*_›»";

/// Signs that link as a word does.
const LINKS: &str = ":=：＝→—–|│";

/// A word of a sentence.
struct Word {
    span: Range<usize>,
    is_quoted: bool,
    /// Whether a sign that links stands before it.
    is_linked: bool,
    after: After,
    /// Where the next word is looked for.
    end: usize,
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
struct Reading {
    /// Words since one that links.
    since_link: Option<usize>,
    /// Whether no other word stands between the name and the next one.
    is_adjacent: bool,
    /// Whether the next word is the value without a link.
    is_marked: bool,
}

impl Reading {
    fn new(text: &[u8], name: &Name) -> Self {
        let (before, called) = (&text[..name.span.start], &text[name.span.clone()]);
        // Other languages have the verb at the end; `PIN 4711` has none.
        let is_foreign = !called.is_ascii() || called == b"PIN";
        Self {
            since_link: None,
            is_adjacent: true,
            is_marked: is_foreign || MARKS.iter().any(|mark| before.ends_with(mark)),
        }
    }

    /// Whether something says that `word` is the value.
    fn is_stated(&self, class: Class, word: &Word) -> bool {
        let most = if class == Class::Digits {
            0
        } else {
            BEHIND_LINK
        };
        self.since_link.is_some_and(|words| words <= most)
            || self.is_adjacent && (self.is_marked || word.is_quoted)
    }
}

/// The values of `name` in the sentence behind it, or before it.
pub(super) fn values(text: &[u8], name: &Name) -> Vec<Value> {
    let behind = near(text, name.span.end, NEAR).utf8_chunks().next();
    let behind = behind.map_or("", |chunk| chunk.valid());
    let Some(mut at) = begin(behind) else {
        return Vec::new();
    };
    if text[name.span.clone()].eq_ignore_ascii_case(b"pass") && PASSED.is_match(behind) {
        return Vec::new();
    }
    let (mut found, mut reading) = (Vec::new(), Reading::new(text, name));
    for _ in 0..WORDS {
        let Some(word) = next_word(behind, at) else {
            break;
        };
        at = word.end;
        let said = &behind[word.span.clone()];
        if word.is_linked {
            reading.since_link = Some(0);
        }
        let is_stated = reading.is_stated(name.class, &word);
        let is_near = is_stated || reading.is_adjacent || !found.is_empty();
        let is_count = name.class == Class::Digits && counts(&text[name.span.end + at..]);
        if is_one_of(&words().links, &word, said) {
            reading.since_link = Some(0);
        } else if is_one_of(&words().joins, &word, said) {
            reading.is_adjacent = true;
            continue;
        } else if is_near && !is_count && is_candidate(name.class, said, is_stated, word.is_quoted)
        {
            let start = name.span.end + word.span.start;
            found.push(Value::new(start..start + said.len(), Placement::Alone));
        } else if !found.is_empty() || names::class(said).is_some() {
            break;
        } else {
            reading.since_link = reading.since_link.map(|words| words + 1);
        }
        reading.is_adjacent = false;
        match word.after {
            After::Word => {}
            After::Link => {
                reading.since_link = Some(0);
                let line = name.span.end + at;
                if found.is_empty() && block::is_begun(&text[line..]) {
                    return block::below(text, name, line);
                }
            }
            After::End => break,
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
    let is_word = marks <= 3 && first.is_none_or(|char| " \n".contains(char) || !char.is_ascii());
    is_word.then_some(marks)
}

/// Whether a word may be the value: of a password what a person may have chosen, of others only
/// what nobody reads. Whether it is one, `value::fits` decides.
fn is_candidate(class: Class, said: &str, is_stated: bool, is_quoted: bool) -> bool {
    let word = said.as_bytes();
    match class {
        Class::Digits => is_stated && is_code(said),
        Class::Key | Class::Token => {
            let is_long = is_stated && said.is_ascii() && said.len() >= 20;
            !is_method(said) && (is_value(word) || is_long && looks_generated(word))
        }
        Class::Password if !is_quoted && is_other_name(word) => false,
        Class::Password if is_stated => looks_stated(said, is_quoted),
        Class::Password => looks_adjacent(said, is_quoted),
        _ => false,
    }
}

fn is_one_of(words: &[String], word: &Word, said: &str) -> bool {
    !word.is_quoted && words.contains(&said.to_lowercase())
}

/// Whether a word is a code of digits, perhaps with signs between them.
fn is_code(said: &str) -> bool {
    let digits = said.bytes().filter(u8::is_ascii_digit).count();
    let is_sign = |byte: u8| byte.is_ascii_digit() || b" -#".contains(&byte);
    (3..=10).contains(&digits) && said.bytes().all(is_sign)
}

/// Whether what follows a number is what it counts: `123 items`.
pub(super) fn counts(after: &[u8]) -> bool {
    let word = after.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..leading(word, |byte| byte.is_ascii_lowercase())];
    word.len() > 2 && word.ends_with(b"s")
}

/// The next word of a line from `at` on.
fn next_word(text: &str, at: usize) -> Option<Word> {
    let rest = &text[at..];
    let is_between = |char: char| BETWEEN.contains(char) || LINKS.contains(char);
    let begin = rest.find(|char: char| !is_between(char))?;
    let is_linked = rest[..begin].contains(|char| LINKS.contains(char));
    let (start, first) = (at + begin, rest[begin..].chars().next()?);
    if matches!(first, '\n' | '\r') {
        return None;
    }
    let quote = QUOTES.iter().find(|(open, _)| *open == first);
    let quoted = quote.and_then(|(open, close)| {
        let start = start + open.len_utf8();
        let length = text[start..].split('\n').next()?.find(*close)?;
        Some((start..start + length, start + length + close.len_utf8()))
    });
    if let Some((span, end)) = quoted {
        return Some(Word {
            span,
            is_quoted: true,
            is_linked,
            after: After::Word,
            end,
        });
    }
    let is_end = |char: char| char.is_whitespace() || "，。、；（）「『《“„«＂|".contains(char);
    let length = text[start..].find(is_end).unwrap_or(text.len() - start);
    let said = &text[start..start + length.max(first.len_utf8())];
    let (word, ends) = said.split_at(without_end(said).len());
    let after = text[start + said.len()..].trim_start_matches(' ');
    let is_new = after.chars().next().is_none_or(char::is_uppercase);
    let after = match ends {
        ends if ends.ends_with(':') => After::Link,
        ends if ends.contains(';') || is_new && ends.contains(['.', '!', '?']) => After::End,
        _ => After::Word,
    };
    let (span, end) = (start..start + word.len(), start + said.len());
    Some(Word {
        span,
        is_quoted: false,
        is_linked,
        after,
        end,
    })
}

/// A word without the signs that may end a sentence behind it.
fn without_end(said: &str) -> &str {
    let ends = [
        ',', '.', ')', ';', ':', '?', '"', '\'', '`', '*', '”', '»', '’', '!',
    ];
    let word = said.trim_end_matches(ends);
    // An exclamation mark may end a password as well.
    let is_cried =
        said[word.len()..].starts_with('!') && word.contains(|char: char| char.is_ascii_digit());
    &said[..word.len() + usize::from(is_cried)]
}

/// What follows `pass` where it is a verb.
static PASSED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^\s(?:the|an?|it|them|in|to|your|this|that|along|on|through)\b";
    Regex::new(pattern).expect("tests look for verbs")
});

/// The speaker in front of an answer: `[10:42] ada: `.
static SPEAKER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?:\[?\d[\d:., -]*\]?\s*)?[\p{L}][\p{L}.\x20-]{0,23}[:>]\s+";
    Regex::new(pattern).expect("tests look for speakers")
});

/// The value in the line below a question for it.
fn answered(text: &[u8], name: &Name) -> Option<Value> {
    if name.class != Class::Password {
        return None;
    }
    let near = near(text, name.span.end, NEAR);
    let line = memchr::memchr(b'\n', near)?;
    let question = lossy(
        text,
        &(line_start(text, name.span.start)..name.span.end + line),
    );
    if !question.contains('?') && !SPEAKER.is_match(&question) {
        return None;
    }
    let below = near[line + 1..].utf8_chunks().next()?.valid();
    let below = below.split('\n').next()?;
    let speaker = SPEAKER.find(below)?;
    let answer = below[speaker.end()..].trim_end();
    let word = answer.rsplit(' ').next()?;
    let fits = answer.split(' ').count() < 5
        && looks_stated(word, false)
        && !is_other_name(word.as_bytes());
    let start = name.span.end + line + 1 + speaker.end() + answer.len() - word.len();
    fits.then(|| Value::new(start..start + word.len(), Placement::Alone))
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
    let fits = match name.class {
        Class::Digits => is_code(word),
        _ => is_value(word.as_bytes()) || looks_stated(word, false),
    };
    let at = memchr::memmem::rfind(&text[from..name.span.start], word.as_bytes())?;
    let start = from + at;
    (fits && !word.is_empty()).then(|| Value::new(start..start + word.len(), Placement::Alone))
}
