//! Recorded values and what stands for them now, in the messages that are sent. Pure.
//!
//! ```text
//!  recorded answer ─┐
//!                   ├─ learn ──▶ Binder { recorded → live } ──prepare──▶ the bytes to send,
//!  live answer ─────┘                                         ▲          or why they cannot be
//!                                              recorded message
//! ```
//!
//! * What the protocol says the server chooses is bound wherever it would be sent: cursors, task
//!   ids, ids of elicitations, progress tokens of its requests; `requestState` and the keys of its
//!   input requests by the round that they belong to (`round`).
//! * What looks like a handle (`handle`) and differs between the two answers, and is sent by the
//!   recorded client later, as a whole value or as a word of a longer one (a path, a URI), is bound
//!   as well, and reported.
//! * What rules bind comes before that: at their places whatever it is, elsewhere where it cannot be
//!   taken for something else.
//! * What stands for what in messages that are compared is told more narrowly: there a
//!   difference would be hidden.
//! * Placeholders of redacted values are supplied by the user, or by a live answer in their place.
//!   What is neither makes the message one that cannot be sent: [`Fault::Redacted`].
//! * What came with an answer that was never asked for has no live value: a message that needs it
//!   is not sent either, [`Fault::Unreached`].
//! * A message is changed by spans of its bytes ([`Edits`]): order of members, spelling of numbers
//!   and white space stay as recorded, and a message in which nothing changes goes out as it is.
//! * Which message needs which other one follows from the same values: [`Trail`].
//! * Everything is bounded: [`MOST`] values of a kind are remembered, more are counted.

mod handle;
mod known;
mod learn;
mod places;
mod prepare;
mod round;

pub use handle::candidates;
pub use known::{Bound, MOST};
pub use learn::About;
pub use places::Trail;
pub use prepare::{Fault, Outgoing, Role};
pub use round::{Round, Unexpected};

use crate::rewrite::Rewrites;
use crate::rules::{Bind, RuleId};
use known::Known;
use mcpreel_redact::gaps;
use mcpreel_redact::token::{OPEN, Piece, Pieces};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::{IdKind, RequestId};
use mcpreel_wire::json::{Edits, Node, Path, Value, quoted};
use mcpreel_wire::mcp::keys;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What becomes of the values of messages.
#[derive(Debug, Default)]
pub struct Binder {
    /// What the server chose, then and now.
    known: Known,
    secrets: Secrets,
    pub rewrites: Rewrites,
    /// Whether ids and progress tokens of the client are made anew.
    pub fresh_ids: bool,
    /// What span ids are made of; `None`: they are sent as recorded.
    pub span_seed: Option<u64>,
    /// The version that is asked for instead of the recorded one.
    pub protocol: Option<Box<str>>,
    /// Values that are put into the requests of these frames: JSON texts.
    pub edits: HashMap<Seq, Vec<(Path, Box<str>)>>,
    binds: Vec<(RuleId, Bind)>,
    /// Those of them by which something was sent.
    fired: HashSet<RuleId>,
    spans_made: u64,
    nodes: Vec<Node>,
}

impl Binder {
    /// Supplies the value of a placeholder.
    pub fn supply(&mut self, placeholder: impl Into<Box<str>>, value: impl Into<Box<str>>) {
        self.secrets.supply(placeholder.into(), value.into());
    }

    /// A text that is no message, a word of a command line: with its placeholders and roots
    /// replaced, or the placeholders that are not known.
    pub fn word(&self, text: &str) -> Result<String, Vec<Box<str>>> {
        let supplied = self.secrets.fill(text)?;
        Ok(self.rewrites.apply(&supplied).into_owned())
    }

    /// The handles that were sent in place of recorded ones, and what they stand for.
    pub fn bound(&self) -> Vec<Bound> {
        self.known.bound()
    }

    /// Values that were not remembered because there were too many.
    pub fn forgotten(&self) -> u64 {
        self.known.forgotten
    }
}

impl Binder {
    /// What the client itself chose: ids, spans, its version.
    fn edit_request(&mut self, message: Value<'_>, edits: &mut Edits) {
        let params = message.get("params");
        let meta = params.and_then(|params| params.get("_meta"));
        let in_meta = |key: &str| meta.and_then(|meta| meta.get(key));
        if self.fresh_ids {
            for id in [message.get("id"), in_meta(keys::PROGRESS_TOKEN)] {
                fresh_value(id, edits);
            }
        }
        if let (Some(seed), Some(traceparent)) = (self.span_seed, in_meta(keys::TRACEPARENT)) {
            self.spans_made += 1;
            let random = random(seed, self.spans_made);
            let recorded = traceparent.as_str().unwrap_or_default();
            if let Some(fresh) = with_fresh_span(&recorded, random) {
                edits.replace_string(traceparent, &fresh);
            }
        }
        if let Some(version) = &self.protocol {
            let asked = params
                .filter(|_| {
                    message
                        .get("method")
                        .is_some_and(|it| it.is_str("initialize"))
                })
                .and_then(|params| params.get("protocolVersion"));
            for recorded in [asked, in_meta(keys::PROTOCOL_VERSION)]
                .into_iter()
                .flatten()
            {
                edits.replace_string(recorded, version);
            }
        }
    }

    fn edit_notification(&self, message: Value<'_>, method: &str, edits: &mut Edits) {
        if self.fresh_ids && method == "notifications/cancelled" {
            let params = message.get("params");
            fresh_value(params.and_then(|params| params.get("requestId")), edits);
        }
    }
}

fn fresh_value(value: Option<Value<'_>>, edits: &mut Edits) {
    if let Some(value) = value {
        let id = RequestId::from_value(value);
        edits.replace(value, fresh_id(&id).json());
    }
}

