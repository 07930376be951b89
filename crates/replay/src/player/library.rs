//! The recording that is played, as the director asks for it.

use super::director::Past;
use super::script::{Script, Step};
use crate::bind::candidates;
use bytes::Bytes;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::json::{Kind, Value, parse_into};
use mcpreel_wire::message::Direction;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

/// Questions of the server that are read ahead.
const QUESTIONS: u32 = 256;

/// Texts of the client that are remembered, each in a few bytes. If it sends more, any text may be
/// among them: then handles are bound that nobody needs.
const MOST_TEXTS: usize = 1_000_000;

/// Longer frames of the client are not searched for handles.
const LONGEST_SEARCHED: u64 = 1 << 20;

/// Frames that are searched at once.
const SEARCHED: u32 = 500;

/// Whether the user wants an exchange.
pub type Wanted<'r> = Box<dyn FnMut(&Exchange) -> bool + 'r>;

/// Whether a frame of the client is not sent.
pub type LeftOut<'r> = &'r dyn Fn(Seq) -> bool;

/// A recording, gone through and looked up.
pub struct Library<'r> {
    recording: &'r Recording,
    script: Script<'r>,
    until: Option<Seq>,
    wanted: Option<Wanted<'r>>,
    left_out: Option<LeftOut<'r>>,
    /// After this one the server asks nothing more.
    no_more_questions: bool,
    /// What may be a handle of texts that the client sends, each with the last frame that has it; read when first needed.
    texts: Option<HashMap<u64, Seq>>,
    /// What went wrong in answering the director.
    failed: Option<ReadError>,
}

impl<'r> Library<'r> {
    /// `recording` up to the frame `until`.
    pub fn new(
        recording: &'r Recording,
        until: Option<Seq>,
        wanted: Option<Wanted<'r>>,
        left_out: Option<LeftOut<'r>>,
    ) -> Self {
        Self {
            recording,
            script: Script::new(recording, until),
            until,
            wanted,
            left_out,
            no_more_questions: false,
            texts: None,
            failed: None,
        }
    }

    /// The next step, or what went wrong.
    pub(super) fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.script.next_step(),
        }
    }

    /// How many requests the client sent.
    pub(super) fn requests(&self) -> Result<u64, ReadError> {
        let until = self.until.unwrap_or(Seq(u64::MAX));
        self.recording.requests(Direction::ClientToServer, until)
    }

    fn keep<T>(&mut self, result: Result<T, ReadError>) -> Option<T> {
        result.map_err(|error| self.failed = Some(error)).ok()
    }

    fn read_texts(&self) -> Result<HashMap<u64, Seq>, ReadError> {
        let (mut texts, mut nodes, mut after) = (HashMap::new(), Vec::new(), Seq(0));
        loop {
            let frames =
                self.recording
                    .frames_of(StreamId::C2S, after, LONGEST_SEARCHED, SEARCHED)?;
            let Some((last, _)) = frames.last() else {
                return Ok(texts);
            };
            after = last.seq;
            for (head, raw) in &frames {
                let raw = raw.as_deref().unwrap_or_default();
                if let Ok(root) = parse_into(raw, &mut nodes) {
                    remember(root, head.seq, &mut texts);
                }
            }
        }
    }
}

fn remember(value: Value<'_>, seq: Seq, texts: &mut HashMap<u64, Seq>) {
    match value.kind() {
        Kind::String => {
            for text in candidates(&value.as_str().unwrap_or_default()) {
                if texts.len() < MOST_TEXTS {
                    texts.insert(hash(text), seq);
                }
            }
        }
        // A document has an end to its depth.
        Kind::Array => value
            .elements()
            .for_each(|element| remember(element, seq, texts)),
        Kind::Object => value
            .members()
            .for_each(|(_, member)| remember(member, seq, texts)),
        _ => {}
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Past for Library<'_> {
    fn raw(&mut self, seq: Seq) -> Option<Bytes> {
        let raw = self.script.raw(seq);
        self.keep(raw).flatten()
    }

    fn sends_after(&mut self, seq: Seq, text: &str) -> bool {
        if self.texts.is_none() {
            let texts = self.read_texts();
            self.texts = Some(self.keep(texts).unwrap_or_default());
        }
        self.texts.as_ref().is_some_and(|texts| {
            texts.len() >= MOST_TEXTS || texts.get(&hash(text)).is_some_and(|last| *last > seq)
        })
    }

    fn is_wanted(&mut self, exchange: &Exchange) -> bool {
        let wanted = self.wanted.as_mut();
        wanted.is_none_or(|is_wanted| is_wanted(exchange))
    }

    fn is_part(&self) -> bool {
        self.wanted.is_some() || self.until.is_some() || self.left_out.is_some()
    }

    fn leaves_out(&self, seq: Seq) -> bool {
        self.left_out.is_some_and(|left_out| left_out(seq))
    }

    fn asked_later(&mut self, known: Option<&Exchange>) -> Vec<Exchange> {
        if self.no_more_questions {
            return Vec::new();
        }
        let after = known.map_or(ExchangeId(0), |exchange| exchange.id);
        let questions = self.recording.questions(after, QUESTIONS);
        let questions = self.keep(questions).unwrap_or_default();
        self.no_more_questions = questions.is_empty();
        questions
    }
}
