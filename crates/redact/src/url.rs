//! Secrets in URLs, in front of their hosts.

use super::encodings::Layer;
use super::find::Finder;
use super::names::Class;
use super::plausible::{Stands, fits, looks_random};
use super::policy::id;
use super::report::Found;
use super::token::Kind;
use super::{entropy, token};
use std::ops::Range;

/// Bytes that are looked at: no host stands behind more.
const NEAR: usize = 1024;

/// A token that stands alone is at least so long.
const TOKEN: usize = 16;

/// Finds what stands in front of the host of a URL whose scheme ends before `start`.
pub(super) fn find(finder: &Finder<'_>, text: &[u8], start: usize, found: &mut Found) {
    let near = &text[start..text.len().min(start + NEAR)];
    if let Some(span) = secret(near) {
        let span = span.start + start..span.end + start;
        let layer = Layer::unpercented(&text[span.clone()]);
        let mark = found.hits.len();
        finder.add(text, span, id::URL, found);
        // What is meant stands elsewhere as it is.
        let plain = layer.map(|layer| Box::<[u8]>::from(layer.text));
        if let Some(plain) = plain.filter(|plain| !finder.policy.allow.contains(plain)) {
            for hit in &mut found.hits[mark..] {
                hit.plain = Some(plain.clone());
            }
            found.plain.push((plain, Kind::Secret));
        }
    }
}

fn secret(near: &[u8]) -> Option<Range<usize>> {
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`');
    let all = &near[..near.iter().position(ends).unwrap_or(near.len())];
    let authority = all
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'));
    let authority = &all[..authority.unwrap_or(all.len())];
    let (user, host) = match memchr::memrchr(b'@', authority) {
        Some(at) => (&authority[..at], at + 1),
        None => slashed(all)?,
    };
    all.get(host).filter(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'$' | b'{' | b'%' | b'_')
    })?;
    if token::is_one(user) {
        return None;
    }
    let span = match memchr::memchr(b':', user) {
        Some(colon) => colon + 1..user.len(),
        None => 0..user.len(),
    };
    let value = String::from_utf8_lossy(&user[span.clone()]);
    let is_token = span.start > 0 || value.len() >= TOKEN && looks_random(&value);
    (is_token && fits(Class::Password, &value, Stands::Alone)).then_some(span)
}

/// A password with a slash in it, which should have been encoded.
fn slashed(all: &[u8]) -> Option<(&[u8], usize)> {
    let at = memchr::memchr(b'@', all)?;
    let colon = memchr::memchr(b':', &all[..at])?;
    let password = &all[colon + 1..at];
    let until = password
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'))?;
    // A port, and a path in which the sign is a letter like others.
    let is_port = password[..until].iter().all(u8::is_ascii_digit);
    let is_user = !all[..colon]
        .iter()
        .any(|byte| matches!(byte, b'/' | b'.' | b'?'));
    (!is_port && is_user).then_some((&all[..at], at + 1))
}

// Where something is, which is no secret: a file, a page.

/// Whether it is where a file is, as people name files.
pub(super) fn is_path(value: &str) -> bool {
    let of_path = |char: char| char.is_ascii_alphanumeric() || "._-/\\~: ".contains(char);
    let is_begun = is_absolute(value) || ["~/", "./", "../"].iter().any(|it| value.starts_with(it));
    is_begun
        && value.len() > 3
        && value.chars().all(of_path)
        && entropy::rows(value).next().is_none()
}

/// Whether it is a path from a root on.
pub(super) fn is_absolute(value: &str) -> bool {
    let is_drive = |value: &str| {
        let mut bytes = value.bytes();
        let is_letter = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
        is_letter && bytes.next() == Some(b':') && matches!(bytes.next(), Some(b'/' | b'\\'))
    };
    value.starts_with('/') || is_drive(value)
}

/// Whether it is where something is told, and nothing is said in front of its host.
pub(super) fn is_link(value: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|it| value.starts_with(it))
        && !value.contains('@')
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
