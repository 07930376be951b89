//! Who talks to whom over many connections.
//!
//! Over stdio a recording is one session. Over the network a recording has many, each over many
//! connections, and connections that serve several. A *conversation* is what one session is elsewhere:
//!
//! * streamable HTTP of the legacy era: by the id of the session, which the answer to `initialize` assigns;
//!   before that by that request, and where the server assigns none by connection and client;
//! * HTTP+SSE (2024-11-05): by the endpoint that the stream of events names;
//! * the modern era, which has no sessions: by client, as far as its `User-Agent` tells;
//! * WebSocket and lines over TCP: by connection.

use crate::bounded::BoundedMap;
use crate::clock::Moment;
use crate::exchange::PROBE;
use crate::http::{FOLLOWED_WITHIN_NS, HttpExchange};
use compact_str::CompactString;
use mcpreel_wire::http::reference;
use mcpreel_wire::message::{Body, Content};
use std::time::Duration;

/// Sessions, endpoints and clients that are remembered.
const REMEMBERED: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Session(CompactString),
    Endpoint(CompactString),
    Connection(u32),
    Client(CompactString),
}

/// Gives each message of the network its conversation.
#[derive(Debug, Default)]
pub struct Conversations {
    last: u32,
    known: BoundedMap<Key, u32, REMEMBERED>,
    /// Conversations that go on with an `initialize` until this moment: nothing was asked yet but which era the
    /// server speaks, or the server has sent the `initialize` elsewhere.
    unbegun: BoundedMap<u32, Moment, REMEMBERED>,
    /// The last conversation whose request was refused at a target.
    refused: BoundedMap<CompactString, u32, REMEMBERED>,
    /// By a conversation over HTTP+SSE, the one that was refused at the target of its stream before.
    fallbacks: BoundedMap<u32, u32, REMEMBERED>,
}

impl Conversations {
    /// The conversation of a request of HTTP, as far as its head tells.
    pub fn of_head(&mut self, http: &HttpExchange) -> Option<u32> {
        if let Some(session) = &http.session {
            return Some(self.of(Key::Session(session.clone())));
        }
        self.known.get(&Key::Endpoint(http.target.clone())).copied()
    }

    /// Whether the answers to the request of `http` come on another response: so says each success at the
    /// endpoint of a stream of events.
    pub fn is_answered_elsewhere(&mut self, http: &HttpExchange) -> bool {
        let endpoint = Key::Endpoint(http.target.clone());
        matches!(http.status, Some(200..300)) && self.known.get(&endpoint).is_some()
    }

    /// The conversation of messages that came in the request of `http`, whose head tells none.
    pub fn of_request(&mut self, http: &HttpExchange, content: &Content) -> u32 {
        let connection = Key::Connection(http.connection);
        let client = Key::Client(http.user_agent.clone().unwrap_or_default());
        let asks = |method| {
            content
                .messages
                .iter()
                .any(|message| matches!(&message.body, Body::Request(it) if &*it.method == method))
        };
        let known = self.known.get(&connection);
        let known = known.or_else(|| self.known.get(&client)).copied();
        // A client that was told to do so goes on in the older era.
        let may_begin = |until: &Moment| http.t_request <= *until;
        let goes_on = |id: &u32| !asks("initialize") || self.unbegun.get(id).is_some_and(may_begin);
        let conversation = match known.filter(goes_on) {
            Some(conversation) => conversation,
            None => self.begin(),
        };
        if !asks(PROBE) {
            self.unbegun.remove(&conversation);
        } else if known != Some(conversation) {
            self.unbegun.insert(conversation, Moment(u64::MAX));
        }
        self.known.insert(connection, conversation);
        self.known.insert(client, conversation);
        conversation
    }

    /// The `initialize` of the conversation of `http` will come again at once: a redirect asks for it.
    pub fn begins_again(&mut self, http: &HttpExchange) {
        let until = http.t_head.unwrap_or_default() + Duration::from_nanos(FOLLOWED_WITHIN_NS);
        self.unbegun.insert(http.conversation, until);
    }

    /// The conversation of a connection without HTTP.
    pub fn of_connection(&mut self, connection: u32) -> u32 {
        self.of(Key::Connection(connection))
    }

    /// The response to a request of `conversation` named the session, which is what names it from now on.
    pub fn session(&mut self, session: &str, conversation: u32) {
        self.known
            .insert(Key::Session(session.into()), conversation);
    }

    /// The first requests of a conversation were refused, as they are by a server of an older era or
    /// transport.
    pub fn remember_refusal(&mut self, http: &HttpExchange) {
        // A client of the modern era goes on with `initialize`.
        if http.asked.version.is_some() {
            self.unbegun.insert(http.conversation, Moment(u64::MAX));
        }
        self.refused.insert(http.target.clone(), http.conversation);
    }

    /// The conversation in which the client was refused before it began `conversation`, over HTTP+SSE.
    pub fn before_fallback(&self, conversation: u32) -> Option<u32> {
        self.fallbacks.get(&conversation).copied()
    }

    /// The stream of events at `asked` named the endpoint to which its client sends: the conversation of
    /// both.
    pub fn endpoint(&mut self, asked: &str, target: &str) -> u32 {
        let path = reference::target(asked, target);
        let conversation = self.begin();
        self.known.insert(Key::Endpoint(path.into()), conversation);
        if let Some(before) = self.refused.remove(asked) {
            self.fallbacks.insert(conversation, before);
        }
        conversation
    }

    fn of(&mut self, key: Key) -> u32 {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let conversation = self.begin();
        self.known.insert(key, conversation);
        conversation
    }

    fn begin(&mut self) -> u32 {
        self.last += 1;
        self.last
    }
}
