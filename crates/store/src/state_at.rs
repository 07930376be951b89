//! The state of a session at a frame of its recording.
//!
//! [`State`] is a fold over everything; here only what counts is fed to it, so that a moment late
//! in a long recording costs no more than an early one.

use super::reader::reader_rows::number;
use super::reader::{ReadError, Recording};
use super::schema::to_sql;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::State;
use mcpreel_wire::mcp::methods::{Kind, METHODS};
use mcpreel_wire::message::classify;
use rusqlite::params;
use std::collections::BTreeSet;

/// Frames at the beginning and before the moment that are read in any case: who spoke, and what
/// the client of the modern era said last.
const ENDS: u32 = 48;

/// Frames about versions, lists and subscriptions that are read, the latest. A peer may list its
/// tools in a loop.
const SAID: u32 = 1000;

/// Longer frames are not read for this.
const LONG: u64 = 8 * 1024 * 1024;

/// Events that are read: a recorder writes some dozens.
const EVENTS: u32 = 10_000;

/// Calls that were answered later are looked for among as many calls before the moment.
const RECENT: u64 = 20_000;

/// Calls that were never answered, of which as many are told.
const UNANSWERED: u32 = 200;

const FRAMES_SAID: &str = "SELECT seq FROM (
    SELECT request AS seq FROM exchange
    WHERE method IN (SELECT value FROM json_each(?2)) AND request <= ?1
    UNION SELECT response FROM exchange
    WHERE method IN (SELECT value FROM json_each(?2)) AND response <= ?1
    UNION SELECT frame FROM message
    WHERE kind = 'notification' AND method IN (SELECT value FROM json_each(?3)) AND frame <= ?1)
    ORDER BY seq DESC LIMIT ?4";
const ASKED: &str = "SELECT direction FROM exchange WHERE method = ?1 AND id <= ?2 LIMIT 1";
const NOTIFIED: &str = "SELECT direction FROM message
    WHERE kind = 'notification' AND method = ?1 AND frame <= ?2 LIMIT 1";

impl Recording {
    /// The state of the session when the frame `seq` was the last one.
    pub fn state_at(&self, seq: Seq) -> Result<State, ReadError> {
        let mut state = State::default();
        let frames = self.frames_of_state(seq)?;
        let events = self.events_between(Seq(0), Seq(seq.0.saturating_add(1)), EVENTS)?;
        let mut events = events.into_iter().map(|row| row.event).peekable();
        for frame in frames {
            while let Some(event) = events.next_if(|event| event.after_seq < frame) {
                state.event(&event);
            }
            let Some(head) = self.head(frame)? else {
                continue;
            };
            if head.size > LONG {
                state.unread.push(frame);
                continue;
            }
            let raw = self.raw(frame)?;
            state.frame(&head, &classify(&raw), Some(&raw));
        }
        events.for_each(|event| state.event(&event));
        let last = self.exchange_before(seq)?.0;
        self.used_methods((seq, last), &mut state)?;
        let recent = [last.saturating_sub(RECENT), last, seq.0].map(to_sql);
        let later = "WHERE e.id > ?1 AND e.id <= ?2 AND e.response > ?3 ORDER BY e.id";
        let mut open: Vec<Exchange> = self.rows(later, recent)?;
        let never = "WHERE e.status <> 'ok' AND e.status <> 'given-up' AND e.response IS NULL
            AND e.id <= ?1 ORDER BY e.id DESC LIMIT ?2";
        open.extend(self.rows::<Exchange>(never, (to_sql(last), UNANSWERED))?);
        open.sort_by_key(|exchange| exchange.id);
        for exchange in &open {
            state.exchange(exchange, seq);
        }
        Ok(state)
    }

    fn frames_of_state(&self, seq: Seq) -> Result<BTreeSet<Seq>, ReadError> {
        let before = Seq(seq.0.saturating_sub(u64::from(ENDS)));
        let ends = [Seq(0), before].map(|after| self.heads(after, ENDS));
        let mut frames = BTreeSet::new();
        for heads in ends {
            frames.extend(heads?.iter().map(|head| head.seq));
        }
        let json = |methods: &[&str]| serde_json::json!(methods).to_string();
        let asked = json(&State::request_methods());
        let told = json(&State::notification_methods());
        let said = params![to_sql(seq.0), asked, told, SAID];
        let said = self.list(FRAMES_SAID, said, |row| number(row, 0).map(Seq))?;
        frames.extend(said);
        frames.retain(|frame| *frame <= seq);
        Ok(frames)
    }

    /// Adds which methods had been used up to a frame and the exchange `last`.
    fn used_methods(&self, (seq, last): (Seq, u64), state: &mut State) -> Result<(), ReadError> {
        for method in METHODS {
            let (sql, until) = match method.kind {
                Kind::Request => (ASKED, last),
                Kind::Notification => (NOTIFIED, seq.0),
            };
            let params = (method.name, to_sql(until));
            let way: Option<Box<str>> = self.one(sql, params, |row| row.get(0))?;
            if let Some(way) = way.as_deref().and_then(|way| way.parse().ok()) {
                state.uses(method.name, way);
            }
        }
        Ok(())
    }
}
