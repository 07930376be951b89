//! The rules of this family.

use crate::rule::{Revisions, Rule};
use crate::section;

pub(super) static VERSION: Rule = Rule::error("rpc-version", "`jsonrpc` is missing or not \"2.0\"")
    .why("Peers refuse a message that does not say it is JSON-RPC 2.0.")
    .fix("Put `\"jsonrpc\":\"2.0\"`, a string, into every message.")
    .of(section::MESSAGES);
pub(super) static UNCLASSIFIABLE: Rule = Rule::error(
    "rpc-unclassifiable",
    "an object without `method`, `result` and `error`",
)
.why("It is neither request nor notification nor response, so the other side cannot act on it.")
.fix("Send a `method` to ask or tell, a `result` or an `error` to answer; logs belong on stderr.")
.of(section::MESSAGES);
pub(super) static METHOD_NOT_STRING: Rule =
    Rule::error("rpc-method-not-string", "`method` is no string")
        .why("The other side cannot tell what is asked for and refuses the message.")
        .fix("Send the method's name as a string.")
        .of(section::REQUESTS);
pub(super) static METHOD_AND_RESULT: Rule = Rule::error(
    "rpc-method-and-result",
    "`method` together with `result` or `error`",
)
.why("One peer reads a request in it, another a response.")
.fix("Leave `method` out of responses, and `result` and `error` out of requests.")
.of(section::MESSAGES);
pub(super) static PARAMS_NOT_OBJECT: Rule =
    Rule::error("rpc-params-not-object", "`params` is no object")
        .why("MCP knows parameters by name only, and peers refuse lists, scalars and null.")
        .fix("Send `params` as an object, or leave it out where there is nothing to say.")
        .of(section::REQUESTS);
pub(super) static RESULT_AND_ERROR: Rule =
    Rule::error("rpc-result-and-error", "both `result` and `error`")
        .why("One peer takes the request as done, another as failed.")
        .fix("Send exactly one of the two, and leave the other out instead of setting it to null.")
        .of(section::RESPONSES);
pub(super) static RESULT_NOT_OBJECT: Rule =
    Rule::error("rpc-result-not-object", "`result` is no object")
        .why("Typed clients fail to read such a result, and the call fails with it.")
        .fix("Send an object, an empty one where there is nothing to say.")
        .of(section::RESPONSES);
pub(super) static ERROR_SHAPE: Rule = Rule::error(
    "rpc-error-shape",
    "`error` lacks `code` or `message`, or is no object",
)
.why("Clients cannot read the error, and show a parse error in place of what went wrong.")
.fix("Send `error` as an object with an integer `code` and a string `message`.")
.of(section::RESPONSES);
pub(super) static ERROR_CODE: Rule = Rule::error("rpc-error-code", "`error.code` is no integer")
    .why("Typed clients refuse the whole response, so that the error itself is lost.")
    .fix("Send the number, and put a name of your own into `error.data`.")
    .of(section::RESPONSES);
pub(super) static UNKNOWN_MEMBER: Rule = Rule::note(
    "rpc-unknown-member",
    "a member at the top of a message that JSON-RPC does not have",
)
.why("Strict peers refuse the message, all others ignore the member.")
.fix("Put what you want to add into `_meta` of `params` or `result`.")
.of(section::MESSAGES);
pub(super) static ID_NULL: Rule = Rule::error("id-null", "a request with the id `null`")
    .why("Its answer cannot be told from an error about an unreadable message.")
    .fix("Give every request a string or an integer as its id, and leave it out of notifications.")
    .of(section::REQUESTS);
pub(super) static ID_TYPE: Rule =
    Rule::error("id-type", "an id that is neither string nor integer")
        .why("Peers refuse the message, or answer with an id that does not match.")
        .fix("Use strings or integers as ids.")
        .of(section::REQUESTS);
pub(super) static REQUEST_WITHOUT_ID: Rule = Rule::error(
    "request-without-id",
    "a method that is a request, sent without an id",
)
.why("Without an id it is a notification, so nobody answers it.")
.fix("Add an id that this side has not used before.")
.of(section::REQUESTS);
pub(super) static NOTIFICATION_WITH_ID: Rule = Rule::error(
    "notification-with-id",
    "a notification that is sent with an id",
)
.why("With an id it is a request: the other side answers that it knows no such method.")
.fix("Leave the id out of everything that wants no answer.")
.of(section::NOTIFICATIONS);
pub(super) static RESPONSE_MISSING_ID: Rule = Rule::warning(
    "response-missing-id",
    "a response without an id, though nothing unreadable was sent",
)
.why("Nobody can tell what it answers, so the request it was meant for waits until it times out.")
.fix("Copy the request's id, with its type, into the response.")
.of(section::RESPONSES);
pub(super) static PING_RESULT: Rule = Rule::note(
    "ping-result-not-empty",
    "the answer to a ping says more than it should",
)
.why("A ping is answered with an empty result, and strict peers refuse anything else.")
.fix("Answer `ping` with `\"result\":{}`.")
.of(section::PING)
.only(Revisions::LEGACY);
pub(super) static DIALECT_METHOD: Rule = Rule::warning(
    "dialect-method",
    "a method under a name that MCP does not use for it",
)
.why("Peers do not know the name: a request fails, and a notification is ignored without a word.")
.fix("Use the name of the protocol.")
.of(section::MESSAGES);
