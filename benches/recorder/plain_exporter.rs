//! The plainest exporter that somebody would write: one thread reads each line from the recording,
//! parses it, and writes it again.

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Exports the messages of `recording` to the file `to`, one per line.
pub fn export(recording: &Path, to: &Path) -> anyhow::Result<()> {
    let conn = Connection::open_with_flags(recording, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut out = BufWriter::new(File::create(to)?);
    let mut frames = conn.prepare("SELECT raw FROM frame ORDER BY seq")?;
    let mut rows = frames.query([])?;
    while let Some(row) = rows.next()? {
        let raw = row.get_ref(0)?.as_blob()?;
        let value = serde_json::from_slice(raw)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(raw).into_owned()));
        serde_json::to_writer(&mut out, &value)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
