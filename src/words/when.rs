//! Wall clock times in the local time zone.

use chrono::{DateTime, Local, Utc};

fn local(wall_ns: u64) -> DateTime<Local> {
    // 2^63 nanoseconds last until the year 2262.
    let nanos = i64::try_from(wall_ns).unwrap_or(i64::MAX);
    DateTime::from_timestamp_nanos(nanos).with_timezone(&Local)
}

/// `2026-11-20 15:17`
#[must_use]
pub fn short(wall_ns: u64) -> String {
    local(wall_ns).format("%Y-%m-%d %H:%M").to_string()
}

/// `15:17`
#[must_use]
pub fn time(wall_ns: u64) -> String {
    local(wall_ns).format("%H:%M").to_string()
}

/// `15:17`, or `11-20` where that was longer ago than most of a day: for narrow places.
#[must_use]
pub fn near(wall_ns: u64, now_ns: u64) -> String {
    const MOST_OF_A_DAY_NS: u64 = 18 * 3_600 * 1_000_000_000;
    if now_ns.saturating_sub(wall_ns) < MOST_OF_A_DAY_NS {
        return time(wall_ns);
    }
    local(wall_ns).format("%m-%d").to_string()
}

/// `15:17:03`
#[must_use]
pub fn clock(wall_ns: u64) -> String {
    local(wall_ns).format("%H:%M:%S").to_string()
}

/// `2026-11-20 15:17:03.120 +01:00`
#[must_use]
pub fn exact(wall_ns: u64) -> String {
    local(wall_ns)
        .format("%Y-%m-%d %H:%M:%S%.3f %:z")
        .to_string()
}

/// RFC 3339 in UTC, for programs.
#[must_use]
pub fn rfc3339(wall_ns: u64) -> String {
    let utc = local(wall_ns).with_timezone(&Utc);
    utc.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
