//! The man in the middle: it moves bytes.

pub mod spool;
