//! Where the value of a name stands in a text: beside it, behind a sign, in quotes or bare.

use super::multiline::past_tags;
use super::named::{LONG, bare, is_trailing, quoted};
use super::names::Class;
use super::plausible::Stands;
use super::prose::in_marks;
use super::{code, entropy, header, lists, prose};
use std::ops::Range;

/// White space in front of a sign: where names stand in a column it is more than a few.
const SPACE: usize = 64;

/// White space behind it: where values stand in a column of their own, they are those of a table.
const BEHIND: usize = 16;

/// How far behind a name stands what is called its value.
const NEAR: usize = 128;

/// What XML keeps from being read begins so.
const KEPT: &[u8] = b"<![CDATA[";

const QUOTES: [&[u8]; 4] = [b"&quot;", b"&apos;", b"&#34;", b"&#39;"];

/// What stands behind the sign of a name.
#[derive(Debug)]
pub(super) struct Beside {
    pub start: usize,
    /// The value that it is, if it can be one, and how that stands there.
    pub one: Option<(Range<usize>, Stands)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sign {
    length: usize,
    stands: Stands,
    is_tag: bool,
}

/// Where something stands beside a name.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    sign: Sign,
    /// Whether the name is that of an option.
    is_flag: bool,
    /// Whether it only tells where the value comes from.
    is_reference: bool,
    /// Where what says whose value it is ends.
    whose: Option<usize>,
    is_bold: bool,
}

/// What stands beside a name, if a sign tells that something does.
pub(super) fn of(text: &[u8], name: &Range<usize>, class: Class) -> Option<Beside> {
    let place = place(text, name, class)?;
    let start = past_some(text, place.start);
    if let Some(span) = in_marks(text, start) {
        let one = Some((span, Stands::Alone));
        return Some(Beside { start, one });
    }
    let escapes = skip(text, start, |byte| byte == b'\\');
    if let Some(quote @ (b'"' | b'\'' | b'`')) = text.get(escapes).copied() {
        let span = in_quotes(text, (start, escapes), quote)?;
        let one = Some((span, place.stands_in(quote)));
        return Some(Beside { start, one });
    }
    let span = if class == Class::Header && place.sign.is_colon() {
        header::line(text, start)
    } else if place.sign.is_tag {
        kept(text, start)
    } else {
        word(text, name, start, place.is_flag)
    };
    let is_one = !span.is_empty() && place.may_hold(text, name, &span);
    let one = is_one.then_some((span, place.sign.stands));
    Some(Beside { start, one })
}

fn place(text: &[u8], name: &Range<usize>, class: Class) -> Option<Place> {
    let called = called(text, name);
    // A header of which people write is none.
    let is_told = called.is_none() && class != Class::Header;
    let whose = prose::whose(text, name).filter(|_| is_told);
    let end = called.or(whose).unwrap_or(name.end);
    let at = past_quote(text, end);
    let is_tag = is_element(text, name, (end, at));
    let is_flag = text[name.clone()].starts_with(b"--");
    let is_apart = at > 0 && is_space(text[at - 1]);
    let at = past(text, at).unwrap_or(at);
    let sign = sign(&text[at..], is_tag, is_apart);
    let sign = sign.or_else(|| (is_flag && at > name.end).then_some(Sign::NONE))?;
    // What begins like an option is the next one.
    if at == text.len() || text[at..].starts_with(b"--") {
        return None;
    }
    let begin = at + sign.length;
    let start = skip(text, begin, is_space);
    let start = Some(start).filter(|start| *start <= begin + BEHIND)?;
    let tags = sign.is_colon().then(|| past_tags(text, start));
    let (start, is_reference) = tags.unwrap_or((start, false));
    // What is bold goes on behind its sign: `**Password:** …`.
    let goes_on = text[start..].starts_with(b"** ");
    Some(Place {
        start: if goes_on { start + 3 } else { start },
        sign,
        is_flag,
        is_reference,
        whose,
        is_bold: goes_on || text[end..].starts_with(b"**"),
    })
}

impl Place {
    /// How a value stands in such quotes: what is code in a page may be the name of something.
    fn stands_in(self, quote: u8) -> Stands {
        if quote == b'`' && (self.is_bold || self.whose.is_some()) {
            Stands::InText
        } else {
            Stands::Alone
        }
    }

