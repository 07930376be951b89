//! Rules about capabilities and methods: what a side uses without having declared it, methods that
//! the other side sends or that a revision does not have, updates of resources without a
//! subscription, requests of a server outside of any call, and changed lists that the client never
//! lists again.

use crate::{
    Context, Family, Findings, FrameContext, Handshake, Part, Revisions, Rule, Severity, quote,
    section,
};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::methods::{self, Method, Use};
use mcpreel_wire::message::{Body, Direction, Era, Subject};
use std::sync::Arc;

rules! {
    SERVER = error("cap-server-not-declared", "the client uses what the server has not declared")
        .why("A server without that capability answers with an error or not at all.")
        .fix("Let the client look at the server's capabilities before it asks, or let the server declare what it can do.")
        .of(section::CAPABILITIES)
        .milder_in(Severity::Warning, UNDEMANDED)
        .of_absence();

    CLIENT = error("cap-client-not-declared",
        "the server asks for what the client has not declared")
        .why("A client without that capability answers with an error or not at all, and the call that needs the answer fails or hangs.")
        .fix("Let the server look at the client's capabilities before it asks, and do without where they are missing.")
        .of(section::CAPABILITIES)
        .only(Revisions::LEGACY)
        .milder_in(Severity::Warning, UNDEMANDED)
        .of_absence();

    SUB = error("cap-subcapability",
        "a part of a capability is used that the other side has not declared")
        .why("The other side offers the feature, but not this part of it, and will refuse or ignore what it was asked.")
        .fix("Declare the part that is named, or do without it.")
        .of(section::CAPABILITIES)
        .only(Revisions::LEGACY)
        .milder_in(Severity::Warning, UNDEMANDED)
        .of_absence();

    LIST_CHANGED = warning("cap-list-changed-not-declared",
        "a list is said to have changed by a side that has not declared `listChanged`")
        .why("The other side does not expect it and goes on with the old list.")
        .fix("Declare `listChanged` for that list, or do not send the notification.")
        .of(section::CAPABILITIES)
        .of_absence();

    LOGGING = warning("cap-logging-not-declared",
        "a log message of a server that has not declared `logging`")
        .why("Clients may drop log messages that they do not expect, so that nobody sees them.")
        .fix("Declare `logging` in the server's capabilities, or write to stderr.")
        .of(section::LOGGING)
        .of_absence();

    UPDATED = warning("cap-updated-not-subscribed",
        "an update of a resource that nobody has subscribed to")
        .why("The client has not asked for it and will drop it, or it was meant for another resource that is now out of date.")
        .fix("Let the server send updates only for resources that `resources/subscribe` has named.")
        .of(section::RESOURCES)
        .only(Revisions::LEGACY)
        .of_absence();

    DIRECTION = error("direction-wrong", "a method that only the other side may send")
        .why("The receiver does not serve this method and answers with an error or not at all.")
        .fix("Check whether the roles of client and server are mixed up, or the two ends of the pipe.")
        .of(section::MESSAGES);

    NOT_IN_VERSION = warning("method-not-in-version",
        "a method that the revision in use does not have")
        .why("A peer that keeps to the revision does not know the method, and refuses or ignores it.")
        .fix("Agree on a revision that has the method, or do without it.")
        .of(section::MESSAGES);

    UNKNOWN = note("method-unknown",
        "a method of no revision and of no extension that was declared")
        .why("It may be somebody's own extension, or a misspelled name that nobody will ever answer.")
        .fix("Check the spelling, or declare the extension that defines the method.")
        .of(section::MESSAGES);

    UNRELATED = note("server-request-unrelated",
        "the server asks its client while no request of the client is open")
        .why("Over HTTP there may be no stream to carry it, and later revisions allow the server to ask only within a request of the client.")
        .fix("Let the server ask while it works on the request that needs the answer.")
        .only(Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25))
        .of_absence();

    IGNORED = note("list-changed-ignored",
        "the client was told that a list has changed and has not asked for it again")
        .why("The client goes on with an old list: new tools stay unseen, and calls of old ones fail.")
        .fix("Let the client ask for the list again, or restart it where it cannot.")
        .at_end()
        .of_absence();
}

