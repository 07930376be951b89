//! Frames and exchanges, put together.

use super::{Part, Step, What};
use bytes::Bytes;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::message::{Body, Classifier, Content};
use std::collections::{BTreeMap, VecDeque};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Says what frames are, in their order.
#[derive(Clone, Debug, Default)]
pub struct Joiner {
    classifier: Classifier,
    /// Whose requests have not been met yet, in the order of their requests.
    coming: VecDeque<Exchange>,
    /// Where the answers to requests that were met stand.
    answers: BTreeMap<(Seq, u32), ExchangeId>,
}

impl Joiner {
    /// The next exchange of the recording; to be given before the frame of its request.
    pub fn add(&mut self, exchange: Exchange) {
        self.coming.push_back(exchange);
    }

    /// The next frame, with what its messages are.
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
        step.parts = self.parts(head.seq, content);
        step
    }

    fn parts(&mut self, seq: Seq, content: Content) -> Vec<Part> {
        let messages = content.messages.into_iter();
        let parts = messages.map(|message| Part {
            part: message.part,
            what: match (self.endpoint(seq, message.part), &message.body) {
                (Some(what), _) => what,
                (None, Body::Notification(_)) => What::Tells(Box::new(message)),
                (None, _) => What::Other,
            },
        });
        parts.collect()
    }

    /// The request or the answer that stands there.
    fn endpoint(&mut self, seq: Seq, part: u32) -> Option<What> {
        // The request of one that is passed over stood in no frame that was given.
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
