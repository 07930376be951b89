//! Variables of an environment in a text: `DB_PASSWORD=…`, whose values have any sign in them.

use super::find::Finder;
use super::named;
use super::named::{LONG, NAME};
use super::names::Class;
use super::plausible::{Stands, is_one, looks_random};
use super::report::Found;
use super::rules::is_of_name;
use super::token::Kind;
use std::ops::Range;

/// What may be closed by the sign that opened it.
const QUOTES: [u8; 3] = [b'"', b'\'', b'`'];

/// Whether a name with this value beside it is that of a variable.
pub(super) fn is_one_of(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let is_large = !text[name.clone()].iter().any(u8::is_ascii_lowercase);
    is_large && text.get(name.end) == Some(&b'=') && value.start == name.end + 1
}

/// All of the value of which `value` would be what stands in a row of values: what would end one
/// there may be a part of it. Both are taken for secret.
pub(super) fn whole(
    text: &[u8],
    name: &Range<usize>,
    value: Range<usize>,
    found: &mut Found,
) -> Range<usize> {
    let is_of_url = matches!(text[..name.start].last(), Some(b'?' | b'&'));
    if is_of_url || value.len() > LONG || !is_one_of(text, name, &value) {
        return value;
    }
    let said = String::from_utf8_lossy(&text[value.clone()]);
    let end = value.end + tail(text, value.start, value.end);
    if end == value.end || !is_one(&said) {
        return value;
    }
    if looks_random(&said) {
        let piece = text[value.clone()].into();
        found.plain.push((piece, Kind::Secret));
    }
    value.start..end
}

/// How much of what follows a piece of a value belongs to it still: nothing where a quote is closed
/// that was open before, or another value begins.
pub(super) fn tail(text: &[u8], start: usize, at: usize) -> usize {
    let rest = &text[at..text.len().min(at + LONG)];
    if rest.first() == Some(&b',') {
        return 0;
    }
    let line = &text[start.saturating_sub(LONG)..start];
    let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or(line);
    let open = QUOTES.map(|quote| memchr::memchr_iter(quote, line).count() % 2 == 1);
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'"' => open[0],
        b'\'' => open[1],
        b'`' => open[2],
        b'&' | b';' | b',' => is_next(&rest[at + 1..]),
        b'<' | b'>' | b'\\' => true,
        byte => byte.is_ascii_whitespace(),
    };
    let end = rest.iter().enumerate().position(ends).unwrap_or(rest.len());
    let trailing = |byte: &&u8| matches!(byte, b',' | b';' | b'&' | b'.' | b')' | b']' | b'}');
    end - rest[..end].iter().rev().take_while(trailing).count()
}

/// Whether another value begins here, or another command.
fn is_next(rest: &[u8]) -> bool {
    let name = rest.iter().take(NAME).take_while(|byte| is_of_name(**byte));
    let name = name.count();
    rest.first() == Some(&b'&') || name > 0 && rest.get(name) == Some(&b'=')
}

// Words of a command: what stands in one is known to its end.

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
        Some(colon) if !super::encodings::is_pair(said) => {
            (span.start + colon + 1..span.end, Class::Password)
        }
        _ => (span, Class::Pair),
    };
    named::add(finder, text, span, class, Stands::Whole, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value in a line, of which the first piece ends at the first of these signs.
    fn value(line: &str) -> String {
        let sign = line.find('=').unwrap();
        let name = line[..sign].rfind([' ', '"', '?', '&']);
        let name = name.map_or(0, |at| at + 1)..sign;
        let ends = ['&', ';', '\'', '"', ' ', ','];
        let end = line[sign..].find(ends).map_or(line.len(), |at| at + sign);
        let mut found = Found::default();
        let span = whole(line.as_bytes(), &name, sign + 1..end, &mut found);
        line[span].to_owned()
    }

    #[test]
    fn it_ends_where_something_else_begins() {
        for line in [
            "\"DB_PASSWORD=Zx9\",\"b\"",
            "DB_PASSWORD=Zx9;USER=x",
            "DB_PASSWORD=Zx9&user=x",
            "DB_PASSWORD=Zx9,user=x",
            "DB_PASSWORD=Zx9&&run",
            "DB_PASSWORD=Zx9; run",
            "https://h/?API_KEY=Zx9&b",
        ] {
            assert_eq!(value(line), "Zx9", "{line}");
        }
        assert_eq!(value("DB_PASSWORD=$NAME;run"), "$NAME");
        assert_eq!(value("password=Zx9;run()"), "Zx9");
    }
}

#[cfg(test)]
mod word_tests {
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
}
