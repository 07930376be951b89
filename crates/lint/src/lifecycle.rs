//! Rules about the handshake of the legacy era: who speaks when, and what `initialize` and its answer
//! say.
//!
//! Messages before the handshake are judged only where nothing that the client said is missing on
//! record. A fault that every later message repeats is reported once.

use crate::{Family, FrameContext, Handshake, Once, Part, Rule, quote, section};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Era, Problem};

rules! {
    NOT_INITIALIZED = error("lifecycle-not-initialized").of_legacy(section::LIFECYCLE).of_absence()
        .finds("a request before any `initialize`")
        .why("Most servers refuse every request until they have been initialized, or answer by a version that was not agreed on.")
        .fix("Let the client send `initialize` first, wait for the answer, and then send `notifications/initialized`.");

    BEFORE_ANSWER = warning("lifecycle-request-before-init-response").of_legacy(section::LIFECYCLE)
        .of_absence()
        .finds("a request while `initialize` is not answered yet")
        .why("The client does not know yet which revision and which capabilities the server has, and many servers refuse or drop such a request.")
        .fix("Let the client wait for the answer to `initialize` before it asks for anything but `ping`.");

    INITIALIZED_MISSING = error("lifecycle-initialized-missing").of_legacy(section::LIFECYCLE)
        .of_absence()
        .finds("a request before the client has sent `notifications/initialized`")
        .why("A server may serve nothing before that notification, and then every request hangs.")
        .fix("Let the client send `notifications/initialized` as soon as it has the answer to `initialize`.");

    INITIALIZE_TWICE = error("lifecycle-initialize-twice").of_legacy(section::LIFECYCLE)
        .finds("`initialize` a second time")
        .why("A session has one handshake; many servers refuse another one or lose what the first has set up.")
        .fix("Let the client initialize once, and begin another session for another handshake: over stdio another process of the server.");

    INITIALIZE_SHAPE = error("lifecycle-initialize-shape").of_legacy(section::LIFECYCLE)
        .finds("the handshake lacks a version, capabilities, or who is speaking")
        .why("The other side cannot tell what it may use, and strict peers end the connection at once.")
        .fix("Fill in the member that is named, with a value of the type that the specification asks for.");

    VERSION_UNKNOWN = warning("lifecycle-version-unknown").of_legacy(section::NEGOTIATION)
        .finds("the server agreed on a version that is no revision with a handshake")
        .why("Clients end the connection when they are offered a version that they do not know.")
        .fix("Let the server answer with a published revision, the one that was asked for if it can.");

    VERSION_DOWNGRADED = note("lifecycle-version-downgraded").of_legacy(section::NEGOTIATION)
        .finds("the server answered with another version than was asked for")
        .why("Both sides now speak a revision that the client did not prefer, and what is newer than that cannot be used.")
        .fix("Nothing has to be done; where a newer feature is missed, update the side that does not know the newer revision.");

    EARLY_SERVER_REQUEST = warning("lifecycle-early-server-request").of_legacy(section::LIFECYCLE)
        .of_absence()
        .finds("a request of the server before the client has sent `notifications/initialized`")
        .why("The client is not ready for it and may drop it, and then the server waits for an answer that never comes.")
        .fix("Let the server wait for `notifications/initialized` before it asks the client for anything but `ping`.");

    EARLY_SERVER_NOTIFICATION = note("lifecycle-early-server-notification")
        .of_legacy(section::LIFECYCLE).of_absence()
        .finds("a notification of the server before the client has sent `notifications/initialized`")
        .why("A client that is not ready yet may drop it, so that what it announces goes unnoticed.")
        .fix("Let the server hold notifications other than log messages back until `notifications/initialized` has come.");

    CANCEL_INITIALIZE = error("lifecycle-cancel-initialize").of_legacy(section::CANCELLATION)
        .finds("`initialize` is cancelled")
        .why("Without its handshake the connection is of no use, and servers are not prepared for this cancel.")
        .fix("Let the client close the connection where it does not want to wait any longer.");
}

#[derive(Debug, Default)]
pub struct Lifecycle {
    /// Something that the client said is not on record, or could not be read: it may have been
    /// `initialize`.
    is_blind: bool,
    /// The client has said `initialized`, in whatever form.
    is_initialized: bool,
    has_begun: bool,
    once: Once,
    /// The exchange of the latest `initialize`, and the version that the client wishes for.
    initialize_asked: Option<(Option<ExchangeId>, Box<str>)>,
    /// The exchange and the frame of the latest `initialize` that was answered.
    initialize_answered: Option<(ExchangeId, Seq)>,
}

impl Family for Lifecycle {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let is_of_client = seen.head.stream.messages() == Some(Direction::ClientToServer);
        if is_of_client && seen.known.handshake == Handshake::None {
            let is_first = !std::mem::replace(&mut self.has_begun, true);
            let is_blank = seen.content.problems.contains(&Problem::Blank);
            let is_unread = seen.content.messages.is_empty() && !is_blank;
            self.is_blind |= is_first && seen.head.offset > 0 || is_unread;
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        let method = part.method().unwrap_or_default();
        let of_client = part.direction() == Direction::ClientToServer;
        if of_client && !matches!(part.message.body, Body::Response(_)) {
            self.is_initialized |= method == "notifications/initialized";
        }
        match &part.message.body {
            Body::Request(_) if of_client && method == "initialize" => self.initialize(part),
            Body::Request(_) if of_client => self.check_request(part, method),
            Body::Notification(_) if of_client && method == "notifications/cancelled" => {
                self.cancelled(part);
            }
            Body::Request(_) | Body::Notification(_) if !of_client && !self.is_initialized => {
                self.early(part, method);
            }
            Body::Response(_) if !of_client && method == "initialize" => self.answered(part),
            _ => {}
        }
    }
}

