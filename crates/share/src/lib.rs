//! Formats in which recordings leave, and logs that come in.
//!
//! ```text
//!  recording ──▶ export: which frames and events, in order ──▶ a format ──▶ a file
//!  a file ──▶ a format ──▶ entries (stream, time, bytes | event) ──▶ record::import
//! ```
//!
//! * [`export`]: which frames and events are written, and the formats that are for reading and for
//!   other people's programs: bug report, traces;
//! * [`cassette`]: JSON Lines, one line per frame or event, written and read;
//! * [`html`]: a page for a browser;
//! * [`import`]: sessions in the logs of other programs;
//! * [`redacting`]: a recording without its secrets; [`outgoing`]: a file on its way out;
//! * [`row`] and [`phrases`]: a row of a recording, and sentences about it, for all who show them;
//! * [`lines`]: the lines of a file.
//!
//! What comes in is as hostile as what comes off the wire: memory is bounded, work is in proportion
//! to the file, and a line that cannot be read is named and passed over.

pub mod cassette;
pub mod export;
pub mod html;
pub mod import;
pub mod lines;
pub mod outgoing;
pub mod phrases;
pub mod redacting;
pub mod row;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
#[expect(clippy::missing_panics_doc, reason = "only tests call it")]
pub mod written;
