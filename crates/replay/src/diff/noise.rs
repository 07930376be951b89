//! Values that differ between any two runs of the same session: ids, tokens, times, durations, ports,
//! temporary files.

use crate::rewrite::Rewrites;
use mcpreel_wire::json::{Kind, Step, Value};
use mcpreel_wire::mcp::keys;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Texts longer than this are compared as they are: the pattern reads them several times.
const MAX_TEXT: usize = 64 * 1024;

const DAY: u64 = 86_400_000_000_000;

/// Nanoseconds of thirty years: a clock that shows less was never set, and next to it any small
/// number would look like a moment.
const FIRST_DATE: u64 = 30 * 365 * DAY;

/// Nanoseconds until the day of the first revision of the protocol, 2024-11-05.
const FIRST_SESSION: u64 = 1_730_764_800_000_000_000;

/// Units in which moments are told, in nanoseconds.
const UNITS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

/// Below this a port is one that somebody chose, not one that the system gave out.
const FIRST_EPHEMERAL_PORT: i64 = 32_768;

/// Members of messages whose values one side makes up anew in each session.
const MADE_UP: &[&str] = &[
    keys::PROGRESS_TOKEN,
    keys::TRACEPARENT,
    keys::SUBSCRIPTION_ID,
    keys::RELATED_TASK,
    "tracestate",
    "baggage",
    "requestId",
    "cursor",
    "nextCursor",
    "requestState",
    "taskId",
    "elicitationId",
    "ttlMs",
    "lastModified",
];

/// The members among [`MADE_UP`] that may as well be missing.
const OPTIONAL: &[&str] = &[
    keys::PROGRESS_TOKEN,
    keys::TRACEPARENT,
    "tracestate",
    "baggage",
];

/// Members below which names are not the protocol's: a tool may call an argument `cursor`. A text
/// has members where it is JSON itself.
const PAYLOADS: &[&str] = &["arguments", "structuredContent", "data", "text"];

/// Members of messages that hold bytes in base64.
const CODED: &[&str] = &["blob", "data"];

/// Members with the version of a peer: another version is what an upgrade is.
const VERSIONS: &[&[&str]] = &[
    &["result", "_meta", keys::SERVER_INFO, "version"],
    &["result", "serverInfo", "version"],
    &["params", "_meta", keys::CLIENT_INFO, "version"],
    &["params", "clientInfo", "version"],
];

/// Two values at the same place of two messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    pub(super) place: &'a [Step],
    /// When the two messages were sent.
    pub(super) wall_ns: [Option<u64>; 2],
    /// Paths of the left side that stand for others on the right.
    pub(super) rewrites: &'a Rewrites,
}

impl Beside<'_> {
    /// Whether the values differ only as two runs do.
    pub(super) fn is_noise(&self, left: Value<'_>, right: Value<'_>) -> bool {
        if members(self.place).eq(["id"]) {
            return true;
        }
        if left.kind() != right.kind() {
            return false;
        }
        if is_made_up(self.place) || is_version(self.place) {
            return true;
        }
        match left.kind() {
            Kind::String => {
                let (left, right) = (left.as_str(), right.as_str());
                let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
                // Texts that differ only in what a text does not show differ in earnest.
                left != right && self.same_shape(&left, &right)
            }
            Kind::Number => self.is_number_of_a_run(left, right),
            _ => false,
        }
    }

    /// Whether two texts are the same but for what two runs never share.
    pub(super) fn same_shape(&self, left: &str, right: &str) -> bool {
        let longest = left.len().max(right.len());
        longest <= MAX_TEXT && shape(&self.rewrites.apply(left)) == shape(right)
    }

    fn is_number_of_a_run(&self, left: Value<'_>, right: Value<'_>) -> bool {
        let numbers = [left, right].map(|value| value.number().and_then(|n| n.to_i64()));
        let ports = |number: &Option<i64>| number.is_some_and(|n| n >= FIRST_EPHEMERAL_PORT);
        match members(self.place).last() {
            Some("pid") => return numbers.iter().all(Option::is_some),
            Some("port") if numbers.iter().all(ports) => return true,
            // What a client asks for by such a name is a choice, and what a server answers is not.
            Some(name) if self.is_of_an_answer() && DURATION.is_match(name) => return true,
            _ => {}
        }
        let [Some(a), Some(b)] = self.wall_ns else {
            return false;
        };
        let (undated, dated, wall_ns) = match [a, b].map(|wall_ns| wall_ns >= FIRST_DATE) {
            [true, true] => return is_this_day(left, a) && is_this_day(right, b),
            [false, true] => (left, right, b),
            [true, false] => (right, left, a),
            [false, false] => return false,
        };
        // Where a session has no date, a moment is one before that of the other side, of a time in
        // which there were sessions. Of amounts of as many digits hardly any lies so near.
        UNITS
            .iter()
            .filter(|unit| is_near(dated, **unit, wall_ns))
            .any(|unit| {
                let both = moment(undated, *unit).zip(moment(dated, *unit));
                both.is_some_and(|(then, now)| (FIRST_SESSION..=now).contains(&then))
            })
    }

    fn is_of_an_answer(&self) -> bool {
        members(self.place)
            .next()
            .is_some_and(|first| first != "params")
    }
}

