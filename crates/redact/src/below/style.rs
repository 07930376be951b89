//! How values stand below their name, told by what follows it on its line.

use super::past;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// All lines are the value: `|`, `>`.
    Block,
    /// The same up to the line that is this word: `<<END`.
    Until([u8; 16]),
    Lines,
    Members,
}

/// How values stand below what is all that follows a name.
pub(super) fn style(said: &[u8], sign: u8) -> Option<Style> {
    if said.is_empty() || said.starts_with(b"#") {
        return Some(Style::Lines);
    }
    if let Some(word) = said.strip_prefix(b"<<") {
        let word = word
            .strip_prefix(b"-")
            .or(word.strip_prefix(b"~"))
            .unwrap_or(word);
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let word = word.trim_ascii();
        let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"');
        let quoted = word.len() > 1 && word.iter().step_by(word.len() - 1).all(is_quote);
        let word = if quoted {
            &word[1..word.len() - 1]
        } else {
            word
        };
        let mut until = [0; 16];
        let is_one = !word.is_empty() && word.iter().all(is_of_word);
        until.get_mut(..word.len())?.copy_from_slice(word);
        return is_one.then_some(Style::Until(until));
    }
    let rest = said.strip_prefix(b"|").or(said.strip_prefix(b">"))?;
    let rest = &rest[past(rest, 0, b"+-0123456789 \t")..];
    let is_block = sign == b':' && (rest.is_empty() || rest.starts_with(b"#"));
    is_block.then_some(Style::Block)
}

/// A word without what fills the rest of its place.
pub(super) fn bare_word(word: &[u8; 16]) -> &[u8] {
    let end = word.iter().position(|byte| *byte == 0);
    &word[..end.unwrap_or(word.len())]
}
