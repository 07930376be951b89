//! Rules about capabilities and methods: what a side uses without having declared it, methods that
//! the other side sends or that a revision does not have, updates of resources without a
//! subscription, requests of a server outside of any call, and changed lists that the client never
//! lists again.

use crate::{Context, Family, Handshake, Part, Revisions, Severity, quote, section};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::methods::{self, LISTS, Method, Use};
use mcpreel_wire::message::{Body, Direction, Era, Problem, Subject};
use mcpreel_wire::text::duration;
use std::sync::Arc;

rules! {
    SERVER = error("cap-server-not-declared").of(section::CAPABILITIES)
        .milder_in(Severity::Warning, UNDEMANDED).of_absence()
        .finds("the client uses what the server has not declared")
        .why("A server without that capability answers with an error or not at all.")
        .fix("Let the client look at the server's capabilities before it asks, or let the server declare what it can do.");

    CLIENT = error("cap-client-not-declared").of_legacy(section::CAPABILITIES)
        .milder_in(Severity::Warning, UNDEMANDED).of_absence()
        .finds("the server asks for what the client has not declared")
        .why("A client without that capability answers with an error or not at all, and the call that needs the answer fails or hangs.")
        .fix("Let the server look at the client's capabilities before it asks, and do without where they are missing.");

    SUB = error("cap-subcapability").of_legacy(section::CAPABILITIES)
        .milder_in(Severity::Warning, UNDEMANDED).of_absence()
        .finds("a part of a capability is used that the other side has not declared")
        .why("The other side offers the feature, but not this part of it, and will refuse or ignore what it was asked.")
        .fix("Declare the part that is named, or do without it.");

    LIST_CHANGED = warning("cap-list-changed-not-declared").of(section::CAPABILITIES).of_absence()
        .finds("a list is said to have changed by a side that has not declared `listChanged`")
        .why("The other side does not expect it and goes on with the old list.")
        .fix("Declare `listChanged` for that list, or do not send the notification.");

    LOGGING = warning("cap-logging-not-declared").of(section::LOGGING).of_absence()
        .finds("a log message of a server that has not declared `logging`")
        .why("Clients may drop log messages that they do not expect.")
        .fix("Declare `logging` in the server's capabilities, or write to stderr.");

    UPDATED = warning("cap-updated-not-subscribed").of_legacy(section::RESOURCES).of_absence()
        .finds("an update of a resource without a subscription")
        .why("The client has not asked for it and will drop it, or it was meant for another resource that is now out of date.")
        .fix("Let the server send updates only for resources that `resources/subscribe` has named.");

    DIRECTION = error("direction-wrong").of(section::MESSAGES)
        .finds("a method that only the other side may send")
        .why("The receiver does not serve this method and answers with an error or not at all.")
        .fix("Check whether the roles of client and server are mixed up, or the two ends of the pipe.");

    NOT_IN_VERSION = warning("method-not-in-version").of(section::MESSAGES)
        .finds("a method that the revision in use does not have")
        .why("A peer that keeps to the revision does not know the method, and refuses or ignores it.")
        .fix("Agree on a revision that has the method, or do without it.");

    UNKNOWN = note("method-unknown").of(section::MESSAGES)
        .finds("a method of no revision and of no extension that was declared")
        .why("It may be a private extension, or a misspelled name that is never answered.")
        .fix("Check the spelling, or declare the extension that defines the method.");

    UNRELATED = note("server-request-unrelated")
        .only(Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25)).of_absence()
        .finds("the server asks its client while no request of the client is open")
        .why("Over HTTP there may be no stream to carry it, and later revisions allow the server to ask only within a request of the client.")
        .fix("Let the server ask while it works on the request that needs the answer.");

    IGNORED = note("list-changed-ignored").at_end().of_absence()
        .finds("the client was told that a list has changed and has not asked for it again")
        .why("The client goes on with an old list: new tools stay unseen, and calls of old ones fail.")
        .fix("Let the client ask for the list again, or restart it where it cannot.");
}

/// Unknown methods that have been reported, each once. Without a limit a peer that makes up names
/// would make us grow; beyond it an old one is reported again.
const REPORTED: usize = 256;

