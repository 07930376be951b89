//! Who ended before its time: what tells `lost` from `unanswered`.

use super::Observed;
use crate::event::{Closer, EventKind};
use crate::exchange::Status;
use crate::frame::StreamId;
use mcpreel_wire::message::Direction;

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
    wrote_all: bool,
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

    /// What becomes of a request of `direction` that is still open.
    pub(super) fn fate(self, direction: Direction) -> Fate {
        let lost = match direction {
            Direction::ClientToServer => self.server.lost,
            Direction::ServerToClient => self.client.lost,
        };
        if lost {
            Fate::Lost
        } else if direction == Direction::ServerToClient && self.server.lost {
            Fate::AskerGone
        } else {
            Fate::Unanswered
        }
    }
}

/// What becomes of a request that is open at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Who had to answer ended before its time.
    Lost,
    /// The server asked and ended before its time: nobody is to be blamed for the missing answer.
    AskerGone,
    Unanswered,
}

impl Fate {
    pub(super) fn status(self) -> Status {
        match self {
            Self::Lost => Status::Lost,
            Self::AskerGone | Self::Unanswered => Status::Unanswered,
        }
    }

    pub(super) fn observed(self) -> Option<Observed> {
        match self {
            Self::Lost => Some(Observed::Lost),
            Self::AskerGone => None,
            Self::Unanswered => Some(Observed::Unanswered),
        }
    }
}
