//! What is known of a recording when its cause is looked for: [`Facts`], gathered by queries that
//! are answered by an index or look at a bounded number of rows.

use super::reader::rows::{self, exchange_columns, number, summary_columns};
use super::reader::{ReadError, Recording};
use super::values::{from_sql, moment, to_sql};
use crate::lint::cause::Facts;
use crate::lint::cause::facts::{Counts, Failed, Found, GivenUp, Group, Line, Sample};
use crate::trace::clock::Moment;
use crate::trace::event::Event;
use crate::trace::exchange::{Exchange, Status};
use crate::trace::frame::{FrameHead, Seq, StreamId};
use rusqlite::{Row, params};

/// The first and as many of the last rows of a kind that are read. The first failure and what was
/// open last say most.
const EACH: u32 = 4;

/// Events that are read from the beginning and from the end: a recorder writes some dozens, but
/// two for each time that somebody does not read.
const EVENTS: u32 = 100;

/// Messages from the beginning in which a handshake is looked for, and exchanges from the end in
/// which the last answer is.
const LOOKED_THROUGH: u32 = 2000;

/// Findings of a rule that are told, and counted.
const FOUND: u32 = 4;
const COUNTED: u32 = 1000;

/// Lines that are no messages, and lines of stderr, that are read.
const NOISE: u32 = 4;
const LAST_WORDS: u32 = 20;

/// Lines without a message that are looked through for them, from the end.
const LINES: u32 = 5000;

/// Frames at the end that are looked at for long ones.
const LAST_FRAMES: u64 = 64;

/// A frame of this size is a long one, bytes.
const LONG: u64 = 8 * 1024 * 1024;

/// Groups of failed calls, and calls that were made again.
const GROUPS: usize = 4;

/// Rules whose findings are about lines that are no messages.
const NOISE_RULES: [&str; 3] = ["frame-not-json", "frame-not-object", "rpc-unclassifiable"];

/// Rules whose findings are about very long frames.
const LONG_RULES: [&str; 2] = ["frame-oversized", "frame-outline-only"];

const FIRST_OF_STATUS: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
        WHERE status <> 'ok' AND status = ?1 ORDER BY id LIMIT ?2) ORDER BY e.id"
);
const LAST_OF_STATUS: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
        WHERE status <> 'ok' AND status = ?1 ORDER BY id DESC LIMIT ?2) ORDER BY e.id"
);
const COUNT_OF_STATUS: &str = "SELECT count(*) FROM (SELECT 1 FROM exchange
    INDEXED BY exchange_not_ok WHERE status <> 'ok' AND status = ?1 LIMIT ?2)";
const FIRST_OF_METHOD: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.method = ?1 ORDER BY e.id LIMIT ?2"
);
const NEXT_ALIKE: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.method = ?1 AND e.name IS ?2 AND e.id > ?3 ORDER BY e.id LIMIT 1"
);
const LAST_ANSWER: &str = "SELECT response FROM (SELECT id, response, status FROM exchange
    ORDER BY id DESC LIMIT ?1) WHERE status = 'ok' AND response IS NOT NULL
    ORDER BY id DESC LIMIT 1";
const IS_CALLED: &str = "SELECT 1 FROM exchange WHERE method = 'tools/call' LIMIT 1";
const CONFIRMED: &str = "SELECT 1 FROM (SELECT method, direction FROM message
    ORDER BY frame, part LIMIT ?1) WHERE direction = 'c2s'
    AND method IN ('notifications/initialized', 'initialized') LIMIT 1";
const FIRST_SAID: &str = "SELECT frame FROM (SELECT frame, direction, kind FROM message
    ORDER BY frame, part LIMIT ?1) WHERE direction = 's2c' AND kind <> 'other' LIMIT 1";
