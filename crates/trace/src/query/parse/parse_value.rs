//! Values of comparisons, read by the type of the field.

use crate::query::ast::{Op, Type, Value};
use crate::query::pattern;
use mcpreel_wire::json::Number;

/// Something read from a value. The error says why the value is none of its type, where that is
/// more than what [`Type::takes`] says.
type Read<T> = Result<T, Option<String>>;

fn because<T>(message: impl Into<String>) -> Read<T> {
    Err(Some(message.into()))
}

/// The value that `text` is for a field of type `kind`, compared by `op`.
pub(super) fn read(kind: Type, op: Op, text: &str, quoted: bool) -> Read<Value> {
    let plain = |text: &str, quoted| Value::Text {
        text: text.into(),
        quoted,
    };
    if op.is_match() {
        let invalid = |error| {
            let reason = pattern::reason(&error);
            Some(format!("the regular expression is not valid: {reason}"))
        };
        return pattern::regex(text)
            .map(|_| plain(text, false))
            .map_err(invalid);
    }
    if text.is_empty() && !quoted {
        return Err(None);
    }
    let is_number = !quoted && Number::parse(text).is_some();
    match kind {
        Type::Text => Ok(plain(text, false)),
        Type::Words(words) => {
            let lower = text.to_ascii_lowercase();
            let is_known = words.contains(&lower.as_str());
            is_known.then(|| plain(&lower, false)).ok_or(None)
        }
        Type::Id | Type::Json if is_number => Ok(Value::Json(text.into())),
        Type::Id if text == "null" && !quoted => Ok(Value::Json(text.into())),
        Type::Id => Ok(plain(text, quoted)),
        Type::Json => match text.split_once("..").filter(|_| !quoted) {
            Some((from, to)) if from.parse::<i64>().is_ok() && to.parse::<i64>().is_ok() => {
                amount(op, text, |text| Ok((text.parse().map_err(|_| None)?, 1)))
            }
            _ if op.is_order() => because("only numbers have an order, for example 5"),
            _ => Ok(plain(text, quoted)),
        },
        Type::Number if text.contains(['.']) && !text.contains("..") => Err(None),
        Type::Number => amount(op, text, |text| quantity(text, &[], Some(1))),
        Type::Duration => amount(op, text, |text| quantity(text, DURATIONS, None)),
        Type::Size => amount(op, text, |text| quantity(text, SIZES, Some(1))),
        Type::Time => match text.strip_prefix('-') {
            None => amount(op, text, moment),
            Some(ago) if op.is_order() => {
                let (ago, _) = quantity(ago, DURATIONS, None)?;
                Ok(Value::Ago(ago.unsigned_abs()))
            }
            Some(_) => because(format!(
                "a time before the end needs an order; for what came since write time>{text}"
            )),
        },
    }
}

/// A number or a range of them. With `:` a number stands for all that are written so at its
/// precision.
fn amount(op: Op, text: &str, read: impl Fn(&str) -> Read<Quantity>) -> Read<Value> {
    if let Some((from, to)) = text.split_once("..") {
        let ((from, _), (to, _)) = (read(from)?, read(to)?);
        if op.is_order() {
            return because(format!("`{}` takes one end, not a range", op.as_str()));
        }
        if from > to {
            return because("the range ends before it begins");
        }
        return Ok(Value::Range(from..=to));
    }
    let (value, step) = read(text)?;
    if op == Op::Contains && step > 1 {
        return Ok(Value::Range(value..=value.saturating_add(step - 1)));
    }
    Ok(Value::Number(value))
}

// Quantities as they are typed.

/// Nanoseconds of the units of durations; the first that fits a number is how it is written.
pub(crate) const DURATIONS: &[(&str, i64)] = &[
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("µs", 1_000),
    ("μs", 1_000),
    ("min", 60_000_000_000),
];

const SECOND: i64 = 1_000_000_000;

pub(crate) const SIZES: &[(&str, i64)] = &[
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The smallest number that is written so, and how far apart two of its precision are.
type Quantity = (i64, i64);

/// Reads `500ms`, `1.5MB`. A number without a unit counts `bare`, if it may have none; zero needs none.
fn quantity(text: &str, units: &[(&str, i64)], bare: Option<i64>) -> Read<Quantity> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let mut known = units.iter();
    let worth = match known.find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, worth)) => Some(*worth),
        None if unit.is_empty() => bare.or((number == "0").then_some(1)),
        None => None,
    };
    scaled(number, worth.ok_or(None)?)
}

/// `number`, which is made of digits and dots, times `worth`.
fn scaled(number: &str, worth: i64) -> Read<Quantity> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    // The nineteenth decimal of an hour is no nanosecond.
    if number.is_empty() || number.ends_with('.') || decimals.len() > 18 {
        return Err(None);
    }
    let digits: i128 = format!("{whole}{decimals}").parse().map_err(|_| None)?;
    let scale = decimals.chars().fold(1_i128, |scale, _| scale * 10);
    let value = digits.checked_mul(worth.into()).map(|value| value / scale);
    let value = value.and_then(|value| i64::try_from(value).ok());
    let step = i64::try_from(i128::from(worth) / scale).unwrap_or(1).max(1);
    let too_large = || Some("the number is too large".to_owned());
    Ok((value.ok_or_else(too_large)?, step))
}

/// Reads `12:04`, `1:02:04.5` (minutes and seconds, or hours before them), or a duration.
fn moment(text: &str) -> Read<Quantity> {
    let Some((minutes, seconds)) = text.rsplit_once(':') else {
        return quantity(text, DURATIONS, None);
    };
    let number = |text: &str| text.parse::<u32>().map(i64::from).map_err(|_| None);
    let (hours, minutes) = match minutes.split_once(':') {
        Some((hours, minutes)) => (number(hours)?, number(minutes)?),
        None => (0, number(minutes)?),
    };
    if !seconds.starts_with(|char: char| char.is_ascii_digit()) {
        return Err(None);
    }
    let (seconds, step) = scaled(seconds, SECOND)?;
    if seconds >= 60 * SECOND || hours > 0 && minutes >= 60 {
        return Err(None);
    }
    let minutes = hours.saturating_mul(60).saturating_add(minutes);
    let nanos = minutes.saturating_mul(60 * SECOND).saturating_add(seconds);
    Ok((nanos, step))
}
