//! Pieces of a row: two texts in the room of one, bars, short times.

use mcpreel_trace::clock::Moment;
use mcpreel_wire::text::{cut, duration, since, width};
use std::ops::Range;

/// Two texts in `room` columns; where there is too little, both are cut.
pub(super) fn with_aside(
    text: &str,
    aside: &str,
    room: usize,
    cut_text: fn(&str, usize) -> String,
) -> String {
    if aside.is_empty() {
        return cut_text(text, room);
    }
    let half = room / 2;
    let left = room.saturating_sub(width(text) + 1).max(half);
    let aside = cut(aside, left);
    let text = cut_text(text, room.saturating_sub(width(&aside) + 1));
    format!("{text} {aside}")
}

/// How much of a bar is full, and how much is left: all of it stands for what is usual. Nothing
/// at all where there is no latency or nothing is usual.
pub(super) fn bar(latency: Option<u64>, usual: Option<u64>, wide: usize) -> (usize, usize) {
    let (Some(latency), Some(usual)) = (latency, usual.filter(|usual| *usual > 0)) else {
        return (0, 0);
    };
    let part = u128::from(latency) * wide as u128 / u128::from(usual);
    let full = usize::try_from(part).unwrap_or(wide).min(wide);
    (full, wide - full)
}

/// The text in parts, of which some are among `places`.
pub(super) fn divide<'t>(text: &'t str, places: &[Range<usize>]) -> Vec<(&'t str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for place in places {
        let parts_of = (text.get(at..place.start), text.get(place.clone()));
        if let (Some(before), Some(hit)) = parts_of {
            parts.extend([(before, false), (hit, true)]);
            at = place.end;
        }
    }
    parts.push((text.get(at..).unwrap_or_default(), false));
    parts
}

pub(super) fn tenths(t: Moment) -> String {
    let mut text = since(t.0);
    text.truncate(text.len() - 2);
    text
}

/// A latency in seven columns: `842 ms`, `13.8 s`, `3m05s`, `2h10m`.
pub(super) fn short_duration(nanos: u64) -> String {
    const MINUTE: u64 = 60;
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0..MINUTE => duration(nanos),
        _ if seconds < 60 * MINUTE => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_is_at_is_seen_beside_words_that_are_cut() {
        let text = |room| with_aside("crawl {site:\"a\"}", "└ 40/100 indexing", room, cut);
        assert_eq!(text(40), "crawl {site:\"a\"} └ 40/100 indexing");
        assert_eq!(text(20), "crawl {s… └ 40/100 …");
        for room in 0..50 {
            assert!(width(&text(room)) <= room.max(1), "{room}");
        }
    }

    #[test]
    fn a_bar_is_full_at_what_is_usual_and_empty_without() {
        assert_eq!(bar(Some(50), Some(100), 6), (3, 3));
        assert_eq!(bar(Some(900), Some(100), 6), (6, 0));
        assert_eq!(bar(Some(900), None, 6), (0, 0));
        assert_eq!(bar(None, Some(100), 6), (0, 0));
        assert_eq!(bar(Some(1), Some(0), 6), (0, 0));
    }

    #[test]
    fn times_fit_their_columns() {
        assert_eq!(tenths(Moment(724_318_000_000)), "12:04.3");
        assert_eq!(short_duration(842_000_000), "842 ms");
        assert_eq!(short_duration(185_000_000_000), "3m05s");
        assert_eq!(short_duration(7_800_000_000_000), "2h10m");
    }
}
