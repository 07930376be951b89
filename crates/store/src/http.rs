//! The HTTP of a network recording: exchanges, conversations, and what was on the wire.

use crate::reader::reader_rows::{self, Stored, number};
use crate::reader::{EventRow, ReadError, Recording};
use crate::schema::{moment, to_sql};
use mcpreel_capture::net::MAX_RECORDED_EDITS;
use mcpreel_lint::authorization::{FullExchange, Step, steps};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{Envelope, FrameHead, Seq, StreamId};
use mcpreel_trace::http::{End, HttpExchange, Timing};
use mcpreel_trace::session::Session;
use mcpreel_wire::http::{Head, Part};
use mcpreel_wire::message::Direction;
use rusqlite::Row;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A conversation of a network recording.
#[derive(Clone, Debug)]
pub struct ConversationRow {
    /// The number in the recording, from 1.
    pub id: u32,
    /// The frame of its first message.
    pub first: Seq,
    pub session: Session,
}

impl Stored for HttpExchange {
    const COLUMNS: &'static str = "id, connection, conversation, method, target, status,
        content_type, session, request, response, t_request, t_sent, t_head, t_first, t_last,
        ended, events, alone FROM http";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(moment));
        let text =
            |at| Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str_or_null()?.map(Into::into));
        let ended = row.get_ref(15)?.as_str_or_null()?;
        Ok(Self {
            id: row.get(0)?,
            connection: row.get(1)?,
            conversation: row.get(2)?,
            method: text(3)?.unwrap_or_default(),
            target: text(4)?.unwrap_or_default(),
            status: row.get(5)?,
            content_type: text(6)?,
            session: text(7)?,
            request: Seq(number(row, 8)?),
            response: reader_rows::optional(row, 9)?.map(Seq),
            t_request: moment(row.get(10)?),
            t_sent: moment(row.get(11)?),
            t_head: time(12)?,
            t_first: time(13)?,
            t_last: time(14)?,
            ended: ended.and_then(End::parse),
            events: number(row, 16)?,
            has_messages: !row.get::<_, bool>(17)?,
            ..Self::default()
        })
    }
}

impl Stored for ConversationRow {
    const COLUMNS: &'static str = "id, first, session FROM conversation";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let session = row.get_ref(2)?.as_str()?;
        Ok(Self {
            id: row.get(0)?,
            first: Seq(number(row, 1)?),
            session: serde_json::from_str(session).unwrap_or_default(),
        })
    }
}

/// HTTP exchanges that may be steps of a login, by number: what was refused, what is no message, and what
/// was served next.
const OF_AUTHORIZATION: &str = "WHERE id IN (
        SELECT id FROM (SELECT id FROM http INDEXED BY http_failed
            WHERE (status >= 300 OR ended = 'cut') AND status IN (401, 403) ORDER BY id LIMIT ?1)
        UNION SELECT id FROM (SELECT id FROM http INDEXED BY http_alone
            WHERE alone AND (method = 'POST' OR target LIKE '%/.well-known/%') ORDER BY request LIMIT ?1)
        UNION SELECT (SELECT min(s.id) FROM http s WHERE s.id > c.id AND s.status < 300 AND NOT s.alone)
            FROM (SELECT id FROM http INDEXED BY http_failed
                WHERE (status >= 300 OR ended = 'cut') AND status IN (401, 403) ORDER BY id LIMIT ?1) c)
    ORDER BY id";

/// The most of each of these.
const STEPS: u32 = 50;

/// Bytes of a body that are looked at: documents of OAuth are short.
const DOCUMENT: usize = 64 << 10;

impl Recording {
    /// The steps by which clients were authorized, or were not.
    pub fn authorization(&self) -> Result<Vec<Step>, ReadError> {
        let Some(server) = self.summary()?.context.url else {
            return Ok(Vec::new());
        };
        let of_flow: Vec<HttpExchange> = self.rows(OF_AUTHORIZATION, [STEPS])?;
        let mut exchanges = Vec::with_capacity(of_flow.len());
        for mut http in of_flow {
            self.read_heads(&mut http)?;
            let mut bodies = [Vec::new(), Vec::new()];
            for frame in self.carried(http.id, STEPS)? {
                let way = usize::from(frame.stream.messages() == Some(Direction::ServerToClient));
                if frame.carried.part == Part::Body && bodies[way].len() < DOCUMENT {
                    bodies[way].extend(self.piece(frame.seq, 0..DOCUMENT as u64)?);
                }
            }
            let [sent, received] = bodies;
            exchanges.push(FullExchange {
                http,
                sent,
                received,
            });
        }
        Ok(steps(&exchanges, &server))
    }

