//! The real server that requests are passed to which are not on record.
//!
//! It is started when it is first needed, and gets the live client's own `initialize` first. What
//! it says goes to the host as it is, but that its requests get ids of ours: it does not know which
//! are taken.

use super::asks::Asked;
use super::play::Live;
use super::{Action, MOST_OPEN, OnMiss, Server, own};
use crate::mock::reel::{Reel, Said};
use crate::mock::report::{Counted, Missed};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Edit, edit};
use mcpreel_wire::message::{Body, classify};
use serde_json::json;
use std::collections::HashMap;
use std::ffi::OsString;

/// The id of our `initialize` there.
const OURS: &str = "\"mcpreel-initialize\"";

/// Bytes that may wait until it is ready.
const MOST_WAITING: usize = 16 << 20;

#[derive(Debug)]
pub struct Passing {
    pub live: Live,
    pub missed: Missed,
    pub batch: Option<u64>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Asleep(Vec<OsString>),
    /// It was asked to initialise; what it gets then waits.
    Starting(Vec<u8>),
    Ready,
    Gone,
}

#[derive(Debug, Default)]
pub struct Behind {
    state: State,
    /// Whether the host's own handshake was passed on: then all of it is.
    shakes_hands: bool,
    /// What it was passed and has not answered, by id.
    open: HashMap<RequestId, Passing>,
    given: u64,
}

impl Behind {
    pub fn new(on_miss: &OnMiss) -> Self {
        let state = match on_miss {
            OnMiss::Pass(command) => State::Asleep(command.clone()),
            _ => State::None,
        };
        Self {
            state,
            ..Self::default()
        }
    }

    /// How many requests it was given.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Adds what it has not answered to `left`, in the order of the ids.
    pub fn left_open(&self, left: &mut Counted<Missed>) {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by(|(a, _), (b, _)| a.json().cmp(b.json()));
        for (_, passing) in open {
            left.add(passing.missed.clone());
        }
    }

    pub fn is_waited_for(&self) -> bool {
        !self.open.is_empty()
    }
}

impl<R: Reel> Server<R> {
    pub(super) fn pass(&mut self, passing: Passing, method: &str, message: &[u8]) {
        if self.behind.open.len() >= MOST_OPEN || self.behind.open.contains_key(&passing.live.id) {
            return self.pass_failed(passing, "too many requests are open, or two with one id");
        }
        let id = passing.live.id.clone();
        let needs_none = passing.live.modern || method == "initialize";
        self.behind.shakes_hands |= method == "initialize";
        self.behind.open.insert(id, passing);
        self.wake_behind(needs_none);
        let mut line = message.to_vec();
        line.push(b'\n');
        match &mut self.behind.state {
            State::Starting(waiting) if waiting.len() + line.len() <= MOST_WAITING => {
                waiting.extend(line);
            }
            State::Ready => {
                self.behind.given += 1;
                self.act(Action::Pass(line));
            }
            _ => self.behind_is_gone("the server behind us is not there"),
        }
    }

    /// Starts it, and sends it the host's handshake unless it needs none.
    fn wake_behind(&mut self, needs_none: bool) {
        let State::Asleep(command) = &mut self.behind.state else {
            return;
        };
        let command = std::mem::take(command);
        self.act(Action::Start(command));
        let initialize = self.client.initialize.clone().filter(|_| !needs_none);
        let initialize = initialize.and_then(|it| edit(&it, &[Edit::Replace(&["id"], OURS)]));
        match initialize {
            Some(mut line) => {
                line.push(b'\n');
                self.behind.state = State::Starting(Vec::new());
                self.act(Action::Pass(line));
            }
            None => self.behind.state = State::Ready,
        }
    }

    /// The host has said something that may be meant for the server behind us. That it is
    /// initialised, that one has heard from us.
    pub(super) fn tell_behind(&mut self, method: &str, message: &[u8]) {
        let is_known = method == "notifications/initialized" && !self.behind.shakes_hands;
        if matches!(self.behind.state, State::Ready) && !is_known {
            let mut line = message.to_vec();
            line.push(b'\n');
            self.act(Action::Pass(line));
        }
    }

    /// The host has cancelled something that may have been passed on.
    pub(super) fn cancel_behind(&mut self, id: &RequestId, message: &[u8]) {
        let Some(passing) = self.behind.open.remove(id) else {
            return;
        };
        self.tally.left_open.add(passing.missed);
        self.say_nothing(passing.batch);
        let mut line = message.to_vec();
        line.push(b'\n');
        match &mut self.behind.state {
            State::Starting(waiting) => waiting.extend(line),
            _ => self.act(Action::Pass(line)),
        }
    }

    /// A line of the server behind us.
    pub fn line_from_behind(&mut self, line: &[u8]) {
        for message in classify(line).messages {
            let text = line.get(message.span.clone()).unwrap_or_default();
            match &message.body {
                Body::Response(response) => self.passed(response.id.as_ref(), text),
                Body::Request(request) if self.asked.len() < MOST_OPEN => {
                    let id = self.our_id(Asked::Behind(request.id.clone()));
                    if let Some(asked) = edit(text, &[Edit::Replace(&["id"], &id.to_string())]) {
                        self.write(Said::own(asked));
                    }
                }
                Body::Notification(_) => self.write(Said::own(text.to_vec())),
                Body::Request(_) | Body::Invalid => {}
            }
        }
    }

    fn passed(&mut self, id: Option<&RequestId>, text: &[u8]) {
        let Some(id) = id else { return };
        if id.json() == OURS {
            return self.behind_is_ready();
        }
        if let Some(passing) = self.behind.open.remove(id) {
            self.tally.passed.add(passing.missed);
            self.respond(Said::own(text.to_vec()), passing.batch);
        }
    }

    fn behind_is_ready(&mut self) {
        let State::Starting(waiting) = &mut self.behind.state else {
            return;
        };
        let initialized = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        let waiting = [&initialized[..], waiting].concat();
        self.behind.state = State::Ready;
        self.behind.given += self.behind.open.len() as u64;
        self.act(Action::Pass(waiting));
    }

    /// The server behind us could not be started, or has ended: whoever waits for it gets an error.
    pub fn behind_is_gone(&mut self, why: &str) {
        if !matches!(self.behind.state, State::Gone) {
            self.behind.state = State::Gone;
            self.tally.behind_failed = Some(why.into());
            self.act(Action::Say(format!("the server behind the mock: {why}")));
        }
        let open = std::mem::take(&mut self.behind.open);
        let mut open: Vec<_> = open.into_values().collect();
        open.sort_by(|a, b| a.live.id.json().cmp(b.live.id.json()));
        for passing in open {
            self.pass_failed(passing, why);
        }
    }

    fn pass_failed(&mut self, passing: Passing, why: &str) {
        let data = json!({"reason": "behind", "phase": self.client.phase.as_str()});
        let message = format!("not on record, and could not be passed on: {why}");
        let code = own::NOT_ON_RECORD.to_string();
        let error = own::error(Some(&passing.live.id), &code, &message, Some(data));
        self.tally.not_passed.add(passing.missed);
        self.respond(Said::own(error), passing.batch);
    }
}
