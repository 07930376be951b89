//! The [`Facts`] of a recording from which its causes are found, gathered by queries that
//! are answered by an index or look at a bounded number of rows.

mod https;

use super::reader::reader_rows::number;
use super::reader::{EventRow, FindingRow, ReadError, Recording};
use super::schema::{moment, to_sql};
use mcpreel_lint::Severity;
use mcpreel_lint::cause::facts::{Cancelled, Counts, Failed, Found, Group, Line, Sample};
use mcpreel_lint::cause::{Facts, has_traceback};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::errors::{OWN_CODE, is_own_error};
use mcpreel_wire::message::Direction;
use rusqlite::Row;
use std::collections::BTreeSet;

/// Events that are read from the beginning and from the end: a recorder writes some dozens, but
/// two for each time that somebody does not read.
const EVENTS: u32 = 100;

/// Messages from the beginning in which a handshake is looked for, and exchanges from the end in
/// which the last answer is.
const LOOKED_THROUGH: u32 = 2000;

const PROGRESS_UNTIL: &str = "SELECT count(*) FROM message WHERE exchange = ?1 AND frame < ?2
    AND method = 'notifications/progress'";

/// Findings of a rule that are told.
const FOUND: u32 = 4;

/// Lines that are no messages, and lines of stderr, that are read. Who panics in Go tells what all
/// its goroutines did behind the line that says why.
const NOISE: u32 = 4;
const LAST_WORDS: u32 = 300;

/// Lines without a message that are looked through for them, from the end.
const LINES: u32 = 5000;

/// Frames at the end that are looked at for long ones.
const LAST_FRAMES: u32 = 64;

/// A frame of this size is a long one, bytes.
const LONG: u64 = 8 * 1024 * 1024;

/// Rules whose findings are about lines that are no messages.
const NOISE_RULES: [&str; 3] = ["frame-not-json", "frame-not-object", "rpc-unclassifiable"];

/// Rules whose findings are about messages that are framed wrongly.
const FRAMING_RULES: [&str; 3] = [
    "frame-content-length",
    "frame-embedded-newline",
    "frame-truncated",
];

/// Rules whose findings are about very long frames.
const LONG_RULES: [&str; 2] = ["frame-oversized", "frame-outline-only"];

const LAST_ANSWER: &str = "SELECT response FROM (SELECT id, response, status FROM exchange
    ORDER BY id DESC LIMIT ?1) WHERE status = 'ok' AND response IS NOT NULL
    ORDER BY id DESC LIMIT 1";
const CONFIRMED: &str = "SELECT 1 FROM (SELECT method, direction FROM message
    ORDER BY frame, part LIMIT ?1) WHERE direction = 'c2s'
    AND method IN ('notifications/initialized', 'initialized') LIMIT 1";
const ASKED_MORE: &str = "SELECT 1 FROM (SELECT method, direction FROM exchange
    ORDER BY id LIMIT ?1) WHERE direction = 'c2s'
    AND method NOT IN ('initialize', 'server/discover') LIMIT 1";
const FIRST_SAID: &str = "SELECT frame FROM (SELECT frame, direction, kind FROM message
    ORDER BY frame, part LIMIT ?1) WHERE direction = 's2c' AND kind <> 'other' LIMIT 1";
// One step for each rule, however many findings it has.
const RULES: &str = "WITH RECURSIVE named(rule) AS (
        SELECT min(rule) FROM finding
        UNION ALL SELECT (SELECT min(rule) FROM finding WHERE rule > named.rule)
        FROM named WHERE named.rule IS NOT NULL)
    SELECT rule FROM named WHERE rule IS NOT NULL LIMIT 1000";
const COUNT_OF_RULE: &str = "SELECT count(*) FROM (SELECT 1 FROM finding WHERE rule = ?1 LIMIT ?2)";
// Without their bytes: whoever asks for the beginning of a value gets all of it read.
const LAST_LINES: &str = "SELECT seq, stream, t_last FROM frame
    WHERE seq IN (SELECT frame FROM (SELECT frame, stream FROM line ORDER BY frame DESC LIMIT ?3)
        WHERE stream = ?1 ORDER BY frame DESC LIMIT ?2) ORDER BY seq";
const LINE: &str = "SELECT seq, stream, t_last FROM frame WHERE seq = ?1";

