//! Sizes, ages and other values of options as people type them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mcpreel_config::nearest;
use mcpreel_wire::text::escape;
use std::str::FromStr;
use std::time::Duration;
use strum::VariantNames;

type Units = &'static [(&'static str, u64)];

const SIZES: Units = &[
    ("b", 1),
    ("k", 1_000),
    ("kb", 1_000),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

const NANOSECONDS: Units = &[
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("min", 60 * SECOND),
    ("h", 3_600 * SECOND),
    ("d", 86_400 * SECOND),
    ("w", 604_800 * SECOND),
];

const SECOND: u64 = 1_000_000_000;

/// Reads `500MB`, `2 GB`, `1.5GiB`, `800k`, `4096 B`: bytes.
pub fn size(text: &str) -> Result<u64, String> {
    read(text, SIZES, "size", "500MB or 2GB")
}

/// Reads `30d`, `12h`, `2w`, `45m`, `90s`.
pub fn age(text: &str) -> Result<Duration, String> {
    read(text, NANOSECONDS, "age", "30d, 12h or 2w").map(Duration::from_nanos)
}

/// Reads `1s`, `1.5 s`, `500ms`, `2m`: nanoseconds.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    read(text, NANOSECONDS, "duration", "1s or 500ms")
}

/// The name of a rule, or why it is none, with the one that may be meant.
pub fn rule(text: &str, known: &[&str], list: &str) -> Result<String, String> {
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    let hint = match nearest(text, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`{list}` has them"),
    };
    Err(format!("there is no rule `{}`; {hint}", escape(text)))
}

/// Reads a number of things.
pub fn number(text: &str) -> Result<usize, String> {
    let number = text.trim().parse();
    number.map_err(|_| format!("`{text}` is not a number"))
}

/// A number and a unit. A number without a unit is refused: whoever means megabytes must not get
/// bytes.
fn read(text: &str, units: Units, noun: &str, examples: &str) -> Result<u64, String> {
    let expected = |fault: &str| format!("`{text}` {fault}; for example {examples}");
    let none = || expected(&format!("is not a valid {noun}"));
    let (number, unit) = split(text).ok_or_else(none)?;
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() && scale(number, 1).is_some() {
        return Err(expected("has no unit"));
    }
    let known = units.iter().find(|(name, _)| *name == unit);
    known
        .and_then(|(_, worth)| scale(number, *worth))
        .ok_or_else(none)
}

fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let digits = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    (!number.is_empty()).then(|| (number, unit.trim()))
}

/// `number` (with decimals) times `worth`, rounded down; `None` if it is none, or too large.
fn scale(number: &str, worth: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    // More decimals than a byte in a terabyte has say nothing.
    let decimals: String = decimals.chars().take(12).collect();
    let digits = u32::try_from(decimals.len()).ok()?;
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("0{decimals}").parse().ok()?;
    let part = u128::from(part) * u128::from(worth) / 10_u128.pow(digits);
    whole
        .checked_mul(worth)?
        .checked_add(u64::try_from(part).ok()?)
}

/// A parser that takes the words of an enumeration.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr + VariantNames + Clone + Send + Sync + 'static,
{
    let words = PossibleValuesParser::new(T::VARIANTS);
    words.map(|word| word.parse().ok().expect("it is one of the words"))
}

/// A parser that takes one of these words, each with its help and its meaning.
pub fn choice<T: Clone + Send + Sync + 'static>(
    choices: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = choices.iter();
    let words = words.map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).try_map(|chosen| {
        let mut known = choices.iter().filter(|(word, ..)| *word == chosen);
        let meaning = known.next().map(|(.., meaning)| meaning.clone());
        meaning.ok_or("it is none of the words")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        let cases = [
            ("4096B", 4_096),
            ("0 B", 0),
            ("800k", 800_000),
            ("500MB", 500_000_000),
            ("2 gb", 2_000_000_000),
            ("1.5GiB", 1_610_612_736),
        ];
        for (text, bytes) in cases {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "5 apples", "1.2.3", "-1", "99999999999TB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_without_a_unit_is_refused_with_the_way_out() {
        for text in ["1", "0", "1.5"] {
            let refused = format!("`{text}` has no unit; for example 500MB or 2GB");
            assert_eq!(size(text), Err(refused));
        }
    }
}