const FIRST_EVENTS: &str = "SELECT id, t, after_seq, detail FROM event ORDER BY id LIMIT ?1";
const LAST_EVENTS: &str = "SELECT id, t, after_seq, detail FROM event ORDER BY id DESC LIMIT ?1";
// One step for each rule, however many findings it has.
const RULES: &str = "WITH RECURSIVE named(rule) AS (
        SELECT min(rule) FROM finding
        UNION ALL SELECT (SELECT min(rule) FROM finding WHERE rule > named.rule)
        FROM named WHERE named.rule IS NOT NULL)
    SELECT rule FROM named WHERE rule IS NOT NULL LIMIT 1000";
const FINDINGS_OF_RULE: &str =
    "SELECT severity, frame, detail FROM finding WHERE rule = ?1 ORDER BY id LIMIT ?2";
const COUNT_OF_RULE: &str = "SELECT count(*) FROM (SELECT 1 FROM finding WHERE rule = ?1 LIMIT ?2)";
const LAST_LINES: &str = "SELECT f.seq, f.stream, f.t_last, substr(f.raw, 1, ?2)
    FROM (SELECT frame, stream FROM line ORDER BY frame DESC LIMIT ?4) l
    JOIN frame f ON f.seq = l.frame WHERE l.stream = ?1 ORDER BY l.frame DESC LIMIT ?3";
const LINE: &str = "SELECT f.seq, f.stream, f.t_last, substr(f.raw, 1, ?2) FROM frame f
    WHERE f.seq = ?1";
const STDERR_BYTES: &str = "SELECT committed + pending FROM stream WHERE id = ?1";

impl Recording {
    /// What is known of it. `now` is the time of a live recording, `None` says that it is over.
    pub fn facts(&self, now: Option<Moment>) -> Result<Facts, ReadError> {
        self.in_one_read(|recording| recording.gather(now))
    }

    fn gather(&self, now: Option<Moment>) -> Result<Facts, ReadError> {
        let summary = self.summary()?;
        let (given_up, again) = self.given_up()?;
        let findings = self.groups()?;
        let counts = Counts {
            frames: summary.frames,
            messages: summary.messages,
            exchanges: summary.exchanges,
            failed: summary.failed,
            findings: summary.findings,
            gap_bytes: summary.gap_bytes,
            stderr_bytes: self.stderr_bytes()?,
        };
        Ok(Facts {
            is_live: now.is_some(),
            now: now.unwrap_or(Moment(summary.t_last_ns)),
            counts,
            events: self.first_and_last_events()?,
            opening: self.opening()?,
            confirmed: self.has(CONFIRMED, [LOOKED_THROUGH])?,
            first_said: self
                .one(FIRST_SAID, [LOOKED_THROUGH], |row| number(row, 0))?
                .map(Seq),
            last_answer: self
                .one(LAST_ANSWER, [LOOKED_THROUGH], |row| number(row, 0))?
                .map(Seq),
            called_tools: self.has(IS_CALLED, [])?,
            open: self.sample(Status::Open)?,
            lost: self.sample(Status::Lost)?,
            unanswered: self.sample(Status::Unanswered)?,
            failed: self.failed()?,
            given_up,
            again,
            noise: self.noise(&findings)?,
            last_words: self.last_lines()?,
            unfinished: if now.is_some() {
                self.unfinished()?
            } else {
                Vec::new()
            },
            long: self.long(&findings, summary.frames)?,
            findings,
            context: summary.context,
            session: summary.session,
        })
    }

    fn has(&self, sql: &'static str, params: impl rusqlite::Params) -> Result<bool, ReadError> {
        Ok(self.one(sql, params, |_| Ok(()))?.is_some())
    }

    fn stderr_bytes(&self) -> Result<u64, ReadError> {
        let bytes = self.one(STDERR_BYTES, [StreamId::STDERR.0], |row| number(row, 0))?;
        Ok(bytes.unwrap_or(0))
    }

