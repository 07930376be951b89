//! What the name of a member, a variable, an option or a header says about its value.
//!
//! The names are data, in `data/names.toml`.

use serde::Deserialize;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes of a longer name are no name.
pub(super) const LONGEST: usize = 96;

/// A letter, a digit or an underscore.
pub(super) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A byte of a name: a word, or a hyphen between two.
pub(super) fn is_of_name(byte: u8) -> bool {
    is_of_word(byte) || byte == b'-'
}

/// The kind of value under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Class {
    /// A password, which people choose: whatever stands there, numbers too.
    Password,
    /// A key or a secret, which programs make: likewise, but for sentences.
    Key,
    /// A token, which is a word of its own kind, and no count of them.
    Token,
    /// A header: the value stands behind its scheme.
    Header,
    /// Two halves with a colon between them, as base64 or behind a scheme.
    Pair,
    /// A password, or the folder in which somebody works: `PWD`.
    Folder,
    Digits,
    /// Several, or how many of them, or a key of whatever kind: only a random value is one.
    Many,
    /// The same of a variable for a key, which may be shorter: `STRIPE_KEY`.
    Variable,
}

/// A name in a text.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub span: Range<usize>,
    pub class: Class,
    /// Whether it is several words of a sentence: `API key`.
    pub is_phrase: bool,
}

/// Names that say the same of their values; without a class, that those are no secrets.
#[derive(Debug, Deserialize)]
struct Kind {
    of: Option<Class>,
    #[serde(default)]
    ends: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    whole: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    class: Vec<Kind>,
    words: Words,
    programs: HashMap<String, String>,
}

/// Other words; `data/names.toml` tells what each list is.
#[derive(Deserialize)]
pub(super) struct Words {
    public: Vec<String>,
    cookies: Vec<String>,
    beside: Vec<String>,
    pub numbers: Vec<String>,
    pub names: Vec<String>,
    pub values: Vec<String>,
    pub grants: Vec<String>,
    pub schema: Vec<String>,
    pub types: Vec<String>,
    pub links: HashSet<String>,
    pub joins: HashSet<String>,
    pub protocol: Vec<String>,
}

pub(super) fn words() -> &'static Words {
    &NAMES.words
}

/// Whether a member of a secret object only describes the secret.
pub(super) fn is_beside(name: &str) -> bool {
    words().beside.contains(&joined(name).0)
}

/// Whether the word behind this option is what a program takes for a password.
pub(super) fn is_given(program: &str, option: &[u8]) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let given = NAMES.programs.get(name);
    given.is_some_and(|given| given.as_bytes() == option)
}

/// How a name is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    End,
    Word,
    Whole,
}

/// What a name says, how it is compared, and the place of its kind among all.
type Ending = (usize, Match, Option<Class>);

struct Names {
    words: Words,
    programs: HashMap<String, String>,
    endings: HashMap<String, Vec<Ending>>,
    /// The last word of each name: a text without any of them has no name.
    noticed: BTreeSet<String>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../data/names.toml"))
        .expect("the shipped names are read in a test");
    let mut noticed = BTreeSet::from(["key".to_owned()]);
    noticed.extend(file.words.cookies.iter().map(|name| name.to_lowercase()));
    let mut endings: HashMap<_, Vec<_>> = HashMap::new();
    for (place, kind) in file.class.into_iter().enumerate() {
        let class = kind.of;
        let all = [
            (Match::End, kind.ends),
            (Match::Word, kind.words),
            (Match::Whole, kind.whole),
        ];
        for (kind, names) in all {
            for name in names {
                if class.is_some() {
                    noticed.extend(spellings(name.rsplit([' ', '\'']).next().unwrap_or(&name)));
                }
                let ending = (place, kind, class);
                endings.entry(joined(&name).0).or_default().push(ending);
            }
        }
    }
    Names {
        words: file.words,
        programs: file.programs,
        endings,
        noticed,
    }
});

/// A word as it is searched for: the search takes letters of ASCII alone in either case.
fn spellings(word: &str) -> impl Iterator<Item = String> {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let titled = first.unwrap_or_default() + letters.as_str();
    let is_ascii = word.is_ascii();
    let others = [titled, word.to_uppercase()];
    std::iter::once(word.to_owned()).chain(others.into_iter().filter(move |_| !is_ascii))
}

