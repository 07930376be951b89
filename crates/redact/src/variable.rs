//! Variables of an environment in a text: `DB_PASSWORD=…`, whose values have any sign in them.

use super::hit::Found;
use super::named::{LONG, NAME};
use super::plausible::{is_one, looks_random};
use super::rule::is_of_name;
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
    fn a_value_goes_on_to_white_space() {
        for sign in ["&", ";", "'", "\""] {
            let line = format!("DB_PASSWORD=Zx9{sign}tail on");
            assert_eq!(value(&line), format!("Zx9{sign}tail"));
        }
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
