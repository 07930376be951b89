//! What carries a frame that came over the network: the key `c` of its line.

use mcpreel_trace::frame::{Carried, FrameHead, StreamId};
use mcpreel_wire::http::{Ended, Part};
use mcpreel_wire::message::Direction;
use serde::{Deserialize, Serialize};

/// The connection of a frame, and its place in HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    /// The number of the connection, from 1.
    connection: u32,
    part: Part,
    /// The number of the HTTP exchange, from 1; 0 outside of any.
    #[serde(default)]
    http: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    ended: Option<Ended>,
    /// Whether an event has an id.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    id: bool,
    /// Whether an event names the endpoint.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    endpoint: bool,
    /// Whether only the beginning of it is there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    cut: bool,
}

impl Carrier {
    /// That of a frame; `None` over stdio.
    pub fn of(head: &FrameHead) -> Option<Self> {
        let carried = head.carried;
        Some(Self {
            connection: head.stream.connection()?,
            part: carried.part,
            http: carried.http,
            ended: carried.ended,
            id: carried.has_id,
            endpoint: carried.is_endpoint,
            cut: carried.is_cut,
        })
    }

    /// The stream of what goes this way.
    pub fn stream(&self, direction: Direction) -> StreamId {
        StreamId::of_connection(self.connection, direction)
    }

    pub fn carried(&self) -> Carried {
        Carried {
            part: self.part,
            http: self.http,
            ended: self.ended,
            has_id: self.id,
            is_endpoint: self.endpoint,
            is_cut: self.cut,
        }
    }
}
