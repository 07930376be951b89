//! Times as logs write them.

use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike as _};
use mcpreel_wire::json::{Kind, Value};

const SECOND_NS: u64 = 1_000_000_000;

/// The wall clock that `text` shows, nanoseconds since the Unix epoch: RFC 3339, the same with a
/// space in the middle, with a comma before the fraction, or without an offset, which is taken for
/// UTC. A time of day without a date is as much after midnight; so is a number that stands in a
/// text.
pub(super) fn of_text(text: &str) -> Option<u64> {
    let text = text.trim().replacen(',', ".", 1);
    let exact = DateTime::parse_from_rfc3339(&text).map(|time| time.to_utc());
    let time = exact.or_else(|_| {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .iter()
            .map(|form| NaiveDateTime::parse_from_str(&text, form))
            .find_map(Result::ok)
            .map(|time| time.and_utc())
            .ok_or(())
    });
    match time {
        Ok(time) => u64::try_from(time.timestamp_nanos_opt()?).ok(),
        Err(()) => of_day(&text).or_else(|| of_number(&text)),
    }
}

fn of_day(text: &str) -> Option<u64> {
    let time = NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok()?;
    let seconds = u64::from(time.num_seconds_from_midnight());
    Some(seconds * SECOND_NS + u64::from(time.nanosecond()))
}

/// Of a value: a text, or a number of seconds, or of thousandths, millionths or billionths of them,
/// whichever lies between 2001 and 2128; to the microsecond. A small number with a fraction counts
/// seconds from somewhere; a small one without may count anything, and is no time.
pub(super) fn of_value(value: Value<'_>) -> Option<u64> {
    if value.kind() == Kind::String {
        return of_text(&value.as_str()?);
    }
    of_number(value.number_text()?)
}

fn of_number(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let in_us = [1e6, 1e3, 1.0, 1e-3].into_iter().map(|unit| number * unit);
    let dated = in_us.into_iter().find(|us| (1e15..5e15).contains(us));
    let since = || {
        let is_small = (0.0..1e8).contains(&number) && text.contains('.');
        is_small.then_some(number * 1e6)
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between the bounds"
    )]
    let us = dated.or_else(since)?.round() as u64;
    Some(us * 1000)
}
