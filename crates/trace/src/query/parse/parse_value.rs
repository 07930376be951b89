//! Values of comparisons, read by the type of the field.

use crate::query::ast::{Op, Type, Value};
use crate::query::pattern;
use mcpreel_wire::json::Number;

/// Why a value is none of its type.
#[derive(Debug)]
pub(super) enum Wrong {
    Type,
    /// Something of its own, in words.
    Because(String),
}

impl Wrong {
    fn because<T>(message: impl Into<String>) -> Result<T, Self> {
        Err(Self::Because(message.into()))
    }
}

pub(super) struct Raw {
    pub text: String,
    pub quoted: bool,
}

/// The value that `raw` is for a field of type `kind`, compared by `op`.
pub(super) fn read(kind: Type, op: Op, raw: &Raw) -> Result<Value, Wrong> {
    let text = raw.text.as_str();
    if op.is_match() {
        return pattern_text(text);
    }
    if text.is_empty() && !raw.quoted {
        return Err(Wrong::Type);
    }
    match kind {
        Type::Text => Ok(plain(text, false)),
        Type::Words(words) => word(text, words),
        Type::Id => Ok(id(raw)),
        Type::Json => json(op, raw),
        Type::Number => amount(op, text, whole),
        Type::Duration => amount(op, text, |text| quantity(text, DURATIONS, None)),
        Type::Size => amount(op, text, |text| quantity(text, SIZES, Some(1))),
        Type::Time => time(op, text),
    }
}

fn plain(text: &str, quoted: bool) -> Value {
    Value::Text {
        text: text.into(),
        quoted,
    }
}

fn pattern_text(text: &str) -> Result<Value, Wrong> {
    match pattern::regex(text) {
        Ok(_) => Ok(plain(text, false)),
        Err(error) => {
            let reason = pattern::reason(&error);
            Wrong::because(format!("the regular expression is not valid: {reason}"))
        }
    }
}

fn word(text: &str, words: &[&str]) -> Result<Value, Wrong> {
    let lower = text.to_ascii_lowercase();
    let is_known = words.contains(&lower.as_str());
    is_known.then(|| plain(&lower, false)).ok_or(Wrong::Type)
}

fn id(raw: &Raw) -> Value {
    let bare = !raw.quoted && (raw.text == "null" || Number::parse(&raw.text).is_some());
    if bare {
        Value::Json(raw.text.as_str().into())
    } else {
        plain(&raw.text, raw.quoted)
    }
}

fn json(op: Op, raw: &Raw) -> Result<Value, Wrong> {
    let number = !raw.quoted && Number::parse(&raw.text).is_some();
    if number {
        return Ok(Value::Json(raw.text.as_str().into()));
    }
    let range = (!raw.quoted).then(|| raw.text.split_once("..")).flatten();
    if let Some((from, to)) = range
        && let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>())
    {
        return range_of(op, from, to);
    }
    if !op.is_order() {
        return Ok(plain(&raw.text, raw.quoted));
    }
    Wrong::because(format!(
        "`{}` asks for an order, which only numbers have, for example 5",
        op.as_str()
    ))
}

fn whole(text: &str) -> Result<Quantity, Wrong> {
    let number = quantity(text, &[], Some(1))?;
    if text.contains('.') {
        Err(Wrong::Type)
    } else {
        Ok(number)
    }
}

fn time(op: Op, text: &str) -> Result<Value, Wrong> {
    let Some(ago) = text.strip_prefix('-') else {
        return amount(op, text, moment);
    };
    if ago.contains("..") {
        return Wrong::because("times before the end make no range; write time>=-5m time<=-1m");
    }
    let ago = quantity(ago, DURATIONS, None)?.value;
    if !op.is_order() {
        return Wrong::because(format!(
            "a time before the end needs an order; for what came since write time>{text}"
        ));
    }
    Ok(Value::Ago(ago.unsigned_abs()))
}

