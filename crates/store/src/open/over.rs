//! A recording that has few of its frames itself: the others stand in another file, as they are.
//!
//! ```text
//!  the file    all that is derived, and some frames      `main`
//!  its source  the other frames                          `source`
//!  the view    whichever of the two has the frame        `temp.frame`, which hides both
//! ```
//!
//! What asks for `frame` gets the view. So that `SQLite` looks a row of it up, and does not make a
//! table of all of them first, a statement has what it orders by among its columns, and where it
//! gets to frames from rows of a table that may be long it asks for them in a subquery each.

use super::{OpenError, Opened, read_only};
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

const ATTACH: &str = "ATTACH ?1 AS source";

/// Somebody may have put frames with numbers into the source by hand that none has. What is asked
/// for by number is looked up by that, not by this.
const VIEW: &str = r#"CREATE TEMP VIEW frame AS
    SELECT seq, stream, "offset", t_first, t_last, raw FROM main.frame
    UNION ALL SELECT seq, stream, "offset", t_first, t_last, raw FROM source.frame
    WHERE +seq > 0 AND seq NOT IN (SELECT seq FROM main.frame)"#;

/// Each connection goes through it once: what of it is kept in memory is of no use.
const KEEP_LITTLE: &str = "PRAGMA source.cache_size = -500";

const HAS: &str = "SELECT 1 FROM main.frame WHERE seq = ?1";

/// The recording in which the frames stand, by its URI.
#[derive(Clone, Debug)]
pub struct Source(pub String);

impl Source {
    /// Lets `conn` read it beside its file.
    pub fn attach(&self, conn: &Connection) -> rusqlite::Result<()> {
        conn.execute(ATTACH, [&self.0])?;
        conn.execute_batch(KEEP_LITTLE)
    }

    /// Lets `conn`, which reads it, find all frames.
    pub fn join(conn: &Connection) -> rusqlite::Result<()> {
        conn.execute_batch(VIEW)
    }
}

/// Opens the recording `path`, of which most frames stand in `source`.
pub fn over(path: &Path, source: &Source) -> Result<Opened, OpenError> {
    let mut opened = read_only(path)?;
    let attach = source.attach(&opened.conn);
    let joined = attach.and_then(|()| Source::join(&opened.conn));
    joined.map_err(|error| OpenError::from_sqlite(path, error))?;
    opened.source = Some(source.clone());
    Ok(opened)
}

impl Opened {
    /// The database in which the frame with this key stands.
    pub fn place_of(&self, key: i64) -> rusqlite::Result<&'static std::ffi::CStr> {
        if self.source.is_none() {
            return Ok(c"main");
        }
        let has = self.conn.prepare_cached(HAS)?.query_row([key], |_| Ok(()));
        Ok(match has.optional()? {
            Some(()) => c"main",
            None => c"source",
        })
    }
}
