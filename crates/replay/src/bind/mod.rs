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
//! * In messages that are compared fewer values stand for each other than in messages that are
//!   sent: a wrong pair would hide a difference.
//! * Placeholders of redacted values are supplied by the user, or by a live answer in their place.
//!   What is neither makes the message one that cannot be sent: [`Fault::Redacted`].
//! * What came with an answer that was never asked for has no live value: a message that needs it
//!   is not sent either, [`Fault::Unreached`].
//! * A message is changed by spans of its bytes ([`Edits`]): order of members, spelling of numbers
//!   and white space stay as recorded, and a message in which nothing changes goes out as it is.
//! * Everything is bounded: [`MOST`] values are remembered, more are counted.

mod handle;
mod known;
mod learn;
mod places;
mod prepare;
mod round;

pub use known::{Bound, MOST};
pub use learn::About;
pub use places::{each_candidate, text_hash};
pub use prepare::{Fault, Role};
pub use round::{Round, Unexpected};

use crate::gaps;
use crate::rewrite::Rewrites;
use crate::rules::Bind;
use known::Known;
use mcpreel_redact::token::{OPEN, Piece, Pieces};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::{IdKind, RequestId};
use mcpreel_wire::json::{Edits, Path, Value, quoted};
use mcpreel_wire::mcp::keys;
use std::borrow::Cow;
use std::collections::HashMap;

/// Replaces recorded values in messages by live ones.
#[derive(Debug, Default)]
pub struct Binder {
    /// The values that the server chose, then and now.
    pub(crate) known: Known,
    secrets: Secrets,
    pub rewrites: Rewrites,
    /// Whether ids and progress tokens of the client are made anew.
    pub fresh_ids: bool,
    /// The seed of new span ids; `None`: they are sent as recorded.
    pub span_seed: Option<u64>,
    /// The version that is asked for instead of the recorded one.
    pub protocol: Option<Box<str>>,
    /// Values that are put into the requests of these frames: JSON texts.
    pub edits: HashMap<Seq, Vec<(Path, Box<str>)>>,
    /// The values that rules bind.
    pub binds: Vec<Bind>,
    spans_made: u64,
}

impl Binder {
    /// Supplies the value of a placeholder.
    pub fn supply(&mut self, placeholder: impl Into<Box<str>>, value: impl Into<Box<str>>) {
        let supplied = &mut self.secrets.supplied;
        supplied.insert(placeholder.into(), value.into());
    }

    /// A text that is no message, a word of a command line: with its placeholders and roots
    /// replaced, or the placeholders that are not known.
    pub fn word(&self, text: &str) -> Result<String, Vec<Box<str>>> {
        match self.secrets.fill(text) {
            (supplied, none) if none.is_empty() => Ok(self.rewrites.apply(&supplied).into_owned()),
            (_, missing) => Err(missing),
        }
    }

    /// Replaces values that the client itself chose: ids, spans, its version.
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
            let first = message.get("method").filter(|it| it.is_str("initialize"));
            let asked = first
                .and(params)
                .and_then(|params| params.get("protocolVersion"));
            let asked = asked.into_iter().chain(in_meta(keys::PROTOCOL_VERSION));
            asked.for_each(|recorded| edits.replace_string(recorded, version));
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

/// The offset of fresh ids: no client counts so far in a session.
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

/// The values of placeholders of redacted values: `‹secret:1›`.
#[derive(Clone, Debug, Default)]
struct Secrets {
    supplied: HashMap<Box<str>, Box<str>>,
    learned: HashMap<Box<str>, Box<str>>,
}

impl Secrets {
    /// A live text stands where the recording has one with placeholders in it.
    fn learn(&mut self, recorded: &str, live: &str) {
        let values = recorded
            .contains(OPEN)
            .then(|| gaps::values(recorded, live));
        for (name, value) in values.flatten().unwrap_or_default() {
            if self.learned.len() < MOST || self.learned.contains_key(name) {
                self.learned.insert(name.into(), value.into());
            }
        }
    }

    /// The text with the placeholders replaced that are known, and the names of the others.
    fn fill<'t>(&self, text: &'t str) -> (Cow<'t, str>, Vec<Box<str>>) {
        let mut missing = Vec::new();
        if !text.contains(OPEN) {
            return (Cow::Borrowed(text), missing);
        }
        let filled = Pieces(text).map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Placeholder { name, whole } => {
                let value = self.supplied.get(name).or_else(|| self.learned.get(name));
                if value.is_none() {
                    missing.push(name.into());
                }
                value.map_or(whole, |value| value)
            }
        });
        let filled: String = filled.collect();
        (Cow::Owned(filled), missing)
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
    fn a_placeholder_is_filled_from_what_was_supplied_or_stands_in_its_place() {
        let mut secrets = Secrets::default();
        let mut fill = |supply: Option<&str>, learn: [&str; 2], text: &str| {
            let supplied = supply.map(|value| ("secret:1".into(), value.into()));
            secrets.supplied.extend(supplied);
            secrets.learn(learn[0], learn[1]);
            let (filled, missing) = secrets.fill(text);
            format!("{filled} {}", missing.join(" "))
        };
        let text = "Bearer ‹secret:1›‹email:2›! ‹no placeholder›";
        let missing = fill(None, ["x‹email:2›", "token"], text);
        assert_eq!(missing, format!("{text} secret:1 email:2"));
        // Once of several nothing was learned, and what they stand for was a difference.
        let learned = fill(
            None,
            ["of ‹secret:1› and ‹email:2›.", "of abc and c@d."],
            text,
        );
        assert_eq!(learned, "Bearer abcc@d! ‹no placeholder› ");
        let supplied = fill(Some("mine"), ["", ""], "‹secret:1›");
        assert_eq!(supplied, "mine ");
    }
}
