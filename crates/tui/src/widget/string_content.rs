//! The content of a string, in full.
//!
//! JSON within a string becomes a tree, base64 is described rather than shown, and anything else
//! is text with its real line feeds.

use super::tree::{PAGE, Tree};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use mcpreel_wire::text::size;

#[derive(Clone, Debug)]
pub enum Content {
    Json(Box<Tree>),
    /// Base64, described: `image/png, 12 kB`.
    Binary(String),
    /// Text, to be shown with [`Controls::Read`](super::raw::Controls::Read).
    Text(String),
}

impl Content {
    /// The content of `text`. Base64 is recognised by what it decodes to, or where `is_data` says
    /// that it is expected.
    pub fn of(text: String, is_data: bool) -> Self {
        if let Some(tree) = json(&text) {
            return Self::Json(Box::new(tree));
        }
        describe(&text, is_data).map_or(Self::Text(text), Self::Binary)
    }
}

/// The tree of an object or array that holds something, and is nothing but JSON.
fn json(text: &str) -> Option<Tree> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let tree = Tree::read(text.as_bytes().into(), PAGE)?;
    (tree.stopped().is_none() && tree.nodes() > 1).then_some(tree)
}

/// Shorter texts are words more often than data.
const SHORTEST: usize = 32;

/// Characters that are decoded to look at: a multiple of four.
const LOOKED_AT: usize = 64;

/// Media types by how data begins: at which byte, with what.
const BEGINNINGS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (4, b"ftyp", "video/mp4"),
    (0, b"<svg", "image/svg+xml"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
];

/// The media type and the size of base64, also of a `data:` URI.
fn describe(text: &str, is_data: bool) -> Option<String> {
    let text = text.split_once(";base64,").map_or(text, |(_, data)| data);
    let data = text.trim_ascii().trim_end_matches('=');
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if data.is_empty() || data.len() % 4 == 1 || !data.bytes().all(is_base64) {
        return None;
    }
    let looked_at = &data.as_bytes()[..data.len().min(LOOKED_AT)];
    let bytes = STANDARD_NO_PAD.decode(looked_at).ok()?;
    let begins =
        |at: usize, with: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(with));
    let mut known = BEGINNINGS.iter();
    let mime = known.find_map(|(at, with, mime)| begins(*at, with).then_some(*mime));
    let is_sure = is_data || mime.is_some() && data.len() >= SHORTEST;
    let size = size(data.len() as u64 * 3 / 4);
    is_sure.then(|| format!("{}, {size}", mime.unwrap_or("data of an unknown kind")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_string_is_a_tree_and_what_only_looks_like_it_is_text() {
        let Content::Json(tree) = Content::of(" {\"a\":[1,2]}\n".to_owned(), false) else {
            panic!("no tree");
        };
        assert_eq!(tree.rows(), 3);
        for text in ["{}", "[INFO] up", "{\"a\":1} and more", "[1,", "7", ""] {
            let content = Content::of(text.to_owned(), false);
            assert!(
                matches!(content, Content::Text(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn data_is_described_and_words_are_no_data_unless_said_so() {
        let png = b"\x89PNG\r\n\x1a\n".repeat(125);
        let png = base64::engine::general_purpose::STANDARD.encode(png);
        for text in [&png, &format!("data:image/png;base64,{png}")] {
            assert_eq!(describe(text, false).as_deref(), Some("image/png, 1.0 kB"));
        }
        let hash = "a".repeat(64);
        assert_eq!(describe(&hash, false), None);
        assert_eq!(
            describe(&hash, true).as_deref(),
            Some("data of an unknown kind, 48 B")
        );
        for text in ["", "hello world", "héllo", "data:text/plain,hi"] {
            assert_eq!(describe(text, true), None, "{text}");
        }
    }
}