    fn first_and_last_events(&self) -> Result<Vec<Event>, ReadError> {
        let mut events = self.list(FIRST_EVENTS, [EVENTS], rows::event)?;
        let last = events.last().map_or(0, |event| event.id);
        let mut later = self.list(LAST_EVENTS, [EVENTS], rows::event)?;
        later.retain(|event| event.id > last);
        later.reverse();
        events.extend(later);
        Ok(events.into_iter().map(|row| row.event).collect())
    }

    /// The exchanges that begin a session, in order.
    fn opening(&self) -> Result<Vec<Exchange>, ReadError> {
        let mut opening = Vec::new();
        for method in ["initialize", "server/discover"] {
            opening.extend(self.list(FIRST_OF_METHOD, (method, EACH), rows::exchange)?);
        }
        opening.sort_by_key(|exchange| exchange.id);
        Ok(opening)
    }

    fn sample(&self, status: Status) -> Result<Sample, ReadError> {
        let mut exchanges = self.list(FIRST_OF_STATUS, (status.as_str(), EACH), rows::exchange)?;
        if exchanges.len() < EACH as usize {
            let count = exchanges.len() as u64;
            return Ok(Sample { count, exchanges });
        }
        let first = exchanges.last().map(|exchange| exchange.id);
        let later = self.list(LAST_OF_STATUS, (status.as_str(), EACH), rows::exchange)?;
        exchanges.extend(
            later
                .into_iter()
                .filter(|exchange| Some(exchange.id) > first),
        );
        let limit = to_sql(Sample::COUNTED);
        let count = self.one(COUNT_OF_STATUS, (status.as_str(), limit), |row| row.get(0))?;
        Ok(Sample {
            count: count.map_or(0, from_sql),
            exchanges,
        })
    }

    /// Calls that failed, by method and name, in the order of the first of each. A client that
    /// asks a server of the older era for the newer one is refused: that is nobody's failure.
    fn failed(&self) -> Result<Vec<Failed>, ReadError> {
        let mut failed = Vec::new();
        for status in [Status::Error, Status::ToolError] {
            failed.extend(self.sample(status)?.exchanges);
        }
        failed.sort_by_key(|exchange| exchange.id);
        let mut groups: Vec<Failed> = Vec::new();
        for exchange in failed {
            let is_same = |group: &Failed| {
                group.exchange.method == exchange.method && group.exchange.name == exchange.name
            };
            if &*exchange.method == "server/discover" || groups.iter().any(is_same) {
                continue;
            }
            let requests = self.failed_alike(&exchange)?;
            groups.push(Failed { exchange, requests });
            if groups.len() == GROUPS {
                break;
            }
        }
        Ok(groups)
    }

    /// What was cancelled; and what was never answered and asked again.
    fn given_up(&self) -> Result<(Vec<GivenUp>, Vec<(Exchange, Exchange)>), ReadError> {
        let mut given_up = Vec::new();
        for status in [Status::Cancelled, Status::Late] {
            for exchange in self.sample(status)?.exchanges {
                given_up.push(self.one_given_up(exchange)?);
            }
        }
        given_up.sort_by_key(|one| one.exchange.id);
        let mut again = Vec::new();
        for status in [Status::Open, Status::Unanswered] {
            for exchange in self.sample(status)?.exchanges {
                let next = self.asked_again(&exchange)?;
                again.extend(next.map(|next| (exchange, next)));
            }
        }
        Ok((given_up, again))
    }

    fn one_given_up(&self, exchange: Exchange) -> Result<GivenUp, ReadError> {
        let (request, part) = exchange.request;
        let mut asked = self.messages_of_frame(request)?.into_iter();
        let asked = asked.find(|row| row.record.part == part);
        let (mut t, mut said) = (None, None);
        if let Some(seq) = exchange.cancelled {
            let mut messages = self.messages_of_frame(seq)?.into_iter();
            let about = messages.find(|row| row.record.exchange == Some(exchange.id));
            said = about.map(|row| row.record.summary);
            t = self.head(seq)?.map(|head| head.t_last);
        }
        Ok(GivenUp {
            has_token: asked.is_some_and(|row| row.record.token.is_some()),
            again: self.asked_again(&exchange)?,
            said: said.unwrap_or_default(),
            t,
            exchange,
        })
    }

