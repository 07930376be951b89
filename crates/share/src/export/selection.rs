//! The selection of frames and events of a recording.

use mcpreel_store::reader::EventRow;
use mcpreel_trace::event::SelectionNote;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use std::collections::BTreeSet;

/// Selected frames and events: all, those between two frames, or those that were picked.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    note: SelectionNote,
    picked: Option<Picked>,
}

#[derive(Clone, Debug, Default)]
struct Picked {
    frames: BTreeSet<Seq>,
    events: BTreeSet<u64>,
}

impl Selection {
    /// Everything between two frames, these included; without either, everything.
    pub fn between(from: Option<Seq>, to: Option<Seq>) -> Self {
        let note = SelectionNote {
            query: None,
            from: from.map(|seq| seq.0),
            to: to.map(|seq| seq.0),
        };
        Self { note, picked: None }
    }

    /// Selects within these bounds only what is picked from now on, as `query` says.
    pub fn picked(self, query: &str) -> Self {
        let note = SelectionNote {
            query: Some(query.to_owned()),
            ..self.note
        };
        Self {
            note,
            picked: Some(Picked::default()),
        }
    }

    /// Picks a frame, if it is within the bounds.
    pub fn pick_frame(&mut self, seq: Seq) {
        if let Some(picked) = self.picked_at(seq) {
            picked.frames.insert(seq);
        }
    }

    /// Picks the event with the number `id` that came after the frame `after`, likewise.
    pub fn pick_event(&mut self, after: Seq, id: u64) {
        if let Some(picked) = self.picked_at(after) {
            picked.events.insert(id);
        }
    }

    fn picked_at(&mut self, seq: Seq) -> Option<&mut Picked> {
        let is_meant = self.has_place(seq);
        self.picked.as_mut().filter(|_| is_meant)
    }

    /// The same, with what `say` makes of the filter's text in place of it.
    pub fn told(&self, say: impl FnOnce(&str) -> String) -> Self {
        let query = self.note.query.as_deref().map(say);
        let note = SelectionNote { query, ..self.note };
        let picked = self.picked.clone();
        Self { note, picked }
    }

    /// Whether something was to be picked, and nothing was.
    pub fn is_empty(&self) -> bool {
        let picked = self.picked.as_ref();
        picked.is_some_and(|picked| picked.frames.is_empty() && picked.events.is_empty())
    }

    /// The bounds and the filter; `None` where everything is selected.
    pub fn note(&self) -> Option<&SelectionNote> {
        (self.note != SelectionNote::default()).then_some(&self.note)
    }

    pub fn has_frame(&self, seq: Seq) -> bool {
        match &self.picked {
            Some(picked) => picked.frames.contains(&seq),
            None => self.has_place(seq),
        }
    }

    /// Whether the exchange is written: its request is, or its answer.
    pub fn has_exchange(&self, exchange: &Exchange) -> bool {
        let frames = [Some(exchange.request), exchange.response];
        let mut frames = frames.into_iter().flatten();
        frames.any(|(seq, _)| self.has_frame(seq))
    }

    /// Whether the event is written: one that came between two frames belongs to the first.
    pub fn has_event(&self, row: &EventRow) -> bool {
        match &self.picked {
            Some(picked) => picked.events.contains(&row.id),
            None => self.has_place(row.event.after_seq),
        }
    }

    fn has_place(&self, seq: Seq) -> bool {
        let from = self.note.from.is_none_or(|from| seq.0 >= from);
        from && self.note.to.is_none_or(|to| seq.0 <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::clock::Moment;
    use mcpreel_trace::event::{Event, EventKind};

    fn event(id: u64, after: u64) -> EventRow {
        EventRow {
            id,
            event: Event {
                t: Moment(0),
                after_seq: Seq(after),
                kind: EventKind::Spawned { pid: 1 },
            },
        }
    }

    #[test]
    fn what_is_picked_is_meant_within_the_bounds() {
        let mut picked = Selection::between(None, Some(Seq(100))).picked("is:failed");
        assert!(picked.is_empty());
        for seq in [1, 63, 64, 65, 100, 101] {
            picked.pick_frame(Seq(seq));
        }
        picked.pick_event(Seq(9), 7);
        picked.pick_event(Seq(101), 8);
        let frames: Vec<_> = (0..200).filter(|&seq| picked.has_frame(Seq(seq))).collect();
        assert_eq!(frames, [1, 63, 64, 65, 100]);
        assert!(picked.has_event(&event(7, 9)) && !picked.has_event(&event(8, 9)));
        assert!(!picked.is_empty());
        assert_eq!(picked.note().unwrap().query.as_deref(), Some("is:failed"));
    }
}
