//! Rules about requests and responses, progress and cancellation: what the correlator noticed.

use crate::{Context, Family, Finding, FrameContext, Rule, quote, section};
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::event::{Closer, Event, EventKind};
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::{Direction, Era, Problem};
use mcpreel_wire::text::duration;

rules! {
    ID_REUSED = error("id-reused").of(section::REQUESTS)
        .finds("a request uses an id of its sender again")
        .why("The other side may answer the wrong request, or refuse the second one.")
        .fix("Count ids upwards, and never start again within a session.");

    RESPONSE_UNKNOWN_ID = error("response-unknown-id").of(section::RESPONSES).of_absence()
        .finds("a response whose id the other side has not used")
        .why("No request waits for it, and the one that it was meant for stays open until it times out.")
        .fix("Answer with exactly the id of the request, and do not answer notifications.");

    RESPONSE_DUPLICATE = error("response-duplicate").of(section::RESPONSES)
        .finds("a second response to one request")
        .why("Only the first response counts, so what the second says is lost.")
        .fix("Answer each request once: look for a path that answers and then fails.");

    RESPONSE_ID_TYPE_CHANGED = error("response-id-type-changed").of(section::RESPONSES)
        .finds("a response whose id has another JSON type than its request's")
        .why("The text \"7\" is not the number 7: most clients do not match it and wait until they time out.")
        .fix("Keep the id as the JSON value that came in, never as text or as a number of your own.");

    REQUEST_UNANSWERED = warning("request-unanswered").of(section::RESPONSES).at_end().of_open_end()
        .finds("no response when the recording ended")
        .why("The side that asked waits for each answer until it times out.")
        .fix("Answer every request, with an error if need be, also when it is unknown or its handler fails.");

    REQUEST_LOST = error("request-lost").of(section::SHUTDOWN).at_end()
        .of_open_end()
        .finds("a request without an answer, because the server ended too early or the connection for the answer broke")
        .why("The client sees a closed connection in place of an answer.")
        .fix("Look at the server's last lines on stderr or in its log and at how it ended, and catch the failure in the handler.");

    CANCEL_LATE_RESPONSE = warning("cancel-late-response").of(section::CANCELLATION)
        .finds("a response long after its request was cancelled")
        .why("The work went on after the cancel, and the client dropped the answer.")
        .fix("Stop the work when the cancel comes, and do not answer.");

    CANCEL_UNKNOWN_REQUEST = warning("cancel-unknown-request").of(section::CANCELLATION)
        .of_absence()
        .finds("a cancel for an id that its sender has not used")
        .why("It stops nothing: the request that was meant goes on.")
        .fix("Send the id of the request as it was sent, with its JSON type.");

    CANCEL_COMPLETED_REQUEST = note("cancel-completed-request").of(section::CANCELLATION)
        .finds("a cancel for a request that was already answered or cancelled")
        .why("It came too late to stop anything, which is normal where both crossed on the way.")
        .fix("Cancel only what is still open; nothing needs to be done where it is rare.");

    CANCEL_WRONG_DIRECTION = error("cancel-wrong-direction").of(section::CANCELLATION)
        .finds("a cancel for a request of the other side")
        .why("Only who asked may cancel, so the other side ignores it.")
        .fix("Answer with an error in place of cancelling a request that was received.");

    PROGRESS_UNKNOWN_TOKEN = error("progress-unknown-token").of(section::PROGRESS).of_absence()
        .finds("progress for a token that no request of the other side gave")
        .why("The other side cannot tell what it belongs to, so it shows nothing and its timeout goes on.")
        .fix("Send the request's own `_meta.progressToken`, with its JSON type, and nothing where there is none.");

    PROGRESS_TOKEN_REUSED = error("progress-token-reused").of(section::PROGRESS)
        .finds("two open requests of one sender with the same progress token")
        .why("Progress of one request cannot be told from that of the other.")
        .fix("Give each request a token of its own, for example its id.");

    PAIRING_GIVEN_UP = note("pairing-given-up")
        .finds("more is open than mcpreel waits for, so that it gave something up")
        .why("An answer that comes later is not paired, so the recording does not show whether it was answered.")
        .fix("Answer requests, or send fewer at once: of thousands of open ones mcpreel cannot tell which are lost.");
}

/// A cancel and the answer may cross on the way: an answer within this time is no finding.
const CANCEL_GRACE_NS: u64 = 100_000_000;

/// The family of pairing rules; the correlator remembers for it.
#[derive(Debug, Default)]
pub struct Pairing {
    /// Whether a signal told the server to end before it did.
    is_told: bool,
    has_ended: bool,
    /// Whether the host had closed the server's stdin before the end.
    host_left: bool,
    hidden: Hidden,
}

/// Up to where answers may be that nobody could read: they stand in what is not on record.
#[derive(Debug, Default)]
struct Hidden {
    c2s: Seq,
    s2c: Seq,
}

/// Signals with which a host ends a server.
const ASKS: [&str; 4] = ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"];

impl Hidden {
    fn until(&mut self, asked: Direction) -> &mut Seq {
        match asked {
            Direction::ClientToServer => &mut self.c2s,
            Direction::ServerToClient => &mut self.s2c,
        }
    }

