//! Secrets in URLs, in front of their hosts.

use super::encodings::{Code, Layer};
use super::entropy::is_random;
use super::extent::{leading, near};
use super::names::Class;
use super::policy::id;
use super::text::Scan;
use super::token;
use super::token::Kind;
use super::value::{Bond, fits};
use std::ops::Range;

/// Bytes that are looked at: no host stands behind more.
const NEAR: usize = 1024;

/// A token that stands alone is at least so long.
const TOKEN: usize = 16;

/// Finds what stands in front of the host of a URL whose scheme ends before `start`.
pub(super) fn find(scan: &mut Scan<'_>, start: usize) {
    let Some(secret) = secret(near(scan.text, start, NEAR)) else {
        return;
    };
    let secret = secret.start + start..secret.end + start;
    let layer = Layer::of(Code::Percent, &scan.text[secret.clone()]);
    let mark = scan.found.hits.len();
    scan.add(secret, (id::URL, Kind::Secret));
    // What is meant stands elsewhere as it is.
    let plain = layer.map(|layer| Box::<[u8]>::from(layer.text));
    if let Some(plain) = plain.filter(|plain| !scan.policy.allow.contains(plain)) {
        for hit in &mut scan.found.hits[mark..] {
            hit.plain = Some(plain.clone());
        }
        scan.found.plain.push((plain, Kind::Secret));
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
