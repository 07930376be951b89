//! Counters: how many requests are open, how many bytes went by. Of what happens within a short
//! time one sample tells, the highest, so that a flood does not make them longer than itself.

use super::event::{Args, Event, Track};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::Direction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Spans of time in a recording of which each has a sample: more than a screen has columns.
const SPANS: u64 = 20_000;

/// A curve, as far as it was drawn.
#[derive(Debug)]
struct Curve {
    /// Nanoseconds for which one sample tells.
    span: u64,
    /// The highest since the last sample, and when that was.
    peak: Option<(Moment, u64)>,
    /// How it stands now, and since when.
    now: Option<(Moment, u64)>,
}

impl Curve {
    fn new(end: Moment) -> Self {
        Self {
            span: (end.0 / SPANS).max(1),
            peak: None,
            now: None,
        }
    }

    /// It has this value from `t` on; what is to be drawn of the time before.
    fn set(&mut self, t: Moment, value: u64) -> impl Iterator<Item = (Moment, u64)> + use<> {
        let is_over = |since: Moment| t.0 / self.span > since.0 / self.span;
        let drawn = match self.peak {
            Some((since, _)) if is_over(since) => self.draw(),
            _ => [None, None],
        };
        if self.peak.is_none_or(|(_, peak)| value > peak) {
            self.peak = Some((t, value));
        }
        self.now = Some((t, value));
        drawn.into_iter().flatten()
    }

    /// What is left to be drawn: the highest, and how it stands since.
    fn draw(&mut self) -> [Option<(Moment, u64)>; 2] {
        let now = self.now.take_if(|_| true);
        let peak = self.peak.take();
        [peak, now.filter(|now| Some(*now) != peak)]
    }
}

#[derive(Debug)]
pub(super) struct Open {
    sides: [Side; 2],
}

#[derive(Debug)]
struct Side {
    pid: u8,
    curve: Curve,
    ends: BinaryHeap<Reverse<Moment>>,
}

impl Open {
    pub fn new(end: Moment) -> Self {
        let side = |pid| Side {
            pid,
            curve: Curve::new(end),
            ends: BinaryHeap::new(),
        };
        Self {
            sides: [side(Track::CLIENT), side(Track::SERVER)],
        }
    }

    /// A request that was open from `from` to `to`; they come in the order in which they began.
    pub fn request(
        &mut self,
        direction: Direction,
        from: Moment,
        to: Moment,
    ) -> Vec<Event<'static>> {
        let pid = Track::side(direction);
        let mut samples = Vec::new();
        for side in self.sides.iter_mut().filter(|side| side.pid == pid) {
            side.until(from, &mut samples);
            side.ends.push(Reverse(to.max(from)));
            side.set(from, &mut samples);
        }
        samples
    }

    pub fn finish(mut self) -> Vec<Event<'static>> {
        let mut samples = Vec::new();
        for side in &mut self.sides {
            side.until(Moment(u64::MAX), &mut samples);
            let left = side.curve.draw().into_iter().flatten();
            samples.extend(left.map(|sample| Side::sample(side.pid, sample)));
        }
        samples
    }
}

impl Side {
    fn until(&mut self, t: Moment, samples: &mut Vec<Event<'static>>) {
        while let Some(Reverse(end)) = self.ends.peek().copied().filter(|end| end.0 <= t) {
            self.ends.pop();
            self.set(end, samples);
        }
    }

    fn set(&mut self, t: Moment, samples: &mut Vec<Event<'static>>) {
        let pid = self.pid;
        let drawn = self.curve.set(t, self.ends.len() as u64);
        samples.extend(drawn.map(|sample| Self::sample(pid, sample)));
    }

    fn sample(pid: u8, (t, open): (Moment, u64)) -> Event<'static> {
        let args = Args {
            open: Some(open),
            ..Args::default()
        };
        Event::counter(pid, t, "open requests", args)
    }
}

/// Bytes of a stream, all since the start.
#[derive(Debug)]
pub(super) struct Bytes {
    pub stream: StreamId,
    curve: Curve,
    sum: u64,
}

impl Bytes {
    pub fn new(stream: StreamId, end: Moment) -> Self {
        Self {
            stream,
            curve: Curve::new(end),
            sum: 0,
        }
    }

    pub fn add(&mut self, t: Moment, bytes: u64) -> Option<Sample> {
        self.sum = self.sum.saturating_add(bytes);
        // It only grows: the last is the highest.
        let drawn = self.curve.set(t, self.sum).last();
        drawn.map(|sample| self.sample(sample))
    }

    pub fn finish(&mut self) -> Option<Sample> {
        let drawn = self.curve.draw().into_iter().flatten().last();
        drawn.map(|sample| self.sample(sample))
    }

    fn sample(&self, (t, sum): (Moment, u64)) -> Sample {
        let stream = self.stream;
        Sample { stream, t, sum }
    }
}

/// How many bytes of a stream had gone by at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    stream: StreamId,
    t: Moment,
    sum: u64,
}

impl Sample {
    pub fn event(self) -> Event<'static> {
        let (pid, name) = match self.stream {
            StreamId::C2S => (Track::CLIENT, "bytes to the server"),
            StreamId::S2C => (Track::SERVER, "bytes to the client"),
            _ => (Track::SERVER, "bytes on stderr"),
        };
        let args = Args {
            bytes: Some(self.sum),
            ..Args::default()
        };
        Event::counter(pid, self.t, name, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(end: u64, values: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut curve = Curve::new(Moment(end));
        let mut drawn = Vec::new();
        for &(t, value) in values {
            drawn.extend(curve.set(Moment(t), value));
        }
        drawn.extend(curve.draw().into_iter().flatten());
        drawn.iter().map(|(t, value)| (t.0, *value)).collect()
    }

    #[test]
    fn what_lies_apart_is_drawn_as_it_was() {
        let values = [(0, 1), (5, 2), (9, 1), (30, 0)];
        assert_eq!(drawn(1, &values), values);
    }

    #[test]
    fn of_a_short_time_the_highest_is_drawn_and_how_it_stood_after() {
        // A sample tells for 10.
        let values = [(1, 1), (2, 5), (3, 2), (4, 3), (25, 0)];
        assert_eq!(drawn(10 * SPANS, &values), [(2, 5), (4, 3), (25, 0)]);
    }

    #[test]
    fn a_flood_has_as_many_samples_as_a_screen_could_show() {
        let end = 5 * SPANS;
        let values: Vec<_> = (0..20 * SPANS).map(|at| (at / 4, at % 7)).collect();
        let drawn = drawn(end, &values);
        assert!(drawn.len() as u64 <= 2 * (SPANS + 1), "{}", drawn.len());
    }
}
