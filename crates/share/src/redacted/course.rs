//! Whether a recording is one that a copy can be made of frame by frame.

use mcpreel_store::reader::EventRow;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};

/// How much there is of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub frames: u64,
    pub bytes: u64,
    pub gap_bytes: u64,
}

/// What came of a recording so far. Whoever recorded it counts frames and events without a gap, and
/// the bytes of each stream; somebody may have taken rows out of it, and bytes may be missing.
#[derive(Debug, Default)]
pub(super) struct Course {
    last: Seq,
    bytes: [u64; StreamId::STDIO.len()],
    counts: Counts,
    empty: u64,
    last_event: u64,
    is_broken: bool,
    has_gaps: bool,
}

impl Course {
    pub fn frame(&mut self, head: &FrameHead) {
        let is_next = head.seq.0 == self.last.0.wrapping_add(1);
        let at = self.bytes.get_mut(usize::from(head.stream.0));
        self.is_broken |= !is_next || head.size == 0 || at.is_none();
        if let Some(at) = at {
            self.has_gaps |= *at != head.offset;
            *at = head.offset.saturating_add(head.size);
        }
        self.last = head.seq;
        self.counts.frames += 1;
        self.empty += u64::from(head.size == 0);
        self.counts.bytes = self.counts.bytes.saturating_add(head.size);
    }

    pub fn event(&mut self, row: &EventRow) {
        let is_next = row.id == self.last_event.wrapping_add(1);
        let is_start = matches!(row.event.kind, EventKind::Start(_));
        self.is_broken |= !is_next || is_start != (row.id == 1);
        if let EventKind::Gap { bytes, .. } = row.event.kind {
            self.has_gaps = true;
            self.counts.gap_bytes = self.counts.gap_bytes.saturating_add(bytes);
        }
        self.last_event = row.id;
    }

    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// Whether all of it is there, one after the other, of a recording that says so of itself.
    pub fn is_whole(&self, said: Counts) -> bool {
        self.is_counted(said) && !self.has_gaps
    }

    /// The same, though bytes of streams may be missing.
    pub fn is_counted(&self, said: Counts) -> bool {
        !self.is_broken && self.last_event > 0 && self.counts == said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::clock::Moment;
    use mcpreel_trace::event::Event;

    fn head(seq: u64, stream: StreamId, offset: u64, size: u64) -> FrameHead {
        FrameHead {
            seq: Seq(seq),
            stream,
            offset,
            t_first: Moment(0),
            t_last: Moment(0),
            size,
        }
    }

    fn row(id: u64, kind: EventKind) -> EventRow {
        let event = Event {
            t: Moment(0),
            after_seq: Seq(0),
            kind,
        };
        EventRow { id, event }
    }

    fn said(frames: u64, bytes: u64) -> Counts {
        Counts {
            frames,
            bytes,
            gap_bytes: 0,
        }
    }

    fn is_whole(heads: &[FrameHead], rows: &[EventRow]) -> bool {
        let mut course = Course::default();
        for head in heads {
            course.frame(head);
        }
        for row in rows {
            course.event(row);
        }
        course.is_whole(said(
            heads.len() as u64,
            heads.iter().map(|head| head.size).sum(),
        ))
    }

    #[test]
    fn a_recording_is_whole_only_if_nothing_of_it_is_missing() {
        let (c2s, s2c) = (StreamId::C2S, StreamId::S2C);
        let start = || row(1, EventKind::Start(Box::default()));
        let whole = [head(1, c2s, 0, 5), head(2, s2c, 0, 7), head(3, c2s, 5, 1)];
        assert!(is_whole(&whole, &[start()]));
        assert!(is_whole(&[], &[start()]));
        assert!(!is_whole(&whole, &[]), "nobody says when it began");
        let mut gapped = Course::default();
        gapped.frame(&head(1, c2s, 5, 5));
        gapped.event(&start());
        assert!(gapped.is_counted(said(1, 5)) && !gapped.is_whole(said(1, 5)));
        for other in [said(2, 5), said(1, 4)] {
            assert!(!gapped.is_counted(other));
        }
        let gap_bytes = 1;
        assert!(!gapped.is_counted(Counts {
            gap_bytes,
            ..said(1, 5)
        }));
        for broken in [
            [head(1, c2s, 0, 5), head(3, c2s, 5, 7)],
            [head(1, c2s, 0, 5), head(2, c2s, 6, 7)],
            [head(1, c2s, 0, 5), head(2, s2c, 1, 7)],
            [head(1, c2s, 0, 5), head(2, s2c, 0, 0)],
            [head(1, c2s, 0, 5), head(2, StreamId(3), 0, 7)],
        ] {
            assert!(!is_whole(&broken, &[start()]), "{broken:?}");
        }
        let gap = EventKind::Gap {
            stream: c2s,
            offset: 6,
            bytes: 1,
            reason: None,
        };
        let spawned = || EventKind::Spawned { pid: 7 };
        for rows in [
            [start(), row(2, gap)],
            [start(), row(3, spawned())],
            [start(), row(2, EventKind::Start(Box::default()))],
            [row(1, spawned()), row(2, spawned())],
        ] {
            assert!(!is_whole(&whole, &rows), "{rows:?}");
        }
    }
}
