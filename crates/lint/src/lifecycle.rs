//! Rules about the handshake of the legacy era: who speaks when, and what `initialize` and its answer
//! say.
//!
//! Messages before the handshake are judged only where nothing that the client said is missing on
//! record. A fault that every later message repeats is reported once.

use crate::{Family, FrameContext, Handshake, Once, Part, quote, section};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Era, Problem};

rules! {
    NOT_INITIALIZED = error("lifecycle-not-initialized", "a request before any `initialize`")
        .why("Most servers refuse every request until they have been initialized, or answer it by rules that nobody agreed on.")
        .fix("Let the client send `initialize` first, wait for the answer, and then send `notifications/initialized`.")
        .of_legacy(section::LIFECYCLE)
        .of_absence();

    BEFORE_ANSWER = warning("lifecycle-request-before-init-response",
        "a request while `initialize` is not answered yet")
        .why("The client does not know yet which revision and which capabilities the server has, and many servers refuse or drop such a request.")
        .fix("Let the client wait for the answer to `initialize` before it asks for anything but `ping`.")
        .of_legacy(section::LIFECYCLE)
        .of_absence();

    INITIALIZED_MISSING = error("lifecycle-initialized-missing",
        "a request although the client has not said `notifications/initialized`")
        .why("A server may wait for that notification for as long as it likes before it serves anything, and then every request seems to hang.")
        .fix("Let the client send `notifications/initialized` as soon as it has the answer to `initialize`.")
        .of_legacy(section::LIFECYCLE)
        .of_absence();

    INITIALIZE_TWICE = error("lifecycle-initialize-twice", "`initialize` a second time")
        .why("A process has one handshake; many servers refuse another one or lose what the first has set up.")
        .fix("Let the client initialize once, and start another process of the server for another session.")
        .of_legacy(section::LIFECYCLE);

    INITIALIZE_SHAPE = error("lifecycle-initialize-shape",
        "the handshake lacks a version, capabilities, or who is speaking")
        .why("The other side cannot tell what it may use, and strict peers end the connection at once.")
        .fix("Fill in the member that is named, with a value of the type that the specification asks for.")
        .of_legacy(section::LIFECYCLE);

    VERSION_UNKNOWN = warning("lifecycle-version-unknown",
        "the server agreed on a version that is no revision with a handshake")
        .why("Clients end the connection when they are offered a version that they do not know.")
        .fix("Let the server answer with a published revision, the one that was asked for if it can.")
        .of_legacy(section::NEGOTIATION);

    VERSION_DOWNGRADED = note("lifecycle-version-downgraded",
        "the server answered with another version than was asked for")
        .why("Both sides now speak a revision that the client did not prefer, and what is newer than that cannot be used.")
        .fix("Nothing has to be done; where a newer feature is missed, update the side that does not know the newer revision.")
        .of_legacy(section::NEGOTIATION);

    EARLY_SERVER_REQUEST = warning("lifecycle-early-server-request",
        "a request of the server before the client has said `notifications/initialized`")
        .why("The client is not ready for it and may drop it, and then the server waits for an answer that never comes.")
        .fix("Let the server wait for `notifications/initialized` before it asks the client for anything but `ping`.")
        .of_legacy(section::LIFECYCLE)
        .of_absence();

    EARLY_SERVER_NOTIFICATION = note("lifecycle-early-server-notification",
        "a notification of the server before the client has said `notifications/initialized`")
        .why("A client that is not ready yet may drop it, so that what it announces goes unnoticed.")
        .fix("Let the server hold notifications other than log messages back until `notifications/initialized` has come.")
        .of_legacy(section::LIFECYCLE)
        .of_absence();

    CANCEL_INITIALIZE = error("lifecycle-cancel-initialize", "`initialize` is cancelled")
        .why("Without its handshake the connection is of no use, and servers are not prepared for this cancel.")
        .fix("Let the client close the connection where it does not want to wait any longer.")
        .of_legacy(section::CANCELLATION);
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
    asked: Option<Wish>,
}

impl Family for Lifecycle {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let Some(direction) = seen.head.stream.messages() else {
            return;
        };
        if direction == Direction::ClientToServer && seen.known.handshake == Handshake::None {
            self.is_blind |= self.misses_something(seen);
        }
        for part in seen.parts() {
            match (&part.message.body, direction) {
                (Body::Request(_), Direction::ClientToServer) => self.asked(&part),
                (Body::Notification(_), Direction::ClientToServer) => {
                    self.is_initialized |= is_initialized(&part);
                    cancelled(&part);
                }
                (Body::Request(_) | Body::Notification(_), Direction::ServerToClient)
                    if !self.is_initialized =>
                {
                    self.early(&part);
                }
                (Body::Response(_), Direction::ServerToClient) => {
                    answered(&part, self.asked.as_ref());
                }
                _ => {}
            }
        }
    }
}

fn is_initialized(part: &Part<'_>) -> bool {
    part.method() == Some("notifications/initialized")
}

/// A request that is judged by the handshake: it does not say its version itself.
fn is_legacy(part: &Part<'_>) -> bool {
    part.era() == Era::Legacy && part.revision() < Revision::V2026_07_28
}

