//! Pieces of drawing that know nothing of recordings.

pub mod cursor;
pub mod frame;
pub mod pager;
pub mod raw;
pub mod spans;
pub mod table;
pub mod tree;
pub mod tree_line;