    /// Whether a word can be the value: what stands further from its name may be a word about it,
    /// and what is said of it in brackets may say what kind of a value it is.
    fn may_hold(self, text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
        let said = &text[value.clone()];
        if self.is_reference && entropy::is_read(said) {
            return false;
        }
        if self.whose.is_some() && text[name.end..].starts_with(b" (") {
            return lists::is_value(said);
        }
        let is_near = self.whose.is_none() && !self.sign.is_arrow();
        is_near || lists::is_item(said) || said.iter().all(u8::is_ascii_digit)
    }
}

/// Behind what Rust prints in front of a value that may be missing: `Some("…")`.
fn past_some(text: &[u8], start: usize) -> usize {
    let rest = text[start..].strip_prefix(b"Some(").unwrap_or_default();
    let is_quoted = matches!(rest, [b'"', ..] | [b'\\', b'"', ..]);
    start + if is_quoted { "Some(".len() } else { 0 }
}

/// What a value in quotes that ends at `end` becomes, where a plan says so: `"one" -> "other"`.
pub(super) fn changed_to(text: &[u8], end: usize) -> Option<Range<usize>> {
    let quote = text
        .get(end)
        .filter(|quote| matches!(quote, b'"' | b'\''))?;
    let arrow = skip(text, end + 1, is_space);
    let rest = text[arrow..].strip_prefix(b"->")?;
    let start = skip(text, text.len() - rest.len(), is_space);
    (text.get(start) == Some(quote)).then_some(())?;
    quoted(text, start + 1, *quote, 0)
}

/// A value in quotes; of one that is never closed what there is of it.
fn in_quotes(text: &[u8], (start, escapes): (usize, usize), quote: u8) -> Option<Range<usize>> {
    let span = quoted(text, escapes + 1, quote, escapes - start);
    let span = span.filter(|span| !is_between(&text[span.clone()]))?;
    let end = text.get(span.end);
    let is_closed = end == Some(&quote) || end == Some(&b'\\');
    if is_closed {
        Some(span)
    } else {
        opened(text, span)
    }
}

/// A word that is no code; nothing where there is none. Its beginning tells: to look at all of it for
/// each name in it would take its square.
fn word(text: &[u8], name: &Range<usize>, start: usize, is_flag: bool) -> Range<usize> {
    let from = past_entity(text, start);
    let near = &text[..text.len().min(from + LONG)];
    let begin = bare(near, from);
    if !is_flag && code::is_code(near, name, &begin) {
        return start..start;
    }
    let goes_on = near[begin.end..].iter().all(is_trailing);
    let span = if goes_on { bare(text, from) } else { begin };
    opened(text, span).unwrap_or(start..start)
}

/// A value without the brackets that begin it; none where one that is closed says that it stands for
/// a value: `{token}`.
fn opened(text: &[u8], span: Range<usize>) -> Option<Range<usize>> {
    let brackets = text[span.clone()].iter();
    let brackets = brackets.take_while(|byte| b"[({".contains(byte)).count();
    let inner = span.start + brackets..span.end;
    let ends = (text.get(span.start), text.get(span.end));
    let is_closed = matches!(ends, (Some(b'['), Some(b']')) | (Some(b'{'), Some(b'}')));
    (!is_closed || !entropy::is_read(&text[inner.clone()])).then_some(inner)
}

/// Where the name of what is called the value of this one ends: `name: TOKEN`, on the next line
/// `value: …`; `key="token" value="…"`.
pub(super) fn called(text: &[u8], name: &Range<usize>) -> Option<usize> {
    if !is_said(text, name.start) {
        return None;
    }
    let is_of_between =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b'\\');
    let near = &text[name.end..text.len().min(name.end + NEAR)];
    let between = near.iter().take_while(|byte| is_of_between(byte)).count();
    let word = near.get(between..between + 5)?;
    let is_one = between > 0 && word.eq_ignore_ascii_case(b"value");
    is_one.then_some(name.end + between + 5)
}

/// Whether what begins at `start` is what another name says: a sign stands in front of it.
pub(super) fn is_said(text: &[u8], start: usize) -> bool {
    let before = text[..start].iter().rev().take(SPACE);
    let mut before = before.skip_while(|byte| matches!(byte, b'"' | b'\'' | b' ' | b'\\'));
    matches!(before.next(), Some(b':' | b'='))
}