#[derive(Debug, Default)]
pub struct Capability {
    unknown_methods: BoundedMap<Arc<str>, (), REPORTED>,
    /// The handshake was read by its outline only: what was declared is not known.
    is_blind: bool,
    subscriptions: Subscriptions,
    /// Whether the server may ask for the roots without being asked anything itself.
    may_list_roots: bool,
    lists: Lists,
}

impl Family for Capability {
    fn passed(&mut self, context: &Context<'_>) {
        self.lists.ignored(context, PATIENCE_NS);
    }

    fn part(&mut self, part: &Part<'_>) {
        let declares = matches!(part.method(), Some("initialize" | "server/discover"));
        self.is_blind |= declares && part.value.is_none();
        self.subscriptions.part(part);
        match &part.message.body {
            Body::Request(_) => {
                self.sent(part);
                self.request(part);
                self.unrelated(part);
                self.lists.request(part);
            }
            Body::Notification(_) => {
                self.sent(part);
                self.notification(part);
                self.may_list_roots |= matches!(
                    part.method(),
                    Some("notifications/initialized" | "notifications/roots/list_changed")
                );
                self.lists.notification(part);
            }
            _ => {}
        }
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>) {
        self.lists.ignored(context, PATIENCE_AT_END_NS);
    }
}

/// The first two revisions ask only that undeclared capabilities SHOULD not be used; in the modern
/// era a client need not have asked.
const UNDEMANDED: Revisions = Revisions::ALL
    .without(Revision::V2025_06_18)
    .without(Revision::V2025_11_25);

impl Capability {
    /// The side and the revision that the method of a message belongs to.
    fn sent(&mut self, part: &Part<'_>) {
        let Some(name) = part.method() else { return };
        let is_of_server = part.direction() == Direction::ServerToClient;
        let is_request = matches!(part.message.body, Body::Request(_));
        // A server of the modern era asks nothing at all, which `modern-server-request` tells.
        if is_request && is_of_server && part.seen.known.is_modern() {
            return;
        }
        let Some(method) = methods::find(name) else {
            let is_name = !part.message.problems.contains(&Problem::MethodNotString);
            if is_name && self.unknown_methods.is_first(name.into()) && !is_extended(part) {
                part.tell_at(&UNKNOWN, "method", quote::text(name));
            }
            return;
        };
        // A notification that belongs to no known request may be meant by either of two eras that
        // are spoken on one connection.
        let known = part.seen.known;
        let is_loose = !is_request
            && part.request().is_none()
            && known.handshake != Handshake::None
            && part.seen.session.eras.len() > 1;
        let revision = part.revision();
        let possible = if is_loose {
            [known.legacy(), Revision::V2026_07_28]
        } else {
            [revision; 2]
        };
        let uses = possible.map(|one| method.used_in(one));
        let allows = |usage: &Use| usage.way.allows(part.direction());
        if uses == [None; 2] {
            if !is_loose {
                not_in_version(part, method, revision);
            }
        } else if !uses.into_iter().flatten().any(allows) {
            let sender = if is_of_server { "server" } else { "client" };
            let detail = format!("{} from the {sender}", method.name);
            part.tell_at(&DIRECTION, "method", detail);
        }
    }

