//! The page: a recording as one HTML file that anybody can open, without us and without a network.
//!
//! ```text
//!  <head>  content security policy · style
//!  <body>  the skeleton, without a word off the wire
//!          data: session · exchanges · messages · events · findings · rules
//!          the script, which shows the list as soon as it is read
//!          data: the bytes of the frames, some 128 kB to a block
//! ```
//!
//! All that comes off the wire stands in blocks of JSON (`<script type="application/json">`) in
//! which no byte can end the block, begin a tag or change the order of reading (`block`). The
//! policy lets nothing run but the one script and the one style, which it names by their hashes,
//! and lets nothing be loaded or sent. The script makes text nodes and nothing else of what it
//! finds: a browser that knows trusted types refuses it anything more.
//!
//! A block of bytes is parsed when a frame in it is opened, so that a page of fifty thousand
//! exchanges opens as fast as its list. Writing holds a block and a page of rows at a time.
//!
//! * `session`: who, how it ended, why; `rows`: what stands in the list, and `row`: one of it;
//! * `found`: what rules found; `noted`: what people put on frames; `bytes`: the frames;
//! * `shell`: what is around them, from the files in `page/`.

mod block;
mod bytes;
mod found;
mod noted;
mod row;
mod rows;
mod session;
mod shell;

use super::export::{Export, WriteError, Written};
use std::io::Write;

/// Bytes of a frame that a page has; of a longer one it has the beginning and says so. A browser
/// would lay out whatever is shown of it.
pub const FRAME_BYTES: u64 = 256 * 1024;

/// Writes it as a page. Holds no more of it than some pages of rows and a frame of a megabyte.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    shell::head(out)?;
    session::write(&excerpt, out)?;
    rows::write(&excerpt, out)?;
    found::write(&excerpt, out)?;
    noted::write(&excerpt, out)?;
    shell::script(out)?;
    let written = bytes::write(&excerpt, out, export.progress)?;
    shell::end(out)?;
    Ok(written)
}

#[cfg(test)]
mod tests;
