//! The jobs of the detail: one row in full, and its story.
//!
//! The bytes are read and parsed here, a bounded piece of them: whoever draws gets trees. A
//! message of a hundred megabytes costs no more than its first megabyte until more is asked for.

use super::part::{self, Part, PartKind, Text, TextRole};
use super::shown::{Ask, Near, Place, Shown};
use super::violations::{self, Violations};
use crate::panels::search::hits::row_of;
use crate::widget::tree::Tree;
use crate::worker::job::{Growth, Job, Progress, Source, Step};
use mcpreel_replay::mock::matcher::MARK;
use mcpreel_share::phrases::phrases_network;
use mcpreel_store::reader::{FindingRow, ReadError, Recording};
use mcpreel_store::schema::is_id;
use mcpreel_store::story::Story;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::http::{HttpExchange, Timing};
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::summary::fault;
use mcpreel_wire::message::Direction;
use std::cmp::Reverse;
use std::sync::Arc;

/// The recorded request that the answer among `texts` names. It is what a stranger's file says,
/// and taken only as far as it makes sense.
fn near(texts: &[Text]) -> Option<Near> {
    let mut answers = texts.iter().filter(|text| text.role == TextRole::Response);
    let document = Document::parse(&answers.next()?.bytes).ok()?;
    let root = document.root();
    let missed = || root.get("error")?.get("data")?.get("nearest");
    let served = || root.get("result")?.get("_meta")?.get(MARK);
    let (near, is_served) = match missed() {
        Some(list) => (list.elements().next()?, false),
        None => (served()?, true),
    };
    let recording = near.get("recording")?.as_str()?.into_owned();
    let seq = near.get("seq")?.number_text()?.parse::<u64>().ok();
    Some(Near {
        recording: Some(recording).filter(|id| is_id(id))?,
        seq: seq.filter(|seq| *seq > 0).map(Seq)?,
        is_served,
    })
}

/// The error that the response among `texts` tells, whole: its message and data, or the texts of
/// the tool, of a traceback its exception first; where it cannot be read, or HTTP refused the request, what the row says.
fn error(exchange: &Exchange, texts: &[Text]) -> Option<String> {
    let row = || exchange.answered().map(str::to_owned);
    let Some(text) = texts.iter().find(|text| text.role == TextRole::Response) else {
        return row().filter(|_| exchange.status == Status::HttpError);
    };
    let words = |value: Value<'_>| {
        let text = value.as_str().unwrap_or_else(|| value.raw_text());
        match fault(&text) {
            // The exception first: of many frames there may be room for a few.
            Some(fault) => format!("{fault}\n{}", &text[..text.len() - fault.len()]),
            None => text.into_owned(),
        }
    };
    let document = Document::parse(&text.bytes).ok();
    let root = document.as_ref().map(Document::root);
    let error = root.and_then(|root| root.get("error"));
    let content = root.and_then(|root| root.get("result")?.get("content"));
    let members = ["message", "data"].into_iter();
    let members = members.filter_map(|name| error?.get(name));
    let blocks = content.into_iter().flat_map(|content| content.elements());
    let blocks = blocks.filter_map(|block| block.get("text"));
    let told: Vec<_> = members.chain(blocks).map(words).collect();
    Some(told.join("\n"))
        .filter(|told| !told.is_empty())
        .or_else(row)
}

/// Reads the row and then its story, and both again as long as something may happen to the row.
pub struct Reading {
    pub ask: Ask,
    /// The exchange whose story comes next.
    story: Option<ExchangeId>,
    /// Whether nothing about the row will change any more.
    settled: bool,
}

impl Reading {
    pub fn new(ask: Ask) -> Self {
        Self {
            ask,
            story: None,
            settled: false,
        }
    }
}

pub enum Found {
    /// The row; `None` where nothing stands at the address.
    Row(Option<Box<Shown>>),
    Story(Box<Story>),
}

impl Job for Reading {
    type Found = Found;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        if let Some(exchange) = self.story.take() {
            let story = source.recording.story(exchange)?;
            let story = story.map(|story| Found::Story(Box::new(story)));
            return Ok((Progress::Done, story));
        }
        let is_mock = source.summary.origin == "mock";
        let row = self.ask.read(source.recording, is_mock)?;
        self.settled = row.as_ref().is_some_and(|row| is_settled(&row.item));
        self.story = row.as_ref().and_then(|row| Some(row.item.exchange()?.id));
        let row = Found::Row(row.map(Box::new));
        Ok((Progress::done(self.story.is_none()), Some(row)))
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        !self.settled || growth.ended
    }
}

