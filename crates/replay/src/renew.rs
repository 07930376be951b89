//! A session that was had again, told as the one before: what is said is what was said now, when
//! and by whom is what was on record.
//!
//! Whoever keeps a recording beside the code wants to see in it what the server says otherwise, not
//! that it took another microsecond. So each frame and event that has a counterpart before keeps
//! its time, and an event what the system measured then; what has none comes as long after what is
//! before it as it did now.

mod keys;

use keys::{Key, Keys, event_key};
use mcpreel_share::export::{Excerpt, Part, Selection};
use mcpreel_store::reader::{EventRow, ReadError, Recording};
use mcpreel_store::record::import::{Import, ImportError};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{CassetteLine, EventKind};
use mcpreel_trace::frame::{FrameHead, StreamId};
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::Duration;

/// Frames and events whose times are kept, those of a frame in some bytes; beyond it they are those
/// of now.
const MOST: usize = 1_000_000;

/// Bytes of what is kept of events and lines: what a server says on the way, or a stranger writes
/// in a file, may be of any length.
const MOST_BYTES: usize = 64 << 20;

/// Bytes of a frame that are read at once.
const PIECE: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    /// One of the two could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What is made of them could not be written.
    #[error(transparent)]
    Write(#[from] ImportError),
}

/// What was on record before and is more than is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Frames and events: their counterparts have the times of now.
    pub times: u64,
    /// Lines of the cassette of which what nobody knows is lost.
    pub keys: u64,
}

/// Makes the recording `reel` of what was said in `now`, as the session that `before` is of. What
/// of that was more than is kept.
pub fn renew(before: &Recording, now: &Recording, reel: &Path) -> Result<Dropped, RenewError> {
    let summary = before.summary()?;
    let (told, dropped) = Telling::of(before, now)?;
    let mut import = Import::begin(reel, summary.context.clone())?;
    let mut end = Moment(summary.t_last_ns);
    for told in told {
        end = end.max(told.times.1);
        if let Some(keys) = &told.keys {
            import.event(told.times.0, keys)?;
        }
        match told.what {
            What::Frame(head) => frame(now, &head, told.times, &mut import)?,
            What::Event(kind) => import.event(told.times.1, &kind)?,
        }
    }
    import.finish(end)?;
    Ok(dropped)
}

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

/// When the first and the last byte of a frame came.
type Times = (Moment, Moment);

/// What stood in a line of the cassette before that nobody knows, as an event. Hardly any line has
/// it: none takes the room of one for that.
type LineKeys = Option<Box<EventKind>>;

/// What is on record of the session before; the earliest of a kind first.
#[derive(Default)]
struct Known {
    frames: HashMap<Key, VecDeque<(Times, LineKeys)>>,
    events: HashMap<Key, VecDeque<(EventRow, LineKeys)>>,
    /// Of the lines of the start and the end, which have no counterpart to look for.
    start: LineKeys,
    end: LineKeys,
    /// Bytes of what is kept of events and lines.
    bytes: usize,
    dropped: Dropped,
}

impl Known {
    fn of(before: &Recording) -> Result<Self, ReadError> {
        let mut known = Self::default();
        let mut keys = Keys::new(before);
        let (mut count, selection) = (0, Selection::default());
        let mut next = None;
        Excerpt::of(before, &selection).walk(&mut |part| {
            count += 1;
            match part {
                Part::Frame(..) if count > MOST => known.dropped.times += 1,
                Part::Event(row) if count > MOST => known.dropped.add(&row.event.kind),
                Part::Frame(head, raw, _) => {
                    let key = keys.frame(head, raw)?;
                    let times = (head.t_first, head.t_last);
                    let frames = known.frames.entry(key).or_default();
                    frames.push_back((times, next.take()));
                }
                Part::Event(row) => known.event(row, &mut next),
                Part::Passed(_) => {}
            }
            Ok::<_, ReadError>(())
        })?;
        Ok(known)
    }

    /// An event; what stood in the line of what comes `next` is kept for that.
    fn event(&mut self, row: &EventRow, next: &mut LineKeys) {
        let kind = &row.event.kind;
        let size = serde_json::to_string(kind).map_or(0, |json| json.len());
        let bytes = self.bytes + size + size_of::<EventRow>();
        if bytes > MOST_BYTES {
            self.dropped.add(kind);
            *next = None;
            return;
        }
        self.bytes = bytes;
        let place = match kind.cassette_line() {
            Some(CassetteLine::Start) => &mut self.start,
            Some(CassetteLine::End) => &mut self.end,
            Some(CassetteLine::Frame | CassetteLine::Event) => next,
            None => {
                let events = self.events.entry(event_key(kind)).or_default();
                events.push_back((row.clone(), next.take()));
                return;
            }
        };
        *place = Some(Box::new(kind.clone()));
    }
}

