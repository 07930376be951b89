//! Secrets that their shape tells: those of the rules, what stands in front of the host of a URL, and
//! private keys, in one text or in lines of which each is a frame.

use super::encodings::{Code, Layer, is_letter};
use super::entropy::is_random;
use super::extent::{leading, lossy, near, trailing};
use super::names::Class;
use super::policy::{Policy, id};
use super::text::Scan;
use super::token::{self, Kind};
use super::value::{Bond, fits, is_placeholder};
use std::ops::Range;

/// Bytes of a lead that belong to a secret.
pub(super) const LEAD: usize = 128;

/// Where something of a shape stands whose anchor begins at `at`: all of it, and its secret.
pub(super) fn at(
    policy: &Policy,
    text: &[u8],
    number: usize,
    at: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let shape = &policy.shapes[number];
    let lead = &text[at.saturating_sub(LEAD)..at];
    let start = at - trailing(lead, |byte| shape.rule.lead.has(byte));
    let before = start.checked_sub(1).map(|before| text[before]);
    if before.is_some_and(|byte| shape.rule.edge.has(byte)) {
        return None;
    }
    let captures = shape.regex().captures(&text[start..])?;
    let all = captures.get(0)?;
    let secret = captures.iter().skip(1).flatten().next().unwrap_or(all);
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    Some((shift(all.range()), shift(secret.range())))
}

/// Finds a secret of a shape whose anchor begins at `at`.
pub(super) fn find(scan: &mut Scan<'_>, number: usize, at: usize) {
    if at < scan.shapes[number] {
        return;
    }
    let Some((all, secret)) = self::at(scan.policy, scan.text, number, at) else {
        return;
    };
    scan.shapes[number] = all.end;
    let shape = &scan.policy.shapes[number];
    let value = lossy(scan.text, &secret);
    // One that only shows what such a secret looks like ends in a row of one sign.
    let after = value
        .rsplit(['-', '_', '.', '/'])
        .next()
        .unwrap_or_default();
    let is_dull = after.len() > 3 && after.bytes().all(|byte| byte == after.as_bytes()[0]);
    if shape.rule.needs.iter().all(|needs| needs.is_met(&value))
        && !is_dull
        && !is_placeholder(&value)
    {
        scan.add(secret, (shape.number, shape.rule.kind));
    }
}

/// Bytes that are looked at: no host stands behind more.
const NEAR: usize = 1024;

/// A token that stands alone is at least so long.
const TOKEN: usize = 16;

/// Finds what stands in front of the host of a URL whose scheme ends before `start`.
pub(super) fn find_in_url(scan: &mut Scan<'_>, start: usize) {
    let Some(secret) = secret(near(scan.text, start, NEAR)) else {
        return;
    };
    let secret = secret.start + start..secret.end + start;
    let mark = scan.found.hits.len();
    scan.add(secret.clone(), (id::URL, Kind::Secret));
    // What is meant stands elsewhere as it is.
    if let Some(layer) = Layer::of(Code::Percent, &scan.text[secret])
        && let Some(hit) = scan.found.hits.get_mut(mark)
        && !scan.policy.allow.contains(&*layer.text)
    {
        hit.plain = Some(layer.text.into());
    }
}

fn secret(near: &[u8]) -> Option<Range<usize>> {
    let is_inside = |byte: u8| !byte.is_ascii_whitespace() && !b"\"'<>`".contains(&byte);
    let all = &near[..leading(near, is_inside)];
    let authority = &all[..leading(all, |byte| !b"/?#\\".contains(&byte))];
    let (user, host) = match memchr::memrchr(b'@', authority) {
        Some(at) => (&authority[..at], at + 1),
        None => slashed(all)?,
    };
    let is_of_host = |byte: &&u8| byte.is_ascii_alphanumeric() || b"[${%_".contains(byte);
    all.get(host).filter(is_of_host)?;
    if token::is_one(user) {
        return None;
    }
    let span = match memchr::memchr(b':', user) {
        Some(colon) => colon + 1..user.len(),
        None => 0..user.len(),
    };
    let value = String::from_utf8_lossy(&user[span.clone()]);
    let is_token = span.start > 0 || value.len() >= TOKEN && is_random(&value);
    (is_token && fits(Class::Password, &value, Bond::Alone)).then_some(span)
}

/// A password with a slash in it, which should have been encoded.
fn slashed(all: &[u8]) -> Option<(&[u8], usize)> {
    let at = memchr::memchr(b'@', all)?;
    let colon = memchr::memchr(b':', &all[..at])?;
    let password = &all[colon + 1..at];
    let until = leading(password, |byte| !b"/?#".contains(&byte));
    // A port, and a path in which the sign is a letter like others.
    let is_port = password[..until].iter().all(u8::is_ascii_digit);
    let is_user = !all[..colon].iter().any(|byte| b"/.?".contains(byte));
    (until < password.len() && !is_port && is_user).then_some((&all[..at], at + 1))
}

