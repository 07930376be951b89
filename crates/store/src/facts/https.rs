//! What is known of the HTTP of a recording when its causes are looked for.

use super::{FAILURES, LOOKED_THROUGH};
use crate::reader::{ReadError, Recording};
use crate::schema::moment;
use mcpreel_lint::cause::facts::{Https, Sample};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::http::{End, HttpExchange};
use mcpreel_wire::http::Part;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::words_of;
use rusqlite::Row;

/// Exchanges of HTTP of one kind that are read from the beginning and from the end.
const HTTPS: u32 = 16;

// Probes are left out: their refusal is expected.
const REFUSED: &str = "WHERE id NOT IN (
        SELECT http FROM exchange INDEXED BY exchange_not_ok WHERE status <> 'ok' AND status = 'probe'
        AND http > 0)
    AND id IN (SELECT id FROM (SELECT id FROM http INDEXED BY http_failed
            WHERE (status >= 300 OR ended = 'cut') AND status >= 300 ORDER BY id LIMIT ?1) UNION
        SELECT id FROM (SELECT id FROM http INDEXED BY http_failed
            WHERE (status >= 300 OR ended = 'cut') AND status >= 300 ORDER BY id DESC LIMIT ?1))
    ORDER BY id";
const CUT: &str = "WHERE id IN (
        SELECT id FROM (SELECT id FROM http INDEXED BY http_failed
            WHERE (status >= 300 OR ended = 'cut') AND ended = 'cut' ORDER BY id LIMIT ?1) UNION
        SELECT id FROM (SELECT id FROM http INDEXED BY http_failed
            WHERE (status >= 300 OR ended = 'cut') AND ended = 'cut' ORDER BY id DESC LIMIT ?1))
    ORDER BY id";
const LAST_SERVED: &str =
    "SELECT id, t_request FROM http WHERE status < 300 AND NOT alone ORDER BY id DESC LIMIT 1";
const LAST_INITIALIZE: &str =
    "SELECT max(http) FROM exchange WHERE method = 'initialize' AND status = 'ok'";
const ALONE: &str = "WHERE id IN (
        SELECT id FROM (SELECT id FROM http INDEXED BY http_alone WHERE alone ORDER BY request LIMIT ?1)
        UNION SELECT id FROM (SELECT id FROM http INDEXED BY http_alone WHERE alone
            ORDER BY request DESC LIMIT ?1))
    ORDER BY id";
const WITH_PROGRESS: &str = "WHERE e.id IN (
        SELECT id FROM (SELECT id, progress_count, http FROM exchange ORDER BY id DESC LIMIT ?1)
        WHERE progress_count > 1 AND http > 0 ORDER BY id LIMIT ?2)
    ORDER BY e.id";

/// Exchanges of HTTP without a message in their requests that are read from the beginning and from the end.
const BESIDE: u32 = 100;

/// Frames of a response that are looked at, and bytes of one of them.
const FIRST_FRAMES: u32 = 8;
const BEGINNING: u64 = 8 << 10;