impl Recording {
    /// Gathers the facts. `now` is the time of a live recording, by the clock of its frames;
    /// `None` says that it is over.
    pub fn facts(&self, now: Option<Moment>) -> Result<Facts, ReadError> {
        let _held = self.hold()?;
        let called = "SELECT 1 FROM exchange WHERE method = 'tools/call' LIMIT 1";
        let stderr_bytes = "SELECT committed + pending FROM stream WHERE id = ?1";
        let seq = |row: &Row<'_>| number(row, 0).map(Seq);
        let summary = self.summary()?;
        let findings = self.groups()?;
        let selection = summary.context.selection.as_ref();
        let is_cut = selection.is_some_and(|part| part.to.is_some());
        let (failed, failed_too) = self.failed(summary.failed)?;
        let (opening, cut_off) = (self.opening()?, self.sample(Status::Lost)?);
        let mut facts = Facts {
            is_live: now.is_some(),
            now: now.unwrap_or(Moment(summary.t_last_ns)),
            counts: Counts {
                frames: summary.frames,
                messages: summary.messages,
                exchanges: summary.exchanges,
                failed: summary.failed,
                findings: self.last_finding()?,
                gap_bytes: summary.gap_bytes,
                stderr_bytes: self.number(stderr_bytes, [StreamId::STDERR.0])?,
            },
            events: self.first_and_last_events()?,
            noise: self.lines_of(&findings, &NOISE_RULES)?,
            misframed: self.lines_of(&findings, &FRAMING_RULES)?,
            strays: self.lines_of(&findings, &["response-unknown-id"])?,
            last_words: self.last_lines(summary.context.stderr_in_stdout)?,
            long: self.long(&findings, summary.frames)?,
            https: self.https_of_causes(&opening, &cut_off)?,
            opening,
            went_on: self.has(CONFIRMED, [LOOKED_THROUGH])?
                || self.has(ASKED_MORE, [LOOKED_THROUGH])?,
            called_tools: self.has(called, [])?,
            first_said: self.one(FIRST_SAID, [LOOKED_THROUGH], seq)?,
            last_answer: self.one(LAST_ANSWER, [LOOKED_THROUGH], seq)?,
            open: self.sample(Status::Open)?,
            lost: cut_off,
            unanswered: self.sample(Status::Unanswered)?,
            untracked: self.sample(Status::GivenUp)?,
            failed,
            failed_too,
            cancelled: self.cancelled()?,
            cancelled_by_user: self.sample(Status::UserCancelled)?.count,
            again: self.made_again(&findings)?,
            findings,
            context: summary.context,
            session: summary.session,
            ..Facts::default()
        };
        // A copy that says when it was made has all until then.
        let is_told = facts.is_live
            || matches!(facts.events.last(), Some(last) if last.kind == EventKind::Copied);
        facts.is_short = is_cut || !is_told && !summary.state.is_final();
        facts.in_requests = self.findings_in_requests(&facts)?;
        if facts.is_live {
            facts.unfinished = self.unfinished()?;
        }
        if facts.end().is_some() {
            facts.last_answered = self.last_answered()?;
        }
        Ok(facts)
    }

    /// The findings in the requests that something is the matter with, by rule. What is wrong in the head of
    /// one is told at the message, too.
    fn findings_in_requests(&self, facts: &Facts) -> Result<Vec<(Box<str>, Found)>, ReadError> {
        let requests = facts.troubled().map(|one| (one.request.0, one.http));
        let mut all = Vec::new();
        for (seq, http) in requests.collect::<BTreeSet<_>>() {
            let head = self.http(http)?.map(|http| http.request);
            for frame in [Some(seq), head].into_iter().flatten() {
                all.extend(self.findings_of_frame(frame)?.into_iter().map(|row| {
                    let (rule, frame) = (row.rule.clone(), Some(seq));
                    let found = found(row);
                    (rule, Found { frame, ..found })
                }));
            }
        }
        Ok(all)
    }

    fn first_and_last_events(&self) -> Result<Vec<Event>, ReadError> {
        let mut events: Vec<EventRow> = self.rows("ORDER BY id LIMIT ?1", [EVENTS])?;
        let last = events.last().map_or(0, |event| event.id);
        let mut later: Vec<EventRow> = self.rows("ORDER BY id DESC LIMIT ?1", [EVENTS])?;
        later.retain(|event| event.id > last);
        later.reverse();
        events.extend(later);
        Ok(events.into_iter().map(|row| row.event).collect())
    }

    fn groups(&self) -> Result<Vec<Group>, ReadError> {
        let rules: Vec<Box<str>> = self.list(RULES, [], |row| row.get(0))?;
        let group = |rule: Box<str>| {
            let first = self.rows("WHERE rule = ?1 ORDER BY id LIMIT ?2", (&*rule, FOUND))?;
            let first: Vec<_> = first.into_iter().map(found).collect();
            let count = if first.len() < FOUND as usize {
                first.len() as u64
            } else {
                // One more than is told shows whether that is all.
                self.number(COUNT_OF_RULE, (&*rule, to_sql(Group::COUNTED + 1)))?
            };
            Ok(Group {
                rule,
                count: count.min(Group::COUNTED),
                is_all: count <= Group::COUNTED,
                first,
            })
        };
        rules.into_iter().map(group).collect()
    }

