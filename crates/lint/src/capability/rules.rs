//! The rules of this family.

use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use mcpreel_wire::mcp::Revision;

/// The first two revisions ask only that undeclared capabilities SHOULD not be used; in the modern
/// era a client need not have asked.
const UNDEMANDED: Revisions = Revisions::ALL
    .without(Revision::V2025_06_18)
    .without(Revision::V2025_11_25);

pub(super) static SERVER: Rule = Rule::error(
    "cap-server-not-declared",
    "the client uses what the server has not declared",
)
.why("A server without that capability answers with an error or not at all.")
.fix("Let the client look at the server's capabilities before it asks, or let the server declare what it can do.")
.of(section::CAPABILITIES)
.milder_in(Severity::Warning, UNDEMANDED);

pub(super) static CLIENT: Rule = Rule::error(
    "cap-client-not-declared",
    "the server asks for what the client has not declared",
)
.why("A client without that capability answers with an error or not at all, and the call that needs the answer fails or hangs.")
.fix("Let the server look at the client's capabilities before it asks, and do without where they are missing.")
.of(section::CAPABILITIES)
.only(Revisions::LEGACY)
.milder_in(Severity::Warning, UNDEMANDED);

pub(super) static SUB: Rule = Rule::error(
    "cap-subcapability",
    "a part of a capability is used that the other side has not declared",
)
.why("The other side offers the feature, but not this part of it, and will refuse or ignore what it was asked.")
.fix("Declare the part that is named, or do without it.")
.of(section::CAPABILITIES)
.only(Revisions::LEGACY)
.milder_in(Severity::Warning, UNDEMANDED);

pub(super) static LIST_CHANGED: Rule = Rule::warning(
    "cap-list-changed-not-declared",
    "a list is said to have changed by a side that has not declared `listChanged`",
)
.why("The other side does not expect it and goes on with the old list.")
.fix("Declare `listChanged` for that list, or do not send the notification.")
.of(section::CAPABILITIES);

pub(super) static LOGGING: Rule = Rule::warning(
    "cap-logging-not-declared",
    "a log message of a server that has not declared `logging`",
)
.why("Clients may drop log messages that they do not expect, so that nobody sees them.")
.fix("Declare `logging` in the server's capabilities, or write to stderr.")
.of(section::LOGGING);

pub(super) static UPDATED: Rule = Rule::warning(
    "cap-updated-not-subscribed",
    "an update of a resource that nobody has subscribed to",
)
.why("The client has not asked for it and will drop it, or it was meant for another resource that is now out of date.")
.fix("Let the server send updates only for resources that `resources/subscribe` has named.")
.of(section::RESOURCES)
.only(Revisions::LEGACY);

pub(super) static DIRECTION: Rule = Rule::error(
    "direction-wrong",
    "a method that only the other side may send",
)
.why("The receiver does not serve this method and answers with an error or not at all.")
.fix("Check whether the roles of client and server are mixed up, or the two ends of the pipe.")
.of(section::MESSAGES);

pub(super) static NOT_IN_VERSION: Rule = Rule::warning(
    "method-not-in-version",
    "a method that the revision in use does not have",
)
.why("A peer that keeps to the revision does not know the method, and refuses or ignores it.")
.fix("Agree on a revision that has the method, or do without it.")
.of(section::MESSAGES);

pub(super) static UNKNOWN: Rule = Rule::note(
    "method-unknown",
    "a method of no revision and of no extension that was declared",
)
.why("It may be somebody's own extension, or a misspelled name that nobody will ever answer.")
.fix("Check the spelling, or declare the extension that defines the method.")
.of(section::MESSAGES);

pub(super) static UNRELATED: Rule = Rule::note(
    "server-request-unrelated",
    "the server asks its client while no request of the client is open",
)
.why("Over HTTP there may be no stream to carry it, and later revisions allow the server to ask only within a request of the client.")
.fix("Let the server ask while it works on the request that needs the answer.")
.only(Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25));

pub(super) static IGNORED: Rule = Rule::note(
    "list-changed-ignored",
    "the client was told that a list has changed and has not asked for it again",
)
.why("The client goes on with an old list: new tools stay unseen, and calls of old ones fail.")
.fix("Let the client ask for the list again, or restart it where it cannot.")
.at_end();
