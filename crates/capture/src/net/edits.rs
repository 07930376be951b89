//! The few bytes that a recorder in the place of the server has to change.
//!
//! Of requests the framing is followed from head to head, and of responses likewise: what a client
//! and a server say to each other about *where* they are is right for neither of them with somebody
//! in between. Changed are `Host`, and `Origin` and `Referer` where they name us, in requests;
//! `Location`, and the `endpoint` event of 2024-11-05, where they name the server absolutely. Headers
//! that the user adds are added. All else passes as it was read; so does what cannot be followed.
//!
//! The recording gets the bytes as they were read, with credentials replaced ([`super::credentials`]). Behind
//! the first head that cannot be followed, credentials of that way are not replaced any more.

use super::changes::{Line, edit_request, edit_response, foreign, lines};
use super::endpoint::FirstEvent;
use super::held::{Held, HeldBody, is_oauth};
use super::settings::{Edit, Settings};
use compact_str::CompactString;
use mcpreel_wire::http::Head;
use mcpreel_wire::http::body::{BodyLength, Eaten, Follower};
use mcpreel_wire::http::head::{HeadEnd, MAX_HEAD};
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// The result of [`Editor::pass`].
#[derive(Debug, Default)]
pub struct Passed {
    /// What goes on record: what was read, as far as its meaning is known.
    pub recorded: Vec<u8>,
    pub forwarded: Vec<u8>,
    pub edits: Vec<Edit>,
    /// Why the request is not passed on.
    pub refused: Option<String>,
}

impl Passed {
    fn with_room_for(bytes: &[u8]) -> Self {
        // Changes may make it longer than it was.
        let room = || Vec::with_capacity(bytes.len() + 64);
        Self {
            recorded: room(),
            forwarded: room(),
            ..Self::default()
        }
    }

    pub(super) fn as_it_is(&mut self, bytes: &[u8]) {
        self.recorded.extend_from_slice(bytes);
        self.forwarded.extend_from_slice(bytes);
    }
}

/// A request that waits for its response.
#[derive(Debug, Default)]
struct OpenRequest {
    method: CompactString,
    is_oauth: bool,
    /// The authority at which the client reached us.
    ours: CompactString,
}

/// The requests without a response, in order. `None`: there were too many at once, and responses are not followed
/// any more.
type Waiting = Rc<RefCell<Option<VecDeque<Rc<OpenRequest>>>>>;

/// No client sends as many requests before it reads a response.
const MAX_WAITING: usize = 1024;

enum State {
    /// The first line of a client over TCP, which may be that of an HTTP request.
    FirstLine,
    Head(HeadEnd),
    Body(Follower),
    /// A body with credentials, which goes on when it is whole.
    Held(Box<Held>),
    /// The beginning of a stream of events, which may name the endpoint.
    FirstEvent(Box<FirstEvent>),
    /// What comes is not followed.
    Unknown,
}

/// One way of a connection.
pub struct Editor {
    settings: Arc<Settings>,
    waiting: Waiting,
    state: State,
    held: Vec<u8>,
    is_client: bool,
    /// A whole head has come.
    has_begun: bool,
    is_tunnel: bool,
}

impl Editor {
    /// Those of both ways of a connection, the client's first.
    pub fn pair(settings: &Arc<Settings>) -> [Self; 2] {
        let waiting = Waiting::new(RefCell::new(Some(VecDeque::new())));
        [true, false].map(|is_client| Self {
            settings: Arc::clone(settings),
            waiting: Rc::clone(&waiting),
            state: match (settings.upstream.is_tcp(), is_client && !settings.keep_host) {
                (false, _) => State::Head(HeadEnd::default()),
                (true, true) => State::FirstLine,
                (true, false) => State::Unknown,
            },
            held: Vec::new(),
            is_client,
            has_begun: false,
            is_tunnel: false,
        })
    }

