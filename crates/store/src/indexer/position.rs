//! How far a spool is drained: what is committed with the frames, and read again at the next start.

use super::line::Line;
use super::write::Tally;
use crate::values::from_sql;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{Seq, StreamId};
use rusqlite::Connection;

const SELECT_PROGRESS: &str = "SELECT resume, drained, frames, bytes, gap_bytes, t_last, state,
    derived_version, (SELECT coalesce(max(id), 0) FROM event) FROM recording";
const SELECT_STREAMS: &str = "SELECT id, committed FROM stream ORDER BY id";

#[derive(Debug, Default)]
pub(super) struct Position {
    pub next: u64,
    /// Events before it are on record.
    pub events_from: u64,
    pub lines: Vec<Line>,
    pub tally: Tally,
}

impl Position {
    /// The stream's line; streams that were not foreseen are added.
    pub fn line(&mut self, stream: StreamId) -> &mut Line {
        let at = usize::from(stream.0);
        if self.lines.len() <= at {
            self.lines.resize_with(at + 1, Line::default);
        }
        &mut self.lines[at]
    }

    /// The first record with a byte that is in no frame yet.
    pub fn resume(&self) -> u64 {
        self.lines
            .iter()
            .filter_map(Line::open_record)
            .fold(self.next, u64::min)
    }

    pub fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let mut state = conn.query_row(SELECT_PROGRESS, [], |row| {
            let number = |at| row.get(at).map(from_sql);
            Ok(Self {
                next: number(0)?,
                events_from: number(1)?,
                lines: Vec::new(),
                tally: Tally {
                    last_seq: Seq(number(2)?),
                    bytes: number(3)?,
                    gap_bytes: number(4)?,
                    t_last: Moment(number(5)?),
                    last_event: number(8)?,
                },
            })
        })?;
        let mut streams = conn.prepare(SELECT_STREAMS)?;
        let mut rows = streams.query([])?;
        while let Some(row) = rows.next()? {
            *state.line(StreamId(row.get(0)?)) = Line::new(from_sql(row.get(1)?));
        }
        Ok(state)
    }
}
