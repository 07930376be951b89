//! Pieces of drawing that know nothing of recordings.

pub mod bars;
pub mod frame;
pub mod table;
