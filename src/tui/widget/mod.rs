//! Pieces of drawing that know nothing of recordings.

pub mod frame;
