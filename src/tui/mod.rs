//! The viewer.

pub mod widget;
