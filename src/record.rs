//! One session being recorded.
