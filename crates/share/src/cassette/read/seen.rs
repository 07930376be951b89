//! What the client had been told when it spoke, as a line of its own says: the order of the lines
//! and their times may say more than it knew.

use super::fields::Fields;
use crate::cassette::FaultKind;
use crate::cassette::fault::quoted;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{Seq, StreamId};
use std::collections::VecDeque;

/// Frames of the server that are remembered. What is said of older ones cannot be looked at.
const REMEMBERED: usize = 1 << 14;

#[derive(Clone, Copy, Debug)]
struct Told {
    number: u64,
    seq: Seq,
    complete: Moment,
}

/// The frames of the server so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    recent: VecDeque<Told>,
    /// Whether the file may name frames that are not in `recent`: it has others than the recording
    /// that it was made of, or more than are remembered.
    has_more: bool,
}

impl Seen {
    /// Of a file that has only a part of a recording, if `is_part`.
    pub fn new(is_part: bool) -> Self {
        Self {
            recent: VecDeque::new(),
            has_more: is_part,
        }
    }

    /// Takes the next frame in. Of one of the client that had not seen what stands before it, and
    /// whose times do not say so: what it had seen.
    pub fn frame(
        &mut self,
        stream: StreamId,
        fields: &Fields<'_>,
        seq: Seq,
        (first, complete): (Moment, Moment),
    ) -> Result<Option<EventKind>, FaultKind> {
        match (stream, fields.seen) {
            (StreamId::S2C, _) => {
                let number = fields.number().unwrap_or(seq.0);
                self.recent.push_back(Told {
                    number,
                    seq,
                    complete,
                });
                if self.recent.len() > REMEMBERED {
                    self.recent.pop_front();
                    self.has_more = true;
                }
                Ok(None)
            }
            (StreamId::C2S, Some(seen)) => {
                let number = seen.number_text().and_then(|text| text.parse().ok());
                match number.filter(|number| self.has(*number)) {
                    Some(number) => Ok(self.client(number, first)),
                    None => Err(FaultKind::Seen(quoted(&seen.raw_text()))),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether there may be a frame of the server with this number, 0: none.
    fn has(&self, number: u64) -> bool {
        let mut recent = self.recent.iter().rev();
        number == 0 || self.has_more || recent.any(|told| told.number == number)
    }

    /// What is to be said of a frame of the client that began at `first`, and had seen the frame
    /// `seen`.
    fn client(&self, seen: u64, first: Moment) -> Option<EventKind> {
        let place = self.recent.iter().rposition(|told| told.number <= seen);
        if place.is_none() && self.has_more {
            return None;
        }
        let next = self.recent.get(place.map_or(0, |place| place + 1))?;
        let frame = place.map(|place| self.recent[place].seq);
        (next.complete <= first).then_some(EventKind::Seen { frame })
    }
}
