//! Secrets in a text: by shape, by name, in URLs, in private keys, by the user's own patterns.

use super::bind;
use super::encodings::{self, Code};
use super::entropy;
use super::extent::{LONG, behind_scheme, leading, lossy, near, regex, trailing, within};
use super::names::{Class, LONGEST, Name, is_of_name, is_of_word};
use super::policy::{Notice, Policy, Sign, id};
use super::report::Found;
use super::shapes::{self, LEAD};
use super::token::Kind;
use super::value::{Bond, fits, is_cookie, is_placeholder};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Words of a name: `one time code`.
const WORDS: usize = 3;

/// Bytes behind a name in which something tells that it has a value.
const NEAR: usize = 192;

/// Pieces of one value that are looked for elsewhere as well.
const PIECES: usize = 64;

/// A text that is gone through, and how far it has been looked at for what, so that nothing is looked
/// at again and again.
pub(super) struct Scan<'s> {
    pub policy: &'s Policy,
    pub text: &'s [u8],
    pub found: &'s mut Found,
    /// Where what was last found of each shape ends, and the last name.
    pub shapes: Vec<usize>,
    name: usize,
    /// How far a private key goes that was found, and whether one has no end.
    pub key: (usize, bool),
}

/// Finds all there is in a text as it stands; the codes in which there may be more.
pub(super) fn scan(policy: &Policy, text: &[u8], found: &mut Found) -> Vec<Code> {
    let (mut codes, mut names) = (Vec::new(), Vec::new());
    let mut scan = Scan::new(policy, text, found);
    for Sign { notice, start, end } in policy.signs(text) {
        match notice {
            Notice::Shape(number) => shapes::find(&mut scan, number, start),
            Notice::Name => names.push(start..end),
            Notice::Url => shapes::find_in_url(&mut scan, end),
            Notice::Pem => shapes::find_key(&mut scan, start),
            Notice::Code(code) if !codes.contains(&code) => codes.push(code),
            Notice::Code(_) | Notice::Message => {}
        }
    }
    // Most words that are names are words of a sentence.
    let mut odd = 0;
    names.dedup_by_key(|word: &mut Range<usize>| word.end);
    if names
        .iter()
        .any(|word| may_have_value(text, word.clone(), &mut odd))
    {
        let found = names.into_iter();
        let found = found.filter_map(|word| name_ending_at(policy, text, word));
        let mut found = found.peekable();
        while let Some(name) = found.next() {
            // `the passphrase of my SSH key is`
            let next = found
                .peek()
                .filter(|next| !matches!(next.class, Class::Many | Class::Variable))
                .filter(|next| !is_owner(text, next));
            let next = next.map_or(text.len(), |next| next.span.start);
            scan.name(&name, next);
        }
    }
    for (rule, regex) in &policy.extra {
        for captures in regex.captures_iter(text) {
            if let Some(secret) = captures.get(1).or_else(|| captures.get(0)) {
                found.add(policy, text, secret.range(), (*rule, Kind::Secret));
            }
        }
    }
    codes
}

/// Whether something is likely where a sign stands. Says yes too often, never no where there is
/// something.
pub(super) fn is_likely(policy: &Policy, raw: &[u8], sign: &Sign, odd: &mut usize) -> bool {
    let Sign { notice, start, end } = *sign;
    match notice {
        // In a frame its quotes and newlines are escaped, and a quote may stand before it.
        Notice::Shape(number) => {
            let around = near(raw, start.saturating_sub(LEAD), LEAD + NEAR);
            around.contains(&b'\\')
                || policy.shapes[number].rule.lead.has(b'"')
                || shapes::at(policy, raw, number, start).is_some()
        }
        // Some words are only the last one of a name: `id` of `session id`.
        Notice::Name => {
            may_have_value(raw, start..end, odd)
                && (raw[start..end].eq_ignore_ascii_case(b"key")
                    || name_ending_at(policy, raw, start..end).is_some())
        }
        Notice::Url => shapes::may_have_user(&raw[end..]),
        Notice::Code(Code::Percent) => encodings::percent(&raw[start..]).is_some(),
        Notice::Code(_) | Notice::Pem | Notice::Message => true,
    }
}