/// Whether a request is judged by the handshake: it does not say its version itself.
fn is_legacy(part: &Part<'_>) -> bool {
    part.era() == Era::Legacy && part.revision() < Revision::V2026_07_28
}

impl Lifecycle {
    fn check_request(&mut self, part: &Part<'_>, method: &str) {
        if method == "ping" || !is_legacy(part) {
            return;
        }
        let (rule, earlier): (&'static Rule, _) = match part.seen.known.handshake {
            Handshake::None if !self.is_blind => (&NOT_INITIALIZED, None),
            Handshake::Asked(initialize) => (&BEFORE_ANSWER, Some(initialize)),
            Handshake::Answered(answer) if !self.is_initialized => {
                (&INITIALIZED_MISSING, Some(answer))
            }
            _ => return,
        };
        if *rule == BEFORE_ANSWER || self.once.is_first(rule) {
            let mut finding = part.at(rule, quote::text(method));
            finding.related.extend(earlier);
            part.push(finding);
        }
    }

    fn initialize(&mut self, part: &Part<'_>) {
        match part.seen.known.handshake {
            Handshake::Asked(frame) if frame != part.seen.head.seq => {
                part.tell(&INITIALIZE_TWICE, "while the first one is open");
            }
            Handshake::Answered(_) | Handshake::Done => {
                part.tell(&INITIALIZE_TWICE, "after the first one was answered");
            }
            _ => {}
        }
        self.initialize_asked = None;
        if part.value.is_some() {
            shape(part, "params", part.params(), "clientInfo");
            let version = part.param("protocolVersion");
            let version = version.and_then(|version| version.as_str());
            self.initialize_asked = version.map(|version| (part.exchange(), version.into()));
        }
    }

    /// A request or notification of the server before the client is ready.
    fn early(&mut self, part: &Part<'_>, method: &str) {
        if !is_legacy(part) || self.is_blind || part.seen.known.handshake == Handshake::Done {
            return;
        }
        if let Body::Request(_) = part.message.body {
            if method != "ping" {
                part.tell(&EARLY_SERVER_REQUEST, quote::text(method));
            }
        } else if method != "notifications/message"
            && part.exchange().is_none()
            && self.once.is_first(&EARLY_SERVER_NOTIFICATION)
        {
            part.tell(&EARLY_SERVER_NOTIFICATION, quote::text(method));
        }
    }

    /// A cancel of the client: `initialize` must not be cancelled, not after its answer either.
    fn cancelled(&self, part: &Part<'_>) {
        let open = part.request().filter(|it| &*it.method == "initialize");
        let answered = self.initialize_answered;
        let answered = answered.filter(|(id, _)| Some(*id) == part.exchange());
        let (frame, detail) = match (open, answered) {
            (Some(asked), _) => (asked.frame, "before the server has answered it"),
            (None, Some((_, asked))) => (asked, "after the server has answered it"),
            (None, None) => return,
        };
        part.push(part.at(&CANCEL_INITIALIZE, detail).and(frame));
    }

    /// A response of the server to `initialize`.
    fn answered(&mut self, part: &Part<'_>) {
        let frame = part.request().map(|asked| asked.frame);
        self.initialize_answered = part.exchange().zip(frame).or(self.initialize_answered);
        let Some(result) = part.result() else { return };
        shape(part, "result", Some(result), "serverInfo");
        let version = result.get("protocolVersion").and_then(|it| it.as_str());
        let Some(version) = version else { return };
        let path = "result.protocolVersion";
        let agreed = quote::text(&version);
        let asked = self.initialize_asked.as_ref();
        if let Some((_, wish)) = asked.filter(|(id, _)| *id == part.exchange())
            && **wish != *version
        {
            let detail = format!("{} → {agreed}", quote::text(wish));
            part.tell_at(&VERSION_DOWNGRADED, path, detail);
        }
        let known: Option<Revision> = version.parse().ok();
        let is_known = known.is_some_and(|known| known.era() == Era::Legacy);
        if !is_known {
            part.tell_at(&VERSION_UNKNOWN, path, agreed);
        }
    }
}

/// Tells what `initialize` and its answer lack: a version, capabilities, and who is speaking.
fn shape(part: &Part<'_>, holder: &str, value: Option<Value<'_>>, info: &str) {
    let member = |name: &str| value.and_then(|value| value.get(name));
    let inner = |name: &str| member(info).and_then(|info| info.get(name));
    let own = |name: &str| name.to_owned();
    let version = "protocolVersion";
    let mut expected = vec![
        (own(version), Kind::String, member(version)),
        (own("capabilities"), Kind::Object, member("capabilities")),
        (own(info), Kind::Object, member(info)),
    ];
    if member(info).is_some_and(|info| info.is_object()) {
        expected.push((format!("{info}.name"), Kind::String, inner("name")));
        expected.push((format!("{info}.version"), Kind::String, inner("version")));
    }
    for (name, kind, found) in expected {
        let detail = match found.map(|value| value.kind()) {
            Some(found) if found == kind => continue,
            Some(found) => format!("{name} is {}, not {}", found.as_str(), kind.as_str()),
            None => format!("no {name}"),
        };
        part.tell_at(&INITIALIZE_SHAPE, format!("{holder}.{name}"), detail);
    }
}
