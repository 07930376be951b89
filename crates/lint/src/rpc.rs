//! Rules about JSON-RPC: the shape of messages, their ids and the names of their methods.

use crate::quote::{self, Trail};
use crate::{Family, Finding, FrameContext, Part, Rule, section};
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Body, Direction, Message, Problem};

rules! {
    VERSION = error("rpc-version").of(section::MESSAGES)
        .finds("`jsonrpc` is missing or not \"2.0\"")
        .why("Peers refuse a message that does not say it is JSON-RPC 2.0.")
        .fix("Put `\"jsonrpc\":\"2.0\"`, a string, into every message.");

    UNCLASSIFIABLE = error("rpc-unclassifiable").of(section::MESSAGES)
        .finds("an object without `method`, `result` and `error`")
        .why("It is neither request nor notification nor response, so the other side cannot act on it.")
        .fix("Send a `method` to ask or tell, a `result` or an `error` to answer; logs belong on stderr.");

    METHOD_NOT_STRING = error("rpc-method-not-string").of(section::REQUESTS)
        .finds("`method` is not a string")
        .why("The other side cannot tell what is asked for and refuses the message.")
        .fix("Send the method's name as a string.");

    METHOD_AND_RESULT = error("rpc-method-and-result").of(section::MESSAGES)
        .finds("`method` together with `result` or `error`")
        .why("One peer reads a request in it, another a response.")
        .fix("Leave `method` out of responses, and `result` and `error` out of requests.");

    PARAMS_NOT_OBJECT = error("rpc-params-not-object").of(section::REQUESTS)
        .finds("`params` is no object")
        .why("MCP knows parameters by name only, and peers refuse lists, scalars and null.")
        .fix("Send `params` as an object, or leave it out where there is nothing to say.");

    RESULT_AND_ERROR = error("rpc-result-and-error").of(section::RESPONSES)
        .finds("both `result` and `error`")
        .why("One peer takes the request as done, another as failed.")
        .fix("Send exactly one of the two, and leave the other out instead of setting it to null.");

    RESULT_NOT_OBJECT = error("rpc-result-not-object").of(section::RESPONSES)
        .finds("`result` is no object")
        .why("Typed clients fail to read such a result, and the call fails with it.")
        .fix("Send an object, an empty one where there is nothing to say.");

    ERROR_SHAPE = error("rpc-error-shape").of(section::RESPONSES)
        .finds("`error` lacks `code` or `message`, or is no object")
        .why("Clients cannot read the error, and show a parse error in place of what went wrong.")
        .fix("Send `error` as an object with an integer `code` and a string `message`.");

    ERROR_CODE = error("rpc-error-code").of(section::RESPONSES)
        .finds("`error.code` is no integer")
        .why("Typed clients refuse the whole response, so that the error itself is lost.")
        .fix("Send the number, and put a name of your own into `error.data`.");

    UNKNOWN_MEMBER = note("rpc-unknown-member").of(section::MESSAGES)
        .finds("a member at the top of a message that JSON-RPC does not have")
        .why("Strict peers refuse the message, all others ignore the member.")
        .fix("Put what you want to add into `_meta` of `params` or `result`.");

    ID_NULL = error("id-null").of(section::REQUESTS)
        .finds("a request with the id `null`")
        .why("Its answer cannot be told from an error about an unreadable message.")
        .fix("Give every request a string or an integer as its id, and leave it out of notifications.");

    ID_TYPE = error("id-type").of(section::REQUESTS)
        .finds("an id that is neither string nor integer")
        .why("Peers refuse the message, or answer with an id that does not match.")
        .fix("Use strings or integers as ids.");

    REQUEST_WITHOUT_ID = error("request-without-id").of(section::REQUESTS)
        .finds("a method that is a request, sent without an id")
        .why("Without an id it is a notification, which gets no answer.")
        .fix("Add an id that this side has not used before.");

    NOTIFICATION_WITH_ID = error("notification-with-id").of(section::NOTIFICATIONS)
        .finds("a notification that is sent with an id")
        .why("With an id it is a request: the other side answers that it knows no such method.")
        .fix("Leave the id out of everything that wants no answer.");

    RESPONSE_MISSING_ID = warning("response-missing-id").of(section::RESPONSES)
        .finds("a response without an id, though nothing unreadable was sent")
        .why("Without an id it answers no request, so the one that it was meant for waits until it times out.")
        .fix("Copy the request's id, with its type, into the response.");

    PING_RESULT = note("ping-result-not-empty").of_legacy(section::PING)
        .finds("the answer to a ping says more than it should")
        .why("A ping is answered with an empty result, and strict peers refuse anything else.")
        .fix("Answer `ping` with `\"result\":{}`.");

    DIALECT_METHOD = warning("dialect-method").of(section::MESSAGES)
        .finds("a method under a name that MCP does not use for it")
        .why("Peers do not know the name: a request fails, and a notification is ignored without a word.")
        .fix("Use the name of the protocol.");
}

