//! Rules about JSON-RPC: the shape of messages, their ids and the names of their methods.

use super::quote::Trail;
use crate::{Family, Finding, FrameContext, Part, quote, section};
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::{errors, methods};
use mcpreel_wire::message::{Body, Direction, Message, Problem};

rules! {
    VERSION = error("rpc-version", "`jsonrpc` is missing or not \"2.0\"")
        .why("Peers refuse a message that does not say it is JSON-RPC 2.0.")
        .fix("Put `\"jsonrpc\":\"2.0\"`, a string, into every message.")
        .of(section::MESSAGES);

    UNCLASSIFIABLE = error("rpc-unclassifiable", "an object without `method`, `result` and `error`")
        .why("It is neither request nor notification nor response, so the other side cannot act on it.")
        .fix("Send a `method` to ask or tell, a `result` or an `error` to answer; logs belong on stderr.")
        .of(section::MESSAGES);

    METHOD_NOT_STRING = error("rpc-method-not-string", "`method` is no string")
        .why("The other side cannot tell what is asked for and refuses the message.")
        .fix("Send the method's name as a string.")
        .of(section::REQUESTS);

    METHOD_AND_RESULT = error("rpc-method-and-result", "`method` together with `result` or `error`")
        .why("One peer reads a request in it, another a response.")
        .fix("Leave `method` out of responses, and `result` and `error` out of requests.")
        .of(section::MESSAGES);

    PARAMS_NOT_OBJECT = error("rpc-params-not-object", "`params` is no object")
        .why("MCP knows parameters by name only, and peers refuse lists, scalars and null.")
        .fix("Send `params` as an object, or leave it out where there is nothing to say.")
        .of(section::REQUESTS);

    RESULT_AND_ERROR = error("rpc-result-and-error", "both `result` and `error`")
        .why("One peer takes the request as done, another as failed.")
        .fix("Send exactly one of the two, and leave the other out instead of setting it to null.")
        .of(section::RESPONSES);

    RESULT_NOT_OBJECT = error("rpc-result-not-object", "`result` is no object")
        .why("Typed clients fail to read such a result, and the call fails with it.")
        .fix("Send an object, an empty one where there is nothing to say.")
        .of(section::RESPONSES);

    ERROR_SHAPE = error("rpc-error-shape", "`error` lacks `code` or `message`, or is no object")
        .why("Clients cannot read the error, and show a parse error in place of what went wrong.")
        .fix("Send `error` as an object with an integer `code` and a string `message`.")
        .of(section::RESPONSES);

    ERROR_CODE = error("rpc-error-code", "`error.code` is no integer")
        .why("Typed clients refuse the whole response, so that the error itself is lost.")
        .fix("Send the number, and put a name of your own into `error.data`.")
        .of(section::RESPONSES);

    UNKNOWN_MEMBER = note("rpc-unknown-member",
        "a member at the top of a message that JSON-RPC does not have")
        .why("Strict peers refuse the message, all others ignore the member.")
        .fix("Put what you want to add into `_meta` of `params` or `result`.")
        .of(section::MESSAGES);

    ID_NULL = error("id-null", "a request with the id `null`")
        .why("Its answer cannot be told from an error about an unreadable message.")
        .fix("Give every request a string or an integer as its id, and leave it out of notifications.")
        .of(section::REQUESTS);

    ID_TYPE = error("id-type", "an id that is neither string nor integer")
        .why("Peers refuse the message, or answer with an id that does not match.")
        .fix("Use strings or integers as ids.")
        .of(section::REQUESTS);

    REQUEST_WITHOUT_ID = error("request-without-id",
        "a method that is a request, sent without an id")
        .why("Without an id it is a notification, so nobody answers it.")
        .fix("Add an id that this side has not used before.")
        .of(section::REQUESTS);

    NOTIFICATION_WITH_ID = error("notification-with-id", "a notification that is sent with an id")
        .why("With an id it is a request: the other side answers that it knows no such method.")
        .fix("Leave the id out of everything that wants no answer.")
        .of(section::NOTIFICATIONS);

    RESPONSE_MISSING_ID = warning("response-missing-id",
        "a response without an id, though nothing unreadable was sent")
        .why("Nobody can tell what it answers, so the request it was meant for waits until it times out.")
        .fix("Copy the request's id, with its type, into the response.")
        .of(section::RESPONSES);

    PING_RESULT = note("ping-result-not-empty", "the answer to a ping says more than it should")
        .why("A ping is answered with an empty result, and strict peers refuse anything else.")
        .fix("Answer `ping` with `\"result\":{}`.")
        .of_legacy(section::PING);

    DIALECT_METHOD = warning("dialect-method", "a method under a name that MCP does not use for it")
        .why("Peers do not know the name: a request fails, and a notification is ignored without a word.")
        .fix("Use the name of the protocol.")
        .of(section::MESSAGES);
}

/// The family of JSON-RPC rules. It remembers how many messages of each side could not be read
/// by the other: each of them excuses one response without an id.
#[derive(Debug, Default)]
pub struct Rpc {
    unreadable_c2s: u64,
    unreadable_s2c: u64,
}

