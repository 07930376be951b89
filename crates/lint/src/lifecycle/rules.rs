//! The rules of this family.

use crate::rule::{Revisions, Rule};
use crate::section;

pub(super) static NOT_INITIALIZED: Rule = Rule::error(
    "lifecycle-not-initialized",
    "a request before any `initialize`",
)
.why("Most servers refuse every request until they have been initialized, or answer it by rules that nobody agreed on.")
.fix("Let the client send `initialize` first, wait for the answer, and then send `notifications/initialized`.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static BEFORE_ANSWER: Rule = Rule::warning(
    "lifecycle-request-before-init-response",
    "a request while `initialize` is not answered yet",
)
.why("The client does not know yet which revision and which capabilities the server has, and many servers refuse or drop such a request.")
.fix("Let the client wait for the answer to `initialize` before it asks for anything but `ping`.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static INITIALIZED_MISSING: Rule = Rule::error(
    "lifecycle-initialized-missing",
    "a request although the client has not said `notifications/initialized`",
)
.why("A server may wait for that notification for as long as it likes before it serves anything, and then every request seems to hang.")
.fix("Let the client send `notifications/initialized` as soon as it has the answer to `initialize`.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static INITIALIZE_TWICE: Rule =
    Rule::error("lifecycle-initialize-twice", "`initialize` a second time")
.why("A process has one handshake; many servers refuse another one or lose what the first has set up.")
.fix("Let the client initialize once, and start another process of the server for another session.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static INITIALIZE_SHAPE: Rule = Rule::error(
    "lifecycle-initialize-shape",
    "the handshake lacks a version, capabilities, or who is speaking",
)
.why("The other side cannot tell what it may use, and strict peers end the connection at once.")
.fix("Fill in the member that is named, with a value of the type that the specification asks for.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static VERSION_UNKNOWN: Rule = Rule::warning(
    "lifecycle-version-unknown",
    "the server agreed on a version that is no revision with a handshake",
)
.why("Clients end the connection when they are offered a version that they do not know.")
.fix("Let the server answer with a published revision, the one that was asked for if it can.")
.of(section::NEGOTIATION)
.only(Revisions::LEGACY);

pub(super) static VERSION_DOWNGRADED: Rule = Rule::note(
    "lifecycle-version-downgraded",
    "the server answered with another version than was asked for",
)
.why("Both sides now speak a revision that the client did not prefer, and what is newer than that cannot be used.")
.fix("Nothing has to be done; where a newer feature is missed, update the side that does not know the newer revision.")
.of(section::NEGOTIATION)
.only(Revisions::LEGACY);

pub(super) static EARLY_SERVER_REQUEST: Rule = Rule::warning(
    "lifecycle-early-server-request",
    "a request of the server before the client has said `notifications/initialized`",
)
.why("The client is not ready for it and may drop it, and then the server waits for an answer that never comes.")
.fix("Let the server wait for `notifications/initialized` before it asks the client for anything but `ping`.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static EARLY_SERVER_NOTIFICATION: Rule = Rule::note(
    "lifecycle-early-server-notification",
    "a notification of the server before the client has said `notifications/initialized`",
)
.why("A client that is not ready yet may drop it, so that what it announces goes unnoticed.")
.fix("Let the server hold notifications other than log messages back until `notifications/initialized` has come.")
.of(section::LIFECYCLE)
.only(Revisions::LEGACY);

pub(super) static CANCEL_INITIALIZE: Rule = Rule::error(
    "lifecycle-cancel-initialize",
    "`initialize` is cancelled",
)
.why("Without its handshake the connection is of no use, and servers are not prepared for this cancel.")
.fix("Let the client close the connection where it does not want to wait any longer.")
.of(section::CANCELLATION)
.only(Revisions::LEGACY);
