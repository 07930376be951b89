//! What leaves a recording, and what comes in.
//!
//! ```text
//!  recording ──▶ export: which frames and events, in order ──▶ a format ──▶ a file
//!  a file ──▶ a format ──▶ entries (stream, time, bytes | event) ──▶ record::import
//! ```
//!
//! * [`export`]: what of a recording is written, and going through it; the same for all formats; a
//!   format for each use: transcript, statistics, bug report, traces;
//! * [`redacted`]: a recording without what is secret, for all of them;
//! * [`cassette`]: JSON Lines, one line per frame or event: written and read;
//! * [`html`]: a page that shows itself, for whoever has a browser and not us;
//! * [`import`]: sessions in the logs of other programs: read.
//!
//! What comes in is as hostile as what comes off the wire: bounded memory, work in proportion to
//! the file, and whatever cannot be read is told with its line and passed over.

pub mod cassette;
pub mod export;
pub mod html;
pub mod import;
pub mod lines;
pub mod outgoing;
pub mod phrases;
pub mod redacted;
pub mod row;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
pub mod written;
