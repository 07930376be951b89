//! What YAML says about a value in front of it.

use super::value::{is_space, skip};

/// Bytes of one that is looked at.
const NEAR: usize = 128;

/// Behind what YAML says about a value in front of it, `!!str` and `&anchor`; and whether that says
/// that it only tells where the value comes from.
pub(super) fn past_tags(text: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut is_reference) = (start, false);
    for _ in 0..2 {
        let near = &text[at.min(text.len())..text.len().min(at + NEAR)];
        let end = near.iter().position(u8::is_ascii_whitespace);
        let Some(word) = end.map(|end| &near[..end]).filter(|word| is_tag(word)) else {
            break;
        };
        let next = skip(text, at + word.len(), is_space);
        is_reference |= word.starts_with(b"!") && !word.starts_with(b"!!");
        at = next;
    }
    (at, is_reference)
}

/// Whether a word is what YAML calls a tag or an anchor.
fn is_tag(word: &[u8]) -> bool {
    let of_name =
        |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'/' | b':');
    let ([b'!', b'!', name @ ..] | [b'!' | b'&', name @ ..]) = word else {
        return false;
    };
    !name.is_empty() && name.iter().all(of_name)
}