/// The members on the way to a place, elements left out.
pub(super) fn members(place: &[Step]) -> impl DoubleEndedIterator<Item = &str> {
    place.iter().filter_map(|step| match step {
        Step::Member(name) => Some(&**name),
        _ => None,
    })
}

/// Whether one side makes up the value at `place` anew in each session.
pub(super) fn is_made_up(place: &[Step]) -> bool {
    is_named(place, MADE_UP)
}

/// Whether the member at `place` may as well be missing.
pub(super) fn may_be_missing(place: &[Step], value: Option<bool>) -> bool {
    // A result that does not say that it is an error is none.
    let is_usual = value == Some(false) && members(place).eq(["result", "isError"]);
    is_usual || is_named(place, OPTIONAL)
}

/// Whether the member at `place` holds bytes in base64.
pub(super) fn is_coded(place: &[Step]) -> bool {
    is_named(place, CODED)
}

fn is_named(place: &[Step], list: &[&str]) -> bool {
    let mut names = members(place).rev();
    let is_listed = names.next().is_some_and(|name| list.contains(&name));
    is_listed && !names.any(|name| PAYLOADS.contains(&name))
}

fn is_version(place: &[Step]) -> bool {
    let mut versions = VERSIONS.iter();
    versions.any(|version| members(place).eq(version.iter().copied()))
}

/// Whether a number means a moment of the day around `wall_ns`, in seconds or in thousandths,
/// millionths or billionths of them. Where the date is not known, as of a cassette, none does.
pub(super) fn is_this_day(value: Value<'_>, wall_ns: u64) -> bool {
    wall_ns >= FIRST_DATE && UNITS.iter().any(|unit| is_near(value, *unit, wall_ns))
}

fn is_near(value: Value<'_>, unit: u64, wall_ns: u64) -> bool {
    moment(value, unit).is_some_and(|moment| moment.abs_diff(wall_ns) < DAY)
}

/// The moment that a number means in a unit, nanoseconds since the Unix epoch.
fn moment(value: Value<'_>, unit: u64) -> Option<u64> {
    let number = value.number()?.to_i64()?;
    u64::try_from(number).ok()?.checked_mul(unit)
}

static VOLATILE: LazyLock<Regex> = LazyLock::new(|| {
    let others = concat!(
        r"(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
        r"|(?P<time>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
        // As browsers and node, `date` and mail headers write it, one after the other.
        r"|(?P<date>\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d{1,2} [A-Z][a-z]{2}|[A-Z][a-z]{2} {1,2}\d{1,2})",
        r"(?: \d{4})? \d\d:\d\d:\d\d(?: [A-Z]{3,4}(?:[+-]\d{4})?| [+-]\d{4})?(?: \d{4}\b)?(?: \([A-Z][A-Za-z ]+\))?)",
        r"|(?P<port>(?:localhost|127\.0\.0\.1|\[::1\]):\d+)",
        // A folder called `tmp` somewhere below others is an ordinary one.
        r"|(?P<before>^|file://|[\s\x22'(=:,\[{<>])",
        r"(?P<temporary>(?:/private)?/(?:tmp|var/tmp|var/folders)/[^\s\x22',;)\]}|&?<>]+)",
        r"|(?P<pid>\b(?i:pid)[ =:]{1,2}\d+)",
        r"|(?P<duration>\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds|min|minutes)\b)",
    );
    let clock = CLOCK.replace("SECONDS", SECONDS).replace("HALF", HALF);
    Regex::new(&format!("{others}|{}", clock.replace("MONTH", MONTH)))
        .expect("the pattern is a constant, and the tests use it")
});

