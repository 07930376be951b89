//! Rules about requests and responses, progress and cancellation: what the correlator noticed.

use crate::{Context, Family, Finding, FrameContext, Rule, quote, section};
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::{Direction, Era, Problem};

rules! {
    ID_REUSED = error("id-reused", "a request uses an id of its sender again")
        .why("The other side may answer the wrong request, or refuse the second one.")
        .fix("Count ids upwards, and never start again within a session.")
        .of(section::REQUESTS);

    RESPONSE_UNKNOWN_ID = error("response-unknown-id",
        "a response whose id the other side has not used")
        .why("Nobody waits for it, and the request that it was meant for stays open until it times out.")
        .fix("Answer with exactly the id of the request, and do not answer notifications.")
        .of(section::RESPONSES)
        .of_absence();

    RESPONSE_DUPLICATE = error("response-duplicate", "a second response to one request")
        .why("Only the first response counts, so what the second says is lost.")
        .fix("Answer each request once: look for a path that answers and then fails.")
        .of(section::RESPONSES);

    RESPONSE_ID_TYPE_CHANGED = error("response-id-type-changed",
        "a response whose id has another JSON type than its request's")
        .why("The text \"7\" is not the number 7: most clients do not match it and wait until they time out.")
        .fix("Keep the id as the JSON value that came in, never as text or as a number of your own.")
        .of(section::RESPONSES);

    REQUEST_UNANSWERED = warning("request-unanswered", "no response when the recording ended")
        .why("Whoever asked waits for every request, and gives up only after a timeout.")
        .fix("Answer every request, with an error if need be, also when it is unknown or its handler fails.")
        .of(section::RESPONSES)
        .at_end()
        .of_open_end();

    PROCESS_DIED_IN_FLIGHT = error("process-died-in-flight",
        "the server ended before its time with a request open")
        .why("The client sees a closed connection in place of an answer.")
        .fix("Look at the last lines on stderr and at how the process ended, and catch the failure in the handler.")
        .of(section::SHUTDOWN)
        .at_end()
        .of_open_end();

    CANCEL_LATE_RESPONSE = warning("cancel-late-response",
        "a response long after its request was cancelled")
        .why("The work went on although nobody wanted it, and the answer was thrown away.")
        .fix("Stop the work when the cancel comes, and do not answer.")
        .of(section::CANCELLATION);

    CANCEL_UNKNOWN_REQUEST = warning("cancel-unknown-request",
        "a cancel for an id that its sender has not used")
        .why("It stops nothing: the request that was meant goes on.")
        .fix("Send the id of the request as it was sent, with its JSON type.")
        .of(section::CANCELLATION)
        .of_absence();

    CANCEL_COMPLETED_REQUEST = note("cancel-completed-request",
        "a cancel for a request that was already answered or cancelled")
        .why("It came too late to stop anything, which is normal where both crossed on the way.")
        .fix("Cancel only what is still open; nothing needs to be done where it is rare.")
        .of(section::CANCELLATION);

    CANCEL_WRONG_DIRECTION = error("cancel-wrong-direction",
        "a cancel for a request of the other side")
        .why("Only who asked may cancel, so the other side ignores it.")
        .fix("Answer with an error in place of cancelling a request that was received.")
        .of(section::CANCELLATION);

    PROGRESS_UNKNOWN_TOKEN = error("progress-unknown-token",
        "progress for a token that no request of the other side gave")
        .why("The other side cannot tell what it belongs to, so it shows nothing and its timeout goes on.")
        .fix("Send the request's own `_meta.progressToken`, with its JSON type, and nothing where there is none.")
        .of(section::PROGRESS)
        .of_absence();

    PROGRESS_TOKEN_REUSED = error("progress-token-reused",
        "two open requests of one sender with the same progress token")
        .why("Progress of one request cannot be told from that of the other.")
        .fix("Give each request a token of its own, for example its id.")
        .of(section::PROGRESS);

    PAIRING_GIVEN_UP = note("pairing-given-up",
        "more is open than mcpreel waits for, so that it gave something up")
        .why("What still comes for it belongs to nothing, so that nobody can say whether it was answered.")
        .fix("Answer requests, or send fewer at once: nobody can tell thousands that are open from those that were lost.");
}

/// A cancel and the answer may cross on the way: an answer within this time is no finding.
const CANCEL_GRACE_NS: u64 = 100_000_000;

/// The family of pairing rules; the correlator remembers for it.
#[derive(Debug, Default)]
pub struct Pairing {
    /// Whether a signal told the server to end before it did.
    is_told: bool,
    has_ended: bool,
    hidden: Hidden,
}

/// Up to where answers may be that nobody could read: they stand in what is not on record.
#[derive(Debug, Default)]
struct Hidden {
    c2s: Seq,
    s2c: Seq,
}

impl Hidden {
    fn note(&mut self, asked: Direction, until: Seq) {
        let known = match asked {
            Direction::ClientToServer => &mut self.c2s,
            Direction::ServerToClient => &mut self.s2c,
        };
        *known = until.max(*known);
    }