/// Whether a name only says of what another one is: `of my SSH key`.
fn is_owner(text: &[u8], name: &Name) -> bool {
    let before = text[..name.span.start].trim_ascii_end();
    [&b" of my"[..], b" of the", b" of"]
        .iter()
        .any(|of| before.ends_with(of))
}

/// Whether a byte is of a sentence: a letter, or a sign between words.
fn is_of_sentence(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b" ,.\r\t;()-_/".contains(&byte)
}

/// Whether something that a value needs follows a name: a sign or a quote right behind it, or in the words
/// that follow a digit or a sign that no sentence has. Most words that are names are words of a sentence:
/// to ask this first is cheap. `odd` is where the next such sign was seen.
fn may_have_value(text: &[u8], Range { start, end }: Range<usize>, odd: &mut usize) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_digit() || b"sS_-".contains(&byte);
    let rest = near(text, end, NEAR);
    let rest = &rest[leading(&rest[..rest.len().min(6)], is_of_name)..];
    match rest.first() {
        None => false,
        Some(b' ' | b'\t' | b',' | b'.') => {
            let from = end + near(text, end, NEAR).len() - rest.len();
            if *odd < from {
                *odd = from + leading(&text[from..], is_of_sentence);
            }
            let before = &text[start.saturating_sub(LONGEST)..start];
            let name = before.len() - trailing(before, is_of_name);
            *odd < end + NEAR && *odd < text.len()
                || before[name..].starts_with(b"-")
                || memchr::memmem::find(before, b" as ").is_some()
        }
        Some(byte) => !byte.is_ascii_alphanumeric() || end + NEAR > text.len(),
    }
}

impl<'s> Scan<'s> {
    fn new(policy: &'s Policy, text: &'s [u8], found: &'s mut Found) -> Self {
        Self {
            policy,
            text,
            found,
            shapes: vec![0; policy.shapes.len()],
            name: 0,
            key: (0, false),
        }
    }

    pub fn add(&mut self, span: Range<usize>, rule: (usize, Kind)) {
        self.found.add(self.policy, self.text, span, rule);
    }

    /// Finds the values of a name, unless it was looked at. The next one is at `next`: what stands behind
    /// that in a sentence belongs to it.
    fn name(&mut self, name: &Name, next: usize) {
        let (policy, text) = (self.policy, self.text);
        if name.span.end <= self.name {
            return;
        }
        self.name = name.span.end;
        let (before, called) = (&text[..name.span.start], &text[name.span.clone()]);
        // The word of a token that stands there already; a name in the path of another one:
        // `AWS::ApiGateway::ApiKey`; `${PASSWORD:?message}`
        let opens = "‹".as_bytes();
        let is_token = before.ends_with(opens) || called.starts_with(opens);
        let after = &text[name.span.end..];
        if is_token
            || before.ends_with(b"::")
            || after.starts_with(b"::")
            || after.starts_with(b":?")
        {
            return;
        }
        let mark = self.found.hits.len();
        for value in bind::values(text, name, next) {
            if value.span.len() >= LONG {
                // To look at all of it again for each name in it would take its square.
                self.name = value.span.end;
            }
            let class = value.class.unwrap_or(name.class);
            add((policy, text), value.span, (class, value.bond), self.found);
        }
        if self.found.hits.len() == mark {
            return;
        }
        // A name in which something is secret is not told.
        let mut inside = Found::default();
        scan(policy, called, &mut inside);
        if inside.hits.is_empty() {
            let key = lossy(text, &name.span);
            for hit in &mut self.found.hits[mark..] {
                hit.key = key.trim_start_matches('-').into();
            }
        }
    }
}

/// The name whose last word is at `word`, if one ends there: trailing digits and a plural s belong to it.
fn name_at(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let next = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let mut end = word.end + usize::from(b"sS".contains(&next(word.end)));
    let counted = end + usize::from(b"_-".contains(&next(end)));
    let digits = leading(near(text, counted, 4), |byte| byte.is_ascii_digit());
    if digits > 0 {
        end = counted + digits;
    }
    let goes_on = is_of_word(next(end)) && word.end > 0 && text[word.end - 1].is_ascii()
        || b"-.".contains(&next(end)) && is_of_name(next(end + 1));
    let start = begin(text, word.start);
    (!goes_on && end - start <= LONGEST).then_some(start..end)
}