impl Recording {
    /// What is known of HTTP; `opening`: the requests that begin sessions; `lost`: the calls whose streams
    /// may have been cut off.
    pub(super) fn https_of_causes(
        &self,
        opening: &[Exchange],
        lost: &Sample,
    ) -> Result<Https, ReadError> {
        let id_and_t = |row: &Row<'_>| Ok((row.get(0)?, moment(row.get(1)?)));
        let (last_served, t_last_served) = self.one(LAST_SERVED, [], id_and_t)?.unwrap_or_default();
        let last_initialize = self.one(LAST_INITIALIZE, [], |row| row.get::<_, Option<u32>>(0))?;
        let mut https = Https {
            refused: self.rows(REFUSED, [HTTPS])?,
            cut: self.rows(CUT, [HTTPS])?,
            answerless: self.answerless()?,
            last_served,
            t_last_served,
            last_initialize: last_initialize.flatten().unwrap_or_default(),
            alone: self.rows(ALONE, [BESIDE])?,
            with_progress: self.with_progress()?,
            ..Https::default()
        };
        for call in opening {
            https.opening.extend(self.http(call.http)?);
        }
        let preflights = https.alone.iter_mut();
        let preflights = preflights.filter(|one| one.method == "OPTIONS");
        let with_heads = https.refused.iter_mut().chain(&mut https.opening);
        let with_heads = with_heads.chain(&mut https.cut);
        for http in with_heads.chain(preflights) {
            self.read_heads(http)?;
        }
        for http in &https.refused {
            let said = self.said(http)?.map(|said| (http.id, said));
            https.said.extend(said);
        }
        let streams = https.alone.iter_mut();
        let nameless = |one: &&mut HttpExchange| one.is_stream() && one.session.is_none();
        for http in streams.filter(nameless).take(HTTPS as usize) {
            if let Some((_, endpoint)) = self.endpoint(http)? {
                self.read_heads(http)?;
                https.endpoints.push((http.clone(), endpoint.into()));
            }
        }
        // A stream that is as long as its connection was cut off where a call was lost with it.
        for call in &lost.exchanges {
            let http = self.http(call.http)?;
            let closed = http.filter(|http| http.ended == Some(End::Closed));
            https.cut.extend(closed);
        }
        // Without a challenge nobody had to log in.
        if https
            .refused
            .iter()
            .any(|one| matches!(one.status, Some(401 | 403)))
        {
            https.authorization = self.authorization()?;
        }
        Ok(https)
    }

    /// The first calls whose responses were no errors and held no answers, with these.
    fn answerless(&self) -> Result<Vec<(Exchange, HttpExchange)>, ReadError> {
        let mut calls = self.first_of(Status::HttpError, FAILURES)?;
        calls.retain(|call| {
            let is_success = call
                .code
                .as_deref()
                .is_some_and(|code| code.starts_with('2'));
            is_success && call.has_failed()
        });
        let calls = calls.into_iter().take(Https::ANSWERLESS);
        let pair = |call: Exchange| Ok(self.http(call.http)?.map(|http| (call, http)));
        calls.filter_map(|call| pair(call).transpose()).collect()
    }

    /// Calls with progress, and the exchanges on which they were made.
    fn with_progress(&self) -> Result<Vec<(Exchange, HttpExchange)>, ReadError> {
        let calls: Vec<Exchange> = self.rows(WITH_PROGRESS, (LOOKED_THROUGH, HTTPS))?;
        let mut pairs = Vec::new();
        for call in calls {
            if let Some(mut http) = self.http(call.http)? {
                self.read_heads(&mut http)?;
                pairs.push((call, http));
            }
        }
        Ok(pairs)
    }

    /// What the body of a refusal says, if it is text or a page for people, or has a member that is.
    fn said(&self, http: &HttpExchange) -> Result<Option<Box<str>>, ReadError> {
        let frames = self.carried(http.id, FIRST_FRAMES)?.into_iter();
        let mut bodies = frames.filter(|frame| {
            let way = frame.stream.messages();
            way == Some(Direction::ServerToClient) && frame.carried.part == Part::Body
        });
        let Some(body) = bodies.next() else {
            return Ok(None);
        };
        let body = self.piece(body.seq, 0..BEGINNING)?;
        let text = String::from_utf8_lossy(&body);
        let text = match http.content_type.as_deref() {
            None | Some("text/plain") => Some(text.trim().to_owned()),
            Some("text/html" | "application/xml" | "text/xml") => Some(words_of(&text)),
            _ => None,
        };
        let said = reason(&body).or(text);
        Ok(said.filter(|said| !said.is_empty()).map(Into::into))
    }
}

/// The words of a JSON document that says why something was refused.
fn reason(body: &[u8]) -> Option<String> {
    let document = Document::parse(body).ok()?;
    let root = document.root();
    let of_error = root.get("error").and_then(|error| error.get("message"));
    let own = ["error_description", "message", "detail", "error"];
    let mut said = of_error
        .into_iter()
        .chain(own.iter().filter_map(|name| root.get(name)));
    said.find_map(|value| Some(value.as_str()?.into_owned()))
}