    /// Whether what nothing on record fits may fit what is not on record.
    fn may_explain(&self, observation: &Observation) -> bool {
        let fits_nothing = matches!(
            observation.kind,
            Observed::ResponseUnknown | Observed::CancelUnknown | Observed::ProgressUnknownToken
        );
        fits_nothing && self.c2s.max(self.s2c) > Seq(0)
    }

    /// Whether the answer to a request without one may be there.
    fn may_answer(&self, observation: &Observation) -> bool {
        let until = match observation.direction {
            Direction::ClientToServer => self.c2s,
            Direction::ServerToClient => self.s2c,
        };
        observation.kind == Observed::Unanswered && observation.frame <= until
    }
}

impl Family for Pairing {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let known = seen.observations.iter();
        let known = known.filter(|one| !self.hidden.may_explain(one));
        seen.findings.extend(known.filter_map(finding));
        if seen.messages.is_empty()
            && seen.content.problems.contains(&Problem::Shortened)
            && let Some(direction) = seen.head.stream.messages()
        {
            self.hidden.note(direction.reverse(), seen.head.seq);
        }
    }

    fn event(&mut self, event: &Event, _: &Context<'_>) {
        if matches!(event.kind, EventKind::Skipped { .. }) {
            for asked in [Direction::ClientToServer, Direction::ServerToClient] {
                self.hidden.note(asked, event.after_seq);
            }
        }
        self.has_ended |= matches!(event.kind, EventKind::Exit { .. });
        self.is_told |= !self.has_ended && matches!(event.kind, EventKind::Signal { .. });
    }

    fn finish(&mut self, end: &[Observation], context: &Context<'_>) {
        let known = end.iter().filter(|one| !self.hidden.may_answer(one));
        let found = known.filter_map(finding);
        // Whoever was told to go did not die before its time.
        context.findings.extend(found.map(|found| {
            if self.is_told && found.rule == &PROCESS_DIED_IN_FLIGHT {
                let detail = format!("{}, open when the server was ended", found.detail);
                Finding {
                    exchange: found.exchange,
                    frame: found.frame,
                    ..REQUEST_UNANSWERED.found(detail)
                }
            } else {
                found
            }
        }));
    }
}

fn finding(observation: &Observation) -> Option<Finding> {
    let rule = rule(observation)?;
    let noun = match observation.kind {
        Observed::ProgressUnknownToken | Observed::ProgressTokenReused => "token",
        _ => "id",
    };
    let mut detail = format!("{noun} {}", quote::text(&observation.subject));
    match observation.kind {
        Observed::RequestGivenUp => detail.push_str(", a request without an answer"),
        Observed::ForGivenUp => {
            detail = format!(
                "{}, of a request that may be one of them",
                quote::text(&observation.subject)
            );
        }
        Observed::TaskGivenUp => detail.push_str(", a request whose task has no outcome"),
        Observed::RoundGivenUp => {
            detail = String::from("a request that was not repeated with its input");
        }
        Observed::IdReused { in_flight, .. } => detail.push_str(if in_flight {
            ", while the earlier request is open"
        } else {
            ", after the earlier request ended"
        }),
        Observed::ResponseLate { after_ns } => {
            detail = format!("{detail}, {} ms after the cancel", after_ns / 1_000_000);
        }
        _ => {}
    }
    let finding = rule.at(observation.frame, detail);
    Some(finding.about(observation.exchange))
}

fn rule(observation: &Observation) -> Option<&'static Rule> {
    Some(match observation.kind {
        // Modern requests may use an id again once it is no longer in flight.
        Observed::IdReused {
            in_flight: false,
            era: Era::Modern,
        } => return None,
        Observed::IdReused { .. } => &ID_REUSED,
        Observed::ResponseUnknown => &RESPONSE_UNKNOWN_ID,
        Observed::ResponseDuplicate => &RESPONSE_DUPLICATE,
        Observed::ResponseIdTypeChanged => &RESPONSE_ID_TYPE_CHANGED,
        Observed::ResponseLate { after_ns } if after_ns > CANCEL_GRACE_NS => &CANCEL_LATE_RESPONSE,
        Observed::CancelUnknown => &CANCEL_UNKNOWN_REQUEST,
        Observed::CancelCompleted => &CANCEL_COMPLETED_REQUEST,
        Observed::CancelWrongDirection => &CANCEL_WRONG_DIRECTION,
        Observed::ProgressUnknownToken => &PROGRESS_UNKNOWN_TOKEN,
        Observed::ProgressTokenReused => &PROGRESS_TOKEN_REUSED,
        Observed::Unanswered => &REQUEST_UNANSWERED,
        Observed::Lost if observation.direction == Direction::ClientToServer => {
            &PROCESS_DIED_IN_FLIGHT
        }
        Observed::RequestGivenUp
        | Observed::ForGivenUp
        | Observed::TaskGivenUp
        | Observed::RoundGivenUp => &PAIRING_GIVEN_UP,
        // An answer that crossed with the cancel is normal, and a client that goes away ends the
        // session.
        Observed::ResponseLate { .. } | Observed::Lost => return None,
    })
}