/// Where the name begins of which something stands at `end`: letters of any script belong to it.
fn begin(text: &[u8], end: usize) -> usize {
    let before = &text[end.saturating_sub(LONGEST)..end];
    let of_name = |byte: u8| is_of_name(byte) || byte == b'.' || !byte.is_ascii();
    let before = &before[before.len() - trailing(before, of_name)..];
    if before.is_ascii() {
        return end - before.len();
    }
    // The last letters that are none of a broken sign.
    let of_name = |char: &char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
    let said = before.utf8_chunks().last();
    let said = said.filter(|chunk| chunk.invalid().is_empty());
    let letters = said.map_or("", |chunk| chunk.valid()).chars().rev();
    end - letters
        .take_while(of_name)
        .map(char::len_utf8)
        .sum::<usize>()
}

/// The name that ends with `word`, and what it says: a word, or several that make a name together.
fn name_ending_at(policy: &Policy, text: &[u8], word: Range<usize>) -> Option<Name> {
    let mut span = name_at(text, word)?;
    let last = span.clone();
    for count in 0..WORDS {
        let spelled = String::from_utf8_lossy(&text[span.clone()]);
        let is_escaped = span.start > 0 && text[span.start - 1] == b'\\';
        let without = spelled.get(1..).filter(|_| is_escaped);
        let class = policy.class(&spelled);
        if let Some(class) = class.or_else(|| policy.class(without?)) {
            let is_phrase = count > 0;
            let class = match class {
                Class::Key if is_phrase => Class::Token,
                class => class,
            };
            return Some(Name {
                span,
                class,
                is_phrase,
            });
        }
        // Of several words only the last one may stand behind a colon or a full stop.
        let before = &text[..span.start];
        let before = before
            .strip_suffix(b" ")
            .or_else(|| before.strip_suffix(b"'"))?;
        let start = begin(before, before.len());
        if start == before.len() {
            return None;
        }
        span = start..last.end;
    }
    None
}

/// A cookie, or a parameter of a scheme.
static PARAMETER: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?-u)([^=;,]+)=["\s]*([^;,"\s=][^;,"\s]*)"#));

/// Adds a value with such a name, if it is one: of a header what stands behind its scheme, or those of its
/// cookies and parameters that tell who asks; of a user and a password the latter.
pub(super) fn add(
    (policy, text): (&Policy, &[u8]),
    span: Range<usize>,
    (mut class, bond): (Class, Bond),
    found: &mut Found,
) {
    let mut span = within(text, span, |byte| byte.is_ascii_whitespace());
    let rule = (id::NAME, Kind::Secret);
    if matches!(class, Class::Header | Class::Pair) {
        let proof = behind_scheme(text, span.clone());
        span = if proof.is_empty() { span } else { proof };
    }
    if class == Class::Header {
        let mut has_parameters = false;
        for parameter in PARAMETER.captures_iter(&text[span.clone()]) {
            has_parameters = true;
            let [name, value] =
                [1, 2].map(|group| parameter.get(group).map_or(0..0, |one| one.range()));
            let [name, value] = [name, value].map(|at| span.start + at.start..span.start + at.end);
            if is_cookie(&lossy(text, &name), &lossy(text, &value)) {
                found.plain.push((text[value.clone()].into(), Kind::Secret));
                found.add(policy, text, value, rule);
            }
        }
        if has_parameters {
            return;
        }
    }
    if class == Class::Pair {
        let said = &text[span.clone()];
        let of_user = |byte: &u8| is_of_name(*byte) || matches!(byte, b'.' | b'@');
        let colon = memchr::memchr(b':', said).filter(|at| said[..*at].iter().all(of_user));
        if let Some(colon) = colon.filter(|at| !said[*at..].starts_with(b"://")) {
            (span.start, class) = (span.start + colon + 1, Class::Password);
        }
    }
    let value = lossy(text, &span);
    if !fits(class, &value, bond) {
        return;
    }
    // Random parts of a list, or of what else stands there, are secret alone too.
    let is_example = is_placeholder(&value);
    let parts = value.split(|char: char| {
        ",;:| \n\t".contains(char) || is_example && !char.is_ascii_alphanumeric()
    });
    let parts = parts.filter(|part| part.len() < value.len() && entropy::is_dense(part));
    let plain = parts
        .take(PIECES)
        .map(|part| (part.as_bytes().into(), Kind::Secret));
    found.plain.extend(plain);
    found.add(policy, text, span, rule);
}