/// A cancel of `initialize`, while that is open.
fn cancelled(part: &Part<'_>) {
    if part.method() == Some("notifications/cancelled")
        && let Some(asked) = part.request()
        && &*asked.method == "initialize"
    {
        part.push(
            part.at(&CANCEL_INITIALIZE, "before the server has answered it")
                .and(asked.frame),
        );
    }
}

impl Lifecycle {
    /// Whether bytes before this frame are not on record, or it is a line that could not be read.
    fn misses_something(&mut self, seen: &FrameContext<'_>) -> bool {
        let content = seen.content;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let is_blank = content.problems.contains(&Problem::Blank);
        is_first && seen.head.offset > 0 || content.messages.is_empty() && !is_blank
    }

    fn asked(&mut self, part: &Part<'_>) {
        let method = part.method().unwrap_or_default();
        if method == "initialize" {
            return self.asked_initialize(part);
        }
        self.is_initialized |= is_initialized(part);
        if method == "ping" || !is_legacy(part) {
            return;
        }
        let detail = || quote::text(method);
        match part.seen.known.handshake {
            Handshake::None if !self.is_blind && self.once.is_first(&NOT_INITIALIZED) => {
                part.tell(&NOT_INITIALIZED, detail());
            }
            Handshake::Asked(initialize) => {
                part.push(part.at(&BEFORE_ANSWER, detail()).and(initialize));
            }
            Handshake::Answered(answer)
                if !self.is_initialized && self.once.is_first(&INITIALIZED_MISSING) =>
            {
                part.push(part.at(&INITIALIZED_MISSING, detail()).and(answer));
            }
            _ => {}
        }
    }

    fn asked_initialize(&mut self, part: &Part<'_>) {
        let earlier = match part.seen.known.handshake {
            Handshake::Asked(frame) if frame != part.seen.head.seq => {
                Some("while the first one is open")
            }
            Handshake::Answered(_) | Handshake::Done => Some("after the first one was answered"),
            _ => None,
        };
        if let Some(detail) = earlier {
            part.tell(&INITIALIZE_TWICE, detail);
        }
        self.asked = asked(part);
    }

    /// A request or notification of the server before the client is ready.
    fn early(&mut self, part: &Part<'_>) {
        let method = part.method().unwrap_or_default();
        let is_request = matches!(part.message.body, Body::Request(_));
        if !is_legacy(part) || self.is_blind || part.seen.known.handshake == Handshake::Done {
            return;
        }
        if is_request {
            if method != "ping" {
                let finding = part.at(&EARLY_SERVER_REQUEST, quote::text(method));
                part.push(finding);
            }
        } else if is_of_its_own(part, method) && self.once.is_first(&EARLY_SERVER_NOTIFICATION) {
            let finding = part.at(&EARLY_SERVER_NOTIFICATION, quote::text(method));
            part.push(finding);
        }
    }
}

/// A notification that is neither a log message nor about something that the client has asked.
fn is_of_its_own(part: &Part<'_>, method: &str) -> bool {
    method != "notifications/message" && part.exchange().is_none()
}

// What `initialize` and its answer say: a version, capabilities, and who is speaking.

/// The version that the client wishes for.
#[derive(Debug)]
struct Wish {
    exchange: Option<ExchangeId>,
    version: Box<str>,
}

/// Looks at an `initialize` request.
fn asked(part: &Part<'_>) -> Option<Wish> {
    let message = part.value?;
    let params = message.get("params");
    shape(part, "params", params, "clientInfo");
    let version = params?.get("protocolVersion")?.as_str()?;
    Some(Wish {
        exchange: part.exchange(),
        version: version.into(),
    })
}

/// Looks at a response of the server, if it is a result of `initialize`.
fn answered(part: &Part<'_>, wish: Option<&Wish>) {
    if part.method() != Some("initialize") || part.value.is_none() {
        return;
    }
    let Some(result) = part.result() else { return };
    shape(part, "result", Some(result), "serverInfo");
    let Some(version) = result.get("protocolVersion").and_then(|it| it.as_str()) else {
        return;
    };
    let is_known = Revision::parse(&version).is_some_and(|known| known.era() == Era::Legacy);
    if !is_known {
        part.tell_at(
            &VERSION_UNKNOWN,
            "result.protocolVersion",
            quote::text(&version),
        );
    }
    let wish = wish.filter(|wish| wish.exchange == part.exchange());
    if let Some(wish) = wish
        && *wish.version != *version
    {
        let (asked, agreed) = (quote::text(&wish.version), quote::text(&version));
        part.tell_at(
            &VERSION_DOWNGRADED,
            "result.protocolVersion",
            format!("{asked} → {agreed}"),
        );
    }
}

/// What must be there, and of which kind.
fn shape(part: &Part<'_>, holder: &str, value: Option<Value<'_>>, info: &str) {
    let member = |name: &str| value.and_then(|value| value.get(name));
    let inner = |name: &str| member(info).and_then(|info| info.get(name));
    let is_named = member(info).is_some_and(|info| info.is_object());
    let mut expected = vec![
        (
            "protocolVersion".to_owned(),
            Kind::String,
            member("protocolVersion"),
        ),
        (
            "capabilities".to_owned(),
            Kind::Object,
            member("capabilities"),
        ),
        (info.to_owned(), Kind::Object, member(info)),
    ];
    if is_named {
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
