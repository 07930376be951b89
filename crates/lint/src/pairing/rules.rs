//! The rules of this family.

use crate::rule::Rule;
use crate::section;

pub(super) static ID_REUSED: Rule =
    Rule::error("id-reused", "a request uses an id of its sender again")
        .why("The other side may answer the wrong request, or refuse the second one.")
        .fix("Count ids upwards, and never start again within a session.")
        .of(section::REQUESTS);
pub(super) static RESPONSE_UNKNOWN_ID: Rule = Rule::error(
    "response-unknown-id",
    "a response whose id the other side has not used",
)
.why("Nobody waits for it, and the request that it was meant for stays open until it times out.")
.fix("Answer with exactly the id of the request, and do not answer notifications.")
.of(section::RESPONSES);
pub(super) static RESPONSE_DUPLICATE: Rule =
    Rule::error("response-duplicate", "a second response to one request")
        .why("Only the first response counts, so what the second says is lost.")
        .fix("Answer each request once: look for a path that answers and then fails.")
        .of(section::RESPONSES);
pub(super) static RESPONSE_ID_TYPE_CHANGED: Rule = Rule::error(
    "response-id-type-changed",
    "a response whose id has another JSON type than its request's",
)
.why("The text \"7\" is not the number 7: most clients do not match it and wait until they time out.")
.fix("Keep the id as the JSON value that came in, never as text or as a number of your own.")
.of(section::RESPONSES);
pub(super) static REQUEST_UNANSWERED: Rule = Rule::warning(
    "request-unanswered",
    "no response when the recording ended",
)
.why("Whoever asked waits for every request, and gives up only after a timeout.")
.fix(
    "Answer every request, with an error if need be, also when it is unknown or its handler fails.",
)
.of(section::RESPONSES)
.at_end();
pub(super) static PROCESS_DIED_IN_FLIGHT: Rule = Rule::error(
    "process-died-in-flight",
    "the server ended before its time with a request open",
)
.why("The client sees a closed connection in place of an answer.")
.fix("Look at the last lines on stderr and at how the process ended, and catch the failure in the handler.")
.of(section::SHUTDOWN)
.at_end();
pub(super) static CANCEL_LATE_RESPONSE: Rule = Rule::warning(
    "cancel-late-response",
    "a response long after its request was cancelled",
)
.why("The work went on although nobody wanted it, and the answer was thrown away.")
.fix("Stop the work when the cancel comes, and do not answer.")
.of(section::CANCELLATION);
pub(super) static CANCEL_UNKNOWN_REQUEST: Rule = Rule::warning(
    "cancel-unknown-request",
    "a cancel for an id that its sender has not used",
)
.why("It stops nothing: the request that was meant goes on.")
.fix("Send the id of the request as it was sent, with its JSON type.")
.of(section::CANCELLATION);
pub(super) static CANCEL_COMPLETED_REQUEST: Rule = Rule::note(
    "cancel-completed-request",
    "a cancel for a request that was already answered or cancelled",
)
.why("It came too late to stop anything, which is normal where both crossed on the way.")
.fix("Cancel only what is still open; nothing needs to be done where it is rare.")
.of(section::CANCELLATION);
pub(super) static CANCEL_WRONG_DIRECTION: Rule = Rule::error(
    "cancel-wrong-direction",
    "a cancel for a request of the other side",
)
.why("Only who asked may cancel, so the other side ignores it.")
.fix("Answer with an error in place of cancelling a request that was received.")
.of(section::CANCELLATION);
pub(super) static PROGRESS_UNKNOWN_TOKEN: Rule = Rule::error(
    "progress-unknown-token",
    "progress for a token that no request of the other side gave",
)
.why("The other side cannot tell what it belongs to, so it shows nothing and its timeout goes on.")
.fix("Send the request's own `_meta.progressToken`, with its JSON type, and nothing where there is none.")
.of(section::PROGRESS);
pub(super) static PROGRESS_TOKEN_REUSED: Rule = Rule::error(
    "progress-token-reused",
    "two open requests of one sender with the same progress token",
)
.why("Progress of one request cannot be told from that of the other.")
.fix("Give each request a token of its own, for example its id.")
.of(section::PROGRESS);
pub(super) static PAIRING_GIVEN_UP: Rule = Rule::note(
    "pairing-given-up",
    "more is open than mcpreel waits for, so that it gave something up",
)
.why("What still comes for it belongs to nothing, so that nobody can say whether it was answered.")
.fix("Answer requests, or send fewer at once: nobody can tell thousands that are open from those that were lost.");
