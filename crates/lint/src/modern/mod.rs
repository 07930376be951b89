//! Rules about the modern era.
//!
//! * here: messages that the era has no place for, both eras on one process, errors, deprecated
//!   features;
//! * `request`: what requests and results must carry, log messages, caching hints;
//! * `rounds`: results that ask for input, and the retries that give it;
//! * `subscriptions`: notifications that must have been asked for, and lists that vary.
//!
//! A legacy server may answer modern requests by its own rules, without a handshake. It breaks no
//! rule of an era that it does not know: servers are judged here once they have shown that they
//! know it.

mod request;
mod rounds;
mod subscriptions;

use super::quote::written;
use crate::{
    Context, Family, Findings, FrameContext, Handshake, Once, Part, Revisions, Rule, quote, section,
};
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::mcp::{Revision, keys};
use mcpreel_wire::message::{Body, Direction, Era};
use rounds::input_requests;

rules! {
    SERVER_REQUEST = error("modern-server-request",
        "the server sends a request on a modern connection")
        .why("Modern clients do not answer requests, so the server waits for ever.")
        .fix("Let the server ask by a result with `resultType` `input_required`, which the client answers by its retry.")
        .of(section::MODERN_STDIO)
        .only(Revisions::MODERN);

    CLIENT_RESPONSE = error("modern-client-response",
        "the client sends a response on a modern connection")
        .why("Modern servers ask nothing of their client, and may take a response for broken input.")
        .fix("Let the client send requests and notifications only, and give what it was asked for in its retry.")
        .of(section::MODERN_STDIO)
        .only(Revisions::MODERN);

    MIXED = note("era-mixed", "a handshake and modern requests on one process")
        .why("Only servers of both eras serve both at once, others refuse one or the other.")
        .fix("Nothing has to be done where the server allows it; else let the client keep to one era.")
        .of(section::VERSIONING);

    VERSION_SHAPE = error("modern-version-error-shape",
        "an unsupported version is refused without saying which are supported")
        .why("The client has to choose another version from that list, and without it can only give up.")
        .fix("Let the server give `data` with `supported`, a list of versions, and `requested`, the one that was asked for.")
        .of(section::VERSIONING)
        .only(Revisions::MODERN);

    CAPABILITY_SHAPE = error("modern-capability-error-shape",
        "a missing capability is refused without saying which")
        .why("The client cannot tell what it would have to declare for the request to work.")
        .fix("Let the server give `data` with `requiredCapabilities`, an object like the client's capabilities.")
        .of(section::META)
        .only(Revisions::MODERN);

    DISCOVER_MISSING = error("modern-discover-missing",
        "a modern server does not know `server/discover`")
        .why("Clients of both eras ask this first, and take a server that refuses it for a legacy one.")
        .fix("Let the server implement `server/discover`.")
        .of(section::DISCOVERY)
        .only(Revisions::MODERN)
        .of_absence();

    FEATURE = note("deprecated-feature", "a feature that a later revision may remove")
        .why("It works today, but revisions from July 2027 on may be without it.")
        .fix("Plan for its replacement: paths as tool params instead of roots, a model's own interface instead of sampling, stderr or OpenTelemetry instead of log messages.")
        .of(section::DEPRECATED)
        .only(Revisions::MODERN);
}

#[derive(Debug, Default)]
pub struct Modern {
    once: Once,
    /// The server has shown that it knows the modern era.
    is_proven: bool,
    eras: Eras,
    errors: Errors,
    rounds: rounds::Rounds,
    streams: subscriptions::Streams,
    levels: request::Levels,
    pages: request::Pages,
    lists: subscriptions::Lists,
    deprecated: Deprecated,
}