/// The family of JSON-RPC rules. It remembers whether the other side could not read a message: that
/// excuses responses without an id.
#[derive(Debug, Default)]
pub struct Rpc {
    unreadable_c2s: bool,
    unreadable_s2c: bool,
}

impl Family for Rpc {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        if let Some(direction) = seen.head.stream.messages() {
            *self.unreadable(direction) |= !seen.content.problems.iter().all(is_readable);
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        let (direction, problems) = (part.direction(), &part.message.problems);
        // It may be the answer to something unreadable of the other side.
        let is_excused = *self.unreadable(direction.reverse());
        for problem in problems {
            let is_told = *problem != Problem::ResponseWithoutId || !is_excused;
            part.extend(finding(problem, part).filter(|_| is_told));
        }
        unknown_members(part);
        dialect_method(part);
        *self.unreadable(direction) |= !problems.iter().all(is_readable);
    }
}

impl Rpc {
    fn unreadable(&mut self, direction: Direction) -> &mut bool {
        match direction {
            Direction::ClientToServer => &mut self.unreadable_c2s,
            Direction::ServerToClient => &mut self.unreadable_s2c,
        }
    }
}

/// Whether a peer that meets the problem can still tell the id of the message.
fn is_readable(problem: &Problem) -> bool {
    !matches!(
        problem,
        Problem::NotJson { .. }
            | Problem::TooDeep { .. }
            | Problem::Truncated
            | Problem::InvalidUtf8 { .. }
            | Problem::NotObject { .. }
            | Problem::EmptyBatch
            | Problem::Unclassifiable
            | Problem::MethodNotString
            | Problem::IdNull
            | Problem::IdType
            | Problem::RequestWithoutId
    )
}

/// Describes a message in a few words: `request tools/call, id 7`.
pub(super) fn describe(message: &Message, batch: bool) -> String {
    let method = |method: &str| quote::text(method);
    let mut what = match &message.body {
        Body::Request(request) => {
            let id = quote::text(request.id.json());
            format!("request {}, id {id}", method(&request.method))
        }
        Body::Notification(notification) => {
            format!("notification {}", method(&notification.method))
        }
        Body::Response(response) => match &response.id {
            Some(id) => format!("response, id {}", quote::text(id.json())),
            None => "response without id".to_owned(),
        },
        Body::Invalid => "no message".to_owned(),
    };
    if batch {
        what = format!("{what} (part {} of the batch)", message.part);
    }
    what
}

