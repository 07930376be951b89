//! Recordings on disk: where they live, how they are written, read, followed and recovered.
//!
//! ```text
//!  NAME.spool ──▶ indexer ──▶ NAME.reel ──▶ reader · tail ──▶ who shows it
//!      │                          ▲
//!      └─────▶ recovery ──────────┘   library: the folder of all of them
//! ```
//!
//! * [`schema`]: the tables of a recording, its format version and the migrations;
//! * [`open`]: opens a recording to read it, or says in one sentence why it cannot be read;
//! * [`values`]: how the values of a recording stand in its columns;
//! * [`indexer`]: drains a spool into a recording: frames, and all that is derived from them;
//! * [`reindex`]: rebuilds what is derived, by the same code;
//! * [`recovery`]: completes a recording whose recorder has gone;
//! * [`library`]: the folder of recordings: names, list, selectors, retention;
//! * [`select`]: which rows fit a filter, and the rows themselves; [`story`]: all about one
//!   exchange, and what is in the way;
//! * [`figures`]: what statistics and the timeline are made of; [`findings`]: what is wrong, by
//!   rule;
//! * [`vitals`]: who waits, what was lost, last words; [`facts`]: what is known when the cause of
//!   what went wrong is looked for;
//! * [`notices`]: messages and lines that stand beside the exchanges, with their times;
//! * [`past`]: what was true at a frame; [`passage`]: what a replay goes through;
//! * [`search`]: text in bytes and summaries;
//! * [`annotate`]: marks and notes;
//! * [`reader`]: read-only access to one recording; [`links`]: what its frames have to do with each
//!   other; [`pages`]: it is gone through page by page; [`watch`] notices that it has changed,
//!   [`tail`] hands over what is new.
//!
//! The bytes of the frames, the events and the annotations are the truth. Everything else in a
//! recording is derived from them by pure code and carries [`schema::DERIVED_VERSION`].
//! SQL stands in this module only, as constants with bound parameters.

pub mod annotate;
pub mod facts;
pub mod figures;
pub mod findings;
pub mod indexer;
pub mod library;
pub mod links;
pub mod notices;
pub mod open;
pub mod pages;
pub mod passage;
pub mod past;
pub mod reader;
pub mod record;
pub mod recovery;
pub mod reindex;
pub mod schema;
pub mod search;
pub mod select;
pub mod story;
pub mod tail;
pub mod values;
pub mod vitals;
pub mod watch;

#[cfg(test)]
mod tests;

/// The tests share a file with those that see this library from outside.
#[cfg(test)]
extern crate self as mcpreel_store;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
pub mod written;
