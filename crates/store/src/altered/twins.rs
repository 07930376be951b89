//! Whether other bytes change anything in what is derived, found out without deriving everything.
//!
//! Nearly every frame of a long recording is part of a plain call: asked, answered soon, and
//! nothing is to be said about it. What is derived of two such calls has to do with each other only
//! through how many there are and when they were, which no other bytes change. So a part of the
//! recording, without the plain calls whose bytes stay, is derived twice: with the bytes as they
//! were and with the others. The others change nothing in all of the recording either, but how long
//! messages are and what they say in a line, if
//!
//! * they stand in calls and their answers, in log messages, on stderr, and in prose only
//!   (`prose`): all else that a side says of itself, lists, and lines that are no messages may
//!   change what every later message means;
//! * the part was derived as the whole was, to the last finding, and of the plain calls that are
//!   not in it nothing is derived but what their bytes say ([`odd`](super::odd));
//! * and there is no other difference between the twins.
//!
//! Where no bytes are other ones, the same says that what is derived is of these bytes: somebody
//! may have changed either by hand.
//!
//! What rules compare from call to call (the arguments of one that is made again after it was given
//! up) is of calls that are in the part, and a token stands for the same value everywhere and for
//! no other. In doubt everything is derived anew.

use super::differ::{IS_OTHER_PART, IS_OTHER_TWIN};
use super::prose::is_same_but_prose;
use super::{AlterError, Altered, FAST_AND_CLEAN, create};
use crate::indexer::COLLECT_LIMIT;
use crate::open::{self, uri};
use crate::reader::rows::number;
use crate::reindex::{self, Ended};
use crate::values::to_sql;
use rusqlite::Connection;

/// One of so many frames may be in the part: of more of them nothing is gained.
const PART: i64 = 8;

const PREPARE: &str = "CREATE TEMP TABLE odd (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE prose (frame INTEGER PRIMARY KEY);
    CREATE TEMP TABLE kept (frame INTEGER PRIMARY KEY)";

const HAS_ALTERED: &str = "SELECT EXISTS (SELECT 1 FROM temp.altered)";

/// What a server says of itself and of what it has, before and now, where it can be held.
const LISTS: &str = "SELECT a.frame, f.raw, o.raw FROM temp.altered a
    CROSS JOIN source.message m ON m.frame = a.frame AND m.part = 0
    CROSS JOIN source.exchange e ON e.id = m.exchange
    CROSS JOIN source.frame f ON f.seq = a.frame CROSS JOIN main.frame o ON o.seq = a.frame
    WHERE m.kind = 'response' AND e.direction = 'c2s' AND e.era = 'legacy' AND e.status = 'ok'
        AND e.method IN ('initialize', 'tools/list', 'prompts/list', 'resources/list',
            'resources/templates/list')
        AND length(f.raw) <= ?1 AND length(o.raw) <= ?1";
const NOTE_PROSE: &str = "INSERT INTO temp.prose VALUES (?1)";

/// Whether other bytes stand elsewhere than in prose of these, in a message of a call that was
/// answered or in a log message, alone in its frame, or in a line of stderr that cannot be a
/// message; or more was found than is kept.
const IS_BEYOND: &str = "SELECT EXISTS (
        SELECT 1 FROM temp.altered a WHERE NOT EXISTS (
            SELECT 1 FROM source.message m LEFT JOIN source.exchange e ON e.id = m.exchange
            WHERE m.frame = a.frame AND (
                (m.kind IN ('request', 'response') AND e.method = 'tools/call'
                    AND e.direction = 'c2s' AND e.era = 'legacy'
                    AND e.status IN ('ok', 'tool-error', 'error'))
                OR (m.kind = 'notification' AND m.method = 'notifications/message'
                    AND m.direction = 's2c' AND m.era = 'legacy')))
            AND a.frame NOT IN (SELECT frame FROM temp.prose)
            AND NOT EXISTS (
                SELECT 1 FROM source.frame f JOIN main.frame o ON o.seq = f.seq
                WHERE f.seq = a.frame AND f.stream = 2
                    AND substr(f.raw, 1, 1) <> x'7b' AND substr(o.raw, 1, 1) <> x'7b')
        OR EXISTS (SELECT 1 FROM source.message m WHERE m.frame = a.frame AND m.part > 0))
    OR (EXISTS (SELECT 1 FROM temp.altered)
        AND EXISTS (SELECT 1 FROM source.finding WHERE rule = 'findings-left-out'))";

