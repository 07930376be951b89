//! What differs between any two runs of the same session.

mod clock;
mod measured;
mod temporary;

use super::rewrite::Rewrites;
use mcpreel_wire::json::{Kind, Value};
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

/// Those among them that may as well be missing.
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

/// Who a side is, wherever it says so: another version is worth a word, and what an upgrade is.
const VERSIONS: &[&[&str]] = &[
    &["result", "_meta", keys::SERVER_INFO, "version"],
    &["result", "serverInfo", "version"],
    &["params", "_meta", keys::CLIENT_INFO, "version"],
    &["params", "clientInfo", "version"],
];

/// Two values at the same place of two messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    /// The members on the way, elements left out.
    pub(super) names: &'a [Box<str>],
    /// When the two messages were sent.
    pub(super) wall_ns: [Option<u64>; 2],
    /// Paths of the left side that stand for others on the right.
    pub(super) rewrites: &'a Rewrites,
}

impl Beside<'_> {
    /// Whether the values differ only as two runs do.
    pub(super) fn is_noise(&self, left: Value<'_>, right: Value<'_>) -> bool {
        if let [only] = self.names
            && &**only == "id"
        {
            return true;
        }
        if left.kind() != right.kind() {
            return false;
        }
        if is_made_up(self.names) || is_version(self.names) {
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
        match self.names.last().map(AsRef::as_ref) {
            Some("pid") => return numbers.iter().all(Option::is_some),
            Some("port") if numbers.iter().all(ports) => return true,
            // What a client asks for by such a name is a choice, and what a server answers is not.
            Some(name) if self.is_of_an_answer() && measured::is_duration(name) => return true,
            _ => {}
        }
        let [Some(a), Some(b)] = self.wall_ns else {
            return false;
        };
        match [a, b].map(|wall_ns| wall_ns >= FIRST_DATE) {
            [true, true] => is_this_day(left, a) && is_this_day(right, b),
            [false, true] => is_of_a_day_before(left, right, b),
            [true, false] => is_of_a_day_before(right, left, a),
            [false, false] => false,
        }
    }

    fn is_of_an_answer(&self) -> bool {
        self.names.first().is_some_and(|first| &**first != "params")
    }
}

/// Whether one side makes up the value of the member at the place `names` anew in each session.
pub(super) fn is_made_up(names: &[Box<str>]) -> bool {
    is_named(names, MADE_UP)
}

/// Whether the member at the place `names` may as well be missing.
pub(super) fn may_be_missing(names: &[Box<str>]) -> bool {
    is_named(names, OPTIONAL)
}

/// Whether the member at the place `names` holds bytes in base64.
pub(super) fn is_coded(names: &[Box<str>]) -> bool {
    is_named(names, CODED)
}

fn is_named(names: &[Box<str>], list: &[&str]) -> bool {
    let Some((name, above)) = names.split_last() else {
        return false;
    };
    let in_payload = above.iter().any(|name| PAYLOADS.contains(&&**name));
    list.contains(&&**name) && !in_payload
}

fn is_version(names: &[Box<str>]) -> bool {
    let names = names.iter().map(AsRef::as_ref);
    VERSIONS
        .iter()
        .any(|version| names.clone().eq(version.iter().copied()))
}

/// Whether a number means a moment of the day around `wall_ns`, in seconds or in thousandths,
/// millionths or billionths of them. Where the date is not known, as of a cassette, none does.
pub(super) fn is_this_day(value: Value<'_>, wall_ns: u64) -> bool {
    wall_ns >= FIRST_DATE && UNITS.iter().any(|unit| is_near(value, *unit, wall_ns))
}

/// Whether a number of a session whose date is not known may be a moment, in the unit in which
/// `dated` means one of the day around `wall_ns`: not later than that, and of a time in which there
/// were sessions. Of amounts of as many digits hardly any lies so near to the clock.
fn is_of_a_day_before(undated: Value<'_>, dated: Value<'_>, wall_ns: u64) -> bool {
    let unit = UNITS.iter().find(|unit| is_near(dated, **unit, wall_ns));
    let both = unit.and_then(|unit| moment(undated, *unit).zip(moment(dated, *unit)));
    both.is_some_and(|(then, now)| (FIRST_SESSION..=now).contains(&then))
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
    Regex::new(&[others, "|", &clock::pattern()].concat())
        .expect("the pattern is a constant, and the tests use it")
});

/// A text with a word in place of every id, moment, time of day, duration, local port, process id and name of a
/// temporary file that was made up; the text itself where it is too long to look for them.
pub(super) fn shape(text: &str) -> Cow<'_, str> {
    if text.len() > MAX_TEXT {
        return Cow::Borrowed(text);
    }
    let names = [
        "uuid",
        "time",
        "date",
        "port",
        "temporary",
        "pid",
        "duration",
        "clock",
    ];
    VOLATILE.replace_all(text, |found: &Captures<'_>| {
        if found.name("clock").is_some() && !clock::is_one(text, found) {
            return found[0].to_owned();
        }
        let name = names.iter().find(|name| found.name(name).is_some());
        let before = found.name("before").map_or("", |before| before.as_str());
        match found.name("temporary") {
            Some(path) => [before, &temporary::chosen_parts(path.as_str())].concat(),
            None => format!("{before}\u{0}{}\u{0}", name.copied().unwrap_or_default()),
        }
    })
}

#[cfg(test)]
mod tests;