    /// The steps in its conversation, if the HTTP exchange is one of them. Documents belong to none, and so
    /// to all.
    pub fn authorization_around(&self, http: &HttpExchange) -> Result<Vec<Step>, ReadError> {
        let mut steps = self.authorization()?;
        let own = http.conversation;
        steps.retain(|step| own == 0 || [0, own].contains(&step.conversation));
        let is_one = steps.iter().any(|step| step.frame == Some(http.request));
        Ok(if is_one { steps } else { Vec::new() })
    }

    /// Adds its heads to an HTTP exchange.
    pub fn read_heads(&self, http: &mut HttpExchange) -> Result<(), ReadError> {
        let head = |seq: Seq| Ok::<_, ReadError>(Head::parse(&self.raw(seq)?).map(Arc::new));
        http.request_head = head(http.request)?;
        http.response_head = http.response.map(head).transpose()?.flatten();
        Ok(())
    }

    /// The HTTP exchange with this number.
    pub fn http(&self, id: u32) -> Result<Option<HttpExchange>, ReadError> {
        self.row("WHERE id = ?1", [id])
    }

    /// The HTTP exchange that is a row of its own, and whose request begins with the frame `seq`.
    pub fn http_alone(&self, seq: Seq) -> Result<Option<HttpExchange>, ReadError> {
        self.row("WHERE alone AND request = ?1", [to_sql(seq.0)])
    }

    /// The HTTP exchanges after the number `after`, in the order of their requests.
    pub fn https(&self, after: u32, limit: u32) -> Result<Vec<HttpExchange>, ReadError> {
        self.rows("WHERE id > ?1 ORDER BY id LIMIT ?2", (after, limit))
    }

    /// How the connections were made, by their numbers.
    pub fn connections_made(&self) -> Result<BTreeMap<u32, EventKind>, ReadError> {
        let made: Vec<EventRow> = self.rows("WHERE kind = 'connected'", [])?;
        let numbered = made.into_iter().filter_map(|row| match row.event.kind {
            EventKind::Connected { connection, .. } => Some((connection, row.event.kind)),
            _ => None,
        });
        Ok(numbered.collect())
    }

    /// What took how long in an HTTP exchange.
    pub fn timing(&self, http: &HttpExchange) -> Result<Timing, ReadError> {
        let made: Option<EventRow> = self.row(
            "WHERE kind = 'connected' AND detail ->> 'connection' = ?1
                AND NOT EXISTS (SELECT 1 FROM http WHERE connection = ?1 AND id < ?2)",
            [http.connection, http.id],
        )?;
        Ok(http.timing(made.as_ref().map(|row| &row.event.kind)))
    }

    /// The changes that the proxy made in an HTTP exchange. The proxy records each distinct change once, where
    /// it was made first; later exchanges are matched by their heads.
    pub fn edits(&self, http: &HttpExchange) -> Result<Vec<EventKind>, ReadError> {
        let mut http = http.clone();
        self.read_heads(&mut http)?;
        let answered = http.response_head.as_deref();
        if answered.is_some_and(Head::is_from_recorder) {
            // The request went no further.
            return Ok(Vec::new());
        }
        let remembered = "WHERE kind = 'edited' ORDER BY id LIMIT ?1";
        let mut edits: Vec<EventRow> =
            self.rows(remembered, [to_sql(MAX_RECORDED_EDITS as u64)])?;
        let (event, endpoint) = self.endpoint(&http)?.unzip();
        edits.retain(|edit| is_made(&edit.event.kind, &http, endpoint.as_deref()));
        for seq in [Some(http.request), http.response, event]
            .into_iter()
            .flatten()
        {
            edits.extend(self.edits_of_frame(seq)?);
        }
        edits.sort_by_key(|edit| edit.id);
        edits.dedup_by_key(|edit| edit.id);
        Ok(edits.into_iter().map(|edit| edit.event.kind).collect())
    }

