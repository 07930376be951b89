//! Numbers that a double does not hold: most peers read every number into one.

/// Up to this size every integer has a double of its own.
const EXACT: u64 = 1 << 53;

/// So many characters without an exponent are never too many for a double.
const SHORT: usize = 15;

/// Why a number, by its JSON text, does not survive in a double; `None` where it does, or where
/// only digits behind the point are lost.
pub(super) fn loss(text: &str) -> Option<&'static str> {
    let exponent = text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    if !exponent && text.len() <= SHORT {
        return None;
    }
    let digits = text.trim_start_matches('-');
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let exact = digits.parse::<u64>().is_ok_and(|value| value <= EXACT);
        return (!exact).then_some("an integer beyond 2^53");
    }
    let value: f64 = digits.parse().ok()?;
    if value.is_infinite() {
        return Some("too large for a double");
    }
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    (value < f64::MIN_POSITIVE && !is_zero).then_some("too small for a double")
}

#[cfg(test)]
mod tests {
    use super::loss;

    #[test]
    fn a_number_is_told_where_a_double_holds_another() {
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "12345678901234567890",
            "-9223372036854775808",
            "1e400",
            "-1e309",
            "1e-400",
        ] {
            assert!(loss(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_number_that_a_double_holds_is_not_told() {
        for text in [
            "9007199254740992",
            "-9007199254740992",
            "9007199254740991",
            "0.1",
            "3.14159265358979323846",
            "1763678400.123456",
            "1e300",
            "0e-999",
            "0.0000000000000000e-999",
            "123456789012345",
        ] {
            assert_eq!(loss(text), None, "{text}");
        }
    }
}
