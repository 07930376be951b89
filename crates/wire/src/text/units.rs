//! Sizes, durations and counts as people write them. Integer arithmetic: nothing is rounded twice.

/// Bytes with a decimal unit: `412 B`, `1.9 kB`, `200 kB`, `2.1 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    scaled(bytes, 1000, &UNITS)
}

/// A latency in words: `87 ns`, `412 µs`, `4.2 ms`, `842 ms`, `13.8 s`, `3 min 05 s`, `2 h 10 min`.
pub fn duration(nanos: u64) -> String {
    const UNITS: [&str; 3] = ["µs", "ms", "s"];
    const MINUTE: u64 = 60;
    // What would be written as 60.0 s is a minute.
    let tenths = nanos.saturating_add(50_000_000) / 100_000_000;
    let seconds = nanos.saturating_add(500_000_000) / 1_000_000_000;
    match (nanos, seconds) {
        (0, _) => "0 ms".to_owned(),
        (1..1_000, _) => format!("{nanos} ns"),
        _ if (100..10 * MINUTE).contains(&tenths) => format!("{}.{} s", tenths / 10, tenths % 10),
        (_, 0..MINUTE) => scaled(nanos, 1000, &UNITS),
        (_, MINUTE..3600) => format!("{} min {:02} s", seconds / MINUTE, seconds % MINUTE),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / MINUTE),
    }
}

/// A length of time as a clock shows it: `00:12:31`; hours go on past a day. Under a minute
/// `13.8 s`: there the tenths say more than the zeros.
pub fn clock(nanos: u64) -> String {
    let tenths = nanos.saturating_add(50_000_000) / 100_000_000;
    if tenths < 600 {
        return format!("{}.{} s", tenths / 10, tenths % 10);
    }
    let seconds = nanos.saturating_add(500_000_000) / 1_000_000_000;
    let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// A moment since the start: `12:04.318`, minutes, seconds and thousandths, from an hour on
/// `1:02:04.318`.
pub fn since(nanos: u64) -> String {
    let (millis, seconds) = (nanos / 1_000_000 % 1000, nanos / 1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    match hours {
        0 => format!("{minutes:02}:{seconds:02}.{millis:03}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}.{millis:03}"),
    }
}

/// A number with its digits in groups of three: `1 204`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number with its noun: `1 call`, `1 204 calls`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

/// `value` in the largest unit of which it has one or more (the first unit is worth `step`), one
/// decimal below ten.
fn scaled(value: u64, step: u64, units: &[&str]) -> String {
    let mut worth = step;
    for (at, unit) in units.iter().enumerate() {
        let tenths = (u128::from(value) * 10 + u128::from(worth) / 2) / u128::from(worth);
        let whole = (u128::from(value) + u128::from(worth) / 2) / u128::from(worth);
        let last = at + 1 == units.len();
        if tenths < 100 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        if whole < u128::from(step) || last {
            return format!("{whole} {unit}");
        }
        worth = worth.saturating_mul(step);
    }
    unreachable!("the last unit takes every value")
}

#[cfg(test)]
mod tests {
    use super::*;

    // One session was 2.6 s long in a list and 2.7 s in a sentence.
    #[test]
    fn a_length_of_time_is_rounded_alike_wherever_it_stands() {
        for ms in [40, 2_649, 2_650, 9_949, 13_850, 59_940] {
            let ns = ms * 1_000_000;
            let tenths = (ms + 50) / 100;
            assert_eq!(clock(ns), format!("{}.{} s", tenths / 10, tenths % 10));
            assert!(ms < 1000 || duration(ns) == clock(ns), "{ms} ms");
        }
        assert_eq!(clock(59_960_000_000), "00:01:00");
    }
}