#[derive(Debug, Default)]
pub struct Capability {
    declared: Declarations,
    methods: Methods,
    updated: Subscriptions,
    unrelated: Unrelated,
    lists: Lists,
}

impl Family for Capability {
    fn name(&self) -> &'static str {
        "capability"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        RULES.to_vec()
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.lists.passed(context.now, findings);
    }

    fn frame(&mut self, seen: &FrameContext<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            match &part.message.body {
                Body::Request(_) => {
                    self.methods.sent(&part, findings);
                    self.declared.request(&part, findings);
                    self.updated.request(&part);
                    self.unrelated.request(&part, findings);
                    self.lists.request(&part);
                }
                Body::Notification(_) => {
                    self.methods.sent(&part, findings);
                    self.declared.notification(&part, findings);
                    self.updated.notification(&part, findings);
                    self.unrelated.notification(&part);
                    self.lists.notification(&part);
                }
                Body::Response(_) => {
                    self.declared.response(&part);
                    self.updated.response(&part);
                }
                Body::Invalid => {}
            }
        }
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>, findings: &mut Findings) {
        self.lists.finish(context.now, findings);
    }
}

/// The first two revisions ask only that undeclared capabilities SHOULD not be used; in the modern
/// era a client need not have asked.
const UNDEMANDED: Revisions = Revisions::ALL
    .without(Revision::V2025_06_18)
    .without(Revision::V2025_11_25);

// The side and the revision that a method belongs to.

/// Unknown methods that have been reported, each once. Without a limit a peer that makes up names
/// would make us grow; beyond it an old one is reported again.
const REPORTED: usize = 256;

#[derive(Debug, Default)]
struct Methods {
    unknown: BoundedMap<Arc<str>, (), REPORTED>,
}

impl Methods {
    fn sent(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(name) = part.method() else { return };
        // A server of the modern era asks nothing at all, which `modern-server-request` tells.
        let is_of_server = part.direction() == Direction::ServerToClient;
        let is_request = matches!(part.message.body, Body::Request(_));
        if is_request && is_of_server && part.seen.known.is_modern() {
            return;
        }
        let Some(method) = methods::find(name) else {
            return self.unknown(part, name, findings);
        };
        let (revision, other) = revisions(part);
        let possible = [Some(revision), other].into_iter().flatten();
        let mut uses = possible.filter_map(|one| method.used_in(one));
        match uses.next() {
            None if other.is_none() => not_in_version(part, method, revision, findings),
            None => {}
            Some(first) => {
                let allows = |usage: &Use| usage.way.allows(part.direction());
                if !allows(first) && !uses.any(allows) {
                    let detail = format!("{} from the {}", method.name, sender(part.direction()));
                    findings.push(part.at(&DIRECTION, detail).path("method"));
                }
            }
        }
    }

    fn unknown(&mut self, part: &Part<'_>, name: &str, findings: &mut Findings) {
        if self.unknown.is_first(name.into()) && !is_extended(part) {
            findings.push(part.at(&UNKNOWN, quote::text(name)).path("method"));
        }
    }
}

fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

/// The revision by which it is meant, and another by which it can be: of a notification that
/// belongs to no request that is not known, where both eras are spoken on one connection.
fn revisions(part: &Part<'_>) -> (Revision, Option<Revision>) {
    let is_loose = matches!(part.message.body, Body::Notification(_)) && part.request().is_none();
    let known = part.seen.known;
    if is_loose && known.handshake != Handshake::None && part.seen.session.eras.len() > 1 {
        return (known.legacy(), Some(Revision::V2026_07_28));
    }
    (part.revision(), None)
}

