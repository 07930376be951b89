//! Who ended before its time: what tells `lost` from `unanswered`.

use crate::protocol::message::Direction;
use crate::trace::event::{Closer, EventKind};
use crate::trace::frame::StreamId;

/// What the events have said about the end of both sides.
///
/// A side has ended when it closed the stream that it writes, or (the server) when its process
/// ended. The other side had closed that side's input before, or it had not: then whatever was
/// still asked of it is lost. A server that ends by a signal or with a non-zero code loses it in
/// any case. Without any such event (a recording that was recovered) nothing is lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    client: Side,
    server: Side,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// It writes no more.
    wrote_all: bool,
    /// It ended before its time.
    lost: bool,
}

impl Ending {
    pub(super) fn event(&mut self, kind: &EventKind) {
        let (client, server) = (&mut self.client, &mut self.server);
        match kind {
            EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer,
            } => {
                client.lost |= !server.wrote_all;
                client.wrote_all = true;
            }
            EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Writer,
            } => {
                server.lost |= !client.wrote_all;
                server.wrote_all = true;
            }
            EventKind::Exit { code, signal, .. } => {
                let failed = signal.is_some() || code.is_some_and(|code| code != 0);
                server.lost |= failed || !client.wrote_all;
                server.wrote_all = true;
            }
            EventKind::SpawnFailed { .. } => server.lost = true,
            _ => {}
        }
    }

    /// Whether the side that answers requests of `direction` ended before its time.
    pub(super) fn loses(self, direction: Direction) -> bool {
        match direction {
            Direction::ClientToServer => self.server.lost,
            Direction::ServerToClient => self.client.lost,
        }
    }
}