/// The finding of a problem that was met when the message was read, if it is one of this family.
fn finding(problem: &Problem, part: &Part<'_>) -> Option<Finding> {
    let shown = |member: &str| part.get(member).map(kind_and_text);
    let (rule, path, more): (&'static Rule, _, _) = match problem {
        Problem::Version => {
            let says = |version: Value<'_>| format!("it says {}", quote::bytes(version.raw()));
            let none = || part.value.map(|_| "there is none".to_owned());
            (
                &VERSION,
                "jsonrpc",
                part.get("jsonrpc").map(says).or_else(none),
            )
        }
        Problem::Unclassifiable => (&UNCLASSIFIABLE, "", None),
        Problem::MethodNotString => (&METHOD_NOT_STRING, "method", shown("method")),
        Problem::MethodAndResult => (&METHOD_AND_RESULT, "method", None),
        Problem::ResultAndError => (&RESULT_AND_ERROR, "", None),
        Problem::ParamsNotObject => (&PARAMS_NOT_OBJECT, "params", shown("params")),
        Problem::ResultNotObject => (&RESULT_NOT_OBJECT, "result", shown("result")),
        Problem::ErrorShape => (&ERROR_SHAPE, "error", shown("error")),
        Problem::ErrorCode => {
            let code = part.error().and_then(|error| error.get("code"));
            let shown = code.map(|code| quote::bytes(code.raw()));
            (&ERROR_CODE, "error.code", shown)
        }
        Problem::IdNull => (&ID_NULL, "id", None),
        Problem::IdType => (&ID_TYPE, "id", None),
        Problem::NotificationWithId => (&NOTIFICATION_WITH_ID, "id", None),
        Problem::RequestWithoutId => (&REQUEST_WITHOUT_ID, "", None),
        Problem::ResponseWithoutId if part.seen.is_refusal() => return None,
        Problem::ResponseWithoutId => (&RESPONSE_MISSING_ID, "", None),
        _ => return None,
    };
    let mut detail = describe(part.message, part.seen.content.batch);
    if let Some(more) = more {
        detail = format!("{detail}: {more}");
    }
    let finding = part.at(rule, detail);
    let top = path.split('.').next();
    let member_exists = top.and_then(|top| part.get(top)).is_some();
    Some(if member_exists {
        finding.path(path)
    } else {
        finding
    })
}

fn kind_and_text(value: Value<'_>) -> String {
    format!("{}, {}", value.kind().as_str(), quote::bytes(value.raw()))
}

/// Names that a finding lists; of more it says how many. A hostile message could have a million.
const LISTED: usize = 4;

/// Members that no message has, and those of results that must have none.
fn unknown_members(part: &Part<'_>) {
    let Some(value) = part.value else { return };
    if matches!(part.message.body, Body::Invalid) {
        return;
    }
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    let unknown = value.members().map(|(name, _)| name);
    let unknown = unknown.filter(|name| !known.iter().any(|known| name.is_str(known)));
    if let Some((first, detail)) = listed(unknown) {
        let path = Trail::Named(&Trail::Top, first).path();
        part.tell_at(&UNKNOWN_MEMBER, path, detail);
    }
    if matches!(part.message.body, Body::Response(_)) && part.method() == Some("ping") {
        let result = part.result();
        let members = result.iter().flat_map(Value::members).map(|(name, _)| name);
        if let Some((_, detail)) = listed(members.filter(|name| !name.is_str("_meta"))) {
            part.tell_at(&PING_RESULT, "result", detail);
        }
    }
}

/// The first of some names, and the first few of them in words.
fn listed<'v>(mut names: impl Iterator<Item = Value<'v>>) -> Option<(Value<'v>, String)> {
    let few: Vec<_> = names.by_ref().take(LISTED).collect();
    let shown: Vec<_> = few.iter().map(|name| quote::bytes(name.raw())).collect();
    let mut shown = shown.join(", ");
    let more = names.count();
    if more > 0 {
        shown = format!("{shown} and {more} more");
    }
    Some((*few.first()?, shown))
}

// Names of methods that peers use in place of the protocol's.

/// Tells a name that is not the protocol's.
fn dialect_method(part: &Part<'_>) {
    let (ours, theirs) = (part.method(), part.record.method.as_deref());
    if ours != theirs && !matches!(part.message.body, Body::Response(_)) {
        let [ours, theirs] = [ours, theirs].map(Option::unwrap_or_default);
        let detail = format!("{} is {ours} here", quote::text(theirs));
        part.tell_at(&DIALECT_METHOD, "method", detail);
    }
}