fn not_in_version(part: &Part<'_>, method: &Method, revision: Revision, findings: &mut Findings) {
    // Before the handshake nobody has agreed on a revision, and a handshake is never modern.
    let is_agreed = revision.era() == Era::Modern || part.seen.known.agreed().is_some();
    if !is_agreed || method.name == "initialize" {
        return;
    }
    let has_it = |one: &Revision| method.used_in(*one).is_some();
    let having: Vec<_> = Revision::ALL.into_iter().filter(has_it).collect();
    let (Some(from), Some(to)) = (having.first(), having.last()) else {
        return;
    };
    let span = if from == to {
        format!("only {from}")
    } else {
        format!("{from} to {to}")
    };
    let detail = format!("{} under {revision}; {span} has it", method.name);
    findings.push(part.at(&NOT_IN_VERSION, detail).path("method"));
}

/// Whether a side has declared something that may define methods of its own.
fn is_extended(part: &Part<'_>) -> bool {
    let client = part.client_capabilities();
    let server = part.server_capabilities();
    client.has_unknown_extensions() || server.is_some_and(Declared::has_unknown_extensions)
}

// Requests of a server that no call of its client needs.

/// Whether the server may ask for the roots at this moment without being asked anything itself.
#[derive(Debug, Default)]
struct Unrelated {
    may_list_roots: bool,
}

impl Unrelated {
    /// A notification: after some of them servers ask for the roots.
    fn notification(&mut self, part: &Part<'_>) {
        self.may_list_roots |= matches!(
            part.method(),
            Some("notifications/initialized" | "notifications/roots/list_changed")
        );
    }

    fn request(&mut self, part: &Part<'_>, findings: &mut Findings) {
        if part.direction() == Direction::ClientToServer {
            return;
        }
        let method = match part.method() {
            Some("roots/list") if std::mem::take(&mut self.may_list_roots) => return,
            Some(method @ ("roots/list" | "sampling/createMessage" | "elicitation/create")) => {
                method
            }
            _ => return,
        };
        let is_of_task = part.message.meta.related_task.is_some();
        let mut open = part.seen.known.open();
        let needs_it = open.any(|(_, asked)| {
            asked.direction == Direction::ClientToServer && &*asked.method != "ping"
        });
        if !is_of_task && !needs_it && !part.seen.known.has_forgotten() {
            findings.push(part.at(&UNRELATED, method));
        }
    }
}

// Updates of resources, and who has subscribed to them.

/// Resources whose subscription is remembered. Beyond it nothing is said about updates any more.
const SUBSCRIBED: usize = 1024;

/// The resources that the client has subscribed to.
#[derive(Debug, Default)]
struct Subscriptions {
    uris: BoundedMap<Arc<str>, (), SUBSCRIBED>,
    /// A subscription is not known whole: what it is a part of nobody can tell.
    is_blind: bool,
}

impl Subscriptions {
    /// A request: it may be one that subscribes. Updates may come from then on.
    fn request(&mut self, part: &Part<'_>) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        if &*request.method != "resources/subscribe" {
            return;
        }
        match &request.name {
            Some(uri) if !brief::is_brief(uri) && part.value.is_some() => {
                self.uris.insert((&**uri).into(), ());
            }
            _ => self.is_blind = true,
        }
    }

    /// A response: a subscription has ended when the server has said so.
    fn response(&mut self, part: &Part<'_>) {
        if part.method() == Some("resources/unsubscribe")
            && let Some(uri) = part.request().and_then(|asked| asked.name.as_deref())
        {
            self.uris.remove(uri);
        }
    }

    /// A notification: it may be an update.
    fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let is_update = part.method() == Some("notifications/resources/updated")
            && part.direction() == Direction::ServerToClient
            && part.era() == Era::Legacy;
        if !is_update || self.is_blind || self.uris.has_forgotten() {
            return;
        }
        if let Subject::Other { name: Some(uri) } = &notification.subject
            && !brief::is_brief(uri)
            && !self.uris.contains(&**uri)
            && !self.uris.iter().any(|(known, ())| is_within(uri, known))
        {
            let finding = part.at(&UPDATED, quote::text(uri));
            findings.push(finding.path("params.uri"));
        }
    }
}

/// Whether a resource is `known` or a part of it: updates may name a part of what was subscribed.
pub(crate) fn is_within(uri: &str, known: &str) -> bool {
    uri.starts_with(known)
}

// Changes that the client did not look at, although it had looked before.

