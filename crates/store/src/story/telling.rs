//! Putting a story together.

use super::{CHILDREN, EACH, EVENTS, Entry, Kinship, Story, Told, findings_of};
use crate::reader::rows::{self, message_columns, number};
use crate::values::to_sql;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey};
use rusqlite::{Connection, Params, Row, params};

const MESSAGES: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.exchange = ?1 ORDER BY m.frame, m.part LIMIT ?2"
);
const ANSWER: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.exchange = ?1 AND m.kind = 'response' AND m.frame > ?2 LIMIT 1"
);
const FRAME: &str = "SELECT t_last, length(raw) FROM frame WHERE seq = ?1";
const COUNT_MESSAGES: &str = "SELECT count(*) FROM message WHERE exchange = ?1";
const LINES: &str = r#"SELECT l.frame, f.stream, f."offset", f.t_first, f.t_last, length(f.raw),
    substr(f.raw, 1, ?4) FROM line l JOIN frame f ON f.seq = l.frame
    WHERE l.frame > ?1 AND l.frame < ?2 ORDER BY l.frame LIMIT ?3"#;
const COUNT_LINES: &str = "SELECT count(*) FROM line WHERE frame > ?1 AND frame < ?2";
const COUNT_EVENTS: &str = "SELECT count(*) FROM event WHERE after_seq >= ?1 AND after_seq < ?2";
const FINDINGS_BETWEEN: &str =
    "SELECT id, rule, severity, frame, exchange, path, related, detail FROM finding
    WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL ORDER BY id LIMIT ?3";
const COUNT_FINDINGS_BETWEEN: &str = "SELECT count(*) FROM finding
    WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL";
const CHAIN: &str = "SELECT id FROM exchange WHERE chain = ?1 ORDER BY id LIMIT ?2";

pub(super) fn tell(conn: &Connection, exchange: Exchange) -> rusqlite::Result<Story> {
    let mut telling = Telling {
        conn,
        entries: Vec::new(),
        left_out: 0,
    };
    let id = exchange.id;
    telling.messages(id, Kinship::Own)?;
    for child in telling.ids(CHILDREN, [to_sql(id.0)])? {
        telling.messages(child, Kinship::Child(child))?;
    }
    if let Some(chain) = exchange.chain {
        for round in telling.ids(CHAIN, (to_sql(chain.0), to_sql(EACH)))? {
            if round != id {
                telling.messages(round, Kinship::Chain(round))?;
            }
        }
    }
    telling.meanwhile(&exchange)?;
    let Telling {
        mut entries,
        left_out,
        ..
    } = telling;
    in_order(&mut entries);
    Ok(Story {
        exchange,
        entries,
        left_out,
    })
}

/// Puts what is told in its order.
fn in_order(entries: &mut [Entry]) {
    entries.sort_by_cached_key(|entry| (entry.what.is_of_the_end(), entry.key));
    let last = entries.iter().filter(|entry| !entry.what.is_of_the_end());
    let last = last.map(|entry| entry.t).max();
    for entry in entries.iter_mut().rev() {
        if !entry.what.is_of_the_end() {
            break;
        }
        entry.t = last.unwrap_or(entry.t);
    }
}

/// A story that is being put together.
struct Telling<'c> {
    conn: &'c Connection,
    entries: Vec<Entry>,
    left_out: u64,
}

impl Telling<'_> {
    /// The messages of `id`: the first of them, and in any case the answer.
    fn messages(&mut self, id: ExchangeId, of: Kinship) -> rusqlite::Result<()> {
        let id = to_sql(id.0);
        let mut messages = self.list(MESSAGES, (id, to_sql(EACH)), rows::message)?;
        if messages.len() as u64 == EACH {
            let last = messages.last().map_or(0, |row| to_sql(row.record.frame.0));
            messages.extend(self.list(ANSWER, (id, last), rows::message)?);
        }
        self.count(COUNT_MESSAGES, [id], messages.len())?;
        for row in messages {
            let (frame, part) = (row.record.frame, row.record.part);
            let (t, frame_size) = self.frame(frame)?;
            let what = Told::Message {
                row: Box::new(row),
                frame_size,
                of,
            };
            self.push(t, ItemKey::of_part(frame, part), what);
        }
        Ok(())
    }

    /// What happened between the request and the answer.
    fn meanwhile(&mut self, exchange: &Exchange) -> rusqlite::Result<()> {
        let from = to_sql(exchange.request.0.0);
        let to = exchange.response.map_or(i64::MAX, |(seq, _)| to_sql(seq.0));
        let preview = to_sql(Item::PREVIEW as u64);
        let lines = self.list(LINES, params![from, to, to_sql(EACH), preview], |row| {
            Ok((rows::frame_head(row)?, row.get::<_, Vec<u8>>(6)?))
        })?;
        self.count(COUNT_LINES, (from, to), lines.len())?;
        for (head, preview) in lines {
            let preview = preview.into();
            let what = Told::Line { head, preview };
            self.push(head.t_last, ItemKey::of_part(head.seq, 0), what);
        }
        let events = self.list(EVENTS, (from, to, to_sql(EACH)), rows::event)?;
        self.count(COUNT_EVENTS, (from, to), events.len())?;
        for row in events {
            let key = ItemKey::of_event(row.event.after_seq, row.id);
            self.push(row.event.t, key, Told::Event(row));
        }
        let mut findings = findings_of(self.conn, exchange)?;
        let between = self.list(FINDINGS_BETWEEN, (from, to, to_sql(EACH)), rows::finding)?;
        self.count(COUNT_FINDINGS_BETWEEN, (from, to), between.len())?;
        findings.extend(between);
        for finding in findings {
            let frame = finding.frame.unwrap_or(exchange.request.0);
            let (t, _) = self.frame(frame)?;
            self.push(t, ItemKey::of_part(frame, 0), Told::Finding(finding));
        }
        Ok(())
    }

    fn push(&mut self, t: Moment, key: ItemKey, what: Told) {
        self.entries.push(Entry { t, key, what });
    }

    /// Counts what is left out of `told` things of which `sql` says how many there are.
    fn count(
        &mut self,
        sql: &'static str,
        params: impl Params,
        told: usize,
    ) -> rusqlite::Result<()> {
        // Only a full page may be cut.
        if told as u64 >= EACH {
            let mut statement = self.conn.prepare_cached(sql)?;
            let all = statement.query_row(params, |row| number(row, 0))?;
            self.left_out += all.saturating_sub(told as u64);
        }
        Ok(())
    }

    /// When the frame was complete, and how many bytes it has.
    fn frame(&self, frame: Seq) -> rusqlite::Result<(Moment, u64)> {
        let mut statement = self.conn.prepare_cached(FRAME)?;
        statement.query_row([to_sql(frame.0)], |row| {
            Ok((Moment(number(row, 0)?), number(row, 1)?))
        })
    }

    fn ids(&self, sql: &'static str, params: impl Params) -> rusqlite::Result<Vec<ExchangeId>> {
        self.list(sql, params, |row| number(row, 0).map(ExchangeId))
    }

    fn list<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        convert: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_map(params, convert)?.collect()
    }
}