    /// A use of what was not declared. What a client declared is known from `initialize` on, what
    /// a server declared from its answer on; in the modern era only where somebody asked.
    fn request(&self, part: &Part<'_>) {
        let (declared, rule) = match part.direction() {
            Direction::ClientToServer => (part.server_capabilities(), &SERVER),
            Direction::ServerToClient => (of_client(part), &CLIENT),
        };
        let Some(declared) = declared.filter(|it| it.is_whole() && !self.is_blind) else {
            return;
        };
        if let Some((method, needed)) = needed(part)
            && !declared.has(needed)
        {
            let whole = needed.split('.').next().unwrap_or(needed);
            let has = declared.has(whole);
            let (rule, missing) = if has { (&SUB, needed) } else { (rule, whole) };
            part.tell(rule, format!("{method} without {missing}"));
        }
        if part.revision() != Revision::V2025_11_25 {
            return;
        }
        // What is asked for beyond the method.
        let given = |name: &&str| part.param(name).is_some_and(|value| !value.is_null());
        let is_task = part.request().is_some_and(|asked| asked.task);
        let (needed, member) = match part.method() {
            Some("tools/call") if is_task && declared.has("tools") => {
                (Some("tasks.requests.tools.call"), Some("task"))
            }
            Some("sampling/createMessage") if declared.has("sampling") => (
                Some("sampling.tools"),
                ["tools", "toolChoice"].into_iter().find(given),
            ),
            Some("elicitation/create") if declared.has("elicitation") => {
                (missing_mode(part.param("mode"), declared), Some("mode"))
            }
            _ => return,
        };
        if let Some((needed, member)) = needed.zip(member)
            && !declared.has(needed)
        {
            let detail = format!("{member} without {needed}");
            part.tell_at(&SUB, format!("params.{member}"), detail);
        }
    }

    fn notification(&self, part: &Part<'_>) {
        let rule = match part.method() {
            Some("notifications/message") => &LOGGING,
            Some(name) if name.ends_with("/list_changed") => &LIST_CHANGED,
            _ => return,
        };
        let declared = match part.direction() {
            Direction::ClientToServer => of_client(part),
            Direction::ServerToClient => part.server_capabilities(),
        };
        let declared = declared.filter(|it| it.is_whole() && !self.is_blind);
        if let (Some(declared), Some((name, needed))) = (declared, needed(part))
            && !declared.has(needed)
        {
            part.tell(rule, format!("{name} without {needed}"));
        }
    }

    /// A request of the server that no call of its client needs.
    fn unrelated(&mut self, part: &Part<'_>) {
        let method = match part.method() {
            _ if part.direction() == Direction::ClientToServer => return,
            Some("roots/list") if std::mem::take(&mut self.may_list_roots) => return,
            Some(method @ ("roots/list" | "sampling/createMessage" | "elicitation/create")) => {
                method
            }
            _ => return,
        };
        let known = part.seen.known;
        let needs_it = known.open().any(|(_, asked)| {
            asked.direction == Direction::ClientToServer && &*asked.method != "ping"
        });
        let is_of_task = part.message.meta.related_task.is_some();
        if !is_of_task && !needs_it && !known.has_forgotten() {
            part.tell(&UNRELATED, method);
        }
    }
}

fn not_in_version(part: &Part<'_>, method: &Method, revision: Revision) {
    // Before the handshake nobody has agreed on a revision, and a handshake is never modern.
    let is_agreed = revision.era() == Era::Modern || part.seen.known.agreed().is_some();
    let mut having = Revision::ALL
        .iter()
        .filter(|one| method.used_in(**one).is_some());
    let Some(from) = having
        .next()
        .filter(|_| is_agreed && method.name != "initialize")
    else {
        return;
    };
    let span = match having.next_back() {
        Some(to) => format!("{from} to {to}"),
        None => format!("only {from}"),
    };
    let detail = format!("{} under {revision}; {span} has it", method.name);
    part.tell_at(&NOT_IN_VERSION, "method", detail);
}

/// Whether a side has declared something that may define methods of its own.
fn is_extended(part: &Part<'_>) -> bool {
    let client = part.client_capabilities();
    let server = part.server_capabilities();
    client.has_unknown_extensions() || server.is_some_and(Declared::has_unknown_extensions)
}

/// The client's capabilities in the handshake, if there was one.
fn of_client<'a>(part: &Part<'a>) -> Option<&'a Declared> {
    let known = part.seen.known;
    (part.era() == Era::Legacy && known.handshake != Handshake::None).then_some(&known.client)
}

/// The method of a message and what must have been declared for it. A method that only the other
/// side may send needs no capability: `direction-wrong` reports the message.
fn needed(part: &Part<'_>) -> Option<(&'static str, &'static str)> {
    let method = methods::find(part.method()?)?;
    let usage = method.used_in(part.revision())?;
    let capability = usage.capability?;
    let is_allowed = usage.way.allows(part.direction());
    is_allowed.then_some((method.name, capability))
}

