//! The language as data, for the help of the viewer and of the commands. Fields, flags, roots and
//! operators say themselves what they are, in their `HELP`.

/// A part of the language: something to write and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub text: &'static str,
    /// The meaning, without a full stop.
    pub help: &'static str,
}

pub(crate) const fn entry(text: &'static str, help: &'static str) -> Entry {
    Entry { text, help }
}

/// The forms of conditions, and how they are joined.
pub const CONDITIONS: &[Entry] = &[
    entry("is:failed", "a flag"),
    entry(
        "has:latency",
        "whether a field, or a place in a body, is there",
    ),
    entry(
        "latency>500ms",
        "a field, an operator and a value, nothing between",
    ),
    entry(
        "params.arguments.q:rust",
        "a place in a body; [0] one element, [*] any",
    ),
    entry(
        "rust",
        "a word: anywhere in summary or bodies; a capital makes case count",
    ),
    entry(
        "\"two words\"",
        "a string; inside of it \\\" is a quote and \\\\ a backslash",
    ),
    entry("a b", "both, also a AND b"),
    entry("a OR b", "one of them; binds weaker than AND"),
    entry("-a", "not this, also NOT a"),
    entry("(a OR b) c", "parentheses; AND OR NOT in capitals only"),
];

pub const VALUES: &[Entry] = &[
    entry("200..299", "a range, both ends included"),
    entry(
        "500ms",
        "a duration: ns us ms s m h; latency:842ms is up to 843ms, = is exact",
    ),
    entry(
        "1MB",
        "a size: B, kB MB GB by thousands, KiB MiB GiB by 1024",
    ),
    entry(
        "12:04",
        "a time since the start: minutes and seconds, 1:02:04.5 with hours, 90s",
    ),
    entry(
        "-5m",
        "a time before the end of the recording, in a live one before now: time>-5m",
    ),
    entry(
        "id:\"7\"",
        "an id or JSON value that is text: id:7 is another one",
    ),
];

/// A warning about fields that a row does not have.
pub const TRAP: &str = "Where a field is absent, a positive test is false and its denial true: \
latency<1s leaves out what was never answered, latency!=1s and -latency<1s do not. \
has:latency asks whether it is there.";

/// Filters that one may want, ready to be used.
pub const EXAMPLES: &[Entry] = &[
    entry("is:failed", "error, tool-error, lost and unanswered"),
    entry(
        "method:tools/call tool:search latency>500ms",
        "slow calls of one tool",
    ),
    entry("dir:s2c kind:request", "what the server asks its client"),
    entry(
        "params.arguments.path~\"^/etc/\"",
        "by a pattern in the arguments",
    ),
    entry(
        "-method:notifications/progress -kind:stderr",
        "without the noise",
    ),
    entry("res.content[*].type=image size>1MB", "large pictures"),
    entry(
        "is:open -is:waiting",
        "what the server has not answered and nobody holds it up",
    ),
    entry("time>-5m is:failed", "what failed in the last five minutes"),
    entry(
        "code:-32602 OR status:tool-error",
        "calls that were made wrongly",
    ),
];
