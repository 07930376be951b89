//! Pieces without domain: they know bytes, rows and columns, nothing of sessions.

pub mod hex;
pub mod pieces;
pub mod raw;
pub mod text;
pub mod tree;
