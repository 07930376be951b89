//! Words of a command: what stands in one is known to its end.

use super::base;
use super::find::Finder;
use super::hit::Found;
use super::named;
use super::names::Class;
use super::plausible::{Stands, looks_random};
use super::rule::is_of_name;
use super::token::Kind;
use std::ops::Range;

const NAME: usize = 96;

/// Finds the value of `--password=…` and `DB_PASSWORD=…`: all that follows, whatever it is.
///
/// Lines of a text may stand in a list as well; of them each value ends by itself.
pub(super) fn add(finder: &Finder<'_>, text: &[u8], found: &mut Found) {
    let near = &text[..text.len().min(NAME)];
    let sign = memchr::memchr(b'=', near).filter(|_| memchr::memchr(b'\n', text).is_none());
    let Some(sign) = sign.filter(|sign| is_name(&text[..*sign])) else {
        return;
    };
    let Some(class) = finder.policy.class(&text[..sign]) else {
        return;
    };
    let value = unquoted(text, sign + 1..text.len());
    let mark = found.hits.len();
    if class == Class::Pair {
        pair(finder, text, value.clone(), found);
    } else {
        named::add(finder, text, value.clone(), class, Stands::Whole, found);
    }
    if found.hits.len() > mark {
        // Where more than one word stands in it, the first may be all of the value.
        let first = &text[named::bare(text, value.start)];
        if looks_random(&String::from_utf8_lossy(first)) {
            found.plain.push((first.into(), Kind::Secret));
        }
    }
}

/// `--password`, `DB_PASSWORD`; small letters alone are what a line of a program begins with.
fn is_name(name: &[u8]) -> bool {
    let is_variable = || !name.iter().any(u8::is_ascii_lowercase);
    name.iter().all(|byte| is_of_name(*byte)) && (name.starts_with(b"-") || is_variable())
}

/// Without the quotes around all of it.
fn unquoted(text: &[u8], span: Range<usize>) -> Range<usize> {
    match &text[span.clone()] {
        [first @ (b'"' | b'\'' | b'`'), .., last] if first == last => span.start + 1..span.end - 1,
        _ => span,
    }
}

/// Programs whose option of one letter is followed by a password.
const GIVEN: [(&[u8], &[u8]); 5] = [
    (b"sshpass", b"-p"),
    (b"mongo", b"-p"),
    (b"mongosh", b"-p"),
    (b"redis-cli", b"-a"),
    (b"ldapsearch", b"-w"),
];

/// Whether the word after this one is what a program takes for a password.
pub(super) fn is_given(program: &[u8], option: &[u8]) -> bool {
    let name = program.rsplit(|byte| matches!(byte, b'/' | b'\\')).next();
    GIVEN
        .iter()
        .any(|(of, letter)| name == Some(*of) && option == *letter)
}

/// Whether the word after this one is a script for a shell: `-c`, `-lc`.
pub(super) fn is_of_shell(word: &[u8]) -> bool {
    matches!(word, [b'-', letters @ .., b'c'] if letters.iter().all(u8::is_ascii_lowercase))
}

/// Finds the secret of `user:password`, or of a scheme with what it needs.
pub(super) fn pair(finder: &Finder<'_>, text: &[u8], span: Range<usize>, found: &mut Found) {
    let said = &text[span.clone()];
    let is_of_user = |byte: &u8| is_of_name(*byte) || matches!(byte, b'.' | b'@');
    let colon = memchr::memchr(b':', said).filter(|colon| *colon + 1 < said.len());
    let colon = colon.filter(|colon| said[..*colon].iter().all(is_of_user));
    let colon = colon.filter(|colon| !said[*colon..].starts_with(b"://"));
    let (span, class) = match colon {
        Some(colon) if !base::is_pair(said) => (span.start + colon + 1..span.end, Class::Password),
        _ => (span, Class::Pair),
    };
    named::add(finder, text, span, class, Stands::Whole, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_words_are_options_and_variables() {
        for name in [&b"--password"[..], b"-p", b"DB_PASSWORD", b"--db-password"] {
            assert!(is_name(name), "{name:?}");
        }
        for name in [&b"password"[..], b"a PASSWORD", b"export TOKEN", b"--a b"] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_given(b"/usr/bin/sshpass", b"-p") && !is_given(b"ssh", b"-p"));
        assert!(is_of_shell(b"-c") && is_of_shell(b"-lc"));
        assert!(!is_of_shell(b"--c") && !is_of_shell(b"c") && !is_of_shell(b"-p"));
    }

    #[test]
    fn quotes_around_all_of_it_are_no_part_of_it() {
        let text = b"A='b c'";
        assert_eq!(unquoted(text, 2..7), 3..6);
        assert_eq!(unquoted(b"A='b", 2..4), 2..4);
        assert_eq!(unquoted(b"A='", 2..3), 2..3);
    }
}