/// Whether it is the name of an element, or that of one is all that it says, and it ends at `at`. A
/// usage has such names as well, with a word behind them.
fn is_element(text: &[u8], name: &Range<usize>, (end, at): (usize, usize)) -> bool {
    let is_attribute = end == name.end && at > name.end && is_named(text, name.start);
    let is_begun = name.start > 0 && text[name.start - 1] == b'<';
    (is_attribute || is_begun) && text.get(at) == Some(&b'>') && !is_in_usage(text, at + 1)
}

fn is_in_usage(text: &[u8], at: usize) -> bool {
    let near = &text[at..text.len().min(at + LONG)];
    let line = near.split(|byte| *byte == b'\n').next().unwrap_or(near);
    line.first().is_some_and(|first| is_space(*first))
        && memchr::memmem::find(line, b"</").is_none()
}

/// Whether what begins at `start` is what an attribute says that gives an element its name.
fn is_named(text: &[u8], start: usize) -> bool {
    let before = text[..start]
        .strip_suffix(b"\"")
        .or(text[..start].strip_suffix(b"'"));
    before.is_some_and(|before| before.ends_with(b" name=") || before.ends_with(b" key="))
}

/// Whether a sign may follow that does not stand right behind the name.
pub(super) fn may_be_beside(raw: &[u8], name: &Range<usize>) -> bool {
    let end = called(raw, name).or_else(|| prose::whose(raw, name));
    let at = end.unwrap_or_else(|| past_quote(raw, name.end));
    end.is_some() || sign(&raw[at..], false, true).is_some() || past(raw, at).is_some()
}

/// Behind a name, its quote and the white space that follows.
fn past_quote(text: &[u8], end: usize) -> usize {
    let mut at = skip(text, end, |byte| byte == b'\\');
    at += if text[at..].starts_with(b"**") { 2 } else { 0 };
    at += usize::from(matches!(text.get(at), Some(b'"' | b'\'' | b'`')));
    skip(text, at, is_space)
}

impl Sign {
    /// That of an option, which has its value behind white space.
    const NONE: Self = Self {
        length: 0,
        stands: Stands::InText,
        is_tag: false,
    };

    fn is_colon(self) -> bool {
        self.length == 1 && self.stands == Stands::InText
    }

    fn is_arrow(self) -> bool {
        self.length > 1 && self.stands == Stands::InText
    }
}

/// The sign that `rest` begins with; an arrow is one where white space stands in front of it.
fn sign(rest: &[u8], is_tag: bool, is_apart: bool) -> Option<Sign> {
    let (length, stands) = match rest {
        [b':', b':', ..] => return None,
        // Code compares with names.
        [b'=', b'=', b'=', ..] => (3, Stands::InText),
        [b'=', b'=', ..] => (2, Stands::InText),
        [b':', b'=', ..] | [b'=', b'>' | b'~', ..] => (2, Stands::Alone),
        [b'=', ..] => (1, Stands::Alone),
        [b':', ..] => (1, Stands::InText),
        [b'>', ..] if is_tag => (1, Stands::Alone),
        [b'-', b'>', ..] if is_apart => (2, Stands::InText),
        [0xe2, 0x86, 0x92, ..] if is_apart => ("→".len(), Stands::InText),
        _ => return None,
    };
    Some(Sign {
        length,
        stands,
        is_tag,
    })
}

/// Behind a quote that a page has as an entity.
fn past_entity(text: &[u8], start: usize) -> usize {
    let quote = QUOTES.iter().find(|quote| text[start..].starts_with(quote));
    start + quote.map_or(0, |quote| quote.len())
}

/// What stands in an element, without what keeps it from being read.
fn kept(text: &[u8], start: usize) -> Range<usize> {
    if !text[start..].starts_with(KEPT) {
        return header::line(text, start);
    }
    let start = start + KEPT.len();
    let near = &text[start..text.len().min(start + LONG)];
    match memchr::memmem::find(near, b"]]>") {
        Some(length) => start..start + length,
        None => header::line(text, start),
    }
}