/// The endings that a name has, each with its beginning.
fn endings(name: &str) -> impl Iterator<Item = (&'static Ending, usize)> {
    name.char_indices().flat_map(|(start, _)| {
        let endings = NAMES.endings.get(&name[start..]).into_iter().flatten();
        endings.map(move |ending| (ending, start))
    })
}

/// Words of which each name that says something has one.
pub(super) fn noticed() -> impl Iterator<Item = &'static str> {
    NAMES.noticed.iter().map(String::as_str)
}

/// Names whose kind is kept; traffic says the same ones again and again.
const KEPT: usize = 4096;

thread_local! {
    static CLASSES: RefCell<HashMap<Box<str>, Option<Class>>> = RefCell::default();
}

/// The kind of value under this name; `None` if the name promises no secret.
pub(super) fn class(name: &str) -> Option<Class> {
    CLASSES.with_borrow_mut(|classes| {
        if let Some(class) = classes.get(name) {
            return *class;
        }
        let class = looked_up(name);
        if classes.len() >= KEPT {
            classes.clear();
        }
        classes.insert(name.into(), class);
        class
    })
}

fn looked_up(name: &str) -> Option<Class> {
    let (joined, begins) = joined(name);
    let one = joined.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let fits = |((_, kind, _), start): &(&Ending, usize)| match kind {
        Match::End => true,
        Match::Word => begins[*start],
        Match::Whole => *start == 0,
    };
    let singular = one.strip_suffix('s').unwrap_or_default();
    let plural = endings(singular).filter(|(ending, _)| ending.1 == Match::End);
    let all = endings(one).filter(fits).chain(plural);
    match all.map(|(ending, _)| ending).min_by_key(|ending| ending.0) {
        Some((_, _, class)) => *class,
        None if is_cookie(name) => Some(Class::Many),
        None => is_variable_of_key(name, one).then_some(Class::Variable),
    }
}

/// Whether it is the name of a cookie, whatever stands in front of it and a dot.
fn is_cookie(name: &str) -> bool {
    let mut cookies = words().cookies.iter();
    cookies.any(|cookie| {
        let before = name.strip_suffix(cookie.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// Whether it is the name of a variable for a key, `STRIPE_KEY`, and none of a public one.
fn is_variable_of_key(name: &str, joined: &str) -> bool {
    let of_what = joined.strip_suffix("key").unwrap_or_default();
    !name.contains(|letter: char| letter.is_ascii_lowercase())
        && (name.ends_with("_KEY") || name.ends_with("-KEY"))
        && !of_what.is_empty()
        && !words()
            .public
            .iter()
            .any(|public| of_what.contains(&**public))
}

/// The letters and digits of a name in small letters, and for each byte of them whether a word
/// begins there.
pub(super) fn joined(name: &str) -> (String, Vec<bool>) {
    let (mut joined, mut begins) = (String::new(), Vec::new());
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_alphanumeric() {
            let turns = letter.is_uppercase() && !before.is_uppercase();
            let is_begin = !before.is_alphanumeric() || turns;
            joined.extend(letter.to_lowercase());
            begins.push(is_begin);
            begins.resize(joined.len(), false);
        }
        before = letter;
    }
    (joined, begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_hold() {
        for (name, expected) in [
            ("DB_PASSWORD", Some(Class::Password)),
            ("X-Api-Key", Some(Class::Key)),
            ("apiKey2", Some(Class::Key)),
            ("mot de passe", Some(Class::Password)),
            ("数据库密码", Some(Class::Password)),
            ("ПАРОЛЬ", Some(Class::Password)),
            ("userPass", Some(Class::Password)),
            ("compass", None),
            ("access_token", Some(Class::Token)),
            ("progressToken", None),
            ("max_tokens", None),
            ("tokens", Some(Class::Many)),
            ("STRIPE_KEY", Some(Class::Variable)),
            ("PRIMARY_KEY", None),
            ("PWD", Some(Class::Folder)),
            ("Set-Cookie", Some(Class::Header)),
            ("monkey", None),
        ] {
            assert_eq!(class(name), expected, "{name}");
        }
    }
}
