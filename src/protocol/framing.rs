//! Cutting a stream of bytes into lines.