/// What is added to a number: no client counts so far in a session.
const OFFSET: u64 = 7_000_000_000;

/// Another id in place of `id`, of the same JSON type; the same whenever it is asked for.
pub fn fresh_id(id: &RequestId) -> RequestId {
    let json = match id.kind() {
        IdKind::String => quoted(&format!("fresh-{}", id.form())),
        IdKind::Integer | IdKind::Fraction => match id.json().parse::<u64>() {
            Ok(number) if number <= OFFSET => (OFFSET + number).to_string(),
            // Fractions and numbers beyond all counting have to be told apart as they are.
            _ => return id.clone(),
        },
        IdKind::Null | IdKind::Other => return id.clone(),
    };
    RequestId::from_json(&json).unwrap_or_else(|| id.clone())
}

/// A `traceparent` (W3C Trace Context, section 3.2) with another span id, made of `random`; `None`
/// where it is none.
fn with_fresh_span(traceparent: &str, random: u64) -> Option<String> {
    let mut fields = traceparent.splitn(4, '-');
    let (version, trace, span, rest) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    let is_hex = |field: &str, digits| {
        field.len() == digits && field.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    // All zeros would be no span.
    (is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16))
        .then(|| format!("{version}-{trace}-{:016x}-{rest}", random | 1))
}

/// The number that stands at place `at` of a sequence that looks random and begins with `seed`.
fn random(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(at.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What stands for placeholders of redacted values: `‹secret:1›`.
#[derive(Clone, Debug, Default)]
struct Secrets {
    supplied: HashMap<Box<str>, Box<str>>,
    learned: HashMap<Box<str>, Box<str>>,
}

impl Secrets {
    fn supply(&mut self, name: Box<str>, value: Box<str>) {
        self.supplied.insert(name, value);
    }

    /// A live text stands where the recording has one with placeholders in it.
    fn learn(&mut self, recorded: &str, live: &str) {
        if !recorded.contains(OPEN) {
            return;
        }
        for (name, value) in gaps::values(recorded, live).unwrap_or_default() {
            if self.learned.len() < MOST || self.learned.contains_key(name) {
                self.learned.insert(name.into(), value.into());
            }
        }
    }

    /// The text with all placeholders replaced, or the names of those that are not known.
    fn fill<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Vec<Box<str>>> {
        if !text.contains(OPEN) {
            return Ok(Cow::Borrowed(text));
        }
        let (mut filled, mut missing) = (String::new(), Vec::new());
        for piece in Pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder { name, .. } => match self.value(name) {
                    Some(value) => filled.push_str(value),
                    None => missing.push(name.into()),
                },
            }
        }
        if missing.is_empty() {
            Ok(Cow::Owned(filled))
        } else {
            Err(missing)
        }
    }

    /// The text with those placeholders replaced that are known.
    fn fill_known(&self, text: &str) -> String {
        Pieces(text)
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Placeholder { name, whole } => self.value(name).unwrap_or(whole),
            })
            .collect()
    }

    fn value(&self, name: &str) -> Option<&str> {
        let value = self.supplied.get(name).or_else(|| self.learned.get(name));
        value.map(|value| &**value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_has_the_type_of_the_old_one_and_is_another() {
        for json in ["0", "7", "\"7\"", "\"a b\\n\""] {
            let old = RequestId::from_json(json).unwrap();
            let new = fresh_id(&old);
            assert_ne!(old, new, "{json}");
            assert_eq!(fresh_id(&old), new, "{json}");
            assert_eq!(new.json().starts_with('"'), json.starts_with('"'));
        }
        let other = |json| fresh_id(&RequestId::from_json(json).unwrap());
        assert_ne!(other("7"), other("\"7\""));
        assert_ne!(other("7"), other("8"));
    }

    #[test]
    fn only_the_span_of_a_traceparent_changes() {
        let recorded = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let fresh = with_fresh_span(recorded, 0xabc).unwrap();
        assert_eq!(
            fresh,
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000abd-01"
        );
        assert_eq!(with_fresh_span("not a traceparent", 1), None);
        assert_ne!(random(1, 0), random(1, 1));
        assert_ne!(random(1, 0), random(2, 0));
    }

    #[test]
    fn a_placeholder_is_filled_or_named() {
        let mut secrets = Secrets::default();
        secrets.supply("secret:1".into(), "hunter2".into());
        assert_eq!(
            secrets.fill("Bearer ‹secret:1›!").unwrap(),
            "Bearer hunter2!"
        );
        assert_eq!(
            secrets.fill("‹no placeholder› ‹").unwrap(),
            "‹no placeholder› ‹"
        );
        let missing = secrets.fill("‹secret:1›‹email:2›‹secret:3›").unwrap_err();
        assert_eq!(missing, ["email:2".into(), "secret:3".into()]);
        assert_eq!(
            secrets.fill_known("‹secret:1›‹email:2›"),
            "hunter2‹email:2›"
        );
    }

    #[test]
    fn the_live_text_in_its_place_tells_what_it_stands_for() {
        let mut secrets = Secrets::default();
        secrets.learn("token=‹secret:7›;", "token=abc;");
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "abc");
        // Once of several nothing was learned, and what they stand for was a difference.
        secrets.learn("of ‹email:1› and ‹email:2›.", "of a@b and c@d.");
        assert_eq!(secrets.fill("‹email:2›‹email:1›").unwrap(), "c@da@b");
        secrets.learn("x‹secret:8›", "token");
        assert!(secrets.fill("‹secret:8›").is_err());
        secrets.supply("secret:7".into(), "mine".into());
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "mine");
    }
}
