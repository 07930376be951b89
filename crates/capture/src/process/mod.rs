//! The server as a process: what it was started with, its start, signals, its end, and who outlives
//! it.

pub mod context;
pub mod descriptors;
pub mod ending;
pub mod inspect;
pub mod signals;
pub mod spawn;
