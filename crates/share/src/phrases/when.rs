//! Wall clock times in the local time zone. 0 is no time but one that is not known.

use chrono::{DateTime, Local, Utc};

fn local(wall_ns: u64) -> DateTime<Local> {
    // 2^63 nanoseconds last until the year 2262.
    let nanos = i64::try_from(wall_ns).unwrap_or(i64::MAX);
    DateTime::from_timestamp_nanos(nanos).with_timezone(&Local)
}

const UNKNOWN: &str = "unknown";

/// The time in this form, if it is known.
fn written(wall_ns: u64, form: &str) -> String {
    match wall_ns {
        0 => UNKNOWN.to_owned(),
        _ => local(wall_ns).format(form).to_string(),
    }
}

/// `2026-11-20 15:17:03`
pub fn short(wall_ns: u64) -> String {
    written(wall_ns, "%Y-%m-%d %H:%M:%S")
}

/// How long ago it was: `24 s`, `5 min`, `3 h`; `11-20` where that was longer ago than most of a day.
pub fn age(wall_ns: u64, now_ns: u64) -> String {
    let seconds = now_ns.saturating_sub(wall_ns) / 1_000_000_000;
    match seconds {
        _ if wall_ns == 0 => UNKNOWN.to_owned(),
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..64_800 => format!("{} h", seconds / 3600),
        _ => written(wall_ns, "%m-%d"),
    }
}

pub fn clock(wall_ns: u64) -> String {
    written(wall_ns, "%H:%M:%S")
}

/// `2026-11-20 15:17:03.120 +01:00`
pub fn exact(wall_ns: u64) -> String {
    written(wall_ns, "%Y-%m-%d %H:%M:%S%.3f %:z")
}

pub fn rfc3339(wall_ns: u64) -> String {
    let utc = local(wall_ns).with_timezone(&Utc);
    utc.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}
