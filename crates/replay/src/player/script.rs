//! The recording that is played: its frames in order, each with what it is, and whatever else of it
//! the director looks up.
//!
//! The recording says which request an answer belongs to; nothing is paired anew. A frame that is
//! the endpoint of an exchange is not parsed.

pub use crate::lines::LONGEST;

use crate::bind::candidates;
use bytes::Bytes;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::json::{Kind, Value, parse_into};
use mcpreel_wire::message::{Body, Classifier, Direction, Message};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash as _, Hasher as _};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Exchanges that are read at once: as many as most pages have.
const EXCHANGES: u32 = 100;

/// Texts of the client that are remembered, each in a few bytes. If the client sends more, any text
/// may be among them: then handles are bound that nobody needs.
const MOST_TEXTS: usize = 1_000_000;

/// A recorded frame.
#[derive(Clone, Debug)]
pub struct Step {
    pub head: FrameHead,
    /// `None` for a frame that is longer than [`LONGEST`].
    pub raw: Option<Bytes>,
    pub what: What,
}

/// The content of a frame.
#[derive(Clone, Debug)]
pub enum What {
    /// A request: it begins this exchange.
    Asks(Box<Exchange>),
    Answers(ExchangeId),
    Tells(Box<Message>),
    /// Several messages, as only the revision 2025-03-26 allows: the requests among them.
    Batch(Vec<Exchange>),
    /// A request without a usable id, or a response to nothing.
    Stray,
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
    /// The last frame that is played.
    until: Option<Seq>,
    wanted: Option<Wanted<'r>>,
    left_out: Option<LeftOut<'r>>,
    classifier: Classifier,
    /// Exchanges whose requests have not been met yet.
    coming: VecDeque<Exchange>,
    /// The answers that are still to come, by their places.
    answers: BTreeMap<(Seq, u32), ExchangeId>,
    /// The frames that were read and not given yet.
    page: VecDeque<(FrameHead, Option<Bytes>)>,
    /// The last frame that was read.
    after: Seq,
    /// The last exchange that was read, and where its request stands.
    known: (ExchangeId, Seq),
    all_exchanges: bool,
    /// The bytes of the step that was given last: they are asked for again.
    latest: Option<(Seq, Option<Bytes>)>,
    /// The words in texts of the client that may be handles, by their hashes, each with the last
    /// frame that has it; read when first needed.
    texts: Option<HashMap<u64, Seq>>,
    /// The error of a look-up; told with the next step.
    failed: Option<ReadError>,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`; `None`: all of them.
    pub fn new(recording: &'r Recording, until: Option<Seq>) -> Self {
        Self {
            recording,
            until,
            wanted: None,
            left_out: None,
            classifier: Classifier::default(),
            coming: VecDeque::new(),
            answers: BTreeMap::new(),
            page: VecDeque::new(),
            after: Seq(0),
            known: (ExchangeId(0), Seq(0)),
            all_exchanges: false,
            latest: None,
            texts: None,
            failed: None,
        }
    }

    /// Only the exchanges that `wanted` takes are played, and no frame that is in `left_out`.
    pub fn only(mut self, wanted: Option<Wanted<'r>>, left_out: Option<LeftOut<'r>>) -> Self {
        (self.wanted, self.left_out) = (wanted, left_out);
        self
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let until = self.last();
        if self.page.is_empty() && self.after < until {
            self.read_page()?;
        }
        let Some((head, raw)) = self.page.pop_front_if(|(head, _)| head.seq <= until) else {
            return Ok(None);
        };
        self.latest = Some((head.seq, raw.clone()));
        let what = match head.stream.messages() {
            Some(_) => self.what(head.seq, raw.as_deref().unwrap_or_default()),
            None => What::Noise,
        };
        Ok(Some(Step { head, raw, what }))
    }

    fn what(&mut self, seq: Seq, bytes: &[u8]) -> What {
        // The frames of earlier requests were not given.
        while (self.coming)
            .pop_front_if(|it| it.request.0 < seq)
            .is_some()
        {}
        let may_be_batch = begins_array(bytes);
        if !may_be_batch {
            let begins = |it: &mut Exchange| it.request.0 == seq;
            if let Some(exchange) = self.coming.pop_front_if(begins) {
                if let Some(response) = exchange.response {
                    self.answers.insert(response, exchange.id);
                }
                return What::Asks(Box::new(exchange));
            }
            if let Some(id) = self.answers.remove(&(seq, 0)) {
                return What::Answers(id);
            }
        }
        let mut content = self.classifier.classify(bytes);
        if content.batch {
            let of_frame = self.coming.iter().take_while(|it| it.request.0 == seq);
            let count = of_frame.count();
            return What::Batch(self.coming.drain(..count).collect());
        }
        match content.messages.pop() {
            Some(message) if matches!(message.body, Body::Notification(_)) => {
                What::Tells(Box::new(message))
            }
            Some(_) => What::Stray,
            None => What::Noise,
        }
    }

    fn read_page(&mut self) -> Result<(), ReadError> {
        let frames = self.recording.frames(self.after)?;
        let Some(last) = frames.last().map(|(head, _)| head.seq) else {
            return Ok(());
        };
        self.after = last;
        while !self.all_exchanges && self.known.1 < last {
            let exchanges = self.recording.exchanges(self.known.0, EXCHANGES)?;
            match exchanges.last() {
                Some(latest) => self.known = (latest.id, latest.request.0),
                None => self.all_exchanges = true,
            }
            self.coming.extend(exchanges);
        }
        for (head, raw) in frames {
            // A page does not hold frames that are long.
            let raw = match raw {
                None if head.size <= LONGEST => Some(self.recording.raw(head.seq)?.into()),
                raw => raw,
            };
            self.page.push_back((head, raw));
        }
        Ok(())
    }

    fn last(&self) -> Seq {
        self.until.unwrap_or(Seq(u64::MAX))
    }

    /// The bytes of a frame; `None` where there are none or too many. Cheap for the latest frame
    /// and for those that come soon.
    pub fn raw(&mut self, seq: Seq) -> Option<Bytes> {
        if let Some((_, raw)) = self.latest.as_ref().filter(|(latest, _)| *latest == seq) {
            return raw.clone();
        }
        if let Ok(at) = self.page.binary_search_by_key(&seq, |(head, _)| head.seq) {
            return self.page[at].1.clone();
        }
        let raw = || match self.recording.head(seq)? {
            Some(head) if head.size <= LONGEST => Ok(Some(self.recording.raw(seq)?.into())),
            _ => Ok(None),
        };
        let raw = raw();
        self.keep(raw).flatten()
    }

    /// The bytes of a message by its frame and its place in a batch.
    pub(super) fn message(&mut self, (seq, part): (Seq, u32)) -> Option<Bytes> {
        let raw = self.raw(seq)?;
        let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&raw);
        if !begins_array(text) {
            return Some(raw.slice_ref(text));
        }
        let mut nodes = Vec::new();
        let root = parse_into(text, &mut nodes).ok()?;
        Some(raw.slice_ref(root.index(part as usize)?.raw()))
    }

    /// The number of requests that the client sent.
    pub(super) fn requests(&self) -> Result<u64, ReadError> {
        let last = self.last();
        self.recording.requests(Direction::ClientToServer, last)
    }

    /// All requests of the server.
    pub(super) fn questions(&self) -> Result<Vec<Exchange>, ReadError> {
        let mut all: Vec<Exchange> = Vec::new();
        loop {
            let after = all.last().map_or(ExchangeId(0), |last| last.id);
            match self.recording.questions(after, EXCHANGES)? {
                page if page.is_empty() => return Ok(all),
                page => all.extend(page),
            }
        }
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
        self.wanted.is_some() || self.until.is_some() || self.left_out.is_some()
    }

    /// Whether the recorded client sends this handle, as a whole value or as a word of one, after
    /// the frame `seq`.
    pub(super) fn sends_after(&mut self, seq: Seq, text: &str) -> bool {
        if self.texts.is_none() {
            let texts = self.read_texts();
            self.texts = Some(self.keep(texts).unwrap_or_default());
        }
        self.texts.as_ref().is_some_and(|texts| {
            texts.len() >= MOST_TEXTS || texts.get(&hash(text)).is_some_and(|last| *last > seq)
        })
    }

    fn read_texts(&self) -> Result<HashMap<u64, Seq>, ReadError> {
        let (mut texts, mut nodes, mut after) = (HashMap::new(), Vec::new(), Seq(0));
        loop {
            let frames = self.recording.frames(after)?;
            let Some((last, _)) = frames.last() else {
                return Ok(texts);
            };
            after = last.seq;
            let said = frames
                .iter()
                .filter(|(head, _)| head.stream == StreamId::C2S);
            for (head, raw) in said {
                if let Ok(root) = parse_into(raw.as_deref().unwrap_or_default(), &mut nodes) {
                    remember(root, head.seq, &mut texts);
                }
            }
        }
    }

    fn keep<T>(&mut self, result: Result<T, ReadError>) -> Option<T> {
        result.map_err(|error| self.failed = Some(error)).ok()
    }
}

/// Whether a line is a JSON array, if it is JSON.
fn begins_array(line: &[u8]) -> bool {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    line.trim_ascii_start().first() == Some(&b'[')
}

/// Remembers the words of all texts in `value`, a document, whose depth is bounded.
fn remember(value: Value<'_>, seq: Seq, texts: &mut HashMap<u64, Seq>) {
    if value.kind() == Kind::String {
        for text in candidates(&value.as_str().unwrap_or_default()) {
            if texts.len() < MOST_TEXTS {
                texts.insert(hash(text), seq);
            }
        }
    }
    for inner in value.elements() {
        remember(inner, seq, texts);
    }
    for (_, inner) in value.members() {
        remember(inner, seq, texts);
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written;

    /// Exchanges, each of two frames: some pages of them.
    const EXCHANGES: u64 = 3000;

    fn recorded(dir: &std::path::Path) -> Recording {
        let reel = written::recorded(dir, |session| {
            for id in 1..=EXCHANGES {
                let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
                session.chunk(StreamId::C2S, call.as_bytes());
                session.chunk(StreamId::S2C, answer.as_bytes());
            }
            session.end();
        });
        Recording::open(&reel).unwrap()
    }

    #[test]
    fn a_recording_comes_in_order_up_to_the_last_frame_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let recording = recorded(dir.path());
        for until in [Some(0), Some(1), Some(4321), None] {
            let mut script = Script::new(&recording, until.map(Seq));
            let mut frames = 0;
            while let Some(step) = script.next_step().unwrap() {
                frames += 1;
                assert_eq!(step.head.seq, Seq(frames));
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
            assert!(script.next_step().unwrap().is_none());
        }
    }

    #[test]
    fn frames_besides_the_latest_are_found_wherever_the_walk_is() {
        let dir = tempfile::tempdir().unwrap();
        let recording = recorded(dir.path());
        let mut script = Script::new(&recording, None);
        for _ in 0..4500 {
            script.next_step().unwrap();
        }
        for seq in [1, 4499, 4500, 4501, 6000] {
            let raw = script.raw(Seq(seq));
            assert_eq!(raw.as_deref(), Some(&*recording.raw(Seq(seq)).unwrap()));
        }
        assert!(script.raw(Seq(6001)).is_none());
    }
}
