//! What leaves a recording: cassettes, the page in a browser, and nothing that is secret.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod cassette;
#[cfg(feature = "long-tests")]
mod page;
mod redact;
