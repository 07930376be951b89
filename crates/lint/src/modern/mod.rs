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

use crate::quote::{self, written};
use crate::{Context, Family, Handshake, Once, Part, Rule, section};
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::mcp::{Revision, keys};
use mcpreel_wire::message::{Body, Direction, Era};
use rounds::input_requests;

rules! {
    SERVER_REQUEST = error("modern-server-request").of_modern(section::MODERN_STDIO)
        .finds("the server sends a request on a modern connection")
        .why("Modern clients do not answer requests, so the server waits for ever.")
        .fix("Let the server ask by a result with `resultType` `input_required`, which the client answers by its retry.");

    CLIENT_RESPONSE = error("modern-client-response").of_modern(section::MODERN_STDIO)
        .finds("the client sends a response on a modern connection")
        .why("Modern servers ask nothing of their client, and may take a response for broken input.")
        .fix("Let the client send requests and notifications only, and give what it was asked for in its retry.");

    MIXED = note("era-mixed").of(section::VERSIONING)
        .finds("a handshake and modern requests in one session")
        .why("Only servers of both eras serve both at once, others refuse one or the other.")
        .fix("Nothing has to be done where the server allows it; else let the client keep to one era.");

    VERSION_SHAPE = error("modern-version-error-shape").of_modern(section::VERSIONING)
        .finds("an unsupported version is refused without saying which are supported")
        .why("The client has to choose another version from that list, and without it can only give up.")
        .fix("Let the server give `data` with `supported`, a list of versions, and `requested`, the one that was asked for.");

    CAPABILITY_SHAPE = error("modern-capability-error-shape").of_modern(section::META)
        .finds("a missing capability is refused without saying which")
        .why("The client cannot tell what it would have to declare for the request to work.")
        .fix("Let the server give `data` with `requiredCapabilities`, an object like the client's capabilities.");

    DISCOVER_MISSING = error("modern-discover-missing").of_modern(section::DISCOVERY).of_absence()
        .finds("a modern server does not know `server/discover`")
        .why("Clients of both eras ask this first, and take a server that refuses it for a legacy one.")
        .fix("Let the server implement `server/discover`.");

    FEATURE = note("deprecated-feature").of_modern(section::DEPRECATED)
        .finds("a feature that a later revision may remove")
        .why("It works today, but revisions from July 2027 on may be without it.")
        .fix("Plan for its replacement: paths as tool params instead of roots, a model's own interface instead of sampling, stderr or OpenTelemetry instead of log messages.");
}

/// The rules of the modules of this family.
pub const RULE_LISTS: &[&[&Rule]] = &[RULES, request::RULES, rounds::RULES, subscriptions::RULES];

#[derive(Debug, Default)]
pub struct Modern {
    once: Once,
    /// The server has shown that it knows the modern era.
    is_proven: bool,
    /// Features that were told to be deprecated, each where it is first used.
    deprecated: Vec<&'static str>,
    eras: Eras,
    discovery: Discovery,
    rounds: rounds::Rounds,
    streams: subscriptions::Streams,
    levels: request::Levels,
    lists: subscriptions::Lists,
    scopes: request::Scopes,
}

impl Family for Modern {
    fn passed(&mut self, context: &Context<'_>) {
        self.lists.passed(context, false);
    }

    fn part(&mut self, part: &Part<'_>) {
        self.is_proven |= part.seen.known.knows_modern;
        let is_modern = part.seen.known.is_modern();
        match (&part.message.body, part.direction()) {
            (Body::Request(_), Direction::ClientToServer) => self.asked(part),
            (Body::Response(_), Direction::ServerToClient) => self.answered(part),
            (Body::Notification(_), Direction::ServerToClient) => {
                self.levels.notification(part);
                self.streams.notification(part);
                self.lists.notification(part);
                if is_modern && part.method() == Some("notifications/message") {
                    self.deprecated(part, "logging", "method");
                }
            }
            (Body::Notification(_), Direction::ClientToServer) => self.streams.cancelled(part),
            (Body::Request(_), Direction::ServerToClient) if is_modern => {
                let detail = quote::text(part.method().unwrap_or_default());
                part.tell(&SERVER_REQUEST, detail);
            }
            (Body::Response(_), Direction::ClientToServer) if is_modern => {
                let id = part.record.rpc_id.as_ref().map_or("none", |id| id.json());
                part.tell(&CLIENT_RESPONSE, format!("id {}", quote::text(id)));
            }
            _ => {}
        }
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>) {
        self.rounds.finish(context.findings);
        self.lists.passed(context, true);
    }
}

impl Modern {
    fn asked(&mut self, part: &Part<'_>) {
        self.eras.asked(part);
        self.levels.asked(part);
        if part.revision() != Revision::V2026_07_28 {
            return;
        }
        request::asked(part, &mut self.once);
        self.rounds.asked(part);
        self.streams.asked(part);
        let meta = part.param("_meta");
        if meta.is_some_and(|meta| meta.get(keys::LOG_LEVEL).is_some()) {
            let place = path(&["params", "_meta", keys::LOG_LEVEL]);
            self.deprecated(part, "logging", &place);
        }
    }