    /// The first lines that findings of some rules point at.
    fn lines_of(&self, findings: &[Group], rules: &[&str]) -> Result<Vec<Line>, ReadError> {
        let is_meant = |group: &&Group| rules.contains(&&*group.rule);
        let frames = frames(findings.iter().filter(is_meant));
        let mut lines = Vec::new();
        for seq in frames.into_iter().take(NOISE as usize) {
            lines.extend(self.one(LINE, [to_sql(seq.0)], line)?);
        }
        self.begun(lines)
    }

    /// The last lines of stderr; `is_in_stdout`: they stand among those of stdout. A server that is started
    /// with `2>&1` writes its traceback on stdout.
    fn last_lines(&self, is_in_stdout: bool) -> Result<Vec<Line>, ReadError> {
        let lines = |stream: StreamId| {
            let params = (stream.0, LAST_WORDS, LINES);
            self.begun(self.list(LAST_LINES, params, line)?)
        };
        let mut said = lines(if is_in_stdout {
            StreamId::S2C
        } else {
            StreamId::STDERR
        })?;
        if !said.is_empty() || is_in_stdout {
            let every = said.iter_mut();
            every.for_each(|line| line.stream = StreamId::STDERR);
            return Ok(said);
        }
        let printed = lines(StreamId::S2C)?;
        Ok(if has_traceback(&printed) {
            printed
        } else {
            said
        })
    }

    /// Lines with the bytes that they begin with.
    fn begun(&self, mut lines: Vec<Line>) -> Result<Vec<Line>, ReadError> {
        for line in &mut lines {
            line.bytes = self.piece(line.seq, 0..Line::LOOKED_AT)?.into();
        }
        Ok(lines)
    }

    /// Very long frames: those that findings point at, and those at the end.
    fn long(&self, findings: &[Group], last: u64) -> Result<Vec<FrameHead>, ReadError> {
        let is_long = |group: &&Group| LONG_RULES.contains(&&*group.rule);
        let before = Seq(last.saturating_sub(u64::from(LAST_FRAMES)));
        let mut long = self.heads(before, LAST_FRAMES)?;
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

fn found(row: FindingRow) -> Found {
    Found {
        // What a later version calls otherwise is worth knowing.
        severity: row.severity.parse().unwrap_or(Severity::Note),
        frame: row.frame,
        exchange: row.exchange,
        path: row.path,
        related: row.related,
        detail: row.detail,
    }
}

/// `seq, stream, t_last`.
fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    Ok(Line {
        seq: Seq(number(row, 0)?),
        stream: StreamId(row.get(1)?),
        t: moment(row.get(2)?),
        bytes: Box::default(),
    })
}

// The exchanges among the facts: those that stand alike, failed, were cancelled, were made again.

/// The first and as many of the last rows of a kind that are read. The first failure and what was
/// open last say most.
const EACH: u32 = 4;

/// Failures of each status among which those of one call are looked for.
const FAILURES: u32 = 500;

/// Bytes of an error of our own at most.
const OWN_ERROR: u64 = 64 << 10;

/// Exchanges that were answered last.
const LAST: u32 = 16;

const GROUPS: usize = 4;

const COUNT_OF_STATUS: &str = "SELECT count(*) FROM (SELECT 1 FROM exchange
    INDEXED BY exchange_not_ok WHERE status <> 'ok' AND status = ?1 LIMIT ?2)";

impl Recording {
    /// The exchanges that begin a session, in order.
    fn opening(&self) -> Result<Vec<Exchange>, ReadError> {
        let first = "WHERE e.method = ?1 AND e.name IS NULL ORDER BY e.id LIMIT ?2";
        let mut opening: Vec<Exchange> = self.rows(first, ("initialize", EACH))?;
        opening.extend(self.rows::<Exchange>(first, ("server/discover", EACH))?);
        // Who only sends back what it is sent begins no session.
        opening.retain(|exchange| exchange.direction == Direction::ClientToServer);
        opening.sort_by_key(|exchange| exchange.id);
        Ok(opening)
    }

    /// The exchanges of one status: how many there are, and the first and the last of them.
    fn sample(&self, status: Status) -> Result<Sample, ReadError> {
        let mut exchanges = self.first_of(status, EACH)?;
        let before = exchanges.last().map(|exchange| exchange.id);
        let last = self.last_of(status, EACH)?.into_iter();
        exchanges.extend(last.filter(|exchange| Some(exchange.id) > before));
        let params = (status.as_str(), to_sql(Sample::COUNTED));
        let count = self.number(COUNT_OF_STATUS, params)?;
        Ok(Sample { count, exchanges })
    }