    /// Whether what was observed may be explained by something that is not on record.
    fn explains(&mut self, observation: &Observation) -> bool {
        match observation.kind {
            Observed::ResponseUnknown
            | Observed::CancelUnknown
            | Observed::ProgressUnknownToken => self.c2s.max(self.s2c) > Seq(0),
            Observed::Unanswered => observation.frame <= *self.until(observation.direction),
            _ => false,
        }
    }
}

impl Family for Pairing {
    fn frame(&mut self, seen: &FrameContext<'_>) {
        let known = seen.observations.iter();
        let known = known.filter(|one| !self.hidden.explains(one));
        // A server that refuses a request of HTTP need not know which message is in it.
        let is_refusal =
            |one: &&Observation| seen.is_refusal() && one.kind == Observed::ResponseUnknown;
        let known = known.filter(|one| !is_refusal(one));
        seen.findings.extend(known.filter_map(finding));
        if seen.messages.is_empty()
            && seen.content.problems.contains(&Problem::Shortened)
            && let Some(direction) = seen.head.stream.messages()
        {
            *self.hidden.until(direction.reverse()) = seen.head.seq;
        }
    }

    fn event(&mut self, event: &Event, _: &Context<'_>) {
        match event.kind {
            EventKind::Skipped { .. } => {
                let Hidden { c2s, s2c } = &mut self.hidden;
                (*c2s, *s2c) = (event.after_seq.max(*c2s), event.after_seq.max(*s2c));
            }
            EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer,
            } => self.host_left |= !self.has_ended,
            EventKind::Exit { ref signal, .. } => {
                // A host that signals the process group may be seen only after the end.
                let is_asked = signal
                    .as_deref()
                    .is_some_and(|signal| ASKS.contains(&signal));
                self.is_told |= self.host_left && is_asked;
                self.has_ended = true;
            }
            EventKind::Signal { .. } => self.is_told |= !self.has_ended,
            _ => {}
        }
    }

    fn finish(&mut self, end: &[Observation], context: &Context<'_>) {
        let ends = &context.session.ends;
        let known = end.iter().filter(|one| !self.hidden.explains(one));
        for (one, mut found) in known.filter_map(|one| Some((one, finding(one)?))) {
            let is_lost = *found.rule == REQUEST_LOST;
            let asked = one.exchange.and_then(|id| context.correlator.exchange(id));
            // The answer came on another stream after all.
            if is_lost && asked.is_some_and(|it| it.status != Status::Lost) {
                continue;
            }
            // A server that was told to go did not die before its time.
            if is_lost && self.is_told {
                let detail = found.detail + ", open when the session was ended";
                found = REQUEST_UNANSWERED.at(one.frame, detail).about(one.exchange);
            } else if is_lost && asked.is_some_and(|it| ends.has_server_closed(it.t_request)) {
                found.detail += ", sent when the server had already closed its output";
            }
            context.findings.push(found);
        }
    }
}

fn finding(observation: &Observation) -> Option<Finding> {
    let subject = quote::text(&observation.subject);
    let id = format!("id {subject}");
    let given_up = |detail: String| (&PAIRING_GIVEN_UP, detail);
    let (rule, detail): (&'static Rule, _) = match observation.kind {
        // Modern requests may use an id again once it is no longer in flight.
        Observed::IdReused {
            in_flight: false,
            era: Era::Modern,
        } => return None,
        Observed::IdReused {
            in_flight: true, ..
        } => (&ID_REUSED, id + ", while the earlier request is open"),
        Observed::IdReused { .. } => (&ID_REUSED, id + ", after the earlier request ended"),
        Observed::ResponseUnknown => (&RESPONSE_UNKNOWN_ID, id),
        Observed::ResponseDuplicate => (&RESPONSE_DUPLICATE, id),
        Observed::ResponseIdTypeChanged => (&RESPONSE_ID_TYPE_CHANGED, id),
        Observed::ResponseLate { after_ns } if after_ns > CANCEL_GRACE_NS => {
            let detail = format!("{id}, {} after the cancel", duration(after_ns));
            (&CANCEL_LATE_RESPONSE, detail)
        }
        Observed::CancelUnknown => (&CANCEL_UNKNOWN_REQUEST, id),
        Observed::CancelCompleted => (&CANCEL_COMPLETED_REQUEST, id),
        Observed::CancelWrongDirection => (&CANCEL_WRONG_DIRECTION, id),
        Observed::ProgressUnknownToken => (&PROGRESS_UNKNOWN_TOKEN, format!("token {subject}")),
        Observed::ProgressTokenReused => (&PROGRESS_TOKEN_REUSED, format!("token {subject}")),
        Observed::Unanswered => (&REQUEST_UNANSWERED, id),
        Observed::Lost if observation.direction == Direction::ClientToServer => (&REQUEST_LOST, id),
        Observed::RequestGivenUp => given_up(id + ", a request without an answer"),
        Observed::ForGivenUp => given_up(subject + ", of a request that may be one of them"),
        Observed::TaskGivenUp => given_up(id + ", a request whose task has no outcome"),
        Observed::RoundGivenUp => given_up("a request not repeated with its input".into()),
        // An answer that crossed with the cancel is normal, a client that goes away ends the session, and
        // what HTTP carries has rules of its own.
        Observed::ResponseLate { .. } | Observed::Lost | Observed::NotInResponse => return None,
    };
    let finding = rule.at(observation.frame, detail);
    Some(finding.about(observation.exchange))
}
