//! The man in the middle: it moves bytes.
