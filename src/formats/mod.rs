//! What leaves a recording, and what comes in.
//!
//! ```text
//!  recording ──▶ export: which frames and events, in order ──▶ a format ──▶ a file
//!  a file ──▶ a format ──▶ entries (stream, time, bytes | event) ──▶ record::import
//! ```
//!
//! * [`export`]: what of a recording is written, and going through it; the same for all formats;
//! * [`cassette`]: JSON Lines, one line per frame or event: written and read;
//! * [`html`]: a page that shows itself, for whoever has a browser and not us.
//!
//! What comes in is as hostile as what comes off the wire: bounded memory, work in proportion to
//! the file, and whatever cannot be read is told with its line and passed over.

pub mod cassette;
pub mod export;
pub mod html;