/// Exchanges that are in the part: those that are [odd](super::odd), and those about which there is
/// something, other bytes or a finding.
const NOTE_ODD: &str = "INSERT OR IGNORE INTO temp.odd VALUES (?1)";
const KEEP_ODD: &str = "INSERT OR IGNORE INTO temp.odd SELECT id FROM source.exchange WHERE id IN (
        SELECT exchange FROM source.message WHERE frame IN (SELECT frame FROM temp.altered)
        UNION SELECT exchange FROM source.finding
        UNION SELECT exchange FROM source.message WHERE frame IN (
            SELECT frame FROM source.finding
            UNION SELECT value FROM source.finding, json_each(related))
        UNION SELECT parent FROM source.exchange WHERE parent IS NOT NULL
        UNION SELECT exchange FROM source.message WHERE exchange IS NULL OR (
            kind = 'notification' AND method <> 'notifications/progress'
            AND method <> 'notifications/cancelled'))";

/// Their frames, and all that are of no exchange; at most so many.
const KEEP_FRAMES: &str = "INSERT INTO temp.kept
    SELECT m.frame FROM temp.odd o CROSS JOIN source.message m ON m.exchange = o.id
    UNION SELECT e.request FROM temp.odd o CROSS JOIN source.exchange e ON e.id = o.id
    UNION SELECT frame FROM source.message WHERE exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled')
    UNION SELECT frame FROM source.line LIMIT ?1";
const FRAMES: &str = "SELECT frames FROM source.recording";

/// Whether there are other messages than those of the part and the two of each other exchange, or
/// they were counted otherwise.
const HAS_OTHERS: &str = "SELECT (SELECT count(*) FROM source.message)
        - (SELECT count(*) FROM temp.kept k CROSS JOIN source.message m ON m.frame = k.frame)
    <> 2 * ((SELECT count(*) FROM source.exchange) - (SELECT count(*) FROM temp.odd))
        - (SELECT count(*) FROM temp.kept k CROSS JOIN source.message m ON m.frame = k.frame
            WHERE m.part = 0 AND m.exchange NOT IN (SELECT id FROM temp.odd))
    OR EXISTS (SELECT 1 FROM source.recording
        WHERE messages <> (SELECT count(*) FROM source.message)
            OR exchanges <> (SELECT count(*) FROM source.exchange))";

/// What is said of the session as a whole.
const SAY: &str = "UPDATE main.recording SET (derived_version, messages, exchanges, failed, open,
        findings, session)
    = (SELECT derived_version, messages, exchanges, failed, open, findings, session
        FROM source.recording)";

/// How long messages are with the other bytes, and what they say in a line.
const ADJUST: &str = "BEGIN;
    UPDATE main.message AS m SET start = a.start, size = a.size, summary = a.summary
        FROM after.message a WHERE m.frame IN (SELECT frame FROM temp.altered)
            AND a.frame = m.frame AND a.part = m.part;
    UPDATE main.exchange AS e SET request_size = a.request_size, response_size = a.response_size
        FROM after.exchange a WHERE e.request = a.request AND e.request_part = a.request_part;
    COMMIT";

/// A part of the recording, derived for itself.
struct Twin {
    name: &'static str,
    attach: &'static str,
    fill: &'static str,
}