    fn answered(&mut self, part: &Part<'_>) {
        self.levels.answered(part);
        if part.era() != Era::Modern || part.request().is_none() {
            return;
        }
        self.streams.answered(part);
        if let Some(error) = part.error() {
            self.discovery.refused(part, error);
        }
        let Some(result) = part.result().filter(Value::is_object) else {
            return;
        };
        self.is_proven |= result.get("resultType").is_some();
        let is_discovery = part.method() == Some("server/discover");
        if !is_discovery {
            self.eras.served.get_or_insert(part.seen.head.seq);
        }
        request::answered(part, result, self.is_proven, &mut self.once);
        if self.is_proven {
            if !is_discovery {
                self.discovery.served(part);
            }
            self.rounds.answered(part, result);
            request::cached(part, result, &mut self.scopes);
            self.lists.answered(part, result, &self.streams);
            self.deprecated_requests(part, result);
        }
    }

    fn deprecated(&mut self, part: &Part<'_>, feature: &'static str, path: &str) {
        if !self.deprecated.contains(&feature) {
            self.deprecated.push(feature);
            part.tell_at(&FEATURE, path, feature);
        }
    }

    fn deprecated_requests(&mut self, part: &Part<'_>, result: Value<'_>) {
        for (path, request) in input_requests(result) {
            let is = |method: &str| request.get("method").is_some_and(|it| it.is_str(method));
            if is("roots/list") {
                self.deprecated(part, "roots", &path);
            }
            if is("sampling/createMessage") {
                self.deprecated(part, "sampling", &path);
                let params = request.get("params");
                let context = params.and_then(|it| it.get("includeContext"));
                if context.is_some_and(|it| it.is_str("thisServer") || it.is_str("allServers")) {
                    self.deprecated(part, "includeContext", &path);
                }
            }
        }
    }
}

fn path(members: &[&str]) -> Box<str> {
    let steps = members.iter().map(|name| Step::Member((*name).into()));
    written(steps.collect())
}

/// Whether both eras were met. A probe that is followed by the handshake is not yet both, nor is
/// a modern request that was refused.
#[derive(Debug, Default)]
struct Eras {
    /// The first result of a modern request.
    served: Option<Seq>,
    is_told: bool,
}

impl Eras {
    fn asked(&mut self, part: &Part<'_>) {
        let (detail, earlier) = match (part.era(), part.seen.known.handshake, self.served) {
            (Era::Modern, Handshake::Answered(_) | Handshake::Done, _) => {
                ("a modern request after the handshake", None)
            }
            (Era::Legacy, Handshake::Asked(frame), Some(_)) if frame == part.seen.head.seq => {
                ("a handshake after modern requests", self.served)
            }
            _ => return,
        };
        if !std::mem::replace(&mut self.is_told, true) {
            let mut finding = part.at(&MIXED, detail);
            finding.related.extend(earlier);
            part.push(finding);
        }
    }
}

/// The data of errors of the modern era, and the method that every server must have:
/// whether the server is modern, and whether it has refused to say so.
#[derive(Debug, Default)]
struct Discovery {
    served: Option<Seq>,
    refused: Option<Seq>,
    is_told: bool,
}

impl Discovery {
    fn refused(&mut self, part: &Part<'_>, error: Value<'_>) {
        let data = error.get("data");
        let data = |name: &str| data.and_then(|data| data.get(name));
        let is_list = |value: Value<'_>| {
            let mut all = value.elements();
            value.index(0).is_some() && all.all(|one| one.as_str().is_some())
        };
        let lacks = |rule: &'static Rule, name: &str, is_fit: &dyn Fn(Value<'_>) -> bool| {
            let detail = match data(name) {
                None => format!("no {name}"),
                Some(value) if is_fit(value) => return,
                Some(value) => format!("{name} is {}", quote::text(&value.raw_text())),
            };
            part.tell_at(rule, format!("error.data.{name}"), detail);
        };
        match error.get("code").and_then(|code| code.number()?.to_i64()) {
            Some(-32022) => {
                lacks(&VERSION_SHAPE, "supported", &is_list);
                lacks(&VERSION_SHAPE, "requested", &|it| it.as_str().is_some());
            }
            Some(-32021) => {
                lacks(&CAPABILITY_SHAPE, "requiredCapabilities", &|it| {
                    it.is_object()
                });
            }
            Some(-32601) if part.method() == Some("server/discover") => {
                self.refused = Some(part.seen.head.seq);
                self.missing(part, self.served);
            }
            _ => {}
        }
    }

    /// A modern request was served by a server that knows that era.
    fn served(&mut self, part: &Part<'_>) {
        self.served = Some(part.seen.head.seq);
        self.missing(part, self.refused);
    }

    fn missing(&mut self, part: &Part<'_>, other: Option<Seq>) {
        if let Some(other) = other
            && !std::mem::replace(&mut self.is_told, true)
        {
            let detail = "refused with -32601, while another modern request is served";
            part.push(part.at(&DISCOVER_MISSING, detail).and(other));
        }
    }
}
