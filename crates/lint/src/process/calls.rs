//! Calls that the client gave up: without a word, without having asked for progress, or to make
//! them again.

use super::lasting;
use crate::digest;
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::rule::Rule;
use crate::section::{PROGRESS, TIMEOUTS};
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Correlator;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::message::{Body, Direction, Subject};
use std::hash::{Hash, Hasher};

pub(super) static TIMEOUT_NO_CANCEL: Rule = Rule::note(
    "timeout-no-cancel",
    "a request without an answer for a minute, and without a cancel",
)
.why("Whoever asked either waits for ever, or has given up while the other side works on for nobody.")
.fix("Let the asking side wait only so long for each request, and send `notifications/cancelled` when it gives up.")
.of(TIMEOUTS);

pub(super) static NO_PROGRESS_TOKEN: Rule = Rule::note(
    "no-progress-token",
    "the client gave a call up and had not asked for progress",
)
.why("Progress could not keep the call alive, because a server may send it only to a client that gave a token.")
.fix("Send a `progressToken` with calls that take long and let progress renew the time limit, or raise the limit.")
.of(PROGRESS);

pub(super) static REPEATED_AFTER_TIMEOUT: Rule = Rule::warning(
    "repeated-after-timeout",
    "a call is made again after the client gave it up",
)
.why("The first call may have run to its end all the same, so that what the tool does was done twice.")
.fix("Make the tool safe to call twice, let the server stop at a cancel, or give the first call more time.");

/// A call that was open for less was hardly given up because of the time it took.
const GIVEN_UP_NS: u64 = 5_000_000_000;

/// A call that is cancelled sooner was called off, not given up.
const CALLED_OFF_NS: u64 = 1_000_000_000;

/// An open call of this age may have been given up without a cancel; a younger one has a twin that
/// runs at the same time.
const ABANDONED_NS: u64 = 30_000_000_000;

/// A call that is made again later is a new one.
const AGAIN_NS: u64 = 300_000_000_000;

/// Calls that are remembered, open ones and cancelled ones each. Without a limit a client that never
/// gets an answer would be kept in memory; what was forgotten is not compared.
const REMEMBERED: usize = 128;

/// Bytes of the arguments that are compared. Without a limit a large call would be read once more,
/// only to be compared.
const ARGUMENT_BYTES: usize = 8 << 10;

/// The calls of tools that may be made again.
#[derive(Debug)]
pub(super) struct Calls {
    open: Remembered<ExchangeId, Call>,
    cancelled: Remembered<ExchangeId, Cancelled>,
}

#[derive(Debug)]
struct Call {
    frame: Seq,
    t: Moment,
    what: What,
}

#[derive(Debug)]
struct Cancelled {
    frame: Seq,
    t: Moment,
    what: What,
}

/// What a call is told apart by: digests, so that many calls are compared in no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct What {
    tool: u64,
    /// Of the arguments, whatever the order of their members; 0 where there are none.
    arguments: u64,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            open: Remembered::new(REMEMBERED),
            cancelled: Remembered::new(REMEMBERED),
        }
    }
}

