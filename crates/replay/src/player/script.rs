//! A recording as steps: its frames in order, each with what its messages are.
//!
//! The recording says which request an answer belongs to; nothing is paired anew. A frame with one
//! message that is the endpoint of an exchange is not parsed.

pub use crate::lines::LONGEST;

use bytes::Bytes;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::{Body, Classifier, Message};
use std::collections::{BTreeMap, VecDeque};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Frames that are read at once: the memory of more goes back to the system with each page.
const FRAMES: u32 = 200;

/// Exchanges that are read at once: as many as most pages have.
const EXCHANGES: u32 = 100;

#[derive(Clone, Debug)]
pub struct Step {
    pub head: FrameHead,
    /// `None` for a frame that is longer than [`LONGEST`].
    pub raw: Option<Bytes>,
    /// The messages, in order; none where the frame holds no JSON-RPC.
    pub parts: Vec<Part>,
    pub batch: bool,
}

#[derive(Clone, Debug)]
pub struct Part {
    /// The place in a batch, 0 where there is none.
    pub part: u32,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A request: it begins this exchange.
    Asks(Box<Exchange>),
    Answers(ExchangeId),
    Tells(Box<Message>),
    /// A request without a usable id, a response to nothing, or neither.
    Other,
}

impl Step {
    pub fn is_from_client(&self) -> bool {
        self.head.stream == StreamId::C2S
    }

    pub fn is_from_server(&self) -> bool {
        self.head.stream == StreamId::S2C
    }

    /// The only message, where it is the whole frame.
    pub fn single(&self) -> Option<&What> {
        match self.parts.as_slice() {
            [one] if !self.batch => Some(&one.what),
            _ => None,
        }
    }
}

/// Says what the messages of frames are; exchanges and frames are given in order.
#[derive(Clone, Debug, Default)]
pub struct Joiner {
    classifier: Classifier,
    /// Exchanges whose requests have not been met yet.
    coming: VecDeque<Exchange>,
    /// Where the answers to requests that were met stand.
    answers: BTreeMap<(Seq, u32), ExchangeId>,
}

impl Joiner {
    /// Adds the next exchange, before the frame of its request is given.
    pub fn add(&mut self, exchange: Exchange) {
        self.coming.push_back(exchange);
    }

    pub fn step(&mut self, head: FrameHead, raw: Option<Bytes>) -> Step {
        let mut step = Step {
            head,
            raw,
            parts: Vec::new(),
            batch: false,
        };
        if head.stream.messages().is_none() {
            return step;
        }
        let bytes = step.raw.as_deref().unwrap_or_default();
        if !begins_array(bytes)
            && let Some(what) = self.endpoint(head.seq, 0)
        {
            step.parts.push(Part { part: 0, what });
            return step;
        }
        let content = self.classifier.classify(bytes);
        step.batch = content.batch;
        for message in content.messages {
            let part = message.part;
            let what = match (self.endpoint(head.seq, part), &message.body) {
                (Some(what), _) => what,
                (None, Body::Notification(_)) => What::Tells(Box::new(message)),
                (None, _) => What::Other,
            };
            step.parts.push(Part { part, what });
        }
        step
    }

    /// The request or the answer that stands there.
    fn endpoint(&mut self, seq: Seq, part: u32) -> Option<What> {
        // The frames of earlier requests were not given.
        let passed = |exchange: &mut Exchange| exchange.request < (seq, part);
        while self.coming.pop_front_if(passed).is_some() {}
        let begins = |exchange: &mut Exchange| exchange.request == (seq, part);
        if let Some(exchange) = self.coming.pop_front_if(begins) {
            if let Some(response) = exchange.response {
                self.answers.insert(response, exchange.id);
            }
            return Some(What::Asks(Box::new(exchange)));
        }
        self.answers.remove(&(seq, part)).map(What::Answers)
    }
}

/// Whether a line is a JSON array, if it is JSON.
fn begins_array(line: &[u8]) -> bool {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    line.trim_ascii_start().first() == Some(&b'[')
}

/// The steps of a recording, one after the other, read page by page.
#[derive(Debug)]
pub struct Script<'r> {
    recording: &'r Recording,
    until: Seq,
    joiner: Joiner,
    /// The frames that were read and not given yet.
    page: VecDeque<(FrameHead, Option<Bytes>)>,
    /// The last frame that was read.
    after: Seq,
    /// The last exchange that was read, and where its request stands.
    known: (ExchangeId, Seq),
    all_exchanges: bool,
    /// The step that was given last: its bytes are asked for again.
    latest: Option<(Seq, Option<Bytes>)>,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`; `None`: all of them.
    pub fn new(recording: &'r Recording, until: Option<Seq>) -> Self {
        Self {
            recording,
            until: until.unwrap_or(Seq(u64::MAX)),
            joiner: Joiner::default(),
            page: VecDeque::new(),
            after: Seq(0),
            known: (ExchangeId(0), Seq(0)),
            all_exchanges: false,
            latest: None,
        }
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        if self.page.is_empty() && self.after < self.until {
            self.read_page()?;
        }
        let next = self.page.pop_front_if(|(head, _)| head.seq <= self.until);
        let next = next.map(|(head, raw)| self.joiner.step(head, raw));
        self.latest = next.as_ref().map(|step| (step.head.seq, step.raw.clone()));
        Ok(next)
    }

    /// The bytes of a frame; `None` where there are none or too many. Cheap for the latest frame
    /// and for those that come soon.
    pub fn raw(&self, seq: Seq) -> Result<Option<Bytes>, ReadError> {
        if let Some((_, raw)) = self.latest.as_ref().filter(|(latest, _)| *latest == seq) {
            return Ok(raw.clone());
        }
        if let Ok(at) = self.page.binary_search_by_key(&seq, |(head, _)| head.seq) {
            return Ok(self.page[at].1.clone());
        }
        match self.recording.head(seq)? {
            Some(head) if head.size <= LONGEST => Ok(Some(self.recording.raw(seq)?.into())),
            _ => Ok(None),
        }
    }

    fn read_page(&mut self) -> Result<(), ReadError> {
        let frames = self.recording.frame_block(self.after, FRAMES)?;
        let Some(last) = frames.last() else {
            return Ok(());
        };
        self.after = last;
        while !self.all_exchanges && self.known.1 < last {
            let after = self.known.0;
            let exchanges = self.recording.exchanges(after, EXCHANGES)?;
            match exchanges.last() {
                Some(latest) => self.known = (latest.id, latest.request.0),
                None => self.all_exchanges = true,
            }
            for exchange in exchanges {
                self.joiner.add(exchange);
            }
        }
        for (head, raw) in frames.into_frames() {
            // A block does not hold frames that are long.
            let is_long = raw.is_none() && head.size <= LONGEST;
            let raw = if is_long {
                Some(self.recording.raw(head.seq)?.into())
            } else {
                raw
            };
            self.page.push_back((head, raw));
        }
        Ok(())
    }
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
                match step.single() {
                    Some(What::Asks(exchange)) => {
                        assert_eq!((exchange.id.0, is_answer), (nth, false));
                    }
                    Some(What::Answers(id)) => assert_eq!((id.0, is_answer), (nth, true)),
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
            let raw = script.raw(Seq(seq)).unwrap();
            assert_eq!(raw.as_deref(), Some(&*recording.raw(Seq(seq)).unwrap()));
        }
        assert!(script.raw(Seq(6001)).unwrap().is_none());
    }
}
