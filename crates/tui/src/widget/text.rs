//! What a string holds, in full.
//!
//! JSON within a string becomes a tree, base64 is described rather than shown, and anything else
//! is text with its real line feeds.
//!
//! * `binary`: what kind of data base64 is.

mod binary;

pub use binary::Binary;

use super::tree::{Limit, Tree};

#[derive(Clone, Debug)]
pub enum Content {
    Json(Box<Tree>),
    Binary(Binary),
    /// Text, to be shown with [`Controls::Read`](super::raw::Controls::Read).
    Text(String),
}

/// What is known about a string beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing: base64 is recognised by what it decodes to.
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