    /// What becomes of `bytes`; `None`: they pass as they are.
    pub fn pass(&mut self, bytes: &[u8]) -> Option<Passed> {
        let is_unedited = match &mut self.state {
            State::Unknown => true,
            State::Body(body) => passes_whole(body, bytes),
            _ => false,
        };
        if is_unedited {
            return None;
        }
        let mut passed = Passed::with_room_for(bytes);
        let mut rest = bytes;
        while !rest.is_empty() && passed.refused.is_none() {
            let taken = self.step(rest, &mut passed);
            rest = &rest[taken..];
        }
        Some(passed)
    }

    /// Stops following, and returns the bytes that were held.
    pub fn give_up(&mut self) -> Passed {
        let mut passed = Passed::default();
        let held = std::mem::take(&mut self.held);
        if self.is_tcp() {
            passed.as_it_is(&held);
        } else {
            self.pass_unedited(&lines(&held), &mut passed);
        }
        self.release(true, &mut passed);
        passed
    }

    fn step(&mut self, bytes: &[u8], passed: &mut Passed) -> usize {
        match &mut self.state {
            State::Unknown => {
                passed.as_it_is(bytes);
                bytes.len()
            }
            State::FirstLine => {
                self.first_line(bytes, passed);
                bytes.len()
            }
            State::Body(body) => {
                let (Eaten::Content(taken) | Eaten::Framing(taken) | Eaten::Trailers(taken)) =
                    body.eat(bytes)
                else {
                    self.state = State::Unknown;
                    return 0;
                };
                if body.is_done() {
                    self.message_over();
                }
                passed.as_it_is(&bytes[..taken]);
                taken
            }
            State::Held(held) => {
                let taken = held.body.take(bytes);
                if taken.is_none() || held.can_be_released() {
                    self.release(taken.is_none(), passed);
                }
                taken.unwrap_or(0)
            }
            State::FirstEvent(first) => {
                let taken = first.0.take(bytes);
                if taken.is_none() || first.can_be_released() {
                    self.release(taken.is_none(), passed);
                }
                taken.unwrap_or(0)
            }
            State::Head(end) => {
                let mut end = *end;
                self.head(&mut end, bytes, passed)
            }
        }
    }

    /// Forwards the held part of a body, and follows the rest unless `is_last`.
    fn release(&mut self, is_last: bool, passed: &mut Passed) {
        let body = match std::mem::replace(&mut self.state, State::Unknown) {
            State::Held(held) => {
                let body = held.body.follower;
                if let Some(credentials) = &self.settings.credentials {
                    let (recorded, forwarded) = held.release(credentials);
                    passed.recorded.extend(recorded);
                    passed.forwarded.extend(forwarded);
                } else {
                    passed.as_it_is(&held.body.raw);
                }
                body
            }
            State::FirstEvent(first) => {
                let (body, is_before) = (first.0.follower, first.is_before());
                let asked = self.open_request().unwrap_or_default();
                first.release(&self.settings, &asked.ours, passed);
                if is_before && !is_last {
                    self.state = State::FirstEvent(Box::new(FirstEvent(HeldBody::new(body))));
                }
                body
            }
            _ => return,
        };
        if is_last {
            return;
        }
        if !self.follows() {
            self.state = State::Body(body);
        }
        if body.is_done() {
            self.message_over();
        }
    }

