//! What the client had been told when it spoke.

use crate::cassette::US;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use std::collections::VecDeque;

/// Frames of the server that are remembered until the client speaks. Of a longer run only the end
/// is known to the microsecond: a flood must not be held.
const REMEMBERED: usize = 1 << 12;

/// Which frames of the server were complete before the client began to say something, by the times
/// that stand in the file: a finer order would be another one when the file is read and written
/// again.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Those that the client has said nothing after, with the microseconds at which they were
    /// complete.
    recent: VecDeque<(Seq, u64)>,
    /// The last one that is known to have been there before the client spoke, and could be
    /// forgotten.
    last: Option<Seq>,
    /// The last one of those that there was no room for.
    dropped: Option<(Seq, u64)>,
}

impl Seen {
    /// Takes the next frame in. Of one of the client: the last frame of the server that was
    /// complete before the first byte of this one.
    pub fn frame(&mut self, head: &FrameHead) -> Option<Seq> {
        match head.stream {
            StreamId::S2C => {
                if self.recent.len() == REMEMBERED {
                    self.dropped = self.recent.pop_front();
                }
                self.recent.push_back((head.seq, head.t_last.0 / US));
                None
            }
            StreamId::C2S => {
                self.until(head.t_first.0 / US);
                self.last
            }
            _ => None,
        }
    }

    fn until(&mut self, t: u64) {
        if let Some((seq, _)) = self.dropped.take_if(|(_, complete)| *complete <= t) {
            self.last = Some(seq);
        }
        while let Some((seq, _)) = self.recent.pop_front_if(|(_, complete)| *complete <= t) {
            self.last = Some(seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::clock::Moment;

    /// A frame whose first and last bytes came at these microseconds.
    fn head(seq: u64, stream: StreamId, t_first: u64, t_last: u64) -> FrameHead {
        FrameHead {
            seq: Seq(seq),
            stream,
            offset: 0,
            t_first: Moment(t_first * US),
            t_last: Moment(t_last * US),
            size: 1,
        }
    }

    #[test]
    fn a_frame_that_came_while_the_client_spoke_was_not_seen() {
        let mut seen = Seen::default();
        let (c2s, s2c, stderr) = (StreamId::C2S, StreamId::S2C, StreamId::STDERR);
        assert_eq!(seen.frame(&head(1, c2s, 0, 1)), None);
        assert_eq!(seen.frame(&head(2, s2c, 2, 5)), None);
        assert_eq!(seen.frame(&head(3, stderr, 6, 6)), None);
        assert_eq!(seen.frame(&head(4, c2s, 7, 7)), Some(Seq(2)));
        assert_eq!(seen.frame(&head(5, s2c, 8, 10)), None);
        assert_eq!(
            seen.frame(&head(6, c2s, 9, 11)),
            Some(Seq(2)),
            "it came meanwhile"
        );
        assert_eq!(seen.frame(&head(7, c2s, 12, 12)), Some(Seq(5)));
    }

    #[test]
    fn what_the_file_cannot_tell_apart_is_not_told_apart() {
        let mut seen = Seen::default();
        let at = |seq, stream, t_first, t_last| FrameHead {
            t_first: Moment(t_first),
            t_last: Moment(t_last),
            ..head(seq, stream, 0, 0)
        };
        seen.frame(&at(1, StreamId::S2C, 1500, 1900));
        assert_eq!(seen.frame(&at(2, StreamId::C2S, 1200, 2500)), Some(Seq(1)));
    }

    #[test]
    fn a_flood_is_not_held_and_its_end_is_known() {
        let mut seen = Seen::default();
        let many = REMEMBERED as u64 * 3;
        for seq in 1..=many {
            seen.frame(&head(seq, StreamId::S2C, seq, seq));
        }
        assert_eq!(seen.recent.len(), REMEMBERED);
        let slow = head(many + 1, StreamId::C2S, many - 5, many);
        assert_eq!(seen.frame(&slow), Some(Seq(many - 5)));
        let mut early = Seen::default();
        for seq in 1..=many {
            early.frame(&head(seq, StreamId::S2C, seq, seq));
        }
        let began = head(many + 1, StreamId::C2S, 1, many);
        assert_eq!(early.frame(&began), None, "nothing is claimed");
    }
}
