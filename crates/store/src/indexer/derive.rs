//! Derives messages, exchanges, findings and the session from frames and events.
//!
//! Live indexing and `reindex` both come through here, in the same order, so what
//! they write is the same.

use super::conversation::{Conversation, Network};
use super::line::COLLECT_LIMIT;
use super::long;
use super::long::LongText;
use super::write::Writer;
use crate::open::{self, OpenError};
use crate::reader::reader_rows::{EventRow, Stored as _};
use crate::schema::{DERIVED_VERSION, SchemaError, to_sql};
use mcpreel_capture::spool::SpoolError;
use mcpreel_lint::Severity;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::http::Part;
use mcpreel_wire::message::{Classifier, Content, Lines, classify_cut};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::io;
use std::path::Path;

/// Rows are handed to the database in lots of about this many: more of them cost memory.
const LOT: usize = 1000;

/// Rows that take more bytes are handed over before they are so many: their texts may be long.
const LOT_BYTES: usize = 1 << 20;

const SAVE_COUNTS: &str = "UPDATE recording SET derived_version = ?1, messages = ?2,
    exchanges = ?3, failed = ?4, open = ?5, findings = ?6";
const SAVE_SESSION: &str = "UPDATE recording SET session = ?1";

/// The bytes of a frame, or what was kept of them.
#[derive(Debug)]
pub enum Text<'a> {
    Whole(&'a [u8]),
    /// The outline of a frame that is too long to hold.
    Long(Box<LongText>),
}

/// Derives the rows of one recording, from its first frame to its last.
#[derive(Default)]
pub struct Deriver {
    classifier: Classifier,
    /// The session over stdio; over the network what belongs to no conversation.
    main: Conversation,
    network: Option<Box<Network>>,
    /// How the recording began.
    start: Option<Event>,
    lines: Vec<FrameHead>,
    counts: Counts,
    /// The last exchange that has a row.
    written: ExchangeId,
    /// The session that is on record, as JSON.
    session: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    messages: u64,
    exchanges: u64,
    failed: u64,
    open: u64,
    findings: u64,
}

impl Counts {
    fn exchange(&mut self, before: Option<Status>, exchange: &Exchange) {
        let failed = |status: Status| u64::from(status.is_failure_of(&exchange.method));
        let open = |status: Status| u64::from(status == Status::Open);
        self.exchanges += u64::from(before.is_none());
        self.failed = self.failed + failed(exchange.status) - before.map_or(0, failed);
        self.open = self.open + open(exchange.status) - before.map_or(0, open);
    }
}

impl Deriver {
    pub fn frame(&mut self, head: &FrameHead, text: Text<'_>) {
        let is_protocol = head.stream.messages().is_some() && has_content(head.carried.part);
        let is_shortened = self.main.analysis.is_shortened(head.stream) || head.carried.is_cut;
        let beginning;
        let (raw, outlined) = match text {
            Text::Whole(raw) => (raw, None),
            Text::Long(text) => {
                let content;
                (content, beginning) = text.finish(head, is_shortened);
                (&beginning[..], Some(content))
            }
        };
        let (content, root) = match outlined {
            _ if !is_protocol => (Content::default(), None),
            Some(content) => (content, None),
            None if is_shortened => (classify_cut(raw), None),
            None => self.classifier.read(raw, Lines::OfAll),
        };
        let mut content = content;
        if head.carried.part != Part::Line {
            content.problems.retain(|problem| !problem.is_of_lines());
        }
        let has_messages = if head.stream.connection().is_some() {
            let start = &self.start;
            let begin = || Box::new(Network::new(start.clone()));
            let network = self.network.get_or_insert_with(begin);
            network.frame(head, raw, content, root)
        } else {
            let has_messages = !content.messages.is_empty();
            self.main.frame(head, raw, content, root);
            has_messages
        };
        self.classifier.give_back();
        if !has_messages {
            self.lines.push(*head);
        }
    }