    /// Lets a head go on as it is, or what could be one.
    fn pass_unedited(&self, lines: &[Line<'_>], passed: &mut Passed) {
        let mut record = self.settings.recorder();
        for line in lines {
            passed.recorded.extend_from_slice(&record(line));
            passed.forwarded.extend_from_slice(line.whole);
        }
    }

    /// Refuses a client over TCP that speaks HTTP: a web page may send such a request, with a message in its
    /// body that a server of lines would read.
    fn first_line(&mut self, bytes: &[u8], passed: &mut Passed) {
        self.held.extend_from_slice(bytes);
        let is_long = self.held.len() > MAX_HEAD;
        let Some(is_http) = is_request_line(&self.held).or(is_long.then_some(true)) else {
            return;
        };
        passed.as_it_is(&std::mem::take(&mut self.held));
        self.state = State::Unknown;
        passed.refused = is_http.then(|| {
            "the client sent an HTTP request, and the URL of the server begins with tcp://"
                .to_owned()
        });
    }

    fn head(&mut self, end: &mut HeadEnd, bytes: &[u8], passed: &mut Passed) -> usize {
        // Empty lines before a message belong to no message (RFC 9112 section 2.2).
        if self.held.is_empty() && matches!(bytes[0], b'\r' | b'\n') {
            passed.as_it_is(&bytes[..1]);
            return 1;
        }
        let ends = end.push(bytes);
        let taken = ends.unwrap_or(bytes.len());
        if ends.is_none() {
            self.state = State::Head(*end);
            self.hold(bytes, passed);
            return taken;
        }
        self.state = State::Head(HeadEnd::default());
        // Most come whole, with one read.
        let raw = if self.held.is_empty() {
            Cow::Borrowed(&bytes[..taken])
        } else {
            self.held.extend_from_slice(&bytes[..taken]);
            Cow::Owned(std::mem::take(&mut self.held))
        };
        let lines = lines(&raw);
        if self.guards_requests()
            && let Some(why) = foreign(&self.settings, &lines)
        {
            self.pass_unedited(&lines, passed);
            passed.refused = Some(why);
            return taken;
        }
        let is_known = Head::parse(&raw).is_some_and(|head| {
            if self.is_client {
                self.request(&head, &lines, passed)
            } else {
                self.response(&head, &lines, passed)
            }
        });
        self.has_begun = true;
        if !is_known {
            self.pass_unedited(&lines, passed);
            self.state = State::Unknown;
        }
        taken
    }

    /// Holds a part of a head until the rest comes, if it can be one.
    fn hold(&mut self, bytes: &[u8], passed: &mut Passed) {
        self.held.extend_from_slice(bytes);
        let is_long = self.held.len() > MAX_HEAD;
        if !is_long && self.begins_a_head() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.pass_unedited(&lines(&held), passed);
        self.state = State::Unknown;
        self.is_tunnel = !self.is_client && !self.has_begun;
        if is_long && self.guards_requests() {
            // `Host` may come after the limit.
            let most = MAX_HEAD >> 10;
            passed.refused = Some(format!("the head is longer than {most} KiB"));
        }
    }

    /// Whether requests are refused that a web page may have sent.
    fn guards_requests(&self) -> bool {
        self.is_client && !self.settings.keep_host
    }

    /// Whether what is held can be the beginning of a head. A client that speaks TLS, or a server that
    /// greets, would wait forever for an answer to what is held here.
    fn begins_a_head(&self) -> bool {
        if self.is_client {
            return self.held[0].is_ascii_alphanumeric();
        }
        let begun = self.held.len().min(b"HTTP/".len());
        self.held[..begun] == b"HTTP/"[..begun]
    }

    /// Takes the head of a request; `false`: it is none that can be followed.
    fn request(&mut self, head: &Head, lines: &[Line<'_>], passed: &mut Passed) -> bool {
        let Some(method) = head.method() else {
            return false;
        };
        let length = BodyLength::of(head, None);
        if matches!(length, BodyLength::Unclear | BodyLength::Tunnel) {
            return false;
        }
        // Longer ones are nobody's, and would add up.
        let short = |text: &str| CompactString::new(if text.len() <= 256 { text } else { "" });
        let asked = OpenRequest {
            method: short(method),
            is_oauth: is_oauth(head, self.settings.upstream.target()),
            ours: short(head.get("host").unwrap_or_default()),
        };
        let is_oauth = asked.is_oauth;
        self.push_request(asked);
        edit_request(&self.settings, lines, passed);
        self.follow(head, length, is_oauth);
        true
    }

    fn response(&mut self, head: &Head, lines: &[Line<'_>], passed: &mut Passed) -> bool {
        let Some(status) = head.status() else {
            return false;
        };
        let Some(asked) = self.open_request() else {
            return false;
        };
        let length = BodyLength::of(head, Some(&asked.method));
        if length == BodyLength::Unclear {
            return false;
        }
        edit_response(&self.settings, &asked.ours, lines, passed);
        if length == BodyLength::Tunnel {
            self.state = State::Unknown;
            self.is_tunnel = true;
        } else if status >= 200 {
            let is_stream = head.is_event_stream();
            let is_plain = !head.is_encoded();
            let has_end = matches!(length, BodyLength::Known(_));
            self.follow(head, length, asked.is_oauth);
            if let State::Body(body) = self.state
                && is_stream
                && is_plain
                && !has_end
                && asked.method == "GET"
            {
                self.state = State::FirstEvent(Box::new(FirstEvent(HeldBody::new(body))));
            }
        }
        true
    }

    fn follow(&mut self, head: &Head, length: BodyLength, is_oauth: bool) {
        let body = Follower::new(length);
        let is_held = is_oauth && self.settings.credentials.is_some();
        if body.is_done() {
            self.message_over();
        } else if let Some(held) = is_held.then(|| Held::new(head, length)).flatten() {
            self.state = State::Held(Box::new(held));
        } else {
            self.state = State::Body(body);
        }
    }

    fn push_request(&self, request: OpenRequest) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.as_ref().is_some_and(|it| it.len() == MAX_WAITING) {
            *waiting = None;
        }
        if let Some(waiting) = &mut *waiting {
            waiting.push_back(Rc::new(request));
        }
    }

    /// The request to which the next response belongs. `None`: responses are not followed any more.
    fn open_request(&self) -> Option<Rc<OpenRequest>> {
        let waiting = self.waiting.borrow();
        Some(waiting.as_ref()?.front().cloned().unwrap_or_default())
    }

    fn message_over(&mut self) {
        self.state = State::Head(HeadEnd::default());
        if !self.is_client {
            self.waiting
                .borrow_mut()
                .as_mut()
                .and_then(VecDeque::pop_front);
        }
    }

    /// Remembers an edit. Returns whether the recording has it already.
    pub fn remember_edit(&self, edit: &Edit) -> bool {
        self.settings.remember_edit(edit)
    }

    /// Whether the client does not speak HTTP either from now on: the server has switched to another protocol, or
    /// never spoke HTTP.
    pub fn is_tunnel(&self) -> bool {
        self.is_tunnel
    }

    /// Whether what comes is followed.
    pub fn follows(&self) -> bool {
        !matches!(self.state, State::Unknown)
    }

    /// Whether the rest of a message is to come.
    pub fn is_in_message(&self) -> bool {
        let is_between = self.has_begun && self.held.is_empty();
        self.follows() && !(is_between && matches!(self.state, State::Head(_)))
    }

    pub fn is_tcp(&self) -> bool {
        self.settings.upstream.is_tcp()
    }
}

/// Whether a stream begins with the line of an HTTP request; `None`: more has to come.
fn is_request_line(begun: &[u8]) -> Option<bool> {
    let end = memchr(b'\n', begun);
    let line = &begun[..end.unwrap_or(begun.len())];
    let method = line.iter().take_while(|it| it.is_ascii_uppercase()).count();
    let open = end.map(|_| false);
    match line.get(method) {
        None => open,
        Some(b' ') if method > 0 => memmem::find(line, b" HTTP/1.").map(|_| true).or(open),
        Some(_) => Some(false),
    }
}

/// Whether all of `bytes` are of the body and none of what follows. It takes them if so.
fn passes_whole(body: &mut Follower, bytes: &[u8]) -> bool {
    let mut tried = *body;
    let mut rest = bytes;
    while !rest.is_empty() {
        match tried.eat(rest) {
            Eaten::Content(taken) | Eaten::Framing(taken) | Eaten::Trailers(taken)
                if !tried.is_done() =>
            {
                rest = &rest[taken..];
            }
            _ => return false,
        }
    }
    *body = tried;
    true
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod edits_tests;