impl Family for Modern {
    fn name(&self) -> &'static str {
        "modern"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        [RULES, request::RULES, rounds::RULES, subscriptions::RULES].concat()
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.lists.passed(context.now, findings);
    }

    fn frame(&mut self, seen: &FrameContext<'_>, findings: &mut Findings) {
        self.is_proven |= seen.known.knows_modern;
        for part in seen.parts() {
            match (&part.message.body, part.direction()) {
                (Body::Request(_), Direction::ClientToServer) => self.asked(&part, findings),
                (Body::Response(_), Direction::ServerToClient) => self.answered(&part, findings),
                (Body::Notification(_), Direction::ServerToClient) => {
                    self.levels.notification(&part, findings);
                    self.streams.notification(&part, findings);
                    self.lists.notification(&part);
                    self.deprecated.notification(&part, findings);
                }
                (Body::Notification(_), Direction::ClientToServer) => {
                    self.streams.cancelled(&part);
                }
                (Body::Request(_), Direction::ServerToClient) => {
                    server_request(&part, findings);
                }
                (Body::Response(_), Direction::ClientToServer) => {
                    client_response(&part, findings);
                }
                (Body::Invalid, _) => {}
            }
        }
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        self.rounds.finish(findings);
    }
}

impl Modern {
    fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.eras.asked(part, findings);
        self.levels.asked(part);
        if part.revision() != Revision::V2026_07_28 {
            return;
        }
        request::asked(part, &mut self.once, findings);
        self.rounds.asked(part, findings);
        self.streams.asked(part);
        self.pages.asked(part);
        self.lists.asked(part);
        self.deprecated.asked(part, findings);
    }

    fn answered(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.levels.answered(part);
        if part.era() != Era::Modern || part.request().is_none() {
            return;
        }
        self.streams.answered(part);
        self.errors.answered(part, findings);
        let Some(result) = part.result().filter(Value::is_object) else {
            return;
        };
        self.is_proven |= result.get("resultType").is_some();
        self.eras.served(part);
        request::answered(part, result, self.is_proven, &mut self.once, findings);
        if self.is_proven {
            self.errors.served(part, findings);
            self.rounds.answered(part, result, findings);
            self.pages.answered(part, result, findings);
            self.lists.answered(part, result, &self.streams, findings);
            self.deprecated.answered(part, result, findings);
        }
    }
}

fn path(members: &[&str]) -> Box<str> {
    let steps = members.iter().map(|name| Step::Member((*name).into()));
    written(steps.collect())
}

fn code(error: Value<'_>) -> Option<i64> {
    error.get("code")?.number()?.to_i64()
}

// Messages that the modern era has no place for, and both eras on one process.

fn server_request(part: &Part<'_>, findings: &mut Findings) {
    if part.seen.known.is_modern() {
        let method = part.method().unwrap_or_default();
        findings.push(part.at(&SERVER_REQUEST, quote::text(method)));
    }
}

fn client_response(part: &Part<'_>, findings: &mut Findings) {
    if part.seen.known.is_modern() {
        let id = part.record.rpc_id.as_ref().map_or("none", |id| id.json());
        let detail = format!("id {}", quote::text(id));
        findings.push(part.at(&CLIENT_RESPONSE, detail));
    }
}

/// Whether both eras were met. A probe that is followed by the handshake is not yet both, nor is
/// a modern request that was refused.
#[derive(Debug, Default)]
struct Eras {
    served: Option<Seq>,
    is_told: bool,
}

impl Eras {
    fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let handshake = match (part.era(), part.seen.known.handshake) {
            (Era::Modern, Handshake::Answered(_) | Handshake::Done) => Some(None),
            (Era::Legacy, Handshake::Asked(frame)) if frame == part.seen.head.seq => {
                self.served.map(Some)
            }
            _ => None,
        };
        if let Some(earlier) = handshake
            && !self.is_told
        {
            self.is_told = true;
            let detail = match earlier {
                None => "a modern request after the handshake",
                Some(_) => "a handshake after modern requests",
            };
            let mut finding = part.at(&MIXED, detail);
            finding.related.extend(earlier);
            findings.push(finding);
        }
    }

    /// A modern request was answered with a result.
    fn served(&mut self, part: &Part<'_>) {
        if part.method() != Some("server/discover") {
            self.served.get_or_insert(part.seen.head.seq);
        }
    }
}

// What will go away: each feature is told once, where it is first used.