/// Whether nothing more is expected to happen to a row.
fn is_settled(item: &Item) -> bool {
    if let What::Http(http) = &item.what {
        return http.ended.is_some();
    }
    !item
        .exchange()
        .is_some_and(|exchange| exchange.status.may_change())
}

/// The parts of HTTP that are shown of one exchange: more than fit on any screen.
const PARTS: u32 = 50;

impl Ask {
    fn read(&self, recording: &Recording, is_mock: bool) -> Result<Option<Shown>, ReadError> {
        let key = match self.lens {
            // A finding points at any frame of a row.
            Lens::Exchanges if self.key.nth == 0 => {
                row_of(recording, self.lens, self.key.seq, None)?
            }
            _ => self.key,
        };
        let Some(item) = recording.items(self.lens, &[key])?.pop() else {
            return Ok(None);
        };
        let (mut texts, network) = self.texts(recording, &item)?;
        let findings = findings(recording, &item)?;
        for text in &mut texts {
            text.violations = violations::of(text.tree.as_deref(), text.key.seq, &findings);
        }
        let near = if is_mock { near(&texts) } else { None };
        let failed = item.exchange().filter(|exchange| exchange.has_failed());
        let error = failed.and_then(|exchange| error(exchange, &texts));
        let arguments = super::detail_schema::arguments(recording, &item)?;
        let mut parts = part::parts(&item, texts, &findings, error, near.is_some(), self.amount);
        for part in &mut parts {
            part.tell(&arguments);
        }
        network.put_among(&mut parts);
        Ok(Some(Shown {
            ask: *self,
            item,
            parts,
            findings,
            near,
            timing: network.timing,
            story: None,
            at: Place::default(),
            at_story: (0, 0),
            at_finding: 0,
            marked: Vec::new(),
        }))
    }

    /// The messages, heads and lines of a row, and how it went over the network.
    fn texts(&self, recording: &Recording, item: &Item) -> Result<(Vec<Text>, Network), ReadError> {
        let (mut texts, mut network) = (Vec::new(), Network::default());
        match &item.what {
            What::Exchange(exchange) => {
                let response = exchange.response.map(|at| (TextRole::Response, at));
                let request = (TextRole::Request, exchange.request);
                for (role, at) in std::iter::once(request).chain(response) {
                    texts.extend(self.message(recording, role, at)?);
                }
                if let Some(http) = recording.http(exchange.http)? {
                    network = Network::of(recording, &http)?;
                    for head in parts_of(recording, exchange, &http)? {
                        texts.push(self.line(recording, &head)?);
                    }
                }
            }
            What::Message { head, record, .. } => {
                let at = (head.seq, record.part);
                texts.extend(self.message(recording, TextRole::Message, at)?);
            }
            What::Http(http) => {
                network = Network::of(recording, http)?;
                for head in recording.carried(http.id, PARTS)? {
                    texts.push(self.line(recording, &head)?);
                }
            }
            What::Line { head, .. } => {
                texts.push(self.line(recording, head)?);
            }
            What::Event(event) => {
                let json = serde_json::to_vec(&event.kind).unwrap_or_default();
                let size = json.len() as u64;
                texts.push(self.text(TextRole::Event, self.key, None, size, json));
            }
        }
        Ok((texts, network))
    }

    fn line(&self, recording: &Recording, head: &FrameHead) -> Result<Text, ReadError> {
        let end = head.size.min(self.amount.bytes());
        let bytes = recording.piece(head.seq, 0..end)?;
        let key = ItemKey::of_part(head.seq, 0);
        let role = match head.carried.http {
            0 => TextRole::Line,
            _ => TextRole::Http,
        };
        Ok(self.text(role, key, Some(*head), head.size, bytes))
    }

    fn message(
        &self,
        recording: &Recording,
        role: TextRole,
        (seq, part): (Seq, u32),
    ) -> Result<Option<Text>, ReadError> {
        let messages = recording.messages_of_frame(seq)?;
        let Some(row) = messages.into_iter().find(|row| row.record.part == part) else {
            return Ok(None);
        };
        let size = row.span.end - row.span.start;
        let end = row.span.start + size.min(self.amount.bytes());
        let bytes = recording.piece(seq, row.span.start..end)?;
        let head = recording.head(seq)?;
        let key = ItemKey::of_part(seq, part);
        Ok(Some(self.text(role, key, head, size, bytes)))
    }

