//! The few bytes that a recorder in the place of the server has to change.
//!
//! Of requests the framing is followed from head to head, and of responses likewise: what a client
//! and a server say to each other about *where* they are is right for neither of them with somebody
//! in between. Changed are `Host`, and `Origin` and `Referer` where they name us, in requests;
//! `Location`, and the `endpoint` event of 2024-11-05, where they name the server absolutely. Headers
//! that the user adds are added. All else passes as it was read; so does what cannot be followed.

use super::upstream::Upstream;
use mcpreel_wire::http::Head;
use mcpreel_wire::http::body::{BodyLength, Eaten, Follower};
use mcpreel_wire::http::head::{HeadEnd, MAX_HEAD};
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// What has to be known to change anything.
#[derive(Debug)]
pub struct Rules {
    pub upstream: Upstream,
    /// The authorities under which we can be reached, in lower case: `127.0.0.1:7339`.
    pub ours: Vec<String>,
    /// Leave `Host`, `Origin` and `Referer` as they are, and ask nobody where he comes from.
    pub keep_host: bool,
    /// Headers that the user adds to each request.
    pub added: Vec<(String, String)>,
    /// The changes that are on record: each of them once, and alike from then on.
    pub told: RefCell<HashSet<Edit>>,
}

/// Changes that are remembered; beyond that each is told.
const TOLD: usize = 1024;

impl Rules {
    /// Whether a change is on record.
    pub fn is_told(&self, edit: &Edit) -> bool {
        let mut told = self.told.borrow_mut();
        let edit = Edit {
            at: 0,
            ..edit.clone()
        };
        told.contains(&edit) || told.len() < TOLD && !told.insert(edit)
    }
}

/// A change, at its place among the bytes that go on record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    pub at: usize,
    pub what: &'static str,
    pub old: String,
    pub new: String,
}

/// What becomes of bytes that were read.
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
    fn as_it_is(&mut self, bytes: &[u8]) {
        self.recorded.extend_from_slice(bytes);
        self.forwarded.extend_from_slice(bytes);
    }
}

/// The methods of requests that wait for their response.
type Waiting = Rc<RefCell<VecDeque<String>>>;

enum State {
    Head(HeadEnd),
    Body(Follower),
    /// What comes is not followed.
    Unknown,
}

/// One way of a connection.
pub struct Editor {
    rules: Rc<Rules>,
    waiting: Waiting,
    state: State,
    held: Vec<u8>,
    is_client: bool,
    /// The first event of a stream may name the endpoint.
    looks_for_endpoint: bool,
}

impl Editor {
    /// Those of both ways of a connection, the client's first.
    pub fn pair(rules: &Rc<Rules>) -> [Self; 2] {
        let waiting = Waiting::default();
        [true, false].map(|is_client| Self {
            rules: Rc::clone(rules),
            waiting: Rc::clone(&waiting),
            state: if rules.upstream.is_tcp() {
                State::Unknown
            } else {
                State::Head(HeadEnd::default())
            },
            held: Vec::new(),
            is_client,
            looks_for_endpoint: false,
        })
    }

    /// What becomes of `bytes`; `None`: they pass as they are.
    pub fn pass(&mut self, bytes: &[u8]) -> Option<Passed> {
        let passes = match &mut self.state {
            State::Unknown => true,
            State::Body(body) if !self.looks_for_endpoint => passes_whole(body, bytes),
            _ => false,
        };
        if passes {
            return None;
        }
        let mut passed = Passed::default();
        let mut rest = bytes;
        while !rest.is_empty() && passed.refused.is_none() {
            let taken = self.step(rest, &mut passed);
            rest = &rest[taken..];
        }
        Some(passed)
    }

