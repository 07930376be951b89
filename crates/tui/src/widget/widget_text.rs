//! The content of a string, in full.
//!
//! JSON within a string becomes a tree, base64 is described rather than shown, and anything else
//! is text with its real line feeds.

use super::tree::{Limit, Tree};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::fmt;

#[derive(Clone, Debug)]
pub enum Content {
    Json(Box<Tree>),
    Binary(Binary),
    /// Text, to be shown with [`Controls::Read`](super::raw::Controls::Read).
    Text(String),
}

/// The kind of content that a string is expected to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Any content: base64 is recognised by what it decodes to.
    Anything,
    Base64,
}

impl Content {
    pub fn of(text: String, expect: Expect) -> Self {
        if let Some(tree) = json(&text) {
            return Self::Json(Box::new(tree));
        }
        match Binary::describe(&text, expect) {
            Some(binary) => Self::Binary(binary),
            None => Self::Text(text),
        }
    }
}

/// The tree of an object or array that holds something, and is nothing but JSON.
fn json(text: &str) -> Option<Tree> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let tree = Tree::read(text.as_bytes().into(), Limit::PAGE)?;
    (tree.stopped().is_none() && tree.nodes() > 1).then_some(tree)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The media type as the first bytes tell it; none if they do not.
    pub mime: Option<&'static str>,
    pub size: u64,
    /// Width and height of an image, in pixels, where the first bytes tell them.
    pub pixels: Option<(u32, u32)>,
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
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyp", "video/mp4"),
    (0, b"<svg", "image/svg+xml"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"\0asm", "application/wasm"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
];

impl Binary {
    /// The data that `text` decodes to, if it is base64 (also of a `data:` URI). Without being told to
    /// expect it, only what begins like data of a known kind counts.
    fn describe(text: &str, expect: Expect) -> Option<Self> {
        let (text, expect) = match text.strip_prefix("data:") {
            Some(uri) => (uri.split_once(";base64,")?.1, Expect::Base64),
            None => (text, expect),
        };
        let data = text.trim_ascii().trim_end_matches('=');
        if data.len() % 4 == 1 || !data.bytes().all(is_base64) {
            return None;
        }
        let looked_at = &data.as_bytes()[..data.len().min(LOOKED_AT)];
        let looked_at: Vec<u8> = looked_at.iter().copied().map(standard).collect();
        let bytes = STANDARD_NO_PAD.decode(looked_at).ok()?;
        let mime = mime(&bytes);
        let certain = mime.is_some() && data.len() >= SHORTEST;
        if !certain && (expect == Expect::Anything || data.is_empty()) {
            return None;
        }
        Some(Self {
            mime,
            size: data.len() as u64 * 3 / 4,
            pixels: pixels(&bytes),
        })
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mime.unwrap_or("data of an unknown kind"))?;
        if let Some((width, height)) = self.pixels {
            write!(f, ", {width} × {height} pixels")?;
        }
        write!(f, ", {}", mcpreel_wire::text::size(self.size))
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The same digit in the alphabet that is not made for URLs.
fn standard(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

fn mime(bytes: &[u8]) -> Option<&'static str> {
    let begins =
        |at: usize, with: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(with));
    let found = BEGINNINGS.iter().find(|(at, with, _)| begins(*at, with));
    found.map(|&(_, _, mime)| mime)
}

fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG") && bytes.get(12..16) == Some(b"IHDR") {
        let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        return Some((number(16)?, number(20)?));
    }
    if bytes.starts_with(b"GIF8") {
        let number = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        return Some((number(6)?.into(), number(8)?.into()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Content {
        Content::of(text.to_owned(), Expect::Anything)
    }

    #[test]
    fn json_in_a_string_is_a_tree() {
        let Content::Json(tree) = of(" {\"a\":[1,2]}\n") else {
            panic!("no tree");
        };
        assert_eq!(tree.rows(), 3);
    }

    #[test]
    fn what_only_looks_like_json_is_text() {
        for text in ["{}", "[INFO] up", "{\"a\":1} and more", "[1,", "7", ""] {
            assert!(
                matches!(of(text), Content::Text(same) if same == text),
                "{text}"
            );
        }
    }
}

#[cfg(test)]
mod binary_tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    fn png() -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06".to_vec();
        png.resize(1000, 0xff);
        png
    }

    #[test]
    fn an_image_is_described() {
        for text in [
            STANDARD.encode(png()),
            URL_SAFE_NO_PAD.encode(png()),
            format!("data:image/png;base64,{}", STANDARD.encode(png())),
        ] {
            let binary = Binary::describe(&text, Expect::Anything).unwrap();
            assert_eq!(binary.mime, Some("image/png"));
            assert_eq!(binary.size, 1000);
            assert_eq!(binary.to_string(), "image/png, 640 × 480 pixels, 1.0 kB");
        }
    }

    #[test]
    fn words_are_no_data_unless_said_so() {
        let hash = "a".repeat(64);
        assert_eq!(Binary::describe(&hash, Expect::Anything), None);
        let expected = Binary::describe(&hash, Expect::Base64).unwrap();
        assert_eq!((expected.mime, expected.size), (None, 48));
        for text in ["", "hello world", "héllo", "data:text/plain,hi"] {
            assert_eq!(Binary::describe(text, Expect::Base64), None, "{text}");
        }
    }
}
