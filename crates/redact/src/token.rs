//! What stands in place of a value: `‹secret:1›`.

use regex::bytes::Regex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

/// The sign with which a placeholder begins.
pub const OPEN: char = '‹';

pub const CLOSE: char = '›';

/// A name of a placeholder: a word, a colon and a number. Behind the number of a credential that was left
/// out when the session was recorded stands its fingerprint: `‹cred:1 9f3c›`, in URLs `‹cred:1+9f3c›`.
const NAME: &str = "[A-Za-z0-9_-]{1,40}:[0-9]{1,20}(?:[ +][0-9a-f]{4})?";

/// A placeholder, spelled out or as JSON escapes it.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(r"(?-u)‹({NAME})›|\\u2039({NAME})\\u203[aA]");
    Regex::new(&pattern).expect("tests look for placeholders")
});

/// The kind of value behind a placeholder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    #[default]
    Secret,
    Email,
    Home,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Email => "email",
            Self::Home => "home",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    pub kind: Kind,
    pub number: u64,
    /// Which one of the texts that say it in some code; 0 is the value itself.
    pub code: u64,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, number) = (self.kind.as_str(), self.number);
        match self.code {
            0 => write!(f, "{OPEN}{kind}:{number}{CLOSE}"),
            1 => write!(f, "{OPEN}coded:{number}{CLOSE}"),
            code => write!(f, "{OPEN}coded-{code}:{number}{CLOSE}"),
        }
    }
}

/// How placeholders begin and end: as they are, and escaped.
pub fn spellings() -> [(&'static str, &'static str); 3] {
    [("‹", "›"), ("\\u2039", "\\u203a"), ("\\u2039", "\\u203A")]
}

/// Whether bytes of JSON have a placeholder in them, spelled out or escaped.
pub fn may_be_in(bytes: &[u8]) -> bool {
    PLACEHOLDER.is_match(bytes)
}

/// Adds the names of the placeholders in `bytes` to `found`, until that has as many as `most`.
pub fn names_in(bytes: &[u8], most: usize, found: &mut BTreeSet<String>) {
    for placeholder in PLACEHOLDER.captures_iter(bytes) {
        let name = placeholder.get(1).or_else(|| placeholder.get(2));
        if let Some(name) = name.filter(|_| found.len() < most) {
            found.insert(String::from_utf8_lossy(name.as_bytes()).into_owned());
        }
    }
}

/// Where the placeholders in `bytes` stand, in order.
pub fn places(bytes: &[u8]) -> Vec<Range<usize>> {
    let found = PLACEHOLDER.find_iter(bytes);
    found.map(|placeholder| placeholder.range()).collect()
}

/// Whether `bytes` are one placeholder and nothing else.
pub fn is_one(bytes: &[u8]) -> bool {
    length(bytes) == Some(bytes.len())
}

/// Whether what stands at `span` is a placeholder, or a part of one from its beginning on.
pub fn covers(text: &[u8], span: &Range<usize>) -> bool {
    length(&text[span.start.min(text.len())..]).is_some_and(|length| span.len() <= length)
}

/// The bytes of the placeholder that `text` begins with, if it does.
pub fn length(text: &[u8]) -> Option<usize> {
    if !matches!(text.first(), Some(0xe2 | b'\\')) {
        return None;
    }
    let found = PLACEHOLDER.find(&text[..text.len().min(80)])?;
    (found.start() == 0).then_some(found.end())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    Placeholder { name: &'t str, whole: &'t str },
}

/// A text as text and placeholders.
#[derive(Clone, Debug)]
pub struct Pieces<'t>(pub &'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let text = self.0;
        let mut all = PLACEHOLDER.captures_iter(text.as_bytes());
        let found = all.find_map(|placeholder| Some((placeholder.get(0)?, placeholder.get(1)?)));
        let (end, piece) = match found {
            Some((whole, name)) if whole.start() == 0 => {
                let (name, whole) = (&text[name.range()], &text[whole.range()]);
                (whole.len(), Piece::Placeholder { name, whole })
            }
            found => {
                let end = found.map_or(text.len(), |(whole, _)| whole.start());
                (end, Piece::Text(&text[..end]))
            }
        };
        self.0 = &text[end..];
        (end > 0).then_some(piece)
    }
}