    fn text(
        &self,
        role: TextRole,
        key: ItemKey,
        head: Option<FrameHead>,
        size: u64,
        bytes: Vec<u8>,
    ) -> Text {
        let bytes: Arc<[u8]> = bytes.into();
        let tree = Tree::read(Arc::clone(&bytes), self.amount.nodes()).map(Box::new);
        Text {
            role,
            key,
            head,
            size,
            bytes,
            tree,
            violations: Violations::default(),
        }
    }
}

/// The parts of HTTP that are shown of a call: both heads, and what the server sent if there is no answer
/// yet.
fn parts_of(
    recording: &Recording,
    exchange: &Exchange,
    http: &HttpExchange,
) -> Result<Vec<FrameHead>, ReadError> {
    let mut parts = recording.carried(http.id, PARTS)?;
    let has_answer = exchange.response.is_some();
    parts.retain(|part| {
        let is_head = [Some(http.request), http.response].contains(&Some(part.seq));
        let is_back = part.stream.messages() == Some(Direction::ServerToClient);
        is_head || is_back && !has_answer
    });
    Ok(parts)
}

/// How a row went over the network: nothing of one over pipes.
#[derive(Default)]
struct Network {
    timing: Timing,
    authorization: Vec<String>,
    edits: Vec<String>,
}

impl Network {
    fn of(recording: &Recording, http: &HttpExchange) -> Result<Self, ReadError> {
        let steps = recording.authorization_around(http)?;
        let edits = recording.edits(http)?;
        Ok(Self {
            timing: recording.timing(http)?,
            authorization: phrases_network::authorization(&steps, Some(http.request)),
            edits: edits.iter().filter_map(phrases_network::edit).collect(),
        })
    }

    fn put_among(&self, parts: &mut Vec<Part>) {
        let timed = parts.iter().position(|part| part.kind == PartKind::Timing);
        let Some(at) = timed else { return };
        // All of the bar for one part says nothing.
        if self.timing.parts().count() < 2 {
            parts.remove(at);
        }
        let kinds = [
            (PartKind::Edits, &self.edits),
            (PartKind::Authorization, &self.authorization),
        ];
        for (kind, lines) in kinds.into_iter().filter(|(_, lines)| !lines.is_empty()) {
            parts.insert(at, Part::lines(kind, lines));
        }
    }
}

/// The findings of a row, the worst first.
fn findings(recording: &Recording, item: &Item) -> Result<Vec<FindingRow>, ReadError> {
    let mut findings = match &item.what {
        What::Exchange(exchange) => recording.findings_of_exchange(exchange)?,
        What::Http(http) => recording.findings_of_frame(http.request)?,
        What::Message { head, .. } | What::Line { head, .. } => {
            recording.findings_of_frame(head.seq)?
        }
        What::Event(_) => Vec::new(),
    };
    // Of a batch, what is about the exchange of another message in it is not about this one.
    if let What::Message { exchange, .. } = &item.what {
        let own = exchange.as_ref().map(|exchange| exchange.id);
        findings
            .retain(|finding| own.is_none() || finding.exchange.is_none_or(|id| own == Some(id)));
    }
    findings.sort_by_key(|finding| Reverse(violations::severity(finding)));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mock_said_of_a_miss_is_read_as_far_as_it_makes_sense() {
        let data = |nearest: &str| format!(r#"{{"error":{{"data":{{"nearest":{nearest}}}}}}}"#);
        for (answer, expected) in [
            (data(r#"[{"recording":"7f3a9c21","seq":23},{}]"#), Some(23)),
            (data("7"), None),
            (data(r#"[{"recording":"../x","seq":1}]"#), None),
            (data(r#"[{"recording":"7f3a9c21","seq":-1e9}]"#), None),
            (r#"{"result":{"_meta":{}}}"#.to_owned(), None),
            ("no JSON".to_owned(), None),
        ] {
            let text = Text {
                role: TextRole::Response,
                key: ItemKey::default(),
                head: None,
                size: answer.len() as u64,
                bytes: answer.as_bytes().into(),
                tree: None,
                violations: Violations::default(),
            };
            let found = near(&[text]).map(|near| near.seq.0);
            assert_eq!(found, expected, "{answer}");
        }
    }
}