impl Dropped {
    fn add(&mut self, kind: &EventKind) {
        match kind.cassette_line() {
            Some(_) => self.keys += 1,
            None => self.times += 1,
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Something that is told, and when.
struct Told {
    times: Times,
    keys: LineKeys,
    what: What,
}

enum What {
    Frame(FrameHead),
    Event(Box<EventKind>),
}

struct Telling<'r> {
    keys: Keys<'r>,
    known: Known,
    /// When the protocol and stderr were told last: neither of them goes back.
    ends: [Moment; 2],
    /// When a message was told last that has no time of its own, or came after such a one: nothing
    /// that came later is told before it.
    floor: Moment,
    /// The last moment now, and what it was told as.
    latest: Times,
    all: Vec<Told>,
}

impl<'r> Telling<'r> {
    /// All of it. What was said on stdin and stdout keeps its order; what came on stderr at about
    /// that time, and what happened, may lie on the other side of it in each run, so their times
    /// decide.
    fn of(before: &Recording, now: &'r Recording) -> Result<(Vec<Told>, Dropped), ReadError> {
        let mut telling = Self {
            keys: Keys::new(now),
            known: Known::of(before)?,
            ends: [Moment(0); 2],
            floor: Moment(0),
            latest: (Moment(0), Moment(0)),
            all: Vec::new(),
        };
        let all = Selection::default();
        let kept = |keys: LineKeys| {
            keys.map(|kind| Told {
                times: (Moment(0), Moment(0)),
                keys: None,
                what: What::Event(kind),
            })
        };
        telling.all.extend(kept(telling.known.start.take()));
        Excerpt::of(now, &all).walk(&mut |part| telling.part(&part))?;
        telling.all.sort_by_key(|told| told.times.1);
        telling.all.extend(kept(telling.known.end.take()));
        Ok((telling.all, telling.known.dropped))
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
        let (before, keys) = before.unzip();
        let times = match before {
            Some(times) => self.kept(head.stream, times),
            None => self.made(head),
        };
        self.latest = (head.t_last, times.1);
        self.all.push(Told {
            times,
            keys: keys.flatten(),
            what: What::Frame(*head),
        });
        Ok(())
    }

    /// The times of a frame that has a counterpart, which had these.
    fn kept(&mut self, stream: StreamId, (first, last): Times) -> Times {
        let is_text = stream == StreamId::STDERR;
        let told = self.goes_on(usize::from(is_text), last.max(self.floor));
        let first = first.max(self.floor).min(told);
        if told > last && !is_text {
            self.floor = told;
        }
        (first, told)
    }

    fn made(&mut self, head: &FrameHead) -> Times {
        let is_text = head.stream == StreamId::STDERR;
        let sort = usize::from(is_text);
        let before = self.ends[sort].max(self.floor);
        let last = self.goes_on(sort, self.later(head.t_last).max(before));
        let took = nanos(head.t_last.since(head.t_first));
        if !is_text {
            self.floor = last;
        }
        (Moment(last.0.saturating_sub(took)).max(before), last)
    }

    fn event(&mut self, row: &EventRow) {
        let known = self.known.events.get_mut(&event_key(&row.event.kind));
        let (t, kind, keys) = match known.and_then(VecDeque::pop_front) {
            Some((before, keys)) => (before.event.t, before.event.kind, keys),
            None => (self.later(row.event.t), row.event.kind.clone(), None),
        };
        let t = t.max(self.floor);
        self.latest = (row.event.t, t);
        self.all.push(Told {
            times: (t, t),
            keys,
            what: What::Event(Box::new(kind)),
        });
    }

    /// `t`, or the moment before it of the same sort where that is later.
    fn goes_on(&mut self, sort: usize, t: Moment) -> Moment {
        let end = &mut self.ends[sort];
        *end = t.max(*end);
        *end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::event::Event;
    use mcpreel_trace::frame::Seq;

    #[test]
    fn what_is_kept_of_events_is_bounded_in_bytes_and_the_rest_is_counted() {
        let (mut known, mut next) = (Known::default(), None);
        let row = |id, kind| EventRow {
            id,
            event: Event {
                t: Moment(0),
                after_seq: Seq(0),
                kind,
            },
        };
        for id in 0..100 {
            let message = format!("{id}{}", "x".repeat(1 << 20));
            known.event(&row(id, EventKind::Warning { message }), &mut next);
        }
        let kept = known.events.values().map(VecDeque::len).sum::<usize>();
        assert_eq!(kept, (MOST_BYTES >> 20) - 1);
        let json = "x".repeat(2 << 20);
        let of = CassetteLine::Frame;
        known.event(&row(100, EventKind::LineKeys { of, json }), &mut next);
        assert!(next.is_none());
        let times = 100 - kept as u64;
        assert_eq!(known.dropped, Dropped { times, keys: 1 });
    }
}