#[derive(Debug, Default)]
struct Deprecated(Vec<&'static str>);

impl Deprecated {
    fn tell(
        &mut self,
        part: &Part<'_>,
        feature: &'static str,
        path: &str,
        findings: &mut Findings,
    ) {
        if !self.0.contains(&feature) {
            self.0.push(feature);
            findings.push(part.at(&FEATURE, feature).path(path));
        }
    }

    /// A request of the client by the modern revision.
    fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let meta = part.param("_meta");
        if meta.is_some_and(|meta| meta.get(keys::LOG_LEVEL).is_some()) {
            let path = path(&["params", "_meta", keys::LOG_LEVEL]);
            self.tell(part, "logging", &path, findings);
        }
    }

    fn notification(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let is_log = part.method() == Some("notifications/message");
        if is_log && part.seen.known.is_modern() {
            self.tell(part, "logging", "method", findings);
        }
    }

    fn answered(&mut self, part: &Part<'_>, result: Value<'_>, findings: &mut Findings) {
        for (path, request) in input_requests(result) {
            let is = |method: &str| request.get("method").is_some_and(|it| it.is_str(method));
            if is("roots/list") {
                self.tell(part, "roots", &path, findings);
            }
            if is("sampling/createMessage") {
                self.tell(part, "sampling", &path, findings);
                let context = request
                    .get("params")
                    .and_then(|it| it.get("includeContext"));
                if context.is_some_and(|it| it.is_str("thisServer") || it.is_str("allServers")) {
                    self.tell(part, "includeContext", &path, findings);
                }
            }
        }
    }
}

// What the errors of the modern era must carry, and the method that every server must have.

/// Whether the server is modern, and whether it has refused to say so.
#[derive(Debug, Default)]
struct Errors {
    served: Option<Seq>,
    refused: Option<Seq>,
    is_told: bool,
}

impl Errors {
    fn answered(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(error) = part.error() else { return };
        match code(error) {
            Some(-32022) => version_shape(part, error, findings),
            Some(-32021) => capability_shape(part, error, findings),
            Some(-32601) if part.method() == Some("server/discover") => {
                self.refused = Some(part.seen.head.seq);
                self.discover(part, self.served, findings);
            }
            _ => {}
        }
    }

    /// A modern request was served by a server that knows that era.
    fn served(&mut self, part: &Part<'_>, findings: &mut Findings) {
        if part.method() != Some("server/discover") {
            self.served = Some(part.seen.head.seq);
            self.discover(part, self.refused, findings);
        }
    }

    fn discover(&mut self, part: &Part<'_>, other: Option<Seq>, findings: &mut Findings) {
        if let Some(other) = other
            && !std::mem::replace(&mut self.is_told, true)
        {
            let detail = "refused with -32601, while another modern request is served";
            findings.push(part.at(&DISCOVER_MISSING, detail).and(other));
        }
    }
}

fn version_shape(part: &Part<'_>, error: Value<'_>, findings: &mut Findings) {
    let member = |name: &str| error.get("data").and_then(|data| data.get(name));
    let is_list = |value: Value<'_>| {
        let mut all = value.elements();
        value.index(0).is_some() && all.all(|one| one.as_str().is_some())
    };
    let has_requested = member("requested").is_some_and(|it| it.as_str().is_some());
    let required = [
        ("supported", member("supported").is_some_and(is_list)),
        ("requested", has_requested),
    ];
    for (name, _) in required.iter().filter(|(_, has_it)| !has_it) {
        let finding = part.at(&VERSION_SHAPE, detail(name, member(name)));
        findings.push(finding.path(format!("error.data.{name}")));
    }
}

fn capability_shape(part: &Part<'_>, error: Value<'_>, findings: &mut Findings) {
    let name = "requiredCapabilities";
    let found = error.get("data").and_then(|data| data.get(name));
    if !found.is_some_and(|it| it.is_object()) {
        let finding = part.at(&CAPABILITY_SHAPE, detail(name, found));
        findings.push(finding.path(format!("error.data.{name}")));
    }
}

fn detail(name: &str, found: Option<Value<'_>>) -> String {
    match found {
        None => format!("no {name}"),
        Some(value) => format!("{name} is {}", quote::text(&value.raw_text())),
    }
}