/// How long a client may take before it is said to ignore a change, nanoseconds.
const PATIENCE_NS: u64 = 30_000_000_000;

/// How long it may take where the recording ends, nanoseconds: who is about to leave does not ask
/// again.
const PATIENCE_AT_END_NS: u64 = 5_000_000_000;

const LISTS: [(&str, &str); 3] = [
    ("tools", "notifications/tools/list_changed"),
    ("prompts", "notifications/prompts/list_changed"),
    ("resources", "notifications/resources/list_changed"),
];

#[derive(Debug, Default)]
struct Lists([State; 3]);

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The client has not asked for it, or has been reported since.
    #[default]
    Unlisted,
    /// The client has asked for it as it is.
    Listed,
    /// It has changed since, first in this frame.
    Changed(Moment, Seq),
}

impl Lists {
    /// A request: it may ask for a list.
    fn request(&mut self, part: &Part<'_>) {
        let at = match part.method() {
            Some("tools/list") => 0,
            Some("prompts/list") => 1,
            Some("resources/list" | "resources/templates/list") => 2,
            _ => return,
        };
        if part.direction() == Direction::ClientToServer {
            self.0[at] = State::Listed;
        }
    }

    /// A notification: it may tell of a change.
    fn notification(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| it.ends_with("/list_changed")) else {
            return;
        };
        let lists = LISTS.iter().zip(&mut self.0);
        for ((_, changed), state) in lists {
            if *changed == method && matches!(state, State::Listed) {
                *state = State::Changed(part.seen.head.t_last, part.seen.head.seq);
            }
        }
    }

    fn passed(&mut self, now: Moment, findings: &mut Findings) {
        self.ignored(now, PATIENCE_NS, findings);
    }

    fn finish(&mut self, now: Moment, findings: &mut Findings) {
        self.ignored(now, PATIENCE_AT_END_NS, findings);
    }

    fn ignored(&mut self, now: Moment, patience_ns: u64, findings: &mut Findings) {
        for ((list, _), state) in LISTS.iter().zip(&mut self.0) {
            let State::Changed(t, frame) = *state else {
                continue;
            };
            let after_ns = now.0.saturating_sub(t.0);
            if after_ns >= patience_ns {
                *state = State::Unlisted;
                let detail = format!("{list}: not within {} s", after_ns / 1_000_000_000);
                findings.push(IGNORED.at(frame, detail));
            }
        }
    }
}

// Capabilities that were used without having been declared.
//
// What a client declared is known from `initialize` on, what a server declared from its answer
// on; in the modern era only where somebody asked the server. Clients of the modern era need not
// ask, so there it is no more than a warning.

/// What must be known about declarations beside the declarations.
#[derive(Debug, Default)]
struct Declarations {
    /// The handshake was read by its outline only: what was declared is not known.
    is_blind: bool,
}

impl Declarations {
    /// A response: it may be one that declares.
    fn response(&mut self, part: &Part<'_>) {
        let declares = matches!(part.method(), Some("initialize" | "server/discover"));
        self.is_blind |= declares && part.value.is_none();
    }

    fn request(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.is_blind |= part.method() == Some("initialize") && part.value.is_none();
        if self.is_blind {
            return;
        }
        match part.direction() {
            Direction::ClientToServer => {
                if let Some(declared) = of_server(part) {
                    request(part, declared, &SERVER, findings);
                    if part.method() == Some("tools/call") {
                        task(part, declared, findings);
                    }
                }
            }
            Direction::ServerToClient => {
                if let Some(declared) = of_client(part) {
                    request(part, declared, &CLIENT, findings);
                    asked_of_client(part, declared, findings);
                }
            }
        }
    }

    fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let rule = match part.method() {
            Some("notifications/message") => &LOGGING,
            Some(name) if name.ends_with("/list_changed") => &LIST_CHANGED,
            _ => return,
        };
        let declared = match part.direction() {
            Direction::ClientToServer => of_client(part),
            Direction::ServerToClient => of_server(part),
        };
        let Some((name, needed)) = needed(part) else {
            return;
        };
        let lacks = |declared: &Declared| !declared.has(needed) && declared.is_whole();
        if !self.is_blind && declared.is_some_and(lacks) {
            findings.push(part.at(rule, format!("{name} without {needed}")));
        }
    }
}