    /// The next call of the same method and name, if it asks for the same and came when the first
    /// had been given up.
    fn asked_again(&self, exchange: &Exchange) -> Result<Option<Exchange>, ReadError> {
        let alike = (
            &*exchange.method,
            exchange.name.as_deref(),
            to_sql(exchange.id.0),
        );
        let next = self.one(NEXT_ALIKE, alike, rows::exchange)?;
        let is_again = |next: &Exchange| {
            let later = exchange.cancelled.is_none_or(|seq| next.request.0 > seq);
            later && next.direction == exchange.direction && next.asked() == exchange.asked()
        };
        Ok(next.filter(is_again))
    }

    /// The findings by rule.
    fn groups(&self) -> Result<Vec<Group>, ReadError> {
        let rules: Vec<Box<str>> = self.list(RULES, [], |row| row.get(0))?;
        let group = |rule: Box<str>| {
            let first = self.list(FINDINGS_OF_RULE, (&*rule, FOUND), found)?;
            let count = if first.len() < FOUND as usize {
                first.len() as u64
            } else {
                let count = self.one(COUNT_OF_RULE, (&*rule, COUNTED), |row| number(row, 0))?;
                count.unwrap_or(0)
            };
            Ok(Group { rule, count, first })
        };
        rules.into_iter().map(group).collect()
    }

    fn noise(&self, findings: &[Group]) -> Result<Vec<Line>, ReadError> {
        let is_noise = |group: &&Group| NOISE_RULES.contains(&&*group.rule);
        let frames = frames(findings.iter().filter(is_noise));
        let mut noise = Vec::new();
        for seq in frames.into_iter().take(NOISE as usize) {
            noise.extend(self.one(LINE, (to_sql(seq.0), Line::LOOKED_AT), line)?);
        }
        Ok(noise)
    }

    fn last_lines(&self) -> Result<Vec<Line>, ReadError> {
        let params = params![StreamId::STDERR.0, Line::LOOKED_AT, LAST_WORDS, LINES];
        let mut lines = self.list(LAST_LINES, params, line)?;
        lines.reverse();
        Ok(lines)
    }

    /// Very long frames: those that findings point at, and those at the end.
    fn long(&self, findings: &[Group], last: u64) -> Result<Vec<FrameHead>, ReadError> {
        let is_long = |group: &&Group| LONG_RULES.contains(&&*group.rule);
        let mut long = self.heads(Seq(last.saturating_sub(LAST_FRAMES)), COUNTED)?;
        long.retain(|head| head.size >= LONG);
        for seq in frames(findings.iter().filter(is_long)) {
            if !long.iter().any(|head| head.seq == seq) {
                long.extend(self.head(seq)?);
            }
        }
        Ok(long)
    }
}

/// The frames that groups of findings point at, each once, in order.
fn frames<'g>(groups: impl Iterator<Item = &'g Group>) -> Vec<Seq> {
    let found = groups.flat_map(|group| &group.first);
    let mut frames: Vec<_> = found.filter_map(|found| found.frame).collect();
    frames.sort_unstable();
    frames.dedup();
    frames
}

/// `severity, frame, detail`.
fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        is_error: row.get_ref(0)?.as_str()? == "error",
        frame: rows::optional(row, 1)?.map(Seq),
        detail: row.get(2)?,
    })
}

/// `seq, stream, t_last, raw`, of which the last may be cut.
fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    Ok(Line {
        seq: Seq(number(row, 0)?),
        stream: StreamId(row.get(1)?),
        t: moment(row.get(2)?),
        bytes: row.get::<_, Vec<u8>>(3)?.into(),
    })
}
