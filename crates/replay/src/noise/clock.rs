//! Times of day without a date, or with one as locales write it, and what only looks so.

use regex::Captures;

/// A time of day with seconds, `MONTH` standing for [`MONTH`].
const PATTERN: &str = concat!(
    r"(?P<clock>(?:\b(?P<day>",
    r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)|\d{4}[./]\d{1,2}[./]\d{1,2}",
    r"|MONTH \d{1,2}, \d{4}|\d{1,2} MONTH \d{4}",
    r")(?:,| at)? )?",
    // In front of the half of the day newer locales have a narrow space that does not break.
    r"\b(?P<hour>\d{1,2}):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?\b",
    r"(?P<half>[ \u{a0}\u{202f}]?[AaPp](?:[Mm]\b|\.[Mm]\.))?)",
);

/// The months in English, in short or in full.
const MONTH: &str = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}";

/// By what a time of day is found. What it found is to be looked at by [`is_one`].
pub(super) fn pattern() -> String {
    PATTERN.replace("MONTH", MONTH)
}

/// Whether what the pattern has found in `text` is a time of day: no part of an address or of a
/// version, and no `1:02:03`, which is how long something is. That `01:02:03` may be that as well
/// cannot be told; how long things take differs between two runs too.
pub(super) fn is_one(text: &str, found: &Captures<'_>) -> bool {
    let (Some(clock), Some(hour)) = (found.name("clock"), found.name("hour")) else {
        return false;
    };
    let (before, after) = (&text[..clock.start()], &text[clock.end()..]);
    if before.ends_with([':', '.', '+']) || after.starts_with(':') {
        return false;
    }
    let goes_on = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    if after.strip_prefix('.').is_some_and(goes_on) {
        return false;
    }
    let is_dated = found.name("day").is_some();
    match (hour.as_str().parse(), found.name("half")) {
        (Ok(1..=12_u8), Some(_)) => true,
        (Ok(0..=23), None) => is_dated || hour.len() == 2,
        _ => false,
    }
}