/// The capability that the mode of an elicitation needs and that is missing; `form` is what is
/// meant where neither side says a mode.
pub(crate) fn missing_mode(mode: Option<Value<'_>>, declared: &Declared) -> Option<&'static str> {
    let [form, url] = ["elicitation.form", "elicitation.url"];
    let is = |name: &str| mode.is_some_and(|mode| mode.is_str(name));
    let says_none = !declared.has(form) && !declared.has(url);
    let has_form = declared.has(form) || says_none && declared.has("elicitation");
    if mode.is_none() || is("form") {
        (!has_form).then_some(form)
    } else {
        (is("url") && !declared.has(url)).then_some(url)
    }
}

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
    fn part(&mut self, part: &Part<'_>) {
        match (&part.message.body, part.method()) {
            // Updates may come as soon as the client has asked.
            (Body::Request(request), Some("resources/subscribe")) => match &request.name {
                Some(uri) if !brief::is_brief(uri) && part.value.is_some() => {
                    self.uris.insert((&**uri).into(), ());
                }
                _ => self.is_blind = true,
            },
            // A subscription has ended when the server has said so.
            (Body::Response(_), Some("resources/unsubscribe")) => {
                if let Some(uri) = part.request().and_then(|asked| asked.name.as_deref()) {
                    self.uris.remove(uri);
                }
            }
            (Body::Notification(notification), Some("notifications/resources/updated")) => {
                let is_legacy = part.era() == Era::Legacy;
                if let Subject::Other { name: Some(uri) } = &notification.subject
                    && part.direction() == Direction::ServerToClient
                    && is_legacy
                    && !(self.is_blind || self.uris.has_forgotten() || brief::is_brief(uri))
                    // Updates may name a part of what was subscribed.
                    && !self.uris.iter().any(|(known, ())| uri.starts_with(&**known))
                {
                    part.tell_at(&UPDATED, "params.uri", quote::text(uri));
                }
            }
            _ => {}
        }
    }
}

/// A client that takes longer to list again ignores a change, nanoseconds.
const PATIENCE_NS: u64 = 30_000_000_000;

/// The same where the recording ends, nanoseconds: a client that is about to leave does not ask
/// again.
const PATIENCE_AT_END_NS: u64 = 5_000_000_000;

/// Lists that the client has asked for, by the notifications that say that they have changed: when
/// and in which frame a list has changed since.
#[derive(Debug, Default)]
struct Lists(Vec<(&'static str, Option<(Moment, Seq)>)>);

impl Lists {
    fn request(&mut self, part: &Part<'_>) {
        let list = part.method().and_then(methods::list_of);
        if let Some(list) = list.filter(|_| part.direction() == Direction::ClientToServer) {
            self.0.retain(|(changed, _)| *changed != list.changed);
            self.0.push((list.changed, None));
        }
    }

    fn notification(&mut self, part: &Part<'_>) {
        // The answer to a client that is listing right now may have the change already.
        let is_listing = part.seen.known.open().any(|(_, asked)| {
            let list = methods::list_of(&asked.method);
            list.is_some_and(|list| Some(list.changed) == part.method())
        });
        let mut known = self.0.iter_mut();
        let listed = known.find(|(changed, _)| Some(*changed) == part.method());
        if let Some((_, since)) = listed.filter(|_| !is_listing) {
            since.get_or_insert((part.seen.head.t_last, part.seen.head.seq));
        }
    }

    /// Tells the changes that the client did not look at, although it had looked before.
    fn ignored(&mut self, context: &Context<'_>, patience_ns: u64) {
        self.0.retain(|(changed, since)| {
            let Some((t, frame)) = *since else {
                return true;
            };
            let after_ns = context.now.ns_since(t);
            if after_ns >= patience_ns {
                let list = LISTS.iter().find(|list| list.changed == *changed);
                let list = list.map_or("", |list| list.member);
                let detail = format!("{list}: not within {}", duration(after_ns));
                context.findings.push(IGNORED.at(frame, detail));
            }
            after_ns < patience_ns
        });
    }
}
