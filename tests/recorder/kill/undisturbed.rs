//! What an indexer makes of a spool when nobody disturbs it.

use crate::support::{Library, frame_bytes};
use mcpreel_capture::spool::{RecordKind, SpoolReader, Tail, Writer};
use mcpreel_store::indexer::{Budget, Indexer};
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A recording of the same frames and events, from a spool that is there as a whole.
pub fn index_anew(library: &Library, dir: &Path) -> PathBuf {
    let frames = library.json(&["show", "@", "--frames"]);
    let events = library.json(&["show", "@", "--events"]);
    let mut events = events
        .into_iter()
        .filter(|event| event["kind"] != "recovered");
    let start = events.next().expect("it begins with the start event");
    let mut spool = Spool::create(&dir.join("a.spool"), &start);
    let mut events = events.peekable();
    for frame in &frames {
        while let Some(event) =
            events.next_if(|event| event["after_seq"].as_u64() < frame["seq"].as_u64())
        {
            spool.event(&event);
        }
        spool.frame(frame);
    }
    events.for_each(|event| spool.event(&event));
    drop(spool);
    index(dir, |_| ())
}

/// Indexes the spool `a.spool` of `dir`, one record after the other, and finishes the recording;
/// `between` sees what is on disk after each.
pub fn index(dir: &Path, mut between: impl FnMut(usize)) -> PathBuf {
    let (reel, spool) = (dir.join("a.reel"), dir.join("a.spool"));
    let mut reader = SpoolReader::open(&spool).expect("it is a spool");
    let mut payload = Vec::new();
    let first = reader.first_position();
    reader
        .read(first, Tail::Final, &mut payload)
        .expect("it can be read");
    let Ok(EventKind::Start(context)) = serde_json::from_slice(&payload) else {
        panic!("it begins with the start event");
    };
    let mut indexer = Indexer::create(&reel, &context, reader).expect("it can be created");
    let one_record = Budget {
        bytes: 1,
        nanos: u64::MAX,
        clock: Clock::start(),
    };
    for nth in 0.. {
        between(nth);
        let caught_up = indexer.step(Tail::Final, &one_record);
        if caught_up.expect("it can be written") {
            break;
        }
    }
    indexer.finish(State::Recovered).expect("it can be written");
    reel
}

/// A spool being written.
pub struct Spool {
    writer: Writer,
    offsets: [u64; 3],
}

impl Spool {
    pub fn create(path: &Path, start: &Value) -> Self {
        let writer = Writer::create(path, 7, &event_bytes(start)).expect("it can be created");
        Self {
            writer,
            offsets: [0; 3],
        }
    }

    pub fn chunk(&mut self, stream: StreamId, t: Moment, bytes: &[u8]) {
        let offset = &mut self.offsets[stream.index()];
        let written = self
            .writer
            .append(RecordKind::Chunk, stream, t, *offset, bytes);
        written.expect("it can be written");
        *offset += bytes.len() as u64;
    }

    /// A frame in two chunks, if it did not come in one, so that its times are the same.
    fn frame(&mut self, frame: &Value) {
        let time = |key: &str| Moment(frame[key].as_u64().expect("it is a time"));
        let stream = StreamId::STDIO
            .into_iter()
            .find(|stream| frame["stream"] == stream.as_str());
        let stream = stream.expect("the session has three streams");
        let bytes = frame_bytes(frame);
        let in_first = usize::from(time("t_first_ns") != time("t_last_ns"));
        if in_first > 0 {
            self.chunk(stream, time("t_first_ns"), &bytes[..in_first]);
        }
        self.chunk(stream, time("t_last_ns"), &bytes[in_first..]);
    }

    fn event(&mut self, event: &Value) {
        let t = Moment(event["t_ns"].as_u64().expect("it is a time"));
        let written = self
            .writer
            .append(RecordKind::Event, StreamId(0), t, 0, &event_bytes(event));
        written.expect("it can be written");
    }
}

/// An event of `show --events --json` as a record holds it.
fn event_bytes(event: &Value) -> Vec<u8> {
    let mut event = event.clone();
    let stream = StreamId::STDIO
        .into_iter()
        .find(|stream| event["stream"] == stream.as_str());
    if let Some(stream) = stream {
        event["stream"] = stream.0.into();
    }
    serde_json::to_vec(&event).expect("it is JSON")
}
