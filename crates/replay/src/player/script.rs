//! The recording that is played: its frames in order, each with what it is, and whatever else of it
//! the director looks up.
//!
//! The recording says what a frame is and which request an answer belongs to; nothing is paired anew.
//!
//! Of a network recording one conversation is played, as if over stdio: each message is a line of the
//! client or of the server, and what carried it is left out.

pub use crate::lines::LONGEST;

use super::calls::was_answered;
use crate::bind::{each_candidate, text_hash};
use bytes::Bytes;
use mcpreel_share::export::all_rows;
use mcpreel_store::reader::{MessageRow, ReadError, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::framing::as_line;
use mcpreel_wire::json::parse_into;
use mcpreel_wire::message::{Body, Direction, Notification, classify};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

/// Requests of the server that are read at once.
const QUESTIONS: u32 = 100;

/// Texts of the client that are remembered, each in a few bytes. If the client sends more, any text
/// may be among them: then handles are bound that nobody needs.
const MOST_TEXTS: usize = 1_000_000;

/// A recorded frame.
#[derive(Clone, Debug)]
pub struct Step {
    pub head: FrameHead,
    /// `None` for a frame that is longer than [`LONGEST`].
    pub raw: Option<Bytes>,
    /// The exchange that its message belongs to, where it has one message.
    pub exchange: Option<ExchangeId>,
    pub what: What,
}

/// The content of a frame.
#[derive(Clone, Debug)]
pub enum What {
    /// A request: it begins this exchange.
    Asks(Box<Exchange>),
    Answers(ExchangeId),
    Tells(Box<Notification>),
    /// Several messages, as only the revision 2025-03-26 allows: the requests among them.
    Batch(Vec<Exchange>),
    /// A request without a usable id, a response to nothing, or no message of a known kind.
    Stray(MessageKind),
    /// No JSON-RPC.
    Noise,
}

impl Step {
    pub fn is_from_client(&self) -> bool {
        self.head.stream == StreamId::C2S
    }

    pub fn is_from_server(&self) -> bool {
        self.head.stream == StreamId::S2C
    }
}

/// Whether the user wants an exchange.
pub type Wanted<'r> = Box<dyn FnMut(&Exchange) -> bool + 'r>;

/// Whether a frame of the client is not sent.
pub type LeftOut<'r> = &'r dyn Fn(Seq) -> bool;

/// A recording, read page by page.
pub struct Script<'r> {
    recording: &'r Recording,
    /// Of a network recording, the conversation that is played.
    conversation: Option<u32>,
    /// The last frame that is played.
    until: Seq,
    /// Only the exchanges that it takes are played.
    pub wanted: Option<Wanted<'r>>,
    /// No frame in it is played.
    pub left_out: Option<LeftOut<'r>>,
    /// The answers that are still to come, by their frames.
    answers: BTreeMap<Seq, ExchangeId>,
    /// The page that was read last, how many of its frames were given, and the page before: of both
    /// the bytes of answers are asked for again.
    page: Vec<(FrameHead, Option<Bytes>)>,
    given: usize,
    before: Vec<(FrameHead, Option<Bytes>)>,
    messages: VecDeque<MessageRow>,
    /// The exchanges of the requests among them.
    exchanges: HashMap<ExchangeId, Exchange>,
    /// The last frame that was read.
    after: Seq,
    /// The words in texts of the client that may be handles, by their hashes, each with the last
    /// frame that has it; read when first needed.
    texts: Option<HashMap<u64, Seq>>,
    /// The error of a look-up; told with the next step.
    failed: Option<ReadError>,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`; `None`: all of them. Of a network recording
    /// those of `conversation`.
    pub fn new(recording: &'r Recording, until: Option<Seq>, conversation: Option<u32>) -> Self {
        Self {
            recording,
            conversation,
            until: until.unwrap_or(Seq(u64::MAX)),
            wanted: None,
            left_out: None,
            answers: BTreeMap::new(),
            page: Vec::new(),
            given: 0,
            before: Vec::new(),
            messages: VecDeque::new(),
            exchanges: HashMap::new(),
            after: Seq(0),
            texts: None,
            failed: None,
        }
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while self.given == self.page.len() && self.after < self.until {
            let held = self.recording.hold()?;
            let mut page = self.recording.frames(self.after)?;
            let Some(last) = page.last().map(|(head, _)| head.seq) else {
                break;
            };
            let messages = self.recording.messages(self.after, last)?;
            let rows = messages.iter().map(|row| &row.record);
            let requests = rows.filter(|row| row.kind == MessageKind::Request);
            let ids: Vec<_> = requests.filter_map(|row| row.exchange).collect();
            let exchanges = self.recording.exchanges_of(&ids)?.into_iter();
            drop(held);
            self.as_over_stdio(&mut page, &messages);
            self.exchanges = exchanges.map(|exchange| (exchange.id, exchange)).collect();
            self.before = std::mem::replace(&mut self.page, page);
            (self.given, self.messages, self.after) = (0, messages.into(), last);
        }
        let next = self.page.get(self.given).cloned();
        let Some((head, raw)) = next.filter(|(head, _)| head.seq <= self.until) else {
            return Ok(None);
        };
        self.given += 1;
        // A page does not hold frames that are long.
        let raw = match raw {
            None => line_of(self.recording, &head)?,
            raw => raw,
        };
        let (what, exchange) = self.what(head.seq, raw.as_deref());
        Ok(Some(Step {
            head,
            raw,
            exchange,
            what,
        }))
    }

    /// Of the frames of connections, leaves the messages of the conversation, as lines of either side.
    fn as_over_stdio(&self, page: &mut Vec<(FrameHead, Option<Bytes>)>, messages: &[MessageRow]) {
        let Some(conversation) = self.conversation else {
            return;
        };
        let ours = messages.iter().map(|row| &row.record);
        let ours: HashSet<_> = ours
            .filter(|it| it.conversation == conversation)
            .map(|it| it.frame)
            .collect();
        page.retain_mut(|(head, raw)| {
            let is_carried = head.stream.connection().is_some();
            if let Some(direction) = head.stream.messages().filter(|_| is_carried) {
                head.stream = match direction {
                    Direction::ClientToServer => StreamId::C2S,
                    Direction::ServerToClient => StreamId::S2C,
                };
                *raw = raw.take().map(|raw| as_line(&raw).into());
            }
            !is_carried || ours.contains(&head.seq)
        });
    }

    fn what(&mut self, seq: Seq, raw: Option<&[u8]>) -> (What, Option<ExchangeId>) {
        let is_here = |row: &mut MessageRow| row.record.frame == seq;
        while self
            .messages
            .pop_front_if(|row| row.record.frame < seq)
            .is_some()
        {}
        let rows = std::iter::from_fn(|| self.messages.pop_front_if(is_here));
        let rows: Vec<_> = rows.map(|row| row.record).collect();
        let row = match rows.as_slice() {
            [] => return (What::Noise, None),
            [row] if !raw.is_some_and(begins_array) => row,
            batch => {
                let requests = batch.iter().filter(|it| it.kind == MessageKind::Request);
                let ids: Vec<_> = requests.filter_map(|it| it.exchange).collect();
                let batch = ids.iter().filter_map(|id| self.exchanges.remove(id));
                return (What::Batch(batch.collect()), None);
            }
        };
        let what = match (row.kind, row.exchange) {
            (MessageKind::Request, Some(id)) => self.exchanges.remove(&id).map(|exchange| {
                let answer = exchange.response.map(|(seq, _)| (seq, id));
                self.answers.extend(answer);
                What::Asks(Box::new(exchange))
            }),
            (MessageKind::Response, _) => self.answers.remove(&seq).map(What::Answers),
            (MessageKind::Notification, _) => {
                let message = classify(raw.unwrap_or_default()).messages.pop();
                match message.map(|message| message.body) {
                    Some(Body::Notification(it)) => Some(What::Tells(Box::new(it))),
                    _ => None,
                }
            }
            _ => None,
        };
        (what.unwrap_or(What::Stray(row.kind)), row.exchange)
    }

    /// The bytes of a frame; `None` where there are none or too many.
    pub fn raw(&mut self, seq: Seq) -> Option<Bytes> {
        for page in [&self.page, &self.before] {
            let at = page.binary_search_by_key(&seq, |(head, _)| head.seq);
            if let Some(raw) = at.ok().and_then(|at| page[at].1.clone()) {
                return Some(raw);
            }
        }
        let raw = || match self.recording.head(seq)? {
            Some(head) => line_of(self.recording, &head),
            None => Ok(None),
        };
        let raw = raw();
        self.keep(raw).flatten()
    }

    /// The bytes of a message by its frame and its place in a batch.
    pub(super) fn message(&mut self, (seq, part): (Seq, u32)) -> Option<Bytes> {
        let raw = self.raw(seq)?;
        if !begins_array(&raw) {
            let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&raw);
            return Some(raw.slice_ref(text));
        }
        let message = self.recording.message_bytes(seq, part);
        self.keep(message).flatten().map(Bytes::from)
    }

    /// The number of requests that the client sent.
    pub(super) fn requests(&self) -> Result<u64, ReadError> {
        self.recording
            .requests(Direction::ClientToServer, self.until, self.conversation)
    }

    /// All requests of the server.
    pub(super) fn questions(&self) -> Result<Vec<Exchange>, ReadError> {
        let mut all: Vec<Exchange> = Vec::new();
        loop {
            let after = all.last().map_or(ExchangeId(0), |last| last.id);
            match self.recording.questions(after, QUESTIONS)? {
                page if page.is_empty() => break,
                page => all.extend(page),
            }
        }
        all.retain(|one| self.conversation.is_none_or(|it| it == one.conversation));
        Ok(all)
    }

    /// How long the client waited before it cancelled a request that had no answer.
    pub(super) fn cancelled_after(&mut self, exchange: &Exchange) -> Option<Duration> {
        let after = self.recording.cancelled_after_ns(exchange);
        let after = self.keep(after).flatten()?;
        let is_given_up = !was_answered(exchange) && !exchange.is_listen();
        is_given_up.then(|| Duration::from_nanos(after))
    }

    /// Whether the user wants this exchange.
    pub(super) fn is_wanted(&mut self, exchange: &Exchange) -> bool {
        let wanted = self.wanted.as_mut();
        wanted.is_none_or(|is_wanted| is_wanted(exchange))
    }

    /// Whether this frame of the client is not to be sent, whatever it is.
    pub(super) fn leaves_out(&self, seq: Seq) -> bool {
        self.left_out.is_some_and(|left_out| left_out(seq))
    }

    /// Whether the user wants only a part of the session. Then the server asks its questions
    /// earlier or later than in the recording, or not at all.
    pub fn is_part(&self) -> bool {
        self.wanted.is_some() || self.until.0 < u64::MAX || self.left_out.is_some()
    }

    /// Whether the recorded client sends this handle, as a whole value or as a word of one, after
    /// the frame `seq`.
    pub(super) fn sends_after(&mut self, seq: Seq, text: &str) -> bool {
        if self.texts.is_none() {
            let texts = self.read_texts();
            self.texts = Some(self.keep(texts).unwrap_or_default());
        }
        self.texts.as_ref().is_some_and(|texts| {
            texts.len() >= MOST_TEXTS || texts.get(&text_hash(text)).is_some_and(|last| *last > seq)
        })
    }

    fn read_texts(&self) -> Result<HashMap<u64, Seq>, ReadError> {
        let (mut texts, mut nodes) = (HashMap::new(), Vec::new());
        let page = |after: &_| self.recording.frames(*after);
        for frame in all_rows(Seq(0), page, |(head, _)| head.seq) {
            let (head, raw) = frame?;
            if head.stream.messages() == Some(Direction::ClientToServer)
                && let Ok(root) = parse_into(raw.as_deref().unwrap_or_default(), &mut nodes)
            {
                each_candidate(Some(root), &mut |text| {
                    if texts.len() < MOST_TEXTS {
                        texts.insert(text, head.seq);
                    }
                });
            }
        }
        Ok(texts)
    }

    fn keep<T>(&mut self, result: Result<T, ReadError>) -> Option<T> {
        result.map_err(|error| self.failed = Some(error)).ok()
    }
}

/// The bytes of a frame, as a line where it was carried over a connection; `None` where they are too many.
pub fn line_of(recording: &Recording, head: &FrameHead) -> Result<Option<Bytes>, ReadError> {
    if head.size > LONGEST {
        return Ok(None);
    }
    let raw = recording.raw(head.seq)?;
    Ok(Some(match head.stream.connection() {
        Some(_) => as_line(&raw).into(),
        None => raw.into(),
    }))
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a line is a JSON array, if it is JSON.
fn begins_array(line: &[u8]) -> bool {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    line.trim_ascii_start().first() == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written;

    /// Exchanges, each of two frames: some pages of them.
    const EXCHANGES: u64 = 3000;

    #[test]
    fn a_recording_comes_in_order_up_to_the_last_frame_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let reel = written::recorded(dir.path(), |session| {
            for id in 1..=EXCHANGES {
                let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
                session.chunk(StreamId::C2S, call.as_bytes());
                session.chunk(StreamId::S2C, answer.as_bytes());
            }
            session.end();
        });
        let recording = Recording::open(&reel).unwrap();
        for until in [Some(0), Some(1), Some(4321), None] {
            let mut script = Script::new(&recording, until.map(Seq), None);
            let mut frames = 0;
            while let Some(step) = script.next_step().unwrap() {
                frames += 1;
                let (seq, raw) = (Seq(frames), step.raw.as_deref());
                assert_eq!(step.head.seq, seq);
                assert_eq!(raw, Some(&*recording.raw(seq).unwrap()));
                assert_eq!(script.raw(seq).as_deref(), raw);
                let (nth, is_answer) = (frames.div_ceil(2), frames % 2 == 0);
                match &step.what {
                    What::Asks(exchange) => {
                        assert_eq!((exchange.id.0, is_answer), (nth, false));
                    }
                    What::Answers(id) => assert_eq!((id.0, is_answer), (nth, true)),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(frames, until.unwrap_or(2 * EXCHANGES));
            assert!(script.raw(Seq(1)).is_some() && script.raw(Seq(6001)).is_none());
        }
    }
}
