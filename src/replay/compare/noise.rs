//! What differs between any two runs of the same session.

use crate::protocol::json::{Kind, Value};
use crate::protocol::mcp::keys;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Texts longer than this are compared as they are: the pattern reads them several times.
const MAX_TEXT: usize = 64 * 1024;

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

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

/// Members below which names are not the protocol's: a tool may call an argument `cursor`.
const PAYLOADS: &[&str] = &["arguments", "structuredContent", "data"];

/// Whether the values at the place `names` (the members on the way, elements left out) differ
/// only as two runs do. `wall_ns` is when the two messages were sent.
pub(super) fn is_noise(
    names: &[Box<str>],
    left: Value<'_>,
    right: Value<'_>,
    wall_ns: [Option<u64>; 2],
) -> bool {
    if let [only] = names
        && &**only == "id"
    {
        return true;
    }
    if left.kind() != right.kind() {
        return false;
    }
    if is_named(names, MADE_UP) || is_server_version(names) {
        return true;
    }
    match left.kind() {
        Kind::String => same_shape(&left.raw_text(), &right.raw_text()),
        Kind::Number => match wall_ns {
            [Some(a), Some(b)] => is_this_day(left, a) && is_this_day(right, b),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the member at the place `names` may as well be missing.
pub(super) fn may_be_missing(names: &[Box<str>]) -> bool {
    is_named(names, OPTIONAL)
}

fn is_named(names: &[Box<str>], list: &[&str]) -> bool {
    let Some((name, above)) = names.split_last() else {
        return false;
    };
    let in_payload = above.iter().any(|name| PAYLOADS.contains(&&**name));
    list.contains(&&**name) && !in_payload
}

fn is_server_version(names: &[Box<str>]) -> bool {
    matches!(names, [.., info, version] if &**info == keys::SERVER_INFO && &**version == "version")
}

/// Whether a number means a moment of the day around `wall_ns`, in seconds or in thousandths,
/// millionths or billionths of them.
fn is_this_day(value: Value<'_>, wall_ns: u64) -> bool {
    let number = value.number().and_then(|number| number.to_i64());
    let Some(number) = number.and_then(|number| u64::try_from(number).ok()) else {
        return false;
    };
    let units = [1_000_000_000_u64, 1_000_000, 1_000, 1];
    let moments = units.iter().filter_map(|unit| number.checked_mul(*unit));
    moments
        .into_iter()
        .any(|moment| moment.abs_diff(wall_ns) < DAY)
}

static VOLATILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
        r"|(?P<time>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
        r"|(?P<port>(?:localhost|127\.0\.0\.1|\[::1\]):\d+)",
        r"|(?P<temporary>(?:/private)?/(?:tmp|var/folders)/[^\s\x22',;)]+)",
        r"|(?P<pid>\bpid[ =:]{1,2}\d+)",
        r"|(?P<duration>\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds|min|minutes)\b)",
    ))
    .expect("the pattern is a constant, and the tests use it")
});

/// Whether two texts are the same but for ids, moments, durations, ports, process ids and
/// temporary files.
pub(super) fn same_shape(left: &str, right: &str) -> bool {
    left.len().max(right.len()) <= MAX_TEXT && shape(left) == shape(right)
}

/// A text with ids, moments, durations, ports, process ids and temporary files reduced to what
/// they are; one that is too long for that as it stands.
pub(in crate::replay) fn shape(text: &str) -> Cow<'_, str> {
    if text.len() > MAX_TEXT {
        return Cow::Borrowed(text);
    }
    let names = ["uuid", "time", "port", "temporary", "pid", "duration"];
    VOLATILE.replace_all(text, |found: &Captures<'_>| {
        let name = names.iter().find(|name| found.name(name).is_some());
        format!("\u{0}{}\u{0}", name.copied().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_runs_never_share_has_one_shape() {
        for (a, b) in [
            (
                "started 2026-11-20T15:17:03.123Z",
                "started 2026-11-21T09:00:00+01:00",
            ),
            (
                "id 6fa459ea-ee8a-3ca4-894e-db77e160355e.",
                "id 16fd2706-8baf-433b-82eb-8c7fada847da.",
            ),
            ("took 842 ms", "took 1.2s"),
            ("http://localhost:8123/x", "http://localhost:9/x"),
            ("wrote /tmp/a1b2/out.txt", "wrote /tmp/zz/out.txt"),
            ("pid 4711", "pid 12"),
        ] {
            assert!(same_shape(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("12 rows", "13 rows"),
            ("2026-11-20", "2026-11-21"),
            ("took 842 ms", "took long"),
            ("/home/a", "/home/b"),
            ("pid 4711", "took 5 s"),
        ] {
            assert!(!same_shape(a, b), "{a} {b}");
        }
    }
}
