//! What a name says, be it a word or several.

use super::NAME;
use crate::find::{Finder, begin_of_name};
use crate::names::Class;
use std::ops::Range;

/// Words of a name: `one time code`.
const WORDS: usize = 3;

/// A name, and what it says: that of a word, or of several that make a name together, `API key`.
pub(crate) fn called(
    finder: &Finder<'_>,
    text: &[u8],
    name: Range<usize>,
) -> Option<(Range<usize>, Class)> {
    match class(finder, text, &name) {
        Some(class) => Some((name, class)),
        None => in_words(finder, text, &name),
    }
}

/// The name of which a word is the last one, if those in front of it make it one that says more.
fn in_words(
    finder: &Finder<'_>,
    text: &[u8],
    last: &Range<usize>,
) -> Option<(Range<usize>, Class)> {
    let mut start = last.start;
    for _ in 1..WORDS {
        let before = text[..start].strip_suffix(b" ")?;
        start = begin_of_name(before, before.len(), NAME);
        if start == before.len() {
            return None;
        }
        let name = start..last.end;
        let class = finder.policy.class(&text[name.clone()]);
        match class {
            None => {}
            Some(Class::Password | Class::Token) => return Some((name, Class::Key)),
            Some(Class::Digits) => return Some((name, Class::Digits)),
            Some(_) => return None,
        }
    }
    None
}

/// What the name says. Behind a backslash the first letter may be an escape.
fn class(finder: &Finder<'_>, text: &[u8], name: &Range<usize>) -> Option<Class> {
    let escaped = name.start > 0 && text[name.start - 1] == b'\\';
    let class = finder.policy.class(&text[name.clone()]);
    class.or_else(|| escaped.then(|| finder.policy.class(&text[name.start + 1..name.end]))?)
}