/// The twin `$name`, with the bytes that stand in `$frames`.
macro_rules! twin {
    ($name:literal, $frames:literal) => {
        Twin {
            name: $name,
            attach: concat!("ATTACH ?1 AS ", $name),
            fill: concat!(
                "PRAGMA ",
                $name,
                ".synchronous = OFF; PRAGMA ",
                $name,
                ".cache_size = -500;
                INSERT INTO ",
                $name,
                ".frame (seq, stream, \"offset\", t_first, t_last, raw)
                    SELECT k.frame, f.stream, f.\"offset\", f.t_first, f.t_last, f.raw
                    FROM temp.kept k CROSS JOIN ",
                $frames,
                " f ON f.seq = k.frame
                    ORDER BY k.frame;
                INSERT INTO ",
                $name,
                ".event (id, t, after_seq, detail)
                    SELECT id, t, after_seq, detail FROM main.event"
            ),
        }
    };
}

const BEFORE: Twin = twin!("before", "source.frame");
// Whichever file they stand in.
const AFTER: Twin = twin!("after", "frame");

/// Whether what is derived, which was copied, is what the bytes say, and the same with the other
/// bytes. If it is, nothing is missing in it any more. `odd` are exchanges that are in the part.
pub(super) fn are_same(altered: &Altered, odd: &[i64]) -> Result<bool, AlterError> {
    let conn = &altered.conn;
    let is = |sql| conn.query_row(sql, [], |row| row.get::<_, bool>(0));
    conn.execute_batch(PREPARE)?;
    note_prose(conn)?;
    if is(IS_BEYOND)? || !keep(conn, odd)? || is(HAS_OTHERS)? {
        return Ok(false);
    }
    BEFORE.make(altered)?;
    if is(IS_OTHER_PART)? {
        return Ok(false);
    }
    if is(HAS_ALTERED)? {
        AFTER.make(altered)?;
        if is(IS_OTHER_TWIN)? {
            return Ok(false);
        }
        conn.execute_batch(ADJUST)?;
    }
    conn.execute(SAY, [])?;
    Ok(true)
}

/// Picks the lists in which only prose is another.
fn note_prose(conn: &Connection) -> rusqlite::Result<()> {
    let (mut lists, mut note) = (conn.prepare(LISTS)?, conn.prepare(NOTE_PROSE)?);
    let mut rows = lists.query([to_sql(COLLECT_LIMIT)])?;
    while let Some(row) = rows.next()? {
        let (before, after) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
        if is_same_but_prose(before, after) {
            note.execute([row.get::<_, i64>(0)?])?;
        }
    }
    Ok(())
}

/// Of a recording with so many frames, how many may be in the part.
pub(super) fn most(frames: u64) -> i64 {
    to_sql(frames) / PART
}

/// Picks the part; whether it is small.
fn keep(conn: &Connection, odd: &[i64]) -> rusqlite::Result<bool> {
    let most = most(conn.query_row(FRAMES, [], |row| number(row, 0))?);
    if odd.len() as u64 > most.cast_unsigned() {
        return Ok(false);
    }
    let mut note = conn.prepare(NOTE_ODD)?;
    odd.iter().try_for_each(|id| note.execute([id]).map(drop))?;
    conn.execute(KEEP_ODD, [])?;
    let kept = conn.execute(KEEP_FRAMES, [most + 1])?;
    Ok(to_sql(kept as u64) <= most)
}

impl Twin {
    /// Makes it in a file beside the copy.
    fn make(&self, altered: &Altered) -> Result<(), AlterError> {
        let file = altered.reel.with_extension(self.name);
        drop(create(&file, &altered.context)?);
        altered.conn.execute(self.attach, [uri(&file, "mode=rw")])?;
        altered.conn.execute_batch(self.fill)?;
        let own = open::writable(&file)?;
        own.execute_batch(FAST_AND_CLEAN)?;
        let transaction = own.unchecked_transaction()?;
        reindex::rebuild(&transaction, Ended::Yes, &mut |_| ())?;
        Ok(transaction.commit()?)
    }
}