/// Whether a user may stand in front of the host, behind the scheme of a URL.
pub(super) fn may_have_user(after: &[u8]) -> bool {
    let near = near(after, 0, NEAR);
    let end = leading(near, |byte| !b"\" \n".contains(&byte));
    memchr::memchr(b'@', &near[..end]).is_some()
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// Bytes between the beginning of the first line and what tells that it is a private key.
const HEADER: usize = 48;

/// Shorter words are no line of a key, unless they are its last.
const LINE: usize = 8;

/// Where the body of a key begins whose kind stands at `at`: after its first line.
fn body_at(text: &[u8], at: usize) -> Option<usize> {
    memchr::memmem::rfind(&text[at.saturating_sub(HEADER)..at], BEGIN)?;
    let dashes = memchr::memmem::find(near(text, at, HEADER), DASHES)?;
    Some(at + dashes + DASHES.len())
}

/// Finds the body of a key whose kind stands at `at`.
pub(super) fn find_key(scan: &mut Scan<'_>, at: usize) {
    let text = scan.text;
    let (until, has_no_end) = scan.key;
    let Some(start) = body_at(text, at).filter(|start| *start > until) else {
        return;
    };
    let rest = &text[start..];
    let end = if has_no_end {
        None
    } else {
        memchr::memmem::find(rest, END)
    };
    let is_of_body =
        |byte: u8| is_letter(byte) || byte.is_ascii_whitespace() || b"=\\:,".contains(&byte);
    let until = start + end.unwrap_or_else(|| leading(rest, is_of_body));
    scan.key = (until, end.is_none());
    // Without white space at its ends, spelled out or escaped.
    let lines = lines(&text[start..until]);
    let (Some((first, _)), Some((last, line))) = (lines.first(), lines.last()) else {
        return;
    };
    let body = start + first..start + last + line.len();
    let all: Vec<Box<[u8]>> = lines.iter().map(|(_, line)| (*line).into()).collect();
    let value = all.concat();
    let rule = (id::PEM, Kind::Secret);
    if value.len() >= 2 * LINE && scan.found.add_value(scan.policy, body, value.into(), rule) {
        scan.found.keys.push(all);
    }
}

/// What each line of a body has of the key, and where it begins.
fn lines(body: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at <= body.len() {
        let length = match &body[at..] {
            [b'\\', b'n' | b'r', ..] => 2,
            [b'\n', ..] | [] => 1,
            _ => 0,
        };
        if length > 0 {
            let end = at.min(body.len());
            let line = line_of_key(&body[start..end]);
            let place = |line: &[u8]| body[start..end].trim_ascii_end().len() - line.len();
            lines.extend(line.map(|line| (start + place(line), line)));
            start = at + length;
        }
        at += length.max(1);
    }
    lines
}

/// The part of a key in a line: its last word, since a logger may write something in front.
pub(super) fn line_of_key(line: &[u8]) -> Option<&[u8]> {
    let word = line.trim_ascii().rsplit(u8::is_ascii_whitespace).next()?;
    let of_key = |byte: &u8| is_letter(*byte) || *byte == b'=';
    let is_one = !word.is_empty() && word.iter().all(of_key);
    let is_alone = word.len() == line.trim_ascii().len();
    (is_one && (is_alone || word.len() >= LINE)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(after: &str) -> Option<&str> {
        secret(after.as_bytes()).map(|span| &after[span])
    }

    #[test]
    fn passwords_in_front_of_hosts_are_found() {
        assert_eq!(found("ada:hunter2@db/x"), Some("hunter2"));
        assert_eq!(found(":hunter2@cache:6379"), Some("hunter2"));
        assert_eq!(found("ada:p@ss@db"), Some("p@ss"));
        assert_eq!(found("ada:p/a?s@db/x"), Some("p/a?s"));
        assert_eq!(found("k3Jd8fLq2Wz7Xn5Rb1@host"), Some("k3Jd8fLq2Wz7Xn5Rb1"));
    }

    #[test]
    fn other_urls_are_left_alone() {
        for after in [
            "github.com/a",
            "git@github.com:a/b",
            "host:8080/@scope/x",
            "host/a:b@c",
            "user:password@host",
            "ada:${PASSWORD}@db",
            "ada:<pass>@db",
            "‹secret:64›@git.internal/a/b",
            "ada:‹secret:1›@db",
            "registry.npmjs.org/@scope/package",
            "ada@host",
            "a:b@ c",
        ] {
            assert_eq!(found(after), None, "{after}");
        }
    }
}
