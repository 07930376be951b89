//! Hostile text, widths, sizes and durations in words.
