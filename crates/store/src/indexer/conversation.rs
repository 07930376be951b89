//! The fold over one session, and over the conversations of a network recording.

use super::write::Writer;
use crate::schema::to_sql;
use mcpreel_lint::Linter;
use mcpreel_trace::analysis::Analysis;
use mcpreel_trace::conversation::Conversations;
use mcpreel_trace::correlator::may_be_of_probe;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::http::{HttpExchange, HttpLog};
use mcpreel_wire::http::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Body, Content, Direction, Problem};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::ops::Range;

/// Conversations that are followed at once. A client that begins a new one for every call must not make
/// us grow: the one that has been silent for longest ends.
const FOLLOWED: usize = 128;

const SAVE: &str = "INSERT INTO conversation (id, first, session) VALUES (?1, ?2, ?3)
    ON CONFLICT (id) DO UPDATE SET session = excluded.session";

/// A session as it is followed: what its messages mean, and what is wrong with them.
#[derive(Default)]
pub(super) struct Conversation {
    pub analysis: Analysis,
    pub linter: Linter,
    /// The places of the messages that `analysis` has ready, in their frames.
    spans: Vec<Range<usize>>,
    first: Seq,
    last: Seq,
    /// The session that is on record, as JSON.
    saved: String,
}

impl Conversation {
    pub fn frame(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        content: Content,
        root: Option<Value<'_>>,
    ) {
        self.analysis.frame(head, &content);
        self.linter.frame(&self.analysis, head, raw, &content, root);
        self.last = head.seq;
        let spans = content.messages.into_iter().map(|message| message.span);
        self.spans.extend(spans);
    }

    pub fn event(&mut self, event: &Event) {
        self.analysis.event(event);
        self.linter.event(&self.analysis, event);
    }

    pub fn rows(&self) -> usize {
        self.spans.len()
    }

    pub fn pending_bytes(&self) -> usize {
        self.analysis.pending_bytes() + self.linter.pending_bytes()
    }

    /// Writes its messages; the exchanges that are new or changed, and the number of messages.
    pub fn messages(&mut self, writer: &mut Writer<'_>) -> rusqlite::Result<(Vec<Exchange>, u64)> {
        let derived = self.analysis.take();
        writer.messages(&derived.messages, &self.spans)?;
        self.spans.clear();
        Ok((derived.exchanges, derived.messages.len() as u64))
    }

    /// The session as JSON, unless that is what was asked for last: what a side says of itself may be
    /// long.
    pub fn changed_session(&mut self) -> rusqlite::Result<Option<&str>> {
        let session = serde_json::to_string(self.analysis.session())
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        let is_new = self.saved != session;
        self.saved = session;
        Ok(is_new.then_some(&self.saved))
    }

    /// Whether a request of its client was answered with a result.
    fn has_begun(&self) -> bool {
        self.analysis.correlator().has_begun()
    }

    pub fn finish(&mut self) {
        self.analysis.finish();
        self.linter.finish(&self.analysis);
    }
}

/// The conversations of a network recording, and the HTTP that carries them.
#[derive(Default)]
pub(super) struct Network {
    pub log: HttpLog,
    who: Conversations,
    pub followed: BTreeMap<u32, Conversation>,
    /// Those that ended to make room, until they are written.
    pub ended: Vec<(u32, Conversation)>,
    /// What belongs to none.
    pub strangers: Conversation,
    /// How the recording began, for each that begins.
    start: Option<Event>,
    /// The last number that an exchange has, over all of them.
    last_exchange: u64,
}

impl Network {
    pub fn new(start: Option<Event>) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Takes in a frame with these messages; whether they are rows of their own.
    pub fn frame(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        content: Content,
        root: Option<Value<'_>>,
    ) -> bool {
        let is_over = self.log.frame(head, raw);
        let http = head.carried.http;
        match head.carried.part {
            Part::RequestHead => self.request_head(http),
            Part::ResponseHead => self.response_head(head),
            Part::Event if head.carried.is_endpoint => {
                let target = String::from_utf8_lossy(raw);
                let asked = self.log.get(http).map(|it| it.target.clone());
                let asked = asked.unwrap_or_default();
                let conversation = self.who.endpoint(&asked, target.trim());
                self.log.belongs(http, conversation);
            }
            _ => {}
        }
        let mut content = content;
        self.leave_out_others(head, &mut content);
        let has_messages = !content.messages.is_empty();
        if has_messages {
            let conversation = self.conversation_of(head, &content);
            let carrier = self.log.get(http).cloned();
            self.with(conversation, head.seq, |it| {
                if let Some(carrier) = &carrier {
                    it.linter.carried_by(carrier);
                }
                it.frame(head, raw, content, root);
                let is_request = head.stream.messages() == Some(Direction::ClientToServer);
                let is_refused = |it: &HttpExchange| is_request && it.status >= Some(300);
                if let Some(carrier) = carrier.filter(is_refused) {
                    it.analysis.http_refused(head, &carrier);
                    it.analysis.http_over(&carrier);
                }
            });
            self.fall_back(conversation);
        }
        if let Some(carrier) = self.log.get(http).filter(|_| is_over)
            && !self.who.is_answered_elsewhere(carrier)
        {
            let one = self.followed.get_mut(&carrier.conversation);
            let one = one.unwrap_or(&mut self.strangers);
            one.analysis.http_over(carrier);
            one.linter.http_over(&one.analysis, carrier);
        }
        has_messages
    }

