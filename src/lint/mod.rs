//! What is wrong. Pure.