/// A number or a range of them. With `:` a number stands for all that are written so at its
/// precision.
fn amount(
    op: Op,
    text: &str,
    read: impl Fn(&str) -> Result<Quantity, Wrong>,
) -> Result<Value, Wrong> {
    if let Some((from, to)) = text.split_once("..") {
        return range_of(op, read(from)?.value, read(to)?.value);
    }
    let Quantity { value, step } = read(text)?;
    if op == Op::Contains && step > 1 {
        return Ok(Value::Range(value..=value.saturating_add(step - 1)));
    }
    Ok(Value::Number(value))
}

fn range_of(op: Op, from: i64, to: i64) -> Result<Value, Wrong> {
    if op.is_order() {
        return Wrong::because(format!("`{}` takes one end, not a range", op.as_str()));
    }
    if from > to {
        return Wrong::because("the range ends before it begins");
    }
    Ok(Value::Range(from..=to))
}

// Quantities as they are typed.

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
struct Quantity {
    value: i64,
    step: i64,
}

/// Reads `500ms`, `1.5MB`. A number without a unit counts `bare`, if it may have none; zero needs none.
fn quantity(text: &str, units: &[(&str, u64)], bare: Option<u64>) -> Result<Quantity, Wrong> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let known = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let worth = match (unit, known) {
        ("", _) if number == "0" => 1,
        ("", _) => bare.ok_or(Wrong::Type)?,
        (_, Some((_, worth))) => *worth,
        _ => return Err(Wrong::Type),
    };
    scaled(number, worth)
}

/// `number`, with decimals, times `worth`.
fn scaled(number: &str, worth: u64) -> Result<Quantity, Wrong> {
    if number.is_empty() || number.ends_with('.') {
        return Err(Wrong::Type);
    }
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    // The nineteenth decimal of an hour is no nanosecond.
    if decimals.contains('.') || decimals.len() > 18 {
        return Err(Wrong::Type);
    }
    let digits = |text: &str| format!("0{text}").parse::<u128>();
    let (Ok(whole), Ok(part)) = (digits(whole), digits(decimals)) else {
        return Err(Wrong::Type);
    };
    let places = u32::try_from(decimals.len()).unwrap_or(u32::MAX);
    let (worth, scale) = (u128::from(worth), 10_u128.pow(places));
    let value = whole
        .checked_mul(worth)
        .and_then(|whole| whole.checked_add(part * worth / scale))
        .and_then(|value| i64::try_from(value).ok())
        .ok_or_else(too_large)?;
    let step = i64::try_from((worth / scale).max(1)).unwrap_or(i64::MAX);
    Ok(Quantity { value, step })
}

fn too_large() -> Wrong {
    Wrong::Because("the number is too large".to_owned())
}

/// Reads `12:04`, `1:02:04.5` (minutes and seconds, or hours before them), or a duration.
fn moment(text: &str) -> Result<Quantity, Wrong> {
    let Some((first, rest)) = text.split_once(':') else {
        return quantity(text, DURATIONS, None);
    };
    let (hours, minutes, seconds) = match rest.split_once(':') {
        Some((minutes, seconds)) => (digits_of(first)?, below_sixty(minutes)?, seconds),
        None => (0, digits_of(first)?, rest),
    };
    below_sixty(seconds.split('.').next().unwrap_or_default())?;
    let seconds = scaled(seconds, 1_000_000_000)?;
    let minutes = hours.saturating_mul(60).saturating_add(minutes);
    let value = minutes
        .checked_mul(60_000_000_000)
        .and_then(|minutes| minutes.checked_add(seconds.value))
        .ok_or_else(too_large)?;
    Ok(Quantity { value, ..seconds })
}

fn digits_of(text: &str) -> Result<i64, Wrong> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| text.parse().map_err(|_| too_large()));
    number.ok_or(Wrong::Type)?
}

fn below_sixty(text: &str) -> Result<i64, Wrong> {
    match digits_of(text)? {
        number @ 0..60 if text.len() <= 2 => Ok(number),
        _ => Err(Wrong::Type),
    }
}
