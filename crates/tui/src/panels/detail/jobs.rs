//! The jobs of the detail: one row in full, and its story.
//!
//! The bytes are read and parsed here, a bounded piece of them: whoever draws gets trees. A
//! message of a hundred megabytes costs no more than its first megabyte until more is asked for.

pub use super::detail_schema::Argument;
pub use super::violations::{Violation, Violations, Wrong};
use crate::widget::tree::{Limit, Tree};
use crate::worker::job::{Growth, Job, Progress, Source, Step};
use mcpreel_replay::mock::matcher::MARK;
use mcpreel_store::reader::{FindingRow, ReadError, Recording};
use mcpreel_store::schema::is_id;
use mcpreel_store::story::Story;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use mcpreel_wire::json::Document;
use std::cmp::Reverse;
use std::sync::Arc;

/// A recorded request that comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub recording: String,
    pub seq: Seq,
    /// Whether it was served all the same.
    pub is_served: bool,
}

/// The recorded request that the answer among `texts` names. It is what a stranger's file says,
/// and taken only as far as it makes sense.
fn near(texts: &[Text]) -> Option<Near> {
    let mut answers = texts.iter().filter(|text| text.role == TextRole::Response);
    let document = Document::parse(&answers.next()?.bytes).ok()?;
    let root = document.root();
    let missed = root
        .get("error")
        .and_then(|error| error.get("data")?.get("nearest"));
    let served = || root.get("result")?.get("_meta")?.get(MARK);
    let (near, is_served) = match missed {
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

/// Tells the story of an exchange, and again as long as something may be added to it.
pub struct Telling {
    pub exchange: ExchangeId,
    /// Whether nothing will be added to the story any more.
    pub settled: bool,
}

impl Job for Telling {
    type Found = Option<Story>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let story = source.recording.story(self.exchange)?;
        self.settled = story.as_ref().is_some_and(|story| is_over(&story.exchange));
        Ok((Progress::Done, Some(story)))
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        !self.settled || growth.ended
    }
}

/// How much of a message is read. Each step takes four times as long as the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    #[default]
    Page,
    Pages,
    /// Sixteen megabytes: as much as a viewer may hold without taking more memory than it should.
    Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub key: ItemKey,
    pub lens: Lens,
    pub amount: Amount,
}

#[derive(Debug)]
pub struct Row {
    pub item: Item,
    /// Its messages or its line, in order of time.
    pub texts: Vec<Text>,
    /// What is wrong with it, the worst first.
    pub findings: Vec<FindingRow>,
    /// Of a call of a tool that was listed before: what its arguments are.
    pub arguments: Vec<Argument>,
    /// Of a request that a mock had nothing for: what comes nearest.
    pub near: Option<Near>,
}

/// The bytes of a message or line.
#[derive(Debug)]
pub struct Text {
    pub role: TextRole,
    pub key: ItemKey,
    pub head: Option<FrameHead>,
    pub size: u64,
    pub bytes: Arc<[u8]>,
    /// What they say; none if they are no JSON.
    pub tree: Option<Box<Tree>>,
    /// What is wrong in the tree, and where.
    pub violations: Violations,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    Request,
    Response,
    Message,
    Line,
    /// An event, as the recording has it.
    Event,
}

impl Amount {
    pub fn bytes(self) -> u64 {
        match self {
            Self::Page => 1 << 20,
            Self::Pages => 4 << 20,
            Self::Most => 16 << 20,
        }
    }

    /// More than this, if that may be.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Page => Some(Self::Pages),
            Self::Pages => Some(Self::Most),
            Self::Most => None,
        }
    }

    fn nodes(self) -> Limit {
        match self {
            Self::Page => Limit::PAGE,
            Self::Pages => Limit(2 * Limit::PAGE.0),
            Self::Most => Limit(4 * Limit::PAGE.0),
        }
    }
}

/// Reads the row, and reads it again as long as something may happen to it.
pub struct Reading {
    pub ask: Ask,
    /// Whether nothing about the row will change any more.
    pub settled: bool,
}

impl Job for Reading {
    type Found = (Ask, Option<Row>);

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let is_mock = source.summary.origin == "mock";
        let row = self.ask.read(source.recording, is_mock)?;
        self.settled = row.as_ref().is_some_and(|row| is_settled(&row.item));
        Ok((Progress::Done, Some((self.ask, row))))
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        !self.settled || growth.ended
    }
}

fn is_settled(item: &Item) -> bool {
    item.exchange().is_none_or(is_over)
}

/// Whether nothing more is expected to happen to it.
fn is_over(exchange: &Exchange) -> bool {
    !matches!(
        exchange.status,
        Status::Open | Status::Task | Status::Listening | Status::Cancelled
    )
}

impl Ask {
    fn read(&self, recording: &Recording, is_mock: bool) -> Result<Option<Row>, ReadError> {
        let mut items = recording.items(self.lens, &[self.key])?;
        let Some(item) = items.pop() else {
            return Ok(None);
        };
        let mut texts = match &item.what {
            What::Exchange(exchange) => self.exchange(recording, exchange)?,
            What::Message { head, record, .. } => {
                let at = (head.seq, record.part);
                self.message(recording, TextRole::Message, at)?
                    .into_iter()
                    .collect()
            }
            What::Line { head, .. } => vec![self.line(recording, *head)?],
            What::Event(event) => {
                let json = serde_json::to_vec(&event.kind).unwrap_or_default();
                let size = json.len() as u64;
                vec![self.text(TextRole::Event, self.key, None, size, json)]
            }
        };
        let findings = findings(recording, &item)?;
        for text in &mut texts {
            text.violations = super::violations::of(text, &findings);
        }
        let near = if is_mock { near(&texts) } else { None };
        let arguments = super::detail_schema::arguments(recording, &item)?;
        Ok(Some(Row {
            item,
            texts,
            findings,
            arguments,
            near,
        }))
    }

    fn exchange(&self, recording: &Recording, exchange: &Exchange) -> Result<Vec<Text>, ReadError> {
        let mut texts = Vec::with_capacity(2);
        texts.extend(self.message(recording, TextRole::Request, exchange.request)?);
        if let Some(at) = exchange.response {
            texts.extend(self.message(recording, TextRole::Response, at)?);
        }
        Ok(texts)
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

    fn line(&self, recording: &Recording, head: FrameHead) -> Result<Text, ReadError> {
        let bytes = recording.piece(head.seq, 0..head.size.min(self.amount.bytes()))?;
        let key = ItemKey::of_part(head.seq, 0);
        Ok(self.text(TextRole::Line, key, Some(head), head.size, bytes))
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

/// What is wrong with it, the worst first.
fn findings(recording: &Recording, item: &Item) -> Result<Vec<FindingRow>, ReadError> {
    let mut findings = match &item.what {
        What::Exchange(exchange) => recording.findings_of_exchange(exchange)?,
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
    findings.sort_by_key(|finding| Reverse(super::violations::severity(finding)));
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
