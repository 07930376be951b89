//! Ids that are another's than the recorded ones, the same for the same.

use mcpreel_wire::id::{IdKind, RequestId};
use mcpreel_wire::json::quoted;

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
pub(super) fn with_fresh_span(traceparent: &str, random: u64) -> Option<String> {
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
pub(super) fn random(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(at.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
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
}