    pub fn event(&mut self, event: &Event) {
        self.log.event(&event.kind);
        if matches!(
            event.kind,
            EventKind::Exit { .. } | EventKind::Untimed { .. }
        ) {
            for one in self.followed.values_mut() {
                one.analysis.event(event);
            }
        }
    }

    /// The conversation that says most of the recording: the last in which both sides said their names, else
    /// the last in which the client did.
    pub fn foremost(&self) -> Option<&Conversation> {
        let newest = || self.followed.values().rev();
        let of_client = |it: &&Conversation| it.analysis.session().client.name.is_some();
        let of_both = |it: &&Conversation| of_client(it) && it.has_begun();
        let named = newest().find(of_both).or_else(|| newest().find(of_client));
        named.or_else(|| newest().next())
    }

    /// Brings the rows of the conversations up to date.
    pub fn save(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let mut save = conn.prepare_cached(SAVE)?;
        let ended = self.ended.iter_mut().map(|(id, one)| (&*id, one));
        for (id, one) in self.followed.iter_mut().chain(ended) {
            let first = to_sql(one.first.0);
            if let Some(session) = one.changed_session()? {
                save.execute(params![id, first, session])?;
            }
        }
        self.ended.clear();
        Ok(())
    }

    fn request_head(&mut self, http: u32) {
        let of_head = self.log.get(http).and_then(|it| self.who.of_head(it));
        if let Some(conversation) = of_head {
            self.log.belongs(http, conversation);
        }
    }

    fn response_head(&mut self, head: &FrameHead) {
        let Some(http) = self.log.get(head.carried.http) else {
            return;
        };
        if http.response != Some(head.seq) {
            return;
        }
        let (conversation, status) = (http.conversation, http.status.unwrap_or_default());
        if let Some(session) = http.session.as_ref().filter(|_| conversation > 0) {
            self.who.session(session, conversation);
        }
        if http.is_redirected() && http.asked.is_initialize {
            self.who.begins_again(http);
        }
        let one = self.followed.get(&conversation);
        let is_new = one.is_some_and(|it| !it.has_begun());
        if is_new && may_be_of_probe(status) && http.asked.requests > 0 {
            self.who.remember_refusal(http);
        }
        let Some(one) = self.followed.get_mut(&conversation) else {
            let strangers = &mut self.strangers;
            return strangers.linter.http(&strangers.analysis, http);
        };
        if status >= 300 {
            one.analysis.http_refused(head, http);
        } else if http.is_resumption() {
            one.analysis.http_resumed();
        }
        one.linter.http(&one.analysis, http);
    }

    /// Where `conversation` has begun over HTTP+SSE, the requests that its client sent before to find that
    /// out have not failed.
    fn fall_back(&mut self, conversation: u32) {
        let one = self.followed.get(&conversation);
        if one.is_some_and(Conversation::has_begun)
            && let Some(before) = self.who.before_fallback(conversation)
            && let Some(before) = self.followed.get_mut(&before)
        {
            before.analysis.fell_back();
        }
    }

    /// Leaves out what is JSON, but was not meant to be a message: documents about authorization, and
    /// errors of whoever is in front of the server.
    fn leave_out_others(&self, head: &FrameHead, content: &mut Content) {
        let Some(http) = self.log.get(head.carried.http) else {
            return;
        };
        let is_request = head.stream.messages() == Some(Direction::ClientToServer);
        let is_refused = http.status.is_some_and(|status| status >= 400);
        let is_meant = http.asked.count() > 0 && !is_refused || head.carried.part == Part::Event;
        if is_meant && !is_request {
            return;
        }
        content.messages.retain(|message| {
            let is_named = matches!(message.body, Body::Request(_) | Body::Notification(_));
            is_request && is_named || !message.problems.contains(&Problem::Version)
        });
    }

    fn conversation_of(&mut self, head: &FrameHead, content: &Content) -> u32 {
        let http = head.carried.http;
        let Some(exchange) = self.log.get(http) else {
            let connection = head.stream.connection().unwrap_or_default();
            return self.who.of_connection(connection);
        };
        let conversation = match exchange.conversation {
            0 => self.who.of_request(exchange, content),
            known => known,
        };
        let is_request = head.stream.messages() == Some(Direction::ClientToServer);
        self.log.belongs(http, conversation);
        if is_request {
            self.log.asks(http, content);
        }
        conversation
    }

    /// Lets `work` go on with a conversation, which begins here if there is none yet.
    fn with(&mut self, id: u32, seq: Seq, work: impl FnOnce(&mut Conversation)) {
        if !self.followed.contains_key(&id) {
            self.make_room();
            let mut one = Conversation {
                analysis: Analysis::of_conversation(id),
                first: seq,
                ..Conversation::default()
            };
            self.start.iter().for_each(|start| one.event(start));
            self.followed.insert(id, one);
        }
        if let Some(one) = self.followed.get_mut(&id) {
            *one.analysis.last_exchange() = self.last_exchange;
            work(one);
            self.last_exchange = *one.analysis.last_exchange();
        }
    }

    fn make_room(&mut self) {
        if self.followed.len() < FOLLOWED {
            return;
        }
        let silent = self.followed.iter().min_by_key(|(_, one)| one.last);
        let silent = silent.map(|(id, _)| *id);
        if let Some((id, mut one)) = silent.and_then(|id| self.followed.remove_entry(&id)) {
            one.finish();
            self.ended.push((id, one));
        }
    }
}