impl Calls {
    pub(super) fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        match &part.message.body {
            Body::Request(request) if part.method() == Some("tools/call") => {
                let is_call = part.direction() == Direction::ClientToServer;
                if is_call && request.retry.is_none() {
                    self.call(part, request.name.as_deref(), findings);
                }
            }
            Body::Response(_) => {
                if let Some(exchange) = part.exchange() {
                    self.open.remove(&exchange);
                }
            }
            Body::Notification(notification) => {
                if let Subject::Cancelled { .. } = notification.subject {
                    self.cancelled(part, findings);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, part: &Part<'_>, name: Option<&str>, findings: &mut Findings) {
        let (Some(exchange), Some(name)) = (part.exchange(), name) else {
            return;
        };
        let head = part.seen.head;
        let arguments = part.param("arguments");
        let is_long = arguments.is_some_and(|it| it.raw().len() > ARGUMENT_BYTES);
        if is_long || part.value.is_none() {
            return;
        }
        let call = Call {
            frame: head.seq,
            t: head.t_last,
            what: What {
                tool: digest::of(name),
                arguments: arguments.filter(has_members).map_or(0, meaning),
            },
        };
        if let Some((frame, detail)) = self.made_before(&call, part.seen.correlator) {
            let detail = format!("{} {detail}", quote::text(name));
            findings.push(part.at(&REPEATED_AFTER_TIMEOUT, detail).and(frame));
        }
        self.open.insert(exchange, call);
    }

    /// The frame of the same call, if it was made before and nobody waits for it any more, and how
    /// it is made again.
    fn made_before(&self, call: &Call, correlator: &Correlator) -> Option<(Seq, String)> {
        let age = |t: Moment| call.t.0.saturating_sub(t.0);
        let cancelled = self.cancelled.iter().map(|(_, one)| one);
        let cancelled = cancelled.filter(|one| one.what == call.what && age(one.t) <= AGAIN_NS);
        if let Some(one) = cancelled.max_by_key(|one| one.frame) {
            let after = lasting(age(one.t));
            return Some((one.frame, format!("again {after} after its cancel")));
        }
        // Of one that pairing knows no longer nobody knows whether it was answered.
        let open = self.open.iter();
        let open = open.filter(|(id, _)| correlator.exchange(**id).is_some());
        let open = open.map(|(_, one)| one);
        let abandoned = open.filter(|one| one.what == call.what && is_abandoned(age(one.t)));
        let one = abandoned.max_by_key(|one| one.frame)?;
        let after = lasting(age(one.t));
        Some((one.frame, format!("again after {after} without an answer")))
    }

    fn cancelled(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some((exchange, asked)) = part.exchange().zip(part.asked()) else {
            return;
        };
        let head = part.seen.head;
        let cancelled = part.whole().and_then(|exchange| exchange.cancelled);
        let of_client = [asked.direction, part.direction()] == [Direction::ClientToServer; 2];
        // Only its first cancel counts.
        if !of_client || cancelled != Some(head.seq) {
            return;
        }
        let t = head.t_last;
        let ns = t.0.saturating_sub(asked.t.0);
        let does_work = matches!(
            &*asked.method,
            "tools/call" | "prompts/get" | "resources/read"
        );
        if does_work && asked.token.is_none() && ns >= GIVEN_UP_NS {
            let detail = format!("given up after {}", lasting(ns));
            findings.push(part.at(&NO_PROGRESS_TOKEN, detail).and(asked.frame));
        }
        if let Some(call) = self.open.remove(&exchange)
            && ns >= CALLED_OFF_NS
        {
            let cancelled = Cancelled {
                frame: call.frame,
                t,
                what: call.what,
            };
            self.cancelled.insert(exchange, cancelled);
        }
    }
}

/// Whether a call that is made again `ns` nanoseconds after the first, which is still open, is made
/// again because nobody waits for the first any more.
pub(crate) fn is_abandoned(ns: u64) -> bool {
    (ABANDONED_NS..=AGAIN_NS).contains(&ns)
}

fn has_members(arguments: &Value<'_>) -> bool {
    arguments.kind() != Kind::Object || arguments.members().next().is_some()
}

/// The same number for values that mean the same. A value that was read nests at most
/// [`mcpreel_wire::json::MAX_DEPTH`] deep.
fn meaning(value: Value<'_>) -> u64 {
    let mut hasher = digest::hasher();
    feed(value, &mut hasher);
    hasher.finish()
}

/// Tells `hasher` what `value` is, and where it ends.
fn feed(value: Value<'_>, hasher: &mut impl Hasher) {
    hasher.write_u8(value.kind() as u8);
    match value.kind() {
        Kind::Object => {
            let members = value.members().map(|(name, value)| {
                let mut member = digest::hasher();
                name.str_bytes().hash(&mut member);
                feed(value, &mut member);
                member.finish()
            });
            hasher.write_u64(members.fold(0, u64::wrapping_add));
        }
        Kind::Array => {
            hasher.write_usize(value.elements().count());
            value.elements().for_each(|one| feed(one, hasher));
        }
        Kind::String => value.str_bytes().hash(hasher),
        Kind::Number => value.number().hash(hasher),
        Kind::Null | Kind::Bool => value.raw().hash(hasher),
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;
    use mcpreel_wire::json::Document;

    fn of(text: &str) -> u64 {
        meaning(Document::parse(text.as_bytes()).unwrap().root())
    }

    #[test]
    fn values_that_mean_the_same_have_one_digest() {
        for (a, b) in [
            (r#"{"a":1,"b":[{}]}"#, r#"{ "b": [{}], "\u0061": 1.0 }"#),
            (r#"["é",1e2]"#, r#"["\u00e9",100]"#),
        ] {
            assert_eq!(of(a), of(b), "{a} {b}");
        }
    }

    #[test]
    fn values_that_differ_have_digests_of_their_own() {
        let texts = [
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[[],[]]",
            "[[[]]]",
            "[[1],2]",
            "[[1,2]]",
            "[1,[2]]",
            "[1,2]",
            "[2,1]",
            r#"["1","2"]"#,
            r#"["12"]"#,
            r#"["1",["2"]]"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"ab":1}"#,
            r#"{"a":"b1"}"#,
            "null",
            "true",
            "false",
            "0",
            r#""""#,
            r#""null""#,
            r#"{"a":null}"#,
            r#"{"a":[null]}"#,
        ];
        for (at, a) in texts.iter().enumerate() {
            for b in &texts[at + 1..] {
                assert_ne!(of(a), of(b), "{a} {b}");
            }
        }
    }
}