impl Family for Rpc {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let Some(direction) = seen.head.stream.messages() else {
            return;
        };
        if !seen.content.problems.iter().all(is_readable) {
            *self.unreadable(direction) += 1;
        }
        for part in seen.parts() {
            self.problems(&part);
            look(&part);
            seen.findings.extend(dialect_method(&part));
            if !part.message.problems.iter().all(is_readable) {
                *self.unreadable(direction) += 1;
            }
        }
    }
}

impl Rpc {
    fn unreadable(&mut self, direction: Direction) -> &mut u64 {
        match direction {
            Direction::ClientToServer => &mut self.unreadable_c2s,
            Direction::ServerToClient => &mut self.unreadable_s2c,
        }
    }

    fn problems(&mut self, part: &Part<'_>) {
        for problem in &part.message.problems {
            if *problem == Problem::ResponseWithoutId && self.is_excused(part.direction()) {
                continue;
            }
            part.extend(finding(problem, part));
        }
    }

    /// Whether the other side has sent something unreadable that a response without an id in
    /// this direction may be the answer to; each excuses one.
    fn is_excused(&mut self, direction: Direction) -> bool {
        let unreadable = self.unreadable(direction.reverse());
        let is_excused = *unreadable > 0;
        *unreadable -= u64::from(is_excused);
        is_excused
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

/// What a message is, in a few words: `request tools/call, id 7`.
pub(super) fn describe(message: &Message, batch: bool) -> String {
    use super::quote::text;
    let what = match &message.body {
        Body::Request(request) => {
            let (method, id) = (text(&request.method), text(request.id.json()));
            format!("request {method}, id {id}")
        }
        Body::Notification(notification) => {
            format!("notification {}", text(&notification.method))
        }
        Body::Response(response) => match &response.id {
            Some(id) => format!("response, id {}", text(id.json())),
            None => "response without id".to_owned(),
        },
        Body::Invalid => "no message".to_owned(),
    };
    if batch {
        format!("{what} (part {} of the batch)", message.part)
    } else {
        what
    }
}

// What was seen when a message was read, as findings.

/// The finding of a problem, if it is one of this family.
fn finding(problem: &Problem, part: &Part<'_>) -> Option<Finding> {
    let (rule, path) = match problem {
        Problem::Version => (&VERSION, Some("jsonrpc")),
        Problem::Unclassifiable => (&UNCLASSIFIABLE, None),
        Problem::MethodNotString => (&METHOD_NOT_STRING, Some("method")),
        Problem::MethodAndResult => (&METHOD_AND_RESULT, Some("method")),
        Problem::ResultAndError => (&RESULT_AND_ERROR, None),
        Problem::ParamsNotObject => (&PARAMS_NOT_OBJECT, Some("params")),
        Problem::ResultNotObject => (&RESULT_NOT_OBJECT, Some("result")),
        Problem::ErrorShape => (&ERROR_SHAPE, Some("error")),
        Problem::ErrorCode => (&ERROR_CODE, Some("error.code")),
        Problem::IdNull => (&ID_NULL, Some("id")),
        Problem::IdType => (&ID_TYPE, Some("id")),
        Problem::NotificationWithId => (&NOTIFICATION_WITH_ID, Some("id")),
        Problem::RequestWithoutId => (&REQUEST_WITHOUT_ID, None),
        Problem::ResponseWithoutId => (&RESPONSE_MISSING_ID, None),
        _ => return None,
    };
    let mut detail = describe(part.message, part.seen.content.batch);
    if let Some(more) = more(problem, part) {
        detail = format!("{detail}: {more}");
    }
    let finding = part.at(rule, detail);
    Some(match path.filter(|path| stands(part, path)) {
        Some(path) => finding.path(path),
        None => finding,
    })
}

/// Whether the message has the member that a path begins with.
fn stands(part: &Part<'_>, path: &str) -> bool {
    let top = path.split('.').next().unwrap_or_default();
    part.get(top).is_some()
}

/// What stands there instead of what should.
fn more(problem: &Problem, part: &Part<'_>) -> Option<String> {
    let shown = |member: &str| {
        let value = part.get(member)?;
        Some(format!(
            "{}, {}",
            value.kind().as_str(),
            quote::bytes(value.raw())
        ))
    };
    match problem {
        Problem::Version => match part.get("jsonrpc") {
            Some(version) => Some(format!("it says {}", quote::bytes(version.raw()))),
            None => part.value.map(|_| "there is none".to_owned()),
        },
        Problem::MethodNotString => shown("method"),
        Problem::ParamsNotObject => shown("params"),
        Problem::ResultNotObject => shown("result"),
        Problem::ErrorShape => error_shape(part),
        Problem::ErrorCode => error_code(part),
        _ => None,
    }
}

fn error_shape(part: &Part<'_>) -> Option<String> {
    let error = part.get("error")?;
    if !error.is_object() {
        let shown = quote::bytes(error.raw());
        return Some(format!("{}, {shown}", error.kind().as_str()));
    }
    let code = error.get("code").is_none().then_some("no code");
    let message = match error.get("message") {
        None => Some("no message"),
        Some(message) if message.as_str().is_none() => Some("its message is no string"),
        Some(_) => None,
    };
    let wrong: Vec<_> = code.into_iter().chain(message).collect();
    Some(wrong.join(", "))
}

/// The code as it stands and, where it is a name or a number in quotes, the number it stands for.
fn error_code(part: &Part<'_>) -> Option<String> {
    let code = part.error()?.get("code")?;
    let shown = quote::bytes(code.raw());
    let meant = code
        .as_str()
        .and_then(|name| errors::named(&name, part.era()));
    Some(match meant {
        Some(number) => match errors::meaning(number, part.era()) {
            Some(meaning) => format!("{shown}, probably {number} ({meaning})"),
            None => format!("{shown}, probably {number}"),
        },
        None => shown,
    })
}

// Members that no message has, and results that must have none.

/// Names that a finding lists; of more it says how many. A hostile message could have a million.
const LISTED: usize = 4;

fn look(part: &Part<'_>) {
    let Some(value) = part.value else { return };
    if matches!(part.message.body, Body::Invalid) {
        return;
    }
    let mut unknown = value.members().filter(|(name, _)| !is_known(*name));
    if let Some((first, _)) = unknown.next() {
        part.tell_at(
            &UNKNOWN_MEMBER,
            Trail::Named(&Trail::Top, first).path(),
            listed(first, unknown),
        );
    }
    let is_response = matches!(part.message.body, Body::Response(_));
    if is_response && part.method() == Some("ping") {
        ping(part);
    }
}

fn is_known(name: Value<'_>) -> bool {
    let name = name.str_bytes();
    matches!(
        &*name,
        b"jsonrpc" | b"id" | b"method" | b"params" | b"result" | b"error"
    )
}

fn ping(part: &Part<'_>) {
    let members = part
        .result()
        .into_iter()
        .flat_map(|result| result.members());
    let mut members = members.filter(|(name, _)| !name.is_str("_meta"));
    if let Some((first, _)) = members.next() {
        let detail = listed(first, members);
        part.tell_at(&PING_RESULT, "result", detail);
    }
}

fn listed<'v>(first: Value<'v>, mut rest: impl Iterator<Item = (Value<'v>, Value<'v>)>) -> String {
    let few = rest.by_ref().take(LISTED - 1).map(|(name, _)| name);
    let few = std::iter::once(first).chain(few);
    let shown: Vec<_> = few.map(|name| quote::bytes(name.raw())).collect();
    let shown = shown.join(", ");
    match rest.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

// Names of methods that peers use in place of the protocol's.

/// Names from other protocols and from memory, and what was probably meant. Unlike those of
/// [`methods::DIALECT`] they are not taken for it.
const MEANT: &[(&str, &str)] = &[
    ("$/cancelRequest", "notifications/cancelled"),
    ("$/progress", "notifications/progress"),
    ("call_tool", "tools/call"),
    ("cancelled", "notifications/cancelled"),
    ("get_prompt", "prompts/get"),
    ("list_prompts", "prompts/list"),
    ("list_resources", "resources/list"),
    ("list_tools", "tools/list"),
    ("mcp/initialize", "initialize"),
    ("notifications/canceled", "notifications/cancelled"),
    ("notifications/log", "notifications/message"),
    ("notifications/logging", "notifications/message"),
    ("progress", "notifications/progress"),
    ("prompt/get", "prompts/get"),
    ("prompt/list", "prompts/list"),
    ("read_resource", "resources/read"),
    ("resource/list", "resources/list"),
    ("resource/read", "resources/read"),
    ("tool/call", "tools/call"),
    ("tool/list", "tools/list"),
    ("tools.call", "tools/call"),
    ("tools.list", "tools/list"),
    ("tools/execute", "tools/call"),
    ("tools/invoke", "tools/call"),
    ("tools/run", "tools/call"),
];

/// The finding of a name that is not the protocol's.
fn dialect_method(part: &Part<'_>) -> Option<Finding> {
    let method = match &part.message.body {
        Body::Request(request) => &*request.method,
        Body::Notification(notification) => &*notification.method,
        Body::Response(_) | Body::Invalid => return None,
    };
    let ours = meant(method)?;
    let detail = format!("{} is {ours} here", quote::text(method));
    Some(part.at(&DIALECT_METHOD, detail).path("method"))
}

fn meant(method: &str) -> Option<&'static str> {
    let all = methods::DIALECT.iter().chain(MEANT);
    let mut named = all.filter(|(theirs, _)| *theirs == method);
    named.next().map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_a_method_and_is_none_itself() {
        for (theirs, ours) in MEANT {
            assert!(
                methods::METHODS.iter().all(|known| known.name != *theirs),
                "{theirs}"
            );
            assert!(
                methods::METHODS.iter().any(|known| known.name == *ours),
                "{ours}"
            );
        }
        assert_eq!(meant("initialized"), Some("notifications/initialized"));
        assert_eq!(meant("initialize"), None);
    }
}