    pub fn event(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::Start(_)) {
            self.start = Some(event.clone());
        }
        if let Some(network) = &mut self.network {
            network.event(event);
        }
        if !is_of_connection(&event.kind) {
            self.main.event(event);
        }
    }

    pub fn finish(&mut self, writer: &mut Writer<'_>) -> rusqlite::Result<()> {
        let Some(network) = &mut self.network else {
            while self.main.analysis.close(LOT) {
                self.flush(writer)?;
            }
            self.main.finish();
            return Ok(());
        };
        network.followed.values_mut().for_each(Conversation::finish);
        // Of a session that is no session nothing is missing.
        self.main.analysis.finish();
        Ok(())
    }

    /// Writes the rows that have come together, if they are many.
    pub fn flush_if_many(&mut self, writer: &mut Writer<'_>) -> rusqlite::Result<()> {
        let followed = self.network.iter().flat_map(|it| it.followed.values());
        let (mut rows, mut bytes) = (self.lines.len(), 0);
        for one in followed.chain([&self.main]) {
            rows += one.rows();
            bytes += one.pending_bytes();
        }
        if rows < LOT && bytes < LOT_BYTES {
            return Ok(());
        }
        self.flush(writer)
    }

    /// Writes the rows that have come together.
    pub fn flush(&mut self, writer: &mut Writer<'_>) -> rusqlite::Result<()> {
        for head in self.lines.drain(..) {
            writer.line(&head)?;
        }
        let (mut exchanges, messages) = self.main.messages(writer)?;
        self.counts.messages += messages;
        if let Some(network) = &mut self.network {
            for http in network.log.take() {
                writer.http(&http)?;
            }
            let ended = network.ended.iter_mut().map(|(_, one)| one);
            for one in network.followed.values_mut().chain(ended) {
                let (more, messages) = one.messages(writer)?;
                exchanges.extend(more);
                self.counts.messages += messages;
            }
            exchanges.sort_by_key(|exchange| exchange.id);
        }
        self.exchanges(&exchanges, writer)?;
        let network = self.network.iter_mut().flat_map(|it| {
            let ended = it.ended.iter_mut().map(|(_, one)| one);
            it.followed
                .values_mut()
                .chain(ended)
                .chain([&mut it.strangers])
        });
        for one in network.chain([&mut self.main]) {
            for finding in one.linter.take() {
                writer.finding(&finding)?;
                self.counts.findings += u64::from(finding.severity > Severity::Note);
            }
        }
        Ok(())
    }

    /// Brings the row of the recording up to date.
    pub fn save(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let counts = &self.counts;
        conn.prepare_cached(SAVE_COUNTS)?.execute(params![
            DERIVED_VERSION,
            to_sql(counts.messages),
            to_sql(counts.exchanges),
            to_sql(counts.failed),
            to_sql(counts.open),
            to_sql(counts.findings),
        ])?;
        self.save_session(conn)
    }

    /// Saves who spoke, unless that is on record.
    fn save_session(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let Some(network) = &mut self.network else {
            if let Some(session) = self.main.changed_session()? {
                conn.prepare_cached(SAVE_SESSION)?.execute([session])?;
            }
            return Ok(());
        };
        network.save(conn)?;
        let main = self.main.analysis.session();
        let foremost = network.foremost().map(|one| one.analysis.session().clone());
        let mut session = foremost.unwrap_or_else(|| main.clone());
        // How the server ended is nobody's alone.
        if main.phase.end().is_some() {
            session.phase.clone_from(&main.phase);
        }
        let session = serde_json::to_string(&session)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        if self.session != session {
            conn.prepare_cached(SAVE_SESSION)?.execute([&session])?;
            self.session = session;
        }
        Ok(())
    }

    /// `exchanges` are in the order of their ids: those that have a row come first.
    fn exchanges(
        &mut self,
        exchanges: &[Exchange],
        writer: &mut Writer<'_>,
    ) -> rusqlite::Result<()> {
        let known = exchanges.partition_point(|exchange| exchange.id <= self.written);
        let (changed, new) = exchanges.split_at(known);
        for exchange in changed {
            let before = writer.status_of(exchange)?;
            self.counts.exchange(before, exchange);
            writer.changed_exchange(exchange)?;
        }
        for exchange in new {
            self.counts.exchange(None, exchange);
            self.written = exchange.id;
        }
        writer.new_exchanges(new)
    }
}