/// Whether a placeholder can have this name.
pub fn is_name(name: &str) -> bool {
    is_one(format!("{OPEN}{name}{CLOSE}").as_bytes())
}

// Which token stands for which value.
//
// ```text
//  hunter2                  ‹secret:1›
//  hunter2 in base64        ‹coded:1›      the first text that says it in some code
//  ada:hunter2 in base64    ‹coded-2:1›    the second one
// ```
//
// What stands in a code is another value than what it says: whoever puts the one in place of the
// other says something else. Its number tells what is in it.

/// Values with a number of their own; all others share one.
const MOST: usize = 200_000;

/// Placeholders in the bytes whose numbers are left out.
const MOST_TAKEN: usize = 100_000;

type Hash = [u8; 16];

/// The tokens of values. What a token counts is its place among all, until it is shown.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    tokens: HashMap<Hash, Token>,
    /// In the order in which they got one.
    order: Vec<Hash>,
    places: u64,
    /// How many texts say what has this place, in some code.
    codes: HashMap<u64, u64>,
    /// The number that each place is shown with, once it is known which ones are taken.
    shown: Vec<u64>,
    taken: BTreeSet<u64>,
    /// Values without a number of their own.
    pub beyond: u64,
}

/// How many tokens were given, so that later ones can be taken back.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    values: usize,
    places: u64,
}

impl Numbers {
    /// Leaves out the numbers of the placeholders that stand in these bytes, if there may be some.
    pub fn take_out(&mut self, bytes: &[u8]) {
        let mut names = BTreeSet::new();
        names_in(bytes, MOST_TAKEN, &mut names);
        let numbers = names.iter().filter_map(|name| name.rsplit(':').next());
        let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        let room = MOST_TAKEN.saturating_sub(self.taken.len());
        self.taken.extend(numbers.take(room));
    }

    /// The token of a value; of one that is new a new one.
    pub fn of(&mut self, value: &[u8], kind: Kind) -> Token {
        self.found(value, |numbers| {
            numbers.places += 1;
            Token {
                kind,
                number: numbers.places - 1,
                code: 0,
            }
        })
    }

    /// The token of a text that says a value in some code.
    pub fn of_coded(&mut self, text: &[u8], (value, kind): (&[u8], Kind)) -> Token {
        if text == value {
            return self.of(value, kind);
        }
        self.found(text, |numbers| {
            let plain = numbers.of(value, kind);
            let codes = numbers.codes.entry(plain.number).or_default();
            *codes += 1;
            Token {
                code: *codes,
                ..plain
            }
        })
    }

    /// The token that a value has, else what `make` makes.
    fn found(&mut self, value: &[u8], make: impl FnOnce(&mut Self) -> Token) -> Token {
        let hash = hash(value);
        if let Some(token) = self.tokens.get(&hash) {
            return *token;
        }
        if self.tokens.len() >= MOST {
            self.beyond += 1;
            return Token {
                kind: Kind::Secret,
                number: self.places,
                code: 0,
            };
        }
        let token = make(self);
        self.tokens.insert(hash, token);
        self.order.push(hash);
        token
    }