/// A text with a word in place of every id, moment, time of day, duration, local port, process id and name of a
/// temporary file that was made up; the text itself where it is too long to look for them.
pub(super) fn shape(text: &str) -> Cow<'_, str> {
    if text.len() > MAX_TEXT {
        return Cow::Borrowed(text);
    }
    VOLATILE.replace_all(text, |found: &Captures<'_>| {
        let (edge, before) = (found.name("edge"), found.name("before"));
        // What goes on is part of an address or of a version.
        let rest = &text[found.get_match().end()..];
        if edge.is_some() && GOES_ON.is_match(rest) {
            return found[0].to_owned();
        }
        let mut names = VOLATILE.capture_names().flatten();
        let name = names.find(|name| found.name(name).is_some());
        let before = edge.or(before).map_or("", |before| before.as_str());
        match found.name("temporary") {
            Some(path) => [before, &chosen_parts(path.as_str())].concat(),
            None => format!("{before}\u{0}{}\u{0}", name.unwrap_or_default()),
        }
    })
}

/// Whether a member says how long something took, alone or with a unit: `took_ms`,
/// `elapsedSeconds`. Of a longer name, such as `max_duration`, nobody knows whether it was measured.
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        "(?i)^(?:duration|elapsed|latency|took|uptime)",
        "(?:[_-]s|[_-]?(?:ns|nanos|nanoseconds|us|micros|microseconds|ms|millis|milliseconds",
        "|secs?|seconds|mins?|minutes|hours|time))?$",
    );
    Regex::new(pattern).expect("the pattern is a constant, and the tests use it")
});

/// A time of day with seconds, after a date, with the half of the day, or with two digits for the
/// hour: `1:02:03` is how long something is. That `01:02:03` may be that as well cannot be told; how
/// long things take differs between two runs too.
const CLOCK: &str = concat!(
    r"(?P<edge>^|[^\w:.+])(?:(?:",
    r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d\d)|\d{4}[./]\d{1,2}[./]\d{1,2}",
    r"|MONTH \d{1,2}, \d{4}|\d{1,2} MONTH \d{4}",
    r")(?:,| at)? (?:[01]?\d|2[0-3])SECONDS\b(?:HALF)?",
    r"|(?:0?[1-9]|1[0-2])SECONDSHALF|(?:[01]\d|2[0-3])SECONDS\b)",
);

const SECONDS: &str = r":[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?";

/// In front of the half of the day newer locales have a narrow space that does not break.
const HALF: &str = r"[ \u{a0}\u{202f}]?[AaPp](?:[Mm]\b|\.[Mm]\.)";

/// The months in English, in short or in full.
const MONTH: &str = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}";

static GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?::|\.\d)").expect("the pattern is a constant, and the tests use it")
});

/// The word that replaces a name that was made up.
const MADE_UP_WORD: &str = "\u{0}temporary\u{0}";

/// A name, and what stands before it: macOS gives each user a folder of two made up names.
static TEMPORARY_WORD: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(/folders)/[^/]+/[^/]+|([-.]?)([A-Za-z0-9_]+)";
    Regex::new(pattern).expect("the pattern is a constant, and the tests use it")
});

/// A path of temporary files with one word in place of each that a program has made up: `mkdtemp`
/// and test runners make words that are none, begin them with `tmp`, or count behind a hyphen. What
/// else is in the path somebody has chosen.
fn chosen_parts(path: &str) -> Cow<'_, str> {
    TEMPORARY_WORD.replace_all(path, |found: &Captures<'_>| {
        let Some(word) = found.get(3).map(|word| word.as_str()) else {
            return found[1].to_owned();
        };
        let is_counted = !found[2].is_empty() && is_number(word);
        let is_named = word.starts_with("tmp") && word.len() >= 6;
        if is_counted || is_named || word.split('_').any(is_no_word) {
            format!("{}{MADE_UP_WORD}", &found[2])
        } else {
            found[0].to_owned()
        }
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether digits, small and capital letters change more often than in names.
fn is_no_word(word: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let pairs = word.as_bytes().windows(2);
    let changes = pairs.filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let in_names = if has_digit { 1 } else { word.len() / 2 };
    word.len() >= 6 && (is_number(word) || changes > in_names)
}

#[cfg(test)]
mod noise_tests;
