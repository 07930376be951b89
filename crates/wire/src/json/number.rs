//! Exact decimal values, never through floating point.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A number's exact value in a normal form: equal values are equal, however they are written.
///
/// Nothing is ever as long as an exponent is large. An exponent of more than 36 digits counts as
/// one of 36 nines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    /// `digits × 10^exponent`, without leading or trailing zeros; zero has no digits and no sign.
    digits: Box<str>,
    exponent: i128,
}

/// The largest exponent: an `i128` has room to add the length of any text to it.
const MAX_EXPONENT: i128 = 10i128.pow(36) - 1;

impl Number {
    /// The value of `text`, a number by the grammar of JSON; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if super::scan::number(text.as_bytes(), 0) != Ok(text.len()) {
            return None;
        }
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = match fraction {
            "" => Cow::Borrowed(whole),
            fraction => Cow::Owned([whole, fraction].concat()),
        };
        let kept = all.trim_end_matches('0');
        let digits = kept.trim_start_matches('0');
        let is_small = exponent.starts_with('-');
        let most = if is_small {
            -MAX_EXPONENT
        } else {
            MAX_EXPONENT
        };
        let exponent = exponent
            .parse()
            .unwrap_or(most)
            .clamp(-MAX_EXPONENT, MAX_EXPONENT);
        let shift = (all.len() - kept.len()) as i128 - fraction.len() as i128;
        let is_zero = digits.is_empty();
        Some(Self {
            negative: text.starts_with('-') && !is_zero,
            digits: digits.into(),
            exponent: if is_zero { 0 } else { exponent + shift },
        })
    }

    /// Whether it has no fractional part: `1000.0` and `1e3` have none.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// The value, if it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        let magnitude: i128 = match &*self.digits {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        let power = 10i128.checked_pow(u32::try_from(self.exponent).ok()?)?;
        let magnitude = magnitude.checked_mul(power)?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |it: &Self| match (it.digits.is_empty(), it.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        // The power of ten above the first digit.
        let high = |it: &Self| it.exponent + it.digits.len() as i128;
        let magnitude = high(self).cmp(&high(other));
        let magnitude = magnitude.then_with(|| self.digits.cmp(&other.digits));
        let magnitude = if self.negative {
            magnitude.reverse()
        } else {
            magnitude
        };
        sign(self).cmp(&sign(other)).then(magnitude)
    }
}

impl fmt::Display for Number {
    /// The normal form, itself a JSON number: `-12e3`, `5e-1`, `7`, `0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        match (&*self.digits, self.exponent) {
            ("", _) => f.write_str("0"),
            (digits, 0) => write!(f, "{sign}{digits}"),
            (digits, exponent) => write!(f, "{sign}{digits}e{exponent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn one_value_has_one_form() {
        for (form, texts) in [
            (
                "1",
                &["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "0.01e+02"][..],
            ),
            (
                "0",
                &[
                    "0",
                    "-0",
                    "0.0",
                    "-0.0e7",
                    "0e99999999999999999999999999999999999999999",
                ],
            ),
            ("-12e3", &["-12000", "-12e3", "-1.2E4", "-0.0012e7"]),
            ("5e-1", &["0.5", "5e-1", "0.50"]),
            ("1e400", &["1e400", "10e399", "0.1e401"]),
        ] {
            for text in texts {
                assert_eq!(number(text).to_string(), form, "{text}");
                assert_eq!(number(text), number(form), "{text}");
            }
        }
    }

    #[test]
    fn values_that_floating_point_confuses_differ() {
        assert_ne!(number("9007199254740992"), number("9007199254740993"));
        assert_ne!(number("1e400"), number("1e401"));
        assert_ne!(number("0.1"), number("0.10000000000000000001"));
        assert_ne!(number("1"), number("-1"));
    }

    #[test]
    fn an_absurd_exponent_costs_nothing() {
        let huge = number(&format!("1e{}", "9".repeat(1000)));
        assert_eq!(number(&huge.to_string()), huge);
        assert!(huge > number("1e999") && huge.is_integer());
        assert_eq!(huge.to_i64(), None);
    }

    #[test]
    fn integers_are_told_by_value() {
        for text in ["1000.0", "1e3", "-5", "0.0", "1.50e1"] {
            assert!(number(text).is_integer(), "{text}");
        }
        for text in ["1.5", "1e-1", "15e-2"] {
            assert!(!number(text).is_integer(), "{text}");
        }
        assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
        assert_eq!(number("9223372036854775808").to_i64(), None);
        assert_eq!(number("-32.602e3").to_i64(), Some(-32602));
    }

    proptest! {

        #[test]
        fn the_order_is_that_of_the_values(a in -1000i64..1000, b in -1000i64..1000, e in 0u32..3) {
            let scaled = b * 10i64.pow(e);
            let order = number(&a.to_string()).partial_cmp(&number(&format!("{b}e{e}")));
            prop_assert_eq!(order, Some(a.cmp(&scaled)));
        }
    }
}
