//! Where something is, which is no secret: a file, a page.

use super::dense;

/// Whether it is where a file is, as people name files.
pub(super) fn is_path(value: &str) -> bool {
    let of_path = |char: char| char.is_ascii_alphanumeric() || "._-/\\~: ".contains(char);
    let is_begun = is_absolute(value) || ["~/", "./", "../"].iter().any(|it| value.starts_with(it));
    is_begun && value.len() > 3 && value.chars().all(of_path) && dense::rows(value).next().is_none()
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
