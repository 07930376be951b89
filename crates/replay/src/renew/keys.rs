//! What frames and events of both sessions are known by.

use mcpreel_store::reader::{MessageRow, ReadError, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

/// Frames that are looked at together.
const PAGE: u32 = 1000;

/// What is the same in both sessions: a digest.
pub(super) type Key = u64;

/// What the frames of a session are known by.
pub(super) struct Keys<'r> {
    recording: &'r Recording,
    /// The first messages of the frames up to this one.
    messages: HashMap<Seq, MessageRow>,
    until: Seq,
}

impl<'r> Keys<'r> {
    pub(super) fn new(recording: &'r Recording) -> Self {
        Self {
            recording,
            messages: HashMap::new(),
            until: Seq(0),
        }
    }

    /// A message by what it is, anything else by its bytes.
    pub(super) fn frame(&mut self, head: &FrameHead, raw: Option<&[u8]>) -> Result<Key, ReadError> {
        if head.seq > self.until {
            let last = Seq(head.seq.0 + u64::from(PAGE));
            let messages = self.recording.messages(self.until, last)?;
            let firsts = messages.into_iter().filter(|row| row.record.part == 0);
            self.messages = firsts.map(|row| (row.record.frame, row)).collect();
            self.until = last;
        }
        let mut hasher = DefaultHasher::new();
        head.stream.hash(&mut hasher);
        match self.messages.remove(&head.seq).map(|row| row.record) {
            Some(record) => {
                let kind = record.kind.as_str();
                (kind, record.method.as_deref()).hash(&mut hasher);
                // Ids of the client are sent as they were, those of the server are its own.
                let asks = record.kind == MessageKind::Request;
                let of_client = asks == (head.stream == StreamId::C2S);
                let id = record.rpc_id.filter(|_| of_client);
                id.hash(&mut hasher);
            }
            None => (raw, head.size).hash(&mut hasher),
        }
        Ok(hasher.finish())
    }
}

/// Of an event what another run of the same would have as well.
pub(super) fn event_key(kind: &EventKind) -> Key {
    let mut hasher = DefaultHasher::new();
    match kind {
        EventKind::Spawned { .. } => "spawned".hash(&mut hasher),
        EventKind::Exit { code, signal, .. } => ("exit", code, signal).hash(&mut hasher),
        other => {
            let json = serde_json::to_string(other).unwrap_or_default();
            json.hash(&mut hasher);
        }
    }
    hasher.finish()
}
