//! Numbers that say how long something took.

/// What members are called that hold such a number.
const NAMES: [&str; 5] = ["duration", "elapsed", "latency", "took", "uptime"];

/// What may stand behind the name: `took_ms`, `elapsedSeconds`, `elapsed_time`.
const UNITS: [&str; 18] = [
    "ns",
    "nanos",
    "nanoseconds",
    "us",
    "micros",
    "microseconds",
    "ms",
    "millis",
    "milliseconds",
    "s",
    "sec",
    "secs",
    "seconds",
    "min",
    "mins",
    "minutes",
    "hours",
    "time",
];

/// Whether a member says how long something took, alone or with a unit. Of a longer name, such as
/// `max_duration`, nobody knows whether it was measured.
pub(super) fn is_duration(name: &str) -> bool {
    let unit = |rest: &str| {
        let parted = rest.strip_prefix(['_', '-']);
        let is_parted = parted.is_some() || rest.starts_with(|letter: char| letter.is_uppercase());
        let rest = parted.unwrap_or(rest);
        rest.is_empty() || is_parted && UNITS.contains(&&*rest.to_ascii_lowercase())
    };
    let name_of = |known: &&str| {
        let begin = name.get(..known.len())?;
        begin
            .eq_ignore_ascii_case(known)
            .then(|| &name[known.len()..])
    };
    NAMES.iter().filter_map(name_of).any(unit)
}