/// Whether it stands between two strings, of which the first one ends with a name and a colon.
fn is_between(text: &[u8]) -> bool {
    let is_sign = |byte: &u8| matches!(byte, b',' | b':' | b' ' | b'[' | b']' | b'{' | b'}');
    !text.is_empty() && text.iter().all(is_sign)
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The first byte from `at` on that is none of those, if they are few.
pub(super) fn skip(text: &[u8], at: usize, is_one: fn(u8) -> bool) -> usize {
    let at = at.min(text.len());
    let near = text[at..].iter().take(SPACE);
    at + near.take_while(|byte| is_one(**byte)).count()
}

// The type of a variable between its name and its value.
//
// ```text
//  password: &str = "this"      var password string = "this"      char password[] = "this"
// ```

const TYPE: usize = 48;

/// One of these is in the name of each type that holds a text.
const TEXTS: [&str; 5] = ["str", "char", "bytes", "any", "text"];

/// Where the equals sign stands behind a type that begins at `at`, if a value in quotes follows.
fn past(text: &[u8], at: usize) -> Option<usize> {
    let near = text.get(at..text.len().min(at + TYPE))?;
    let begins = near
        .first()
        .filter(|first| first.is_ascii_alphabetic() || matches!(first, b':' | b'[' | b'?' | b'!'));
    begins?;
    let sign = memchr::memchr(b'=', near)?;
    let after = near[sign + 1..].trim_ascii_start();
    let after = after.strip_prefix(b"\\").unwrap_or(after);
    let is_quoted = matches!(after.first(), Some(b'"' | b'\'' | b'`'));
    (is_quoted && is_type(&near[..sign])).then_some(at + sign)
}

/// Whether it is a type, with what stands in front of one.
fn is_type(said: &[u8]) -> bool {
    let said = said.trim_ascii_end();
    if let Some(length) = said.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")) {
        return length.iter().all(u8::is_ascii_digit);
    }
    let said = said
        .strip_prefix(b"?")
        .or(said.strip_prefix(b"!"))
        .unwrap_or(said);
    let said = said.strip_prefix(b":").unwrap_or(said).trim_ascii_start();
    let said = said.strip_prefix(b"&").unwrap_or(said);
    let said = said.strip_prefix(b"'static ").unwrap_or(said);
    let of_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:<>[]|?".contains(byte);
    let small = String::from_utf8_lossy(said).to_ascii_lowercase();
    said.iter().all(of_type) && TEXTS.iter().any(|text| small.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value in a text, whose name is the first `password` in it.
    fn value(text: &str) -> Option<&str> {
        let small = text.to_ascii_lowercase();
        let start = small.find("password").unwrap();
        let beside = of(text.as_bytes(), &(start..start + 8), Class::Password)?;
        beside.one.map(|(span, _)| &text[span])
    }

    #[test]
    fn what_stands_around_a_value_is_no_part_of_it() {
        for text in [
            "password: !!str Zx9kQ",
            "password: &pw Zx9kQ",
            "password: &pw !!str Zx9kQ",
            "<password><![CDATA[Zx9kQ]]></password>",
            "password=&quot;Zx9kQ&quot;",
            "- name: PASSWORD\n  value: Zx9kQ",
            "<add key=\"Password\" value=\"Zx9kQ\"/>",
            "<p name=\"password\">Zx9kQ</p>",
            "{\"name\":\"password\",\"value\":\"Zx9kQ\"",
            "password                              : Zx9kQ",
            "password for ada: Zx9kQ",
            "**password**: Zx9kQ",
            "**password:** Zx9kQ",
            "password: “Zx9kQ”",
            "password = „Zx9kQ“",
            "password: «Zx9kQ»",
            "password -> Zx9kQ",
            "password →  Zx9kQ",
            "password: String = \"Zx9kQ\";",
            "char password[] = \"Zx9kQ\";",
            "password: Some(\"Zx9kQ\")",
        ] {
            assert_eq!(value(text), Some("Zx9kQ"), "{text}");
        }
    }
}

#[cfg(test)]
mod typed_tests {
    use super::*;

    #[test]
    fn types_of_texts_stand_in_front_of_a_value() {
        for text in [
            ": String = \"a\"",
            ": &str = \"a\"",
            ": &'static str = \"a\"",
            "?: string = 'a'",
            ": Optional[str] = \\\"a\\\"",
            "string = \"a\"",
            "[] = \"a\"",
            "[32]=\"a\"",
        ] {
            assert_eq!(past(text.as_bytes(), 0), text.find('='), "{text}");
        }
        for text in [
            ": invalid, user = \"a\"",
            ": expired user = \"a\"",
            ": u32 = \"a\"",
            ": String == \"a\"",
            ": String = a",
            "[i] = \"a\"",
            "",
        ] {
            assert_eq!(past(text.as_bytes(), 0), None, "{text}");
        }
    }
}
