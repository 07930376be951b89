//! Quantities as they are typed.

use super::value::Wrong;

/// Nanoseconds of the units of durations; the first that fits a number is how it is written.
pub(crate) const DURATIONS: &[(&str, u64)] = &[
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("µs", 1_000),
    ("μs", 1_000),
    ("min", 60_000_000_000),
];

pub(crate) const SIZES: &[(&str, u64)] = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A quantity: the smallest that is written so, and how far apart two of its precision are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub value: i64,
    pub step: i64,
}

/// Reads `500ms`, `1.5MB`. A number without a unit is `bare`, or else unfinished; zero needs none.
pub(super) fn quantity(
    text: &str,
    units: &[(&str, u64)],
    bare: Option<u64>,
) -> Result<Quantity, Wrong> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let zero = number == "0";
    let exact = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let worth = match (unit, exact) {
        ("", _) if zero => 1,
        ("", _) => bare.ok_or(Wrong::Unfinished)?,
        (_, Some((_, worth))) => *worth,
        _ => return Err(unknown_unit(unit, units)),
    };
    scaled(number, worth)
}

fn unknown_unit(unit: &str, units: &[(&str, u64)]) -> Wrong {
    let unit = unit.to_ascii_lowercase();
    // `100ms.` may become `100ms..2s`.
    let unit = unit.strip_suffix('.').unwrap_or(&unit);
    let mut names = units.iter().map(|(name, _)| name.to_ascii_lowercase());
    if names.any(|name| name.starts_with(unit)) {
        return Wrong::Unfinished;
    }
    Wrong::Type
}

/// `number`, with decimals, times `worth`.
fn scaled(number: &str, worth: u64) -> Result<Quantity, Wrong> {
    if number.is_empty() || number.ends_with('.') {
        return Err(Wrong::Unfinished);
    }
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    // The nineteenth decimal of an hour is no nanosecond.
    if decimals.contains('.') || decimals.len() > 18 {
        return Err(Wrong::Type);
    }
    let digits = |text: &str| {
        if text.is_empty() {
            Ok(0)
        } else {
            text.parse::<u128>()
        }
    };
    let (Ok(whole), Ok(part)) = (whole.parse::<u128>(), digits(decimals)) else {
        return Err(Wrong::Type);
    };
    let places = u32::try_from(decimals.len()).unwrap_or(u32::MAX);
    let (worth, scale) = (u128::from(worth), 10_u128.pow(places));
    let value = whole
        .checked_mul(worth)
        .and_then(|whole| whole.checked_add(part * worth / scale))
        .and_then(|value| i64::try_from(value).ok())
        .ok_or(Wrong::TooLarge)?;
    let step = i64::try_from((worth / scale).max(1)).unwrap_or(i64::MAX);
    Ok(Quantity { value, step })
}

/// Reads `12:04`, `1:02:04.5` (minutes and seconds, or hours before them), or a duration.
pub(super) fn moment(text: &str) -> Result<Quantity, Wrong> {
    let Some((first, rest)) = text.split_once(':') else {
        return quantity(text, DURATIONS, None);
    };
    let (minutes, seconds) = match rest.split_once(':') {
        Some((minutes, seconds)) => (
            digits_of(first)?
                .saturating_mul(60)
                .saturating_add(below_sixty(minutes)?),
            seconds,
        ),
        None => (digits_of(first)?, rest),
    };
    let whole = seconds.split('.').next().unwrap_or_default();
    below_sixty(whole)?;
    let seconds = scaled(seconds, 1_000_000_000)?;
    let value = minutes
        .checked_mul(60_000_000_000)
        .and_then(|minutes| minutes.checked_add(seconds.value))
        .ok_or(Wrong::TooLarge)?;
    Ok(Quantity { value, ..seconds })
}

fn digits_of(text: &str) -> Result<i64, Wrong> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(Wrong::Type);
    }
    text.parse().map_err(|_| Wrong::TooLarge)
}

fn below_sixty(text: &str) -> Result<i64, Wrong> {
    if text.is_empty() {
        return Err(Wrong::Unfinished);
    }
    match digits_of(text)? {
        number @ 0..60 if text.len() <= 2 => Ok(number),
        _ => Err(Wrong::Type),
    }
}
