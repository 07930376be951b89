//! Recordings on disk: where they live, how they are written, read, followed and recovered.
//!
//! ```text
//!  NAME.spool ──▶ indexer ──▶ NAME.reel ──▶ reader · follow ──▶ who shows it
//!      │                          ▲
//!      └─────▶ recovery ──────────┘   library: the folder of all of them
//! ```
//!
//! * [`schema`]: the tables of a recording, its format version and the migrations, and how
//!   values stand in columns;
//! * [`open`]: opens a recording to read it, or says in one sentence why it cannot be read;
//! * [`record`]: records a session; [`indexer`]: drains its spool into a recording: frames, and all
//!   that is derived from them, which it also derives anew;
//!   [`recovery`]: completes a recording whose recorder has gone;
//! * [`library`]: the folder of recordings: names, list, selectors, retention;
//! * [`reader`]: read-only access to one recording; [`follow`]: what is new in one that grows;
//! * queries by table: [`exchanges`], [`findings`], [`notices`] (messages that stand beside the
//!   exchanges, and which frames answer which), [`annotate`] (marks and notes);
//! * queries for a purpose: [`select`]: which rows fit a filter; [`text_search`]: text in bytes;
//!   [`story`]: all about one exchange; [`facts`]: what is known when a cause is looked for;
//!   [`state_at`]: what was true at a frame.
//!
//! The bytes of the frames, the events and the annotations are the truth. Everything else in a
//! recording is derived from them by pure code and carries [`schema::DERIVED_VERSION`].
//! SQL stands in this module only, as constants with bound parameters.

pub mod annotate;
pub mod exchanges;
pub mod facts;
pub mod findings;
pub mod follow;
pub mod http;
pub mod indexer;
pub mod library;
pub mod notices;
pub mod open;
pub mod reader;
pub mod record;
pub mod recovery;
pub mod schema;
pub mod select;
pub mod state_at;
pub mod story;
pub mod text_search;

#[cfg(test)]
mod tests;

/// The tests share a file with those that see this library from outside.
#[cfg(test)]
extern crate self as mcpreel_store;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
#[expect(clippy::missing_panics_doc, reason = "only tests call it")]
pub mod written;
