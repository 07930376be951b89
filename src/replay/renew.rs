//! A session that was had again, told as the one before: what is said is what was said now, when and
//! by whom is what was on record.
//!
//! Whoever keeps a recording beside the code wants to see in it what the server says otherwise, not
//! that it took another microsecond. So each frame and event that has a counterpart before keeps its
//! time, and an event what the system measured then; what has none comes as long after what is before
//! it as it did now.

use crate::formats::export::{Excerpt, Part, Selection};
use crate::record::import::{Import, ImportError};
use crate::store::reader::{EventRow, MessageRow, ReadError, Recording};
use crate::trace::clock::Moment;
use crate::trace::correlator::MessageKind;
use crate::trace::event::EventKind;
use crate::trace::frame::{FrameHead, Seq, StreamId};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::time::Duration;

/// Frames and events whose times are kept, each in some bytes; beyond it they are those of now.
const MOST: usize = 1_000_000;

/// Bytes of a frame that are read at once.
const PIECE: u64 = 1 << 20;

/// Frames that are looked at together.
const PAGE: u32 = 1000;

/// Why it could not be told.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    /// One of the two could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What is made of them could not be written.
    #[error(transparent)]
    Write(#[from] ImportError),
}

/// Makes the recording `reel` of what was said in `now`, as the session that `before` is of.
pub fn renew(before: &Recording, now: &Recording, reel: &Path) -> Result<(), RenewError> {
    let summary = before.summary()?;
    let told = Telling::of(before, now)?;
    let mut import = Import::begin(reel, summary.context.clone())?;
    let mut end = Moment(summary.t_last_ns);
    for told in told {
        end = end.max(told.times.1);
        match told.what {
            What::Frame(head) => frame(now, &head, told.times, &mut import)?,
            What::Event(kind) => import.event(told.times.1, &kind)?,
        }
    }
    Ok(import.finish(end)?)
}

/// Tells a frame.
fn frame(
    now: &Recording,
    head: &FrameHead,
    (first, last): Times,
    import: &mut Import,
) -> Result<(), RenewError> {
    let (mut at, mut ends, mut t) = (0, false, first);
    while at < head.size {
        // The first byte has a time of its own.
        let next = if at == 0 { 1 } else { at + PIECE }.min(head.size);
        let piece = now.piece(head.seq, at..next)?;
        import.chunk(head.stream, t, &piece)?;
        (at, ends, t) = (next, piece.ends_with(b"\n"), last);
    }
    if !ends {
        import.end_line(head.stream, last)?;
    }
    Ok(())
}

/// What is the same in both sessions: a digest.
type Key = u64;

/// When the first and the last byte of a frame came.
type Times = (Moment, Moment);

/// What is on record of the session before; the earliest of a kind first.
#[derive(Default)]
struct Known {
    frames: HashMap<Key, VecDeque<Times>>,
    events: HashMap<Key, VecDeque<EventRow>>,
}

impl Known {
    fn of(before: &Recording) -> Result<Self, ReadError> {
        let mut known = Self::default();
        let mut keys = Keys::new(before);
        let (mut count, selection) = (0, Selection::default());
        Excerpt::of(before, &selection).walk(&mut |part| {
            count += 1;
            match part {
                _ if count > MOST => {}
                Part::Frame(head, raw, _) => {
                    let key = keys.frame(head, raw)?;
                    let times = (head.t_first, head.t_last);
                    known.frames.entry(key).or_default().push_back(times);
                }
                Part::Event(row) => {
                    let key = event_key(&row.event.kind);
                    known.events.entry(key).or_default().push_back(row.clone());
                }
                Part::Passed(_) => {}
            }
            Ok::<_, ReadError>(())
        })?;
        Ok(known)
    }
}

/// What the frames of a session are known by.
struct Keys<'r> {
    recording: &'r Recording,
    /// The first messages of the frames up to this one.
    messages: HashMap<Seq, MessageRow>,
    until: Seq,
}

impl<'r> Keys<'r> {
    fn new(recording: &'r Recording) -> Self {
        Self {
            recording,
            messages: HashMap::new(),
            until: Seq(0),
        }
    }

    /// A message by what it is, anything else by its bytes.
    fn frame(&mut self, head: &FrameHead, raw: Option<&[u8]>) -> Result<Key, ReadError> {
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

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Of an event what another run of the same would have as well.
fn event_key(kind: &EventKind) -> Key {
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

/// Something that is told, and when.
struct Told {
    times: Times,
    what: What,
}

enum What {
    Frame(FrameHead),
    Event(EventKind),
}

/// A session being told.
struct Telling<'r> {
    keys: Keys<'r>,
    known: Known,
    /// When the protocol and stderr were told last: neither of them goes back.
    ends: [Moment; 2],
    /// The last moment now, and what it was told as.
    latest: Times,
    all: Vec<Told>,
}

impl<'r> Telling<'r> {
    /// All of it. What was said on stdin and stdout keeps its order; what came on stderr at about
    /// that time, and what happened, may lie on the other side of it in each run, so their times
    /// decide.
    fn of(before: &Recording, now: &'r Recording) -> Result<Vec<Told>, ReadError> {
        let mut telling = Self {
            keys: Keys::new(now),
            known: Known::of(before)?,
            ends: [Moment(0); 2],
            latest: (Moment(0), Moment(0)),
            all: Vec::new(),
        };
        let all = Selection::default();
        Excerpt::of(now, &all).walk(&mut |part| telling.part(&part))?;
        telling.all.sort_by_key(|told| told.times.1);
        Ok(telling.all)
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), ReadError> {
        match part {
            Part::Frame(head, raw, _) => self.frame(head, *raw)?,
            Part::Event(row) => self.event(row),
            Part::Passed(_) => {}
        }
        Ok(())
    }

    /// As long after what is before it as it was now.
    fn later(&self, t: Moment) -> Moment {
        self.latest.1 + t.since(self.latest.0)
    }

    fn frame(&mut self, head: &FrameHead, raw: Option<&[u8]>) -> Result<(), ReadError> {
        let key = self.keys.frame(head, raw)?;
        let before = self.known.frames.get_mut(&key);
        let before = before.and_then(VecDeque::pop_front);
        let (first, last) = before.unwrap_or_else(|| {
            let last = self.later(head.t_last);
            let took = nanos(head.t_last.since(head.t_first));
            (Moment(last.0.saturating_sub(took)), last)
        });
        let is_text = head.stream == StreamId::STDERR;
        let last = self.goes_on(usize::from(is_text), last);
        self.latest = (head.t_last, last);
        self.all.push(Told {
            times: (first.min(last), last),
            what: What::Frame(*head),
        });
        Ok(())
    }

    fn event(&mut self, row: &EventRow) {
        let known = self.known.events.get_mut(&event_key(&row.event.kind));
        let (t, kind) = match known.and_then(VecDeque::pop_front) {
            Some(before) => (before.event.t, before.event.kind),
            None => (self.later(row.event.t), row.event.kind.clone()),
        };
        self.latest = (row.event.t, t);
        self.all.push(Told {
            times: (t, t),
            what: What::Event(kind),
        });
    }

    /// `t`, or the moment before it of the same sort where that is later.
    fn goes_on(&mut self, sort: usize, t: Moment) -> Moment {
        let end = &mut self.ends[sort];
        *end = t.max(*end);
        *end
    }
}
