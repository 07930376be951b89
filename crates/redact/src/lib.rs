//! What may leave: secrets are found in what was said, and tokens stand in their place.
//!
//! ```text
//!  first pass    frames, events, start, notes ──▶ Learner ──▶ values that are secret, numbered
//!                                                    │ finish
//!  second pass   the same ──────────────────────▶ Redactor ──▶ the same with ‹secret:1›, and a Report
//! ```
//!
//! * [`Policy`]: what counts as secret: [`Rule`]s, each with samples of its own, and what a user adds;
//! * [`Learner`]: goes over a whole session and learns exact values: what is a secret in one place
//!   is one wherever it appears again;
//! * [`Redactor`]: puts tokens in their place, message by message; a viewer may show one with what
//!   was learned so far, and go back to learning with [`Redactor::resume`];
//! * [`Report`]: what was replaced where, by which rule, never the value;
//! * [`token`]: the placeholders of values.
//!
//! Frames are looked at as what they mean: a JSON message by its keys and strings, JSON within its
//! strings, base64 and percent-encoding within those; anything else as text. All bytes but those
//! replaced stay as they are. A value has one token wherever it stands, and two values have two:
//! pairing, comparing and replaying work as before. An encoded form of a value gets a token of its
//! own with the same number. Numbers are given in the order in which values are recognised; those of
//! tokens that stood there before are left out.
//!
//! Work is linear in what is read, and memory bounded: [`MOST_VALUES`] are looked for, and whatever
//! is beyond a limit is in the report.

mod bind;
mod columns;
mod encodings;
mod entropy;
mod extent;
mod find;
mod json;
mod known;
mod names;
mod policy;
mod redactor;
mod report;
mod rest;
mod ruleset;
mod sentence;
mod shapes;
mod text;
pub mod token;
mod value;

pub use find::is_readable;
pub use known::{MOST_BYTES, MOST_VALUES};
pub use policy::{Policy, PolicyError, Settings};
pub use redactor::{Learner, Redactor};
pub use report::{Left, Place, Replaced, Report};
pub use ruleset::{OPTIONAL, Rule, SPECIAL, all as rules, sample};
pub use token::Mark;

/// The limits of redaction, for the help and every report.
pub const LIMITS: &str = "\
What it cannot promise: a secret is found by its shape, by the name of what holds it, or because \
it was found elsewhere in the same session. One without a name and without a known shape stays, \
and so does one that is encoded otherwise than as base64, percent-encoding or JSON (in hex digits \
it is found where it is known from elsewhere), compressed, encrypted, cut in pieces, in a picture, \
or said in other words. Names, sizes, times and order stay, and so do numbers that are ids, counts \
or codes, even where the same number is a secret. Look through what you hand on.";

#[cfg(test)]
mod redact_tests;