    /// The way has ended: what was held.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn step(&mut self, bytes: &[u8], passed: &mut Passed) -> usize {
        match &mut self.state {
            State::Unknown => {
                passed.as_it_is(bytes);
                bytes.len()
            }
            State::Body(body) => {
                if std::mem::take(&mut self.looks_for_endpoint)
                    && let Some(edited) = endpoint(&self.rules, bytes)
                {
                    passed.edits.push(Edit {
                        at: passed.recorded.len(),
                        ..edited.edit
                    });
                    passed.recorded.extend_from_slice(&bytes[..edited.taken]);
                    passed.forwarded.extend_from_slice(&edited.forwarded);
                    // The chunk is over; the next one is followed from its size on.
                    return edited.taken;
                }
                let (Eaten::Content(taken) | Eaten::Framing(taken) | Eaten::Trailers(taken)) =
                    body.eat(bytes)
                else {
                    self.state = State::Unknown;
                    return 0;
                };
                if body.is_done() {
                    self.state = State::Head(HeadEnd::default());
                    self.message_over();
                }
                passed.as_it_is(&bytes[..taken]);
                taken
            }
            State::Head(end) => {
                let mut end = *end;
                self.head(&mut end, bytes, passed)
            }
        }
    }

    fn head(&mut self, end: &mut HeadEnd, bytes: &[u8], passed: &mut Passed) -> usize {
        // Empty lines before a message are nobody's (RFC 9112 section 2.2).
        if self.held.is_empty() && matches!(bytes[0], b'\r' | b'\n') {
            passed.as_it_is(&bytes[..1]);
            return 1;
        }
        let ends = end.push(bytes);
        let taken = ends.unwrap_or(bytes.len());
        self.held.extend_from_slice(&bytes[..taken]);
        if ends.is_none() {
            self.state = State::Head(*end);
            if self.held.len() > MAX_HEAD {
                let held = std::mem::take(&mut self.held);
                passed.as_it_is(&held);
                self.state = State::Unknown;
            }
            return taken;
        }
        self.state = State::Head(HeadEnd::default());
        let raw = std::mem::take(&mut self.held);
        let is_known = Head::parse(&raw).is_some_and(|head| {
            if self.is_client {
                self.request(&head, &raw, passed)
            } else {
                self.response(&head, &raw, passed)
            }
        });
        if !is_known {
            passed.as_it_is(&raw);
            self.state = State::Unknown;
        }
        taken
    }

    /// Takes the head of a request; `false`: it is none that can be followed.
    fn request(&mut self, head: &Head, raw: &[u8], passed: &mut Passed) -> bool {
        let Some(method) = head.method() else {
            return false;
        };
        let length = BodyLength::of(head, None);
        if matches!(length, BodyLength::Unclear | BodyLength::Tunnel) {
            return false;
        }
        if !self.rules.keep_host
            && let Some(why) = foreign(&self.rules, head)
        {
            passed.recorded.extend_from_slice(raw);
            passed.refused = Some(why);
            return true;
        }
        self.waiting.borrow_mut().push_back(method.to_owned());
        edit_request(&self.rules, raw, passed);
        self.follow(length);
        true
    }

    fn response(&mut self, head: &Head, raw: &[u8], passed: &mut Passed) -> bool {
        let Some(status) = head.status() else {
            return false;
        };
        let method = self.waiting.borrow().front().cloned().unwrap_or_default();
        let length = BodyLength::of(head, Some(&method));
        if length == BodyLength::Unclear {
            return false;
        }
        edit_response(&self.rules, raw, passed);
        if length == BodyLength::Tunnel {
            self.state = State::Unknown;
        } else if status >= 200 {
            let is_stream = head.is_event_stream();
            let is_plain = head.get("content-encoding").is_none();
            self.looks_for_endpoint = is_stream && is_plain && method == "GET";
            self.follow(length);
        }
        true
    }

    fn follow(&mut self, length: BodyLength) {
        let body = Follower::new(length);
        if body.is_done() {
            self.message_over();
        } else {
            self.state = State::Body(body);
        }
    }

    fn message_over(&mut self) {
        self.looks_for_endpoint = false;
        if !self.is_client {
            self.waiting.borrow_mut().pop_front();
        }
    }

    /// Whether a change is on record already.
    pub fn is_told(&self, edit: &Edit) -> bool {
        self.rules.is_told(edit)
    }

    /// What comes from now on is not followed: the other way was upgraded.
    pub fn is_upgraded(&self) -> bool {
        matches!(self.state, State::Unknown)
    }

    /// Follows no more.
    pub fn give_up(&mut self) {
        self.state = State::Unknown;
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

/// Why a request does not come from a client of ours: a web page that was led here has a foreign `Host`
/// (a name that was bound to this address) or a foreign `Origin`. Programs send neither.
fn foreign(rules: &Rules, head: &Head) -> Option<String> {
    let is_ours = |authority: &str| rules.ours.contains(&authority.to_ascii_lowercase());
    if let Some(host) = head.get("host").filter(|host| !is_ours(host)) {
        return Some(format!(
            "the request is meant for {host}, which is not this proxy"
        ));
    }
    let origin = head.get("origin")?;
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, port)| {
            if port.bytes().all(|byte| byte.is_ascii_digit()) {
                host
            } else {
                authority
            }
        });
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    (!is_local).then(|| format!("the request comes from a web page at {origin}"))
}

/// The lines of a head, each with its end.
fn lines(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split_inclusive(|byte| *byte == b'\n')
}

/// The name and the value of a field, and where in the line the value stands.
fn field(line: &[u8]) -> Option<(&str, &str, std::ops::Range<usize>)> {
    let text = std::str::from_utf8(line).ok()?;
    let (name, value) = text.split_once(':')?;
    let start = name.len() + 1 + (value.len() - value.trim_start().len());
    let value = value.trim();
    Some((name, value, start..start + value.len()))
}

