//! The JSON of a trace event.

use mcpreel_trace::clock::Moment;
use mcpreel_wire::message::Direction;
use serde::Serialize;
use std::borrow::Cow;

/// A track: a process, and a thread in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track {
    pid: u8,
    tid: u8,
}

impl Track {
    pub const CLIENT: u8 = 1;
    pub const SERVER: u8 = 2;

    const REQUESTS: u8 = 1;
    const NOTIFICATIONS: u8 = 2;
    const NOISE: u8 = 3;

    pub const CLIENT_NOTIFICATIONS: Self = Self::new(Self::CLIENT, Self::NOTIFICATIONS);
    pub const CLIENT_NOISE: Self = Self::new(Self::CLIENT, Self::NOISE);
    pub const SERVER_NOTIFICATIONS: Self = Self::new(Self::SERVER, Self::NOTIFICATIONS);
    pub const SERVER_NOISE: Self = Self::new(Self::SERVER, Self::NOISE);
    pub const STDERR: Self = Self::new(Self::SERVER, 4);
    pub const PROCESS: Self = Self::new(Self::SERVER, 5);

    /// All that have a name of their own.
    pub const ALL: [Self; 8] = [
        Self::new(Self::CLIENT, Self::REQUESTS),
        Self::CLIENT_NOTIFICATIONS,
        Self::CLIENT_NOISE,
        Self::new(Self::SERVER, Self::REQUESTS),
        Self::SERVER_NOTIFICATIONS,
        Self::SERVER_NOISE,
        Self::STDERR,
        Self::PROCESS,
    ];

    const fn new(pid: u8, tid: u8) -> Self {
        Self { pid, tid }
    }

    pub const fn whole(pid: u8) -> Self {
        Self::new(pid, 0)
    }

    pub fn side(direction: Direction) -> u8 {
        match direction {
            Direction::ClientToServer => Self::CLIENT,
            Direction::ServerToClient => Self::SERVER,
        }
    }

    /// The requests of the side that asks.
    pub fn requests(direction: Direction) -> Self {
        Self::new(Self::side(direction), Self::REQUESTS)
    }

    pub fn name(self) -> &'static str {
        match self.tid {
            Self::REQUESTS => "requests",
            Self::NOTIFICATIONS => "notifications",
            Self::NOISE => "no message",
            4 => "stderr",
            _ => "process",
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Event<'a> {
    ph: &'static str,
    pid: u8,
    tid: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    args: Args<'a>,
}

impl<'a> Event<'a> {
    fn new(ph: &'static str, track: Track, name: &'a str, args: Args<'a>) -> Self {
        Self {
            ph,
            pid: track.pid,
            tid: track.tid,
            ts: None,
            cat: None,
            name: name.into(),
            id: None,
            s: None,
            args,
        }
    }

    pub fn meta(track: Track, name: &'static str, args: Args<'a>) -> Self {
        Self::new("M", track, name, args)
    }

    pub fn begin(track: Track, t: Moment, name: &'a str, id: &'a str, args: Args<'a>) -> Self {
        Self {
            ts: Some(micros(t)),
            cat: Some("request"),
            id: Some(id),
            ..Self::new("b", track, name, args)
        }
    }

    pub fn end(track: Track, t: Moment, name: &'a str, id: &'a str) -> Self {
        Self {
            ts: Some(micros(t)),
            cat: Some("request"),
            id: Some(id),
            ..Self::new("e", track, name, Args::default())
        }
    }

    pub fn instant(track: Track, t: Moment, name: &'a str, args: Args<'a>) -> Self {
        Self {
            ts: Some(micros(t)),
            cat: Some(track.name()),
            s: Some("t"),
            ..Self::new("i", track, name, args)
        }
    }

    pub fn counter(pid: u8, t: Moment, name: &'static str, args: Args<'a>) -> Self {
        Self {
            ts: Some(micros(t)),
            cat: Some("counter"),
            ..Self::new("C", Track::whole(pid), name, args)
        }
    }
}

/// Exact for recordings of up to a month.
#[expect(
    clippy::cast_precision_loss,
    reason = "beyond a month it is the last nanosecond that is lost"
)]
fn micros(t: Moment) -> f64 {
    t.0 as f64 / 1000.0
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The last frame before an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<u64>,
    /// The frame of the request during which the other side asked.
    #[serde(skip_serializing_if = "Option::is_none", rename = "in")]
    pub within: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<u64>,
    /// What a process or track is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_index: Option<u64>,
}

impl<'a> Args<'a> {
    pub fn name(name: &'a str) -> Self {
        Self {
            name: Some(name),
            ..Self::default()
        }
    }

    pub fn order(sort_index: u64) -> Self {
        Self {
            sort_index: Some(sort_index),
            ..Self::default()
        }
    }
}
