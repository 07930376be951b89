//! What the recorded client said.

use super::{Anchor, Reading, Whose, narrow};
use crate::mock::index::{Act, Entry, NONE, Notice, Outcome, Place, Subject, Trigger};
use crate::mock::server::own;
use crate::mock::wanted::{self, Texts, digest};
use crate::rules::Side;
use mcpreel_store::reader::{MessageRow, ReadError};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::message::{Body, Era, Lines};

/// Modern versions that are remembered: a recording of an honest client has one or two.
pub(super) const MOST_VERSIONS: usize = 64;

/// Methods with the names that they are about that are remembered: what was not used is named by
/// them, and a client may have read any number of resources.
const MOST_SUBJECTS: usize = 1000;

/// The error of a server that does not speak the version of a request.
const UNSUPPORTED_VERSION: &str = "-32022";

impl Reading<'_> {
    pub(super) fn client_said(
        &mut self,
        head: &FrameHead,
        raw: Option<Vec<u8>>,
        rows: &[MessageRow],
    ) -> Result<(), ReadError> {
        let asks = rows
            .iter()
            .any(|row| row.record.kind == MessageKind::Request);
        let raw = match raw {
            Some(raw) => raw,
            None if asks => self.recording.raw(head.seq)?,
            None => Vec::new(),
        };
        let raw = self.secrets.fill_bytes(raw);
        self.index.batches |= asks && raw.trim_ascii_start().starts_with(b"[");
        for row in rows {
            let place = Place::new(row.record.frame, row.record.part);
            match row.record.kind {
                MessageKind::Request => self.asked(row, place, &raw)?,
                MessageKind::Notification => {
                    let method = digest(row.record.method.as_deref().unwrap_or_default(), "");
                    self.anchor = Anchor::Notice(Notice { method, place });
                }
                MessageKind::Response => self.told(row, place),
                MessageKind::Other => {}
            }
        }
        Ok(())
    }

    fn asked(&mut self, row: &MessageRow, place: Place, raw: &[u8]) -> Result<(), ReadError> {
        let Some(exchange) = self.exchange(row.record.exchange)? else {
            return Ok(());
        };
        let number = narrow(self.index.entries.len());
        let entry = self.entry(&exchange, place, raw);
        self.note_subscription(&exchange);
        if let Some(chain) = exchange.chain
            && let Some(before) = self.chains.insert(chain, number)
        {
            self.index.entries[before as usize].next = number;
        }
        if exchange.status == Status::Lost {
            self.last_lost = Some(number);
        }
        self.index.entries.push(entry);
        self.belongs(exchange.id, Whose::Entry(number));
        self.anchor = Anchor::Trigger(Trigger::Asked(number));
        Ok(())
    }

    fn entry(&mut self, exchange: &Exchange, request: Place, raw: &[u8]) -> Entry {
        let (content, root) = self.classifier.read(raw, Lines::OfProgress);
        let message = content
            .messages
            .iter()
            .find(|message| message.part == request.part);
        let params = root.and_then(|root| {
            let object = if content.batch {
                root.index(request.part as usize)?
            } else {
                root
            };
            object.get("params")
        });
        let about = (&*exchange.method, exchange.name.as_deref());
        let texts = Texts::new(about, params, self.rules, Side::Left);
        let version = message.and_then(|message| {
            let identity = message.meta.identity.as_deref()?;
            identity.protocol_version.clone()
        });
        let name = wanted::name(&exchange.method, exchange.name.as_deref());
        let subjects = &mut self.index.subjects;
        if subjects.len() < MOST_SUBJECTS {
            subjects.entry(name).or_insert_with(|| subject(exchange));
        }
        let is_retry = exchange.is_retry()
            && matches!(message.map(|it| &it.body), Some(Body::Request(it)) if it.retry.is_some());
        let is_refused = exchange.code.as_deref() == Some(UNSUPPORTED_VERSION);
        let entry = Entry {
            request,
            response: exchange.response.map(|(seq, part)| Place::new(seq, part)),
            exact: digest(&exchange.method, &texts.exact),
            normalised: digest(&exchange.method, &texts.normalised),
            name,
            method: digest(&exchange.method, ""),
            next: NONE,
            outcome: outcome(exchange),
            reusable: wanted::is_reusable(&exchange.method),
            hidden: is_retry || is_refused,
            followed: false,
        };
        self.note_era(exchange, version, is_refused);
        entry
    }

    /// A probe that fails says nothing about the session that follows.
    fn note_era(&mut self, exchange: &Exchange, version: Option<Box<str>>, is_refused: bool) {
        let index = &mut self.index;
        if is_refused {
            index.refused.push(narrow(index.entries.len()));
        }
        if exchange.code.is_some() {
            return;
        }
        match exchange.era {
            Era::Legacy => index.legacy = true,
            Era::Modern => index.modern = true,
        }
        let known = index.versions.len() < MOST_VERSIONS;
        index.versions.extend(version.filter(|_| known));
    }

    fn note_subscription(&mut self, exchange: &Exchange) {
        let Some(uri) = &exchange.name else { return };
        match &*exchange.method {
            "resources/subscribe" => _ = self.subscribed.insert(uri.as_str().into()),
            "resources/unsubscribe" => _ = self.subscribed.remove(uri.as_str()),
            _ => {}
        }
    }

    /// An answer of the client to a request of the server.
    fn told(&mut self, row: &MessageRow, place: Place) {
        let Whose::Ask(ask, trigger) = self.whose(row.record.exchange) else {
            return;
        };
        if self.index.asks[ask as usize].answer != Some(place) {
            return;
        }
        self.anchor = Anchor::Trigger(match trigger {
            Trigger::Asked(entry) if self.is_open(entry, place) => {
                self.push(trigger, place, Act::Heard(ask));
                trigger
            }
            _ => Trigger::Told(ask),
        });
    }
}

fn outcome(exchange: &Exchange) -> Outcome {
    let answered = exchange.response.is_some();
    match exchange.status {
        Status::Late if answered => Outcome::Late,
        Status::InputRequired if answered => Outcome::Input,
        // One that was refused is no stream.
        _ if exchange.is_listen() && exchange.code.is_none() => Outcome::Stream,
        _ if answered => Outcome::Answer,
        _ => Outcome::Silence,
    }
}

fn subject(exchange: &Exchange) -> Subject {
    let quoted = |text: &str| own::quoted(text).into();
    Subject {
        method: quoted(&exchange.method),
        name: exchange.name.as_deref().map(quoted),
    }
}
