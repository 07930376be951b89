//! Times as logs write them.

use crate::protocol::json::{Kind, Value};
use chrono::{DateTime, NaiveDateTime};

/// The wall clock that `text` shows, nanoseconds since the Unix epoch: RFC 3339, the same with a
/// space in the middle, or without an offset, which is taken for UTC.
pub(super) fn of_text(text: &str) -> Option<u64> {
    let text = text.trim();
    let exact = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    let time = exact.or_else(|_| {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .iter()
            .map(|form| NaiveDateTime::parse_from_str(text, form))
            .find_map(Result::ok)
            .map(|time| time.and_utc())
            .ok_or(())
    });
    u64::try_from(time.ok()?.timestamp_nanos_opt()?).ok()
}

/// Of a value: a text, or a number of seconds, or of thousandths, millionths or billionths of them,
/// whichever lies between 2001 and 2128; to the microsecond.
pub(super) fn of_value(value: Value<'_>) -> Option<u64> {
    if value.kind() == Kind::String {
        return of_text(&value.as_str()?);
    }
    let number: f64 = value.number_text()?.parse().ok()?;
    let in_us = [1e6, 1e3, 1.0, 1e-3].into_iter().map(|unit| number * unit);
    let us = in_us.into_iter().find(|us| (1e15..5e15).contains(us))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between the bounds"
    )]
    Some(us.round() as u64 * 1000)
}
