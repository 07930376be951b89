//! Which way a message went, where nobody says it.

use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::methods::{self, Method, Way};
use mcpreel_wire::message::{Body, Direction, Message, Subject, classify};
use std::collections::HashMap;

/// Requests whose side is remembered; an answer to an older one is taken for the server's.
const MOST_OPEN: usize = 10_000;

/// Who asked what, so that answers are known to go the other way.
#[derive(Debug, Default)]
pub(super) struct Sides {
    asked: HashMap<RequestId, Direction>,
}

/// Which way, and whether that is a guess.
pub(super) type Side = (Direction, bool);

impl Sides {
    /// The way of `line`, told by its first message.
    pub fn of(&mut self, line: &[u8]) -> Side {
        let content = classify(line);
        let side = content.messages.first().map(|first| self.of_message(first));
        let (direction, is_guess) = side.unwrap_or((Direction::ServerToClient, true));
        self.note(&content.messages, direction);
        (direction, is_guess)
    }

    /// Remembers the requests of a line whose way is known.
    pub fn told(&mut self, line: &[u8], direction: Direction) {
        self.note(&classify(line).messages, direction);
    }

    fn note(&mut self, messages: &[Message], direction: Direction) {
        for message in messages {
            if let Body::Request(request) = &message.body
                && self.asked.len() < MOST_OPEN
            {
                self.asked.insert(request.id.clone(), direction);
            }
        }
    }

    fn of_message(&mut self, message: &Message) -> Side {
        use Direction::{ClientToServer, ServerToClient};
        match &message.body {
            Body::Request(request) => of_method(&request.method, ClientToServer),
            Body::Response(response) => {
                let asked = response.id.as_ref().and_then(|id| self.asked.remove(id));
                asked.map_or((ServerToClient, true), |asked| (asked.reverse(), false))
            }
            Body::Notification(notification) => match &notification.subject {
                Subject::Cancelled {
                    request_id: Some(id),
                } => {
                    let asked = self.asked.get(id).copied();
                    asked.map_or((ClientToServer, true), |asked| (asked, false))
                }
                _ => of_method(&notification.method, ServerToClient),
            },
            Body::Invalid => (ServerToClient, true),
        }
    }
}

/// By who may send the method, else as it is `usual`.
fn of_method(method: &str, usual: Direction) -> Side {
    let uses = methods::find(method).into_iter().flat_map(Method::uses);
    let mut ways: Vec<_> = uses.map(|usage| usage.way).collect();
    ways.dedup();
    match ways[..] {
        [Way::ToServer] => (Direction::ClientToServer, false),
        [Way::ToClient] => (Direction::ServerToClient, false),
        _ => (usual, true),
    }
}
