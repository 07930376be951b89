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
//! * `session`: who, how it ended, why; `rows`: the list, findings and notes; `block`: blocks of
//!   data, and the frames. What is around them comes from the files in `page/`.

mod block;
mod rows;
mod session;

use super::export::{Export, ExportError, Written};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};

/// Bytes of a frame that a page has; of a longer one it has the beginning and says so. A browser
/// would lay out whatever is shown of it.
pub const FRAME_BYTES: u64 = 256 * 1024;

/// Writes it as a page. Holds no more of it than some pages of rows and a frame of a megabyte.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    write_head(out)?;
    session::write(&excerpt, out)?;
    rows::write(&excerpt, out)?;
    rows::write_findings(&excerpt, out)?;
    rows::write_notes(&excerpt, out)?;
    write_script(out)?;
    let written = block::write_frames(&excerpt, out, export.progress)?;
    write_end(out)?;
    Ok(written)
}

const SKELETON: &str = include_str!("page/page.html");

const STYLE: &str = include_str!("page/page.css");

/// The script: its files, in one scope of their own.
const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("page/text.js"),
    include_str!("page/json.js"),
    include_str!("page/data.js"),
    include_str!("page/list.js"),
    include_str!("page/tree.js"),
    include_str!("page/detail.js"),
    include_str!("page/session.js"),
    include_str!("page/main.js"),
    "})();\n",
);

fn write_head(out: &mut impl Write) -> io::Result<()> {
    let policy = policy();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"mcpreel {}\">\n\
         <title>mcpreel recording</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{SKELETON}",
        env!("CARGO_PKG_VERSION")
    )
}

/// The script, which shows what stands before it.
fn write_script(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "<script>{SCRIPT}</script>")
}

/// The end of the page. The mark tells a page that is whole from one that was cut.
fn write_end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"<script type=\"application/json\" data-kind=\"end\">[]</script>\n</body>\n</html>\n",
    )
}

/// The content security policy: this script and this style, and no other.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod html_tests;