    /// The exchanges that were answered last, a few, in the order of the answers.
    fn last_answered(&self) -> Result<Vec<Exchange>, ReadError> {
        let last = "WHERE e.id IN (
                SELECT id FROM (SELECT id, response FROM exchange ORDER BY id DESC LIMIT ?1)
                WHERE response IS NOT NULL ORDER BY response DESC LIMIT ?2)
            ORDER BY e.response";
        self.rows(last, (LOOKED_THROUGH, LAST))
    }

    /// Calls that failed, by method and name, in the order of the first of each that was answered
    /// and says what is wrong; and other calls that were. `total` is how many failed altogether.
    fn failed(&self, total: u64) -> Result<(Vec<Failed>, Sample), ReadError> {
        let mut failures = Vec::<Exchange>::new();
        for status in Status::ALL.iter().filter(|status| status.is_failure_of("")) {
            failures.extend(self.first_of(*status, FAILURES)?);
        }
        failures.retain(Exchange::has_failed);
        failures.sort_by_key(|failure| failure.id);
        let is_whole = total <= u64::from(FAILURES);
        let unread = total.saturating_sub(failures.len() as u64);
        let leads = |one: &Exchange| matches!(one.status, Status::Error | Status::ToolError);
        let mut groups = Vec::new();
        while groups.len() < GROUPS
            && let Some(first) = failures.iter().find(|one| leads(one))
        {
            let (method, name) = (first.method.clone(), first.name.clone());
            let is_alike = |one: &Exchange| one.method == method && one.name == name;
            let (mut alike, others): (Vec<_>, _) = failures.into_iter().partition(is_alike);
            let is_all = is_whole && alike.len() <= Failed::COUNTED;
            alike.truncate(Failed::COUNTED);
            let mut failed = Failed::new(alike, is_all);
            for way in failed.iter_mut().flat_map(|failed| &mut failed.ways) {
                if let Some((seq, part)) = way.exchange.response {
                    let row = self.message(seq, part)?;
                    way.answer = row.map(|row| row.record.summary).or(way.answer.take());
                    way.is_by_bridge = self.is_by_bridge(&way.exchange, seq)?;
                }
            }
            groups.extend(failed);
            failures = others;
        }
        let count = failures.len() as u64 + unread;
        failures.retain(leads);
        failures.truncate(EACH as usize);
        let exchanges = failures;
        Ok((groups, Sample { count, exchanges }))
    }

    /// Whether the response in the frame `seq` is an error of our own.
    fn is_by_bridge(&self, call: &Exchange, seq: Seq) -> Result<bool, ReadError> {
        let code = call.code.as_deref().and_then(|code| code.parse().ok());
        if code != Some(OWN_CODE) || call.response_size > OWN_ERROR {
            return Ok(false);
        }
        let document = Document::parse(&self.raw(seq)?).map(|it| is_own_error(it.root()));
        Ok(document.unwrap_or(false))
    }

    /// The requests that were cancelled, in order, with the progress until then.
    fn cancelled(&self) -> Result<Vec<Cancelled>, ReadError> {
        let mut exchanges = self.sample(Status::Cancelled)?.exchanges;
        exchanges.extend(self.sample(Status::UserCancelled)?.exchanges);
        exchanges.extend(self.sample(Status::Late)?.exchanges);
        exchanges.sort_by_key(|exchange| exchange.id);
        let cancelled = exchanges.into_iter().map(|mut exchange| {
            if let Some(seq) = exchange.cancelled {
                let ids = [exchange.id.0, seq.0].map(to_sql);
                exchange.progress_count = self.number(PROGRESS_UNTIL, ids)?;
            }
            let asked = self.message(exchange.request.0, exchange.request.1)?;
            let messages = exchange.cancelled.map(|seq| self.messages_of_frame(seq));
            let mut messages = messages.transpose()?.into_iter().flatten();
            let about = messages.find(|row| row.record.exchange == Some(exchange.id));
            Ok(Cancelled {
                has_token: asked.is_some_and(|row| row.record.token.is_some()),
                said: about.map(|row| row.record.summary).unwrap_or_default(),
                exchange,
            })
        });
        cancelled.collect()
    }

    /// Calls that were given up, each with the call that repeats it, as a rule has found them.
    fn made_again(&self, findings: &[Group]) -> Result<Vec<(Exchange, Exchange)>, ReadError> {
        let is_meant = |group: &&Group| &*group.rule == "repeated-after-timeout";
        let found = findings.iter().find(is_meant).map(|group| &group.first);
        let mut again = Vec::new();
        for found in found.into_iter().flatten() {
            let later = found.exchange.map(|id| self.exchange(id)).transpose()?;
            let Some((later, first)) = later.flatten().zip(found.related.first()) else {
                continue;
            };
            let mut of_frame = self.exchanges_of_frame(*first)?.into_iter();
            let first = of_frame.find(|one| one.name == later.name);
            again.extend(first.map(|first| (first, later)));
        }
        Ok(again)
    }
}
