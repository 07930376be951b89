//! The time cursor and the pause.

use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_trace::state::State;
use std::collections::VecDeque;

/// Idle time that is played at most, nanoseconds: what is longer is cut to this.
pub const IDLE_NS: u64 = 1_000_000_000;

/// The time cursor and the pause: both end what is shown at a frame.
#[derive(Debug, Default)]
pub struct Playback {
    pub cursor: Option<Seq>,
    /// When its frame was complete, as soon as that is known.
    pub t: Option<Moment>,
    pub paused: Option<Seq>,
    /// The time cursor moves by itself.
    pub playing: Option<Playing>,
    /// What was true then, where it is shown.
    pub pane: Option<Pane>,
    /// Names the answers that belong to it.
    pub generation: u64,
}

#[derive(Debug, Default)]
pub struct Pane {
    /// What was true, and after which frame; none until the worker has answered.
    pub state: Option<(Seq, Box<State>)>,
    /// The frame that it was asked for.
    pub asked: Option<Seq>,
    /// When that was, nanoseconds since the viewer started.
    pub asked_ns: u64,
    pub top: usize,
}

/// The time cursor moves by itself.
#[derive(Debug)]
pub struct Playing {
    /// Frames that come next, with their times.
    pub ahead: VecDeque<(Seq, Moment)>,
    /// Whether more of them were asked for.
    pub asked: bool,
    /// Whether there are no more of them.
    pub is_end: bool,
    /// The frame that the cursor is on; none until its time is known.
    pub at: Option<(Seq, Moment)>,
    /// When that frame was due, nanoseconds since the viewer started.
    pub due_ns: u64,
    pub stop: Stop,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    End,
    /// At the first row that fits this, which is looked for.
    Looking(Query),
    At(Seq),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Played {
    On,
    /// It came to the end of what is on record.
    End,
    /// It came to the row that it was to stop at.
    Match,
}

impl Playback {
    /// The last frame that is shown, if not all are.
    pub fn until(&self) -> Option<Seq> {
        self.cursor.or(self.paused)
    }

    pub fn is_on(&self) -> bool {
        self.cursor.is_some()
    }
}

impl Playing {
    pub fn new(now_ns: u64, stop: Stop) -> Self {
        Self {
            ahead: VecDeque::new(),
            asked: false,
            is_end: false,
            at: None,
            due_ns: now_ns,
            stop,
        }
    }

    /// Goes on to the frame that is due at `now_ns`.
    pub fn advance(&mut self, now_ns: u64) -> Played {
        if let (Stop::Looking(_), _) | (_, None) = (&self.stop, self.at) {
            // What was waited for is not made up for.
            self.due_ns = now_ns;
            return Played::On;
        }
        while let (Some((_, t)), Some(next)) = (self.at, self.ahead.front().copied()) {
            let due = self.due_ns.saturating_add(gap(t, next.1).min(IDLE_NS));
            if due > now_ns {
                return Played::On;
            }
            self.due_ns = due;
            self.at = Some(next);
            self.ahead.pop_front();
            if matches!(self.stop, Stop::At(stop) if stop <= next.0) {
                return Played::Match;
            }
        }
        if self.is_end {
            return Played::End;
        }
        self.due_ns = now_ns;
        Played::On
    }

    /// The idle time before the next frame, nanoseconds, where it is cut.
    pub fn cut(&self) -> Option<u64> {
        let idle = gap(self.at?.1, self.ahead.front()?.1);
        (idle > IDLE_NS).then_some(idle)
    }
}

fn gap(from: Moment, to: Moment) -> u64 {
    to.0.saturating_sub(from.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn playing(stop: Stop) -> Playing {
        let frames = [(2, 100), (3, 150), (4, 90_150), (5, 90_200)];
        Playing {
            ahead: frames.map(|(seq, ms)| (Seq(seq), Moment(ms * MS))).into(),
            is_end: true,
            at: Some((Seq(1), Moment(0))),
            ..Playing::new(0, stop)
        }
    }

    fn at(playing: &Playing) -> u64 {
        playing.at.map_or(0, |(seq, _)| seq.0)
    }

    #[test]
    fn frames_come_at_their_recorded_pace_and_idle_time_is_cut_to_a_second() {
        let mut playing = playing(Stop::End);
        assert_eq!(playing.advance(99 * MS), Played::On);
        assert_eq!(at(&playing), 1);
        playing.advance(151 * MS);
        assert_eq!(at(&playing), 3);
        assert_eq!(playing.cut(), Some(90_000 * MS));
        playing.advance(1_149 * MS);
        assert_eq!(at(&playing), 3);
        playing.advance(1_150 * MS);
        assert_eq!(at(&playing), 4);
        assert_eq!(playing.cut(), None);
        assert_eq!(playing.advance(1_200 * MS), Played::End);
        assert_eq!(at(&playing), 5);
    }

    #[test]
    fn playing_stops_at_the_match_and_not_before_it_is_known() {
        let mut playing = playing(Stop::Looking(Query::default()));
        assert_eq!(playing.advance(5_000 * MS), Played::On);
        assert_eq!(at(&playing), 1);
        playing.stop = Stop::At(Seq(3));
        assert_eq!(playing.advance(5_120 * MS), Played::On);
        assert_eq!(at(&playing), 2);
        assert_eq!(playing.advance(9_000 * MS), Played::Match);
        assert_eq!(at(&playing), 3);
    }

    #[test]
    fn waiting_for_more_frames_is_not_made_up_for() {
        let mut playing = Playing {
            at: Some((Seq(1), Moment(0))),
            ..Playing::new(0, Stop::End)
        };
        assert_eq!(playing.advance(3_000 * MS), Played::On);
        playing.ahead.push_back((Seq(2), Moment(100 * MS)));
        playing.advance(3_050 * MS);
        assert_eq!(at(&playing), 1);
        playing.advance(3_100 * MS);
        assert_eq!(at(&playing), 2);
    }
}