/// Whether a part of a network stream may hold messages.
fn has_content(part: Part) -> bool {
    matches!(part, Part::Line | Part::Body | Part::Event | Part::Message)
}

/// Whether an event is about a connection over the network, and about no process.
fn is_of_connection(kind: &EventKind) -> bool {
    match kind {
        EventKind::Eof { stream, .. } | EventKind::Gap { stream, .. } => {
            stream.connection().is_some()
        }
        EventKind::Connected { .. } | EventKind::Disconnected { .. } => true,
        _ => false,
    }
}

// Deriving everything anew from the frames and events of a recording.

const IS_LIVE: &str = "SELECT state = 'live' FROM recording";
const CLEAR: &str =
    "DELETE FROM message; DELETE FROM line; DELETE FROM exchange; DELETE FROM finding;
    DELETE FROM http; DELETE FROM conversation;";
const FRAMES: &str = r#"SELECT seq, stream, "offset", t_first, t_last, envelope, length(raw),
    CASE WHEN length(raw) <= ?1 THEN raw END FROM frame ORDER BY seq"#;
const EVENTS: &str = "SELECT id, t, after_seq, detail FROM event ORDER BY id";

/// Frames between two calls of a progress callback.
const REPORT_EVERY: u64 = 4096;

/// Derives everything of the recording `path` anew, in one transaction: whoever reads it
/// meanwhile sees the old rows. `progress` is told how many frames are done.
pub fn reindex(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), IndexError> {
    rebuild_all(&open::writable(path)?, progress).map(drop)
}

pub(crate) fn rebuild_all(
    conn: &Connection,
    progress: &mut dyn FnMut(u64),
) -> Result<Deriver, IndexError> {
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let deriver = rebuild(&transaction, progress)?;
    transaction.commit()?;
    Ok(deriver)
}

/// Empties the derived tables and fills them again, within the caller's transaction. What is open at
/// the last frame stays open in a live recording only; what comes next is for the deriver that is
/// returned.
pub(crate) fn rebuild(
    conn: &Connection,
    progress: &mut dyn FnMut(u64),
) -> Result<Deriver, IndexError> {
    conn.execute_batch(CLEAR)?;
    let mut writer = Writer::prepare(conn)?;
    let mut deriver = Deriver::default();
    let mut events = conn.prepare(EVENTS)?;
    let events = events.query_map([], |row| Ok(EventRow::read(row)?.event))?;
    let events = events.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut events = events.into_iter().peekable();
    let mut frames = conn.prepare(FRAMES)?;
    let mut rows = frames.query([to_sql(COLLECT_LIMIT)])?;
    while let Some(row) = rows.next()? {
        let head = FrameHead::read(row)?;
        while let Some(event) = events.next_if(|event| event.after_seq < head.seq) {
            deriver.event(&event);
        }
        if head.size > COLLECT_LIMIT {
            let text = long::read(conn, head.seq)?;
            deriver.frame(&head, Text::Long(Box::new(text)));
        } else {
            let raw = row.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?;
            deriver.frame(&head, Text::Whole(raw));
        }
        deriver.flush_if_many(&mut writer)?;
        if head.seq.0 % REPORT_EVERY == 0 {
            progress(head.seq.0);
        }
    }
    events.for_each(|event| deriver.event(&event));
    if !conn.query_row(IS_LIVE, [], |row| row.get(0))? {
        deriver.finish(&mut writer)?;
    }
    deriver.flush(&mut writer)?;
    deriver.save(conn)?;
    Ok(deriver)
}

/// Why a recording could not be made, filled, or derived anew.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The recording could not be created.
    #[error(transparent)]
    Create(#[from] SchemaError),
    /// The recording could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// Another process goes on with the recording, or has finished it.
    #[error("another process has taken the recording over")]
    TakenOver,
    /// The file of the recording was cut off, removed or replaced, or its WAL was.
    #[error("another program has cut off, removed or replaced the file of the recording")]
    Disturbed,
    #[error("could not write the recording")]
    Sqlite(#[from] rusqlite::Error),
    /// The bytes of a long frame could not be copied or read.
    #[error("could not copy a line of {size} bytes")]
    Copy { size: u64, source: io::Error },
}