    /// The changes that are on record at this frame.
    fn edits_of_frame(&self, seq: Seq) -> Result<Vec<EventRow>, ReadError> {
        let Some(head) = self.head(seq)? else {
            return Ok(Vec::new());
        };
        let condition = "WHERE kind = 'edited' AND detail ->> 'stream' = ?1
            AND detail ->> 'offset' >= ?2 AND detail ->> 'offset' < ?3";
        let place = (
            head.stream.0,
            to_sql(head.offset),
            to_sql(head.offset + head.size),
        );
        self.rows(condition, place)
    }

    /// The endpoint that a stream of 2024-11-05 names, and the frame of the event that does.
    pub(crate) fn endpoint(&self, http: &HttpExchange) -> Result<Option<(Seq, String)>, ReadError> {
        if !http.is_stream() {
            return Ok(None);
        }
        // The head of the request, that of the response, and the first event.
        let frames = self.carried(http.id, 3)?;
        let Some(event) = frames.iter().find(|frame| frame.carried.is_endpoint) else {
            return Ok(None);
        };
        let data = self.raw(event.seq)?;
        Ok(Some((
            event.seq,
            String::from_utf8_lossy(&data).trim().to_owned(),
        )))
    }

    /// The first frames that an HTTP exchange carried, heads among them, `limit` at most.
    pub fn carried(&self, http: u32, limit: u32) -> Result<Vec<FrameHead>, ReadError> {
        let frames = "WHERE seq IN (SELECT frame FROM line WHERE http > 0 AND http = ?1
            UNION SELECT frame FROM message WHERE http > 0 AND http = ?1) ORDER BY seq LIMIT ?2";
        self.rows(frames, (http, limit))
    }

    /// What was read of one way of a connection, in order, as far as it is on record.
    pub fn wire(&self, connection: u32, way: Direction) -> Result<Vec<u8>, ReadError> {
        let stream = StreamId::of_connection(connection, way);
        let sql = "SELECT raw FROM wire WHERE stream = ?1 ORDER BY id";
        let reads = self.list(sql, [stream.0], |row| row.get::<_, Vec<u8>>(0))?;
        Ok(reads.concat())
    }

    /// The conversations, in the order in which they began; none over stdio.
    pub fn conversations(&self) -> Result<Vec<ConversationRow>, ReadError> {
        self.rows("ORDER BY id", [])
    }

    /// How many conversations there are; 0 over stdio.
    pub fn conversation_count(&self) -> Result<u64, ReadError> {
        let sql = "SELECT count(*) FROM conversation";
        Ok(self.one(sql, [], |row| number(row, 0))?.unwrap_or_default())
    }

    /// The conversations by the number of requests that their clients made, most first.
    pub fn busiest_conversations(&self) -> Result<Vec<(u32, u64)>, ReadError> {
        let sql = "SELECT conversation, count(*) FROM exchange
            WHERE conversation > 0 AND direction = 'c2s' GROUP BY 1 ORDER BY 2 DESC, 1";
        self.list(sql, [], |row| Ok((row.get(0)?, number(row, 1)?)))
    }

    /// What a network transport wraps around a frame; `None` over stdio.
    pub fn envelope(&self, seq: Seq) -> Result<Option<Envelope>, ReadError> {
        let sql = "SELECT envelope FROM frame WHERE seq = ?1";
        let envelope = self.one(sql, [to_sql(seq.0)], |row| reader_rows::envelope(row, 0))?;
        Ok(envelope.flatten())
    }
}

/// Whether a URL without its scheme has this authority.
fn is_below(rest: &str, authority: &str) -> bool {
    let path = rest.strip_prefix(authority);
    path.is_some_and(|path| path.is_empty() || path.starts_with(['/', '?', '#']))
}

/// Whether the proxy made this change in an HTTP exchange, as it made it before.
fn is_made(edit: &EventKind, http: &HttpExchange, endpoint: Option<&str>) -> bool {
    let EventKind::Edited { what, old, new, .. } = edit else {
        return false;
    };
    let [request, response] = [&http.request_head, &http.response_head].map(Option::as_deref);
    let says = |head: Option<&Head>| head.is_some_and(|head| head.all(what).any(|it| it == old));
    // The client is sent back to where it reached the proxy.
    let host = request
        .and_then(|head| head.get("host"))
        .unwrap_or_default();
    let is_sent_back = || {
        new.strip_prefix("http://")
            .is_none_or(|rest| is_below(rest, host))
    };
    match &**what {
        "header" => request.is_some(),
        "endpoint" => endpoint == Some(old) && is_sent_back(),
        "Location" => says(response) && is_sent_back(),
        _ => says(request),
    }
}