/// What the server has declared, where that is known.
fn of_server<'a>(part: &Part<'a>) -> Option<&'a Declared> {
    let known = part.seen.known;
    match part.era() {
        Era::Modern => known.discovered.as_ref(),
        Era::Legacy => known.server.as_ref(),
    }
}

/// What the client has declared in the handshake, where there was one.
fn of_client<'a>(part: &Part<'a>) -> Option<&'a Declared> {
    let known = part.seen.known;
    (part.era() == Era::Legacy && known.handshake != Handshake::None).then_some(&known.client)
}

/// The method of a message and what must have been declared for it.
fn needed(part: &Part<'_>) -> Option<(&'static str, &'static str)> {
    let method = methods::find(part.method()?)?;
    Some((method.name, method.used_in(part.revision())?.capability?))
}

fn request(part: &Part<'_>, declared: &Declared, rule: &'static Rule, findings: &mut Findings) {
    let Some((method, needed)) = needed(part) else {
        return;
    };
    if declared.has(needed) || !declared.is_whole() {
        return;
    }
    let whole = needed.split('.').next().unwrap_or(needed);
    let (rule, missing) = if declared.has(whole) {
        (&SUB, needed)
    } else {
        (rule, whole)
    };
    findings.push(part.at(rule, format!("{method} without {missing}")));
}

/// A use of a part of a capability that was not declared.
fn lacks(part: &Part<'_>, declared: &Declared, needed: &str, what: &str, findings: &mut Findings) {
    if declared.has(needed) || !declared.is_whole() {
        return;
    }
    let member = what.split(' ').next().unwrap_or(what);
    let finding = part.at(&SUB, format!("{what} without {needed}"));
    findings.push(finding.path(format!("params.{member}")));
}

/// A call that asks for a task (2025-11-25).
fn task(part: &Part<'_>, declared: &Declared, findings: &mut Findings) {
    let Body::Request(request) = &part.message.body else {
        return;
    };
    let asks = request.task && part.revision() == Revision::V2025_11_25;
    if asks && declared.has("tools") {
        lacks(
            part,
            declared,
            "tasks.requests.tools.call",
            "task",
            findings,
        );
    }
}

/// What the server asks of its client, beyond the method (2025-11-25).
fn asked_of_client(part: &Part<'_>, declared: &Declared, findings: &mut Findings) {
    if part.revision() != Revision::V2025_11_25 {
        return;
    }
    let param = |name: &str| part.param(name);
    match part.method() {
        Some("sampling/createMessage") if declared.has("sampling") => {
            if let Some(what) = tool_use(param) {
                lacks(part, declared, "sampling.tools", what, findings);
            }
        }
        Some("elicitation/create") if declared.has("elicitation") => {
            if let Some(missing) = missing_mode(param("mode"), declared) {
                lacks(part, declared, missing, "mode", findings);
            }
        }
        _ => {}
    }
}

/// The param by which sampling is asked to use tools.
fn tool_use<'a>(param: impl Fn(&str) -> Option<Value<'a>>) -> Option<&'static str> {
    let given = |name: &&str| param(name).is_some_and(|value| !value.is_null());
    ["tools", "toolChoice"].into_iter().find(given)
}

/// The capability that the mode of an elicitation needs and that is missing; `form` is what is
/// meant where neither side says a mode.
pub(crate) fn missing_mode(mode: Option<Value<'_>>, declared: &Declared) -> Option<&'static str> {
    let says_none = !declared.has("elicitation.form") && !declared.has("elicitation.url");
    let is = |name: &str| mode.is_some_and(|mode| mode.is_str(name));
    let has_form = declared.has("elicitation.form") || says_none && declared.has("elicitation");
    if mode.is_none() || is("form") {
        (!has_form).then_some("elicitation.form")
    } else {
        (is("url") && !declared.has("elicitation.url")).then_some("elicitation.url")
    }
}