    /// Whether exactly this value has one.
    pub fn has(&self, value: &[u8]) -> bool {
        self.tokens.contains_key(&hash(value))
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn mark(&self) -> Mark {
        let (values, places) = (self.order.len(), self.places);
        Mark { values, places }
    }

    /// Takes back all that were given since; whether there were some.
    pub fn back_to(&mut self, mark: Mark) -> bool {
        let is_more = self.order.len() > mark.values;
        for hash in self.order.drain(mark.values.min(self.order.len())..) {
            let token = self.tokens.remove(&hash);
            let token = token.filter(|token| token.code > 0);
            if let Some(codes) = token.and_then(|token| self.codes.get_mut(&token.number)) {
                *codes -= 1;
            }
        }
        self.places = mark.places;
        is_more
    }

    /// The token as it is shown: with a number that no placeholder had before.
    pub fn shown(&mut self, token: Token) -> Token {
        while self.shown.len() as u64 <= token.number {
            let mut next = self.shown.last().copied().unwrap_or(0) + 1;
            while self.taken.contains(&next) {
                next += 1;
            }
            self.shown.push(next);
        }
        let place = usize::try_from(token.number).ok();
        let number = place.and_then(|place| self.shown.get(place));
        Token {
            number: number.copied().unwrap_or(token.number),
            ..token
        }
    }
}

fn hash(value: &[u8]) -> Hash {
    let digest = Sha256::digest(value);
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders(text: &str) -> impl Iterator<Item = &str> {
        Pieces(text).filter_map(|piece| match piece {
            Piece::Placeholder { name, .. } => Some(name),
            Piece::Text(_) => None,
        })
    }

    #[test]
    fn a_token_is_a_placeholder() {
        let token = Token {
            kind: Kind::Secret,
            number: 12,
            code: 0,
        };
        let codes = [0, 1, 2].map(|code| Token { code, ..token }.to_string());
        let text = codes.join(" and ");
        let names: Vec<_> = placeholders(&text).collect();
        assert_eq!(names, ["secret:12", "coded:12", "coded-2:12"]);
    }

    #[test]
    fn what_only_looks_like_a_placeholder_is_text() {
        for text in [
            "‹secret›",
            "‹cred:1 abcg›",
            "‹secret:›",
            "‹:1›",
            "‹a b:1›",
            "‹secret:1",
            "secret:1›",
        ] {
            assert_eq!(placeholders(text).count(), 0, "{text}");
        }
        let credential = "‹cred:1 9f3c› ‹cred:1+9f3c›";
        let names = ["cred:1 9f3c", "cred:1+9f3c"];
        assert_eq!(placeholders(credential).collect::<Vec<_>>(), names);
        let nested = "‹‹secret:1››";
        assert_eq!(placeholders(nested).collect::<Vec<_>>(), ["secret:1"]);
    }

    #[test]
    fn a_placeholder_covers_itself_and_no_more() {
        let text = "/home/‹home:2›/x ‹home› ‹secret:1".as_bytes();
        let covers = |start, end| covers(text, &(start..end));
        let whole = 6 + "‹home:2›".len();
        assert!(covers(6, whole) && covers(6, 6 + "‹home".len()));
        assert!(!covers(6, whole + 1) && !covers(5, whole) && !covers(9, whole));
        let other = whole + 3;
        assert!(!covers(other, other + 5) && !covers(other + 11, text.len()));
        assert!(!covers(text.len(), text.len()));
    }
}

#[cfg(test)]
mod numbers_tests {
    use super::*;

    #[test]
    fn numbers_that_stand_there_already_are_left_out() {
        let mut numbers = Numbers::default();
        numbers.take_out("‹secret:1› \\u2039coded:3\\u203a".as_bytes());
        let given = ["a", "b", "a", "c"].map(|value| numbers.of(value.as_bytes(), Kind::Secret));
        let shown = given.map(|token| numbers.shown(token).number);
        assert_eq!(shown, [2, 4, 2, 5]);
    }

    #[test]
    fn what_says_a_value_in_a_code_has_its_number_and_each_text_a_token() {
        let mut numbers = Numbers::default();
        let plain = (&b"hunter2"[..], Kind::Secret);
        let mut given = |text: &str| {
            let token = numbers.of_coded(text.as_bytes(), plain);
            numbers.shown(token).to_string()
        };
        let (one, other) = ("aHVudGVyMg==", "YWRhOmh1bnRlcjI=");
        let tokens = [one, other, one, "hunter2"].map(&mut given);
        assert_eq!(
            tokens,
            ["‹coded:1›", "‹coded-2:1›", "‹coded:1›", "‹secret:1›"]
        );
    }

    #[test]
    fn what_is_taken_back_is_given_again_in_another_order() {
        let mut numbers = Numbers::default();
        let plain = (&b"hunter2"[..], Kind::Secret);
        numbers.of_coded(b"x", plain);
        let mark = numbers.mark();
        let mut given = |texts: [&[u8]; 3]| {
            numbers.back_to(mark);
            texts.map(|text| numbers.of_coded(text, plain).code)
        };
        assert_eq!(given([b"a", b"b", b"x"]), [2, 3, 1]);
        assert_eq!(given([b"b", b"a", b"x"]), [2, 3, 1]);
        assert_eq!(numbers.len(), 4);
        assert!(numbers.back_to(mark) && !numbers.back_to(mark));
    }
}
