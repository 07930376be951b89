//! Exact decimal values, never through floating point.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A number's exact value in a normal form: equal values are equal, however they are written.
///
/// Nothing is ever as long as an exponent is large. Where the exponent itself has more than 36
/// digits, numbers are equal only if written alike, so that different values never become equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Form);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// `digits × 10^exponent`, without leading or trailing zeros; zero has no digits and no sign.
    Exact {
        negative: bool,
        digits: Box<str>,
        exponent: i128,
    },
    /// As written, because of its exponent.
    Verbatim(Box<str>),
}

/// The longest exponent that an `i128` holds with room to add the length of any text.
const EXPONENT_DIGITS: usize = 36;

impl Number {
    /// The value of `text`, a number by the grammar of JSON; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if super::scan::number(text.as_bytes(), 0) != Ok(text.len()) {
            return None;
        }
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, ""));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = match fraction {
            "" => Cow::Borrowed(whole),
            fraction => Cow::Owned([whole, fraction].concat()),
        };
        let kept = all.trim_end_matches('0');
        let digits = kept.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self(Form::exact(false, "", 0)));
        }
        let Some(exponent) = parse_exponent(exponent) else {
            return Some(Self(Form::Verbatim(text.into())));
        };
        let shift = (all.len() - kept.len()) as i128 - fraction.len() as i128;
        let negative = text.starts_with('-');
        Some(Self(Form::exact(negative, digits, exponent + shift)))
    }

    /// Whether it has no fractional part: `1000.0` and `1e3` have none.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Form::Exact { exponent, .. } => *exponent >= 0,
            Form::Verbatim(text) => !text.contains("e-") && !text.contains("E-"),
        }
    }

    /// The value, if it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        let Form::Exact {
            negative,
            digits,
            exponent,
        } = &self.0
        else {
            return None;
        };
        let magnitude: i128 = match &**digits {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        let power = 10i128.checked_pow(u32::try_from(*exponent).ok()?)?;
        let magnitude = magnitude.checked_mul(power)?;
        i64::try_from(if *negative { -magnitude } else { magnitude }).ok()
    }
}

impl Form {
    fn exact(negative: bool, digits: &str, exponent: i128) -> Self {
        Self::Exact {
            negative,
            digits: digits.into(),
            exponent,
        }
    }
}

/// An exponent's value, 0 if there is none; `None` if it is absurdly long.
fn parse_exponent(text: &str) -> Option<i128> {
    let unsigned = text.trim_start_matches(['-', '+']);
    let digits = unsigned.trim_start_matches('0');
    if digits.len() > EXPONENT_DIGITS {
        return None;
    }
    let value = digits.parse().unwrap_or(0);
    Some(if text.starts_with('-') { -value } else { value })
}

impl PartialOrd for Number {
    /// `None` only where an exponent of more than 36 digits is involved.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        let ((sign, high, digits), (other_sign, other_high, other_digits)) =
            (self.0.order()?, other.0.order()?);
        let magnitude = high.cmp(&other_high).then(digits.cmp(other_digits));
        Some(sign.cmp(&other_sign).then(match sign {
            -1 => magnitude.reverse(),
            _ => magnitude,
        }))
    }
}

impl Form {
    /// What it is ordered by: sign, power of ten above the first digit, digits.
    fn order(&self) -> Option<(i8, i128, &str)> {
        let Self::Exact {
            negative,
            digits,
            exponent,
        } = self
        else {
            return None;
        };
        let sign = match (digits.is_empty(), negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        Some((sign, exponent + digits.len() as i128, digits))
    }
}

impl fmt::Display for Number {
    /// The normal form, itself a JSON number: `-12e3`, `5e-1`, `7`, `0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, digits, exponent) = match &self.0 {
            Form::Verbatim(text) => return f.write_str(text),
            Form::Exact { digits, .. } if digits.is_empty() => return f.write_str("0"),
            Form::Exact {
                negative,
                digits,
                exponent,
            } => (negative, digits, exponent),
        };
        let sign = if *negative { "-" } else { "" };
        match exponent {
            0 => write!(f, "{sign}{digits}"),
            exponent => write!(f, "{sign}{digits}e{exponent}"),
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
    fn an_absurd_exponent_costs_nothing_and_equals_itself() {
        let digits = "9".repeat(1000);
        let huge = number(&format!("1e{digits}"));
        assert_eq!(huge, huge.clone());
        assert_eq!(number(&huge.to_string()), huge);
        assert_ne!(huge, number(&format!("1e-{digits}")));
        assert!(huge.is_integer());
        assert_eq!(huge.to_i64(), None);
        assert_eq!(
            number("1e999999999999999999999999999999999999").to_i64(),
            None
        );
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
        fn shifting_the_point_changes_nothing(digits in 1u64.., shift in 0usize..60) {
            let zeros = "0".repeat(shift);
            prop_assert_eq!(number(&format!("{digits}{zeros}e-{shift}")), number(&digits.to_string()));
            prop_assert_eq!(number(&format!("0.{zeros}{digits}")), number(&format!("{digits}e-{}", shift + digits.to_string().len())));
        }

        #[test]
        fn the_order_is_that_of_the_values(a in -1000i64..1000, b in -1000i64..1000, e in 0u32..3) {
            let scaled = b * 10i64.pow(e);
            let order = number(&a.to_string()).partial_cmp(&number(&format!("{b}e{e}")));
            prop_assert_eq!(order, Some(a.cmp(&scaled)));
        }
    }
}