fn edit_request(rules: &Rules, raw: &[u8], passed: &mut Passed) {
    let start = passed.recorded.len();
    let mut at = start;
    passed.recorded.extend_from_slice(raw);
    for (number, line) in lines(raw).enumerate() {
        let is_end = line == b"\r\n" || line == b"\n";
        if is_end {
            for (name, value) in &rules.added {
                passed
                    .forwarded
                    .extend(format!("{name}: {value}\r\n").bytes());
                let new = format!("{name}: {value}");
                passed.edits.push(Edit {
                    at,
                    what: "header",
                    old: String::new(),
                    new,
                });
            }
        }
        let changed = field(line).filter(|_| number > 0 && !rules.keep_host);
        let changed = changed
            .and_then(|(name, value, place)| Some((in_request(rules, name, value)?, value, place)));
        at += line.len();
        let Some(((what, new), old, place)) = changed else {
            passed.forwarded.extend_from_slice(line);
            continue;
        };
        passed.forwarded.extend_from_slice(&line[..place.start]);
        passed.forwarded.extend_from_slice(new.as_bytes());
        passed.forwarded.extend_from_slice(&line[place.end..]);
        let (old, at) = (old.to_owned(), at - line.len() + place.start);
        passed.edits.push(Edit { at, what, old, new });
    }
}

/// What a field of a request has to say instead.
fn in_request(rules: &Rules, name: &str, value: &str) -> Option<(&'static str, String)> {
    let is_ours = |authority: &str| rules.ours.contains(&authority.to_ascii_lowercase());
    if name.eq_ignore_ascii_case("host") {
        let authority = rules.upstream.authority();
        return (value != authority).then_some(("Host", authority));
    }
    let what = if name.eq_ignore_ascii_case("origin") {
        "Origin"
    } else if name.eq_ignore_ascii_case("referer") {
        "Referer"
    } else {
        return None;
    };
    let (_, rest) = value.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    is_ours(authority).then(|| (what, format!("{}{path}", rules.upstream.origin())))
}

fn edit_response(rules: &Rules, raw: &[u8], passed: &mut Passed) {
    let mut at = passed.recorded.len();
    passed.recorded.extend_from_slice(raw);
    for line in lines(raw) {
        let location = field(line).filter(|(name, ..)| name.eq_ignore_ascii_case("location"));
        let changed = location.and_then(|(_, old, place)| Some((at_ours(rules, old)?, old, place)));
        if let Some((new, old, place)) = changed {
            passed.forwarded.extend_from_slice(&line[..place.start]);
            passed.forwarded.extend_from_slice(new.as_bytes());
            passed.forwarded.extend_from_slice(&line[place.end..]);
            let (old, at) = (old.to_owned(), at + place.start);
            passed.edits.push(Edit {
                at,
                what: "Location",
                old,
                new,
            });
        } else {
            passed.forwarded.extend_from_slice(line);
        }
        at += line.len();
    }
}

/// A URL of the server's own origin, with ours in its place; `None`: it is none.
fn at_ours(rules: &Rules, url: &str) -> Option<String> {
    let rest = url.strip_prefix(&rules.upstream.origin())?;
    let is_whole = rest.is_empty() || rest.starts_with(['/', '?', '#']);
    is_whole.then(|| format!("http://{}{rest}", rules.ours.first().map_or("", |it| it)))
}

/// The beginning of a stream whose first event names the endpoint with our origin in it.
struct Edited {
    taken: usize,
    forwarded: Vec<u8>,
    edit: Edit,
}

/// Edits the event `endpoint` if `bytes` begin with it, whole, in a chunk of its own.
fn endpoint(rules: &Rules, bytes: &[u8]) -> Option<Edited> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (size, rest) = text.split_once("\r\n")?;
    let length = usize::from_str_radix(size, 16).ok()?;
    let content = rest.get(..length)?;
    if !rest.get(length..)?.starts_with("\r\n") || !content.starts_with("event: endpoint") {
        return None;
    }
    let data = content.find("data: ")? + "data: ".len();
    let end = data + content[data..].find(['\r', '\n'])?;
    let old = &content[data..end];
    let new = at_ours(rules, old)?;
    let content = format!("{}{new}{}", &content[..data], &content[end..]);
    Some(Edited {
        taken: size.len() + 2 + length + 2,
        forwarded: format!("{:x}\r\n{content}\r\n", content.len()).into_bytes(),
        edit: Edit {
            at: 0,
            what: "endpoint",
            old: old.to_owned(),
            new,
        },
    })
}
