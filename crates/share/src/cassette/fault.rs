//! What is wrong with a line of a cassette.

use mcpreel_trace::frame::StreamId;
use std::fmt;

/// Below this likeness a suggestion is a guess that sends people the wrong way.
const ALIKE: f64 = 0.7;

/// Characters of what stands in a line that are kept to be quoted.
const QUOTED: usize = 40;

/// Something that is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the line, from 1.
    pub line: u64,
    pub kind: FaultKind,
}

/// What is wrong with a line. Text is as it stands in the file, not yet escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    Syntax {
        /// Where that begins, bytes from 1.
        column: usize,
        reason: &'static str,
    },
    /// It is JSON, but no object; passed over.
    NotObject,
    /// The file ends in the middle of it; passed over.
    Cut,
    /// It is too long to be held, and not in the form in which such lines are written; passed over.
    TooLong { bytes: u64 },
    /// It does not say in which direction its frame went; passed over.
    Direction { found: Option<String> },
    /// It has no bytes (`raw`, `b64` or `text`); passed over.
    NoBody { kind: Option<String> },
    /// Its `b64` is no base64; passed over.
    Coded,
    /// Its event is missing; passed over.
    NoEvent,
    /// Another cassette begins; it and what follows is passed over.
    Another,
    /// A start event that does not follow the header; passed over.
    Start,
    /// More bytes are missing than there can be: taken as fewer.
    Gap,
    /// Its event is of a kind that this version does not know; kept as a warning.
    Event,
    /// Its time is none, or beyond all times; taken for that of the line before.
    Time {
        key: &'static str,
        found: Option<String>,
    },
    /// Its first byte came after its last; taken for the same time.
    First,
    /// Its time lies before that of the frame before it on the same stream; taken for that one.
    Backwards { us: u64 },
    /// It says that the client had seen a frame of the server that does not stand before it; passed
    /// over.
    Seen(String),
    /// Its bytes are several lines: they become as many frames.
    SeveralLines,
    /// It has its bytes more than once; the first of `raw`, `b64`, `text` counts.
    Bodies,
    /// A key that this version does not know, told for the first line that has it; kept, and
    /// written again.
    Key(String),
    /// A key of an event, or of what is in it, that this version does not know, told for the first
    /// one that has it; it is dropped.
    EventKey(String),
    /// It has more of such keys than are kept, told for each line; they are passed over, the line
    /// is not.
    KeysTooLong,
    /// A kind that this version does not know, told for the first line that has it; its bytes are
    /// a frame like any other.
    Kind(String),
    /// Names of keys and kinds up to this line that are not known either, and not told one by one.
    MoreNames { count: usize, is_all: bool },
    /// A key of the header that this version does not know; kept, and written again.
    HeaderKey(String),
    /// A key of the header whose value is none that it may have; likewise.
    HeaderValue(String),
    /// The file ends without the line that says that it is whole.
    NoEnd,
}

impl FaultKind {
    /// How many remarks it stands for.
    pub fn times(&self) -> u64 {
        match self {
            Self::MoreNames { count, .. } => *count as u64,
            _ => 1,
        }
    }

    /// Whether something is missing in what was read.
    pub fn is_loss(&self) -> bool {
        matches!(
            self,
            Self::Syntax { .. }
                | Self::NotObject
                | Self::Cut
                | Self::TooLong { .. }
                | Self::Direction { .. }
                | Self::NoBody { .. }
                | Self::Coded
                | Self::NoEvent
                | Self::Another
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)?;
        let passed_over = "; the line is passed over";
        f.write_str(if self.kind.is_loss() { passed_over } else { "" })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { column, reason } => write!(f, "no JSON at column {column} ({reason})"),
            Self::NotObject => f.write_str("no object"),
            Self::Cut => f.write_str("the file ends in the middle of it: it was cut off"),
            Self::TooLong { bytes } => too_long(*bytes, f),
            Self::Direction { found } => direction(found.as_deref(), f),
            Self::NoBody { kind } => no_body(kind.as_deref(), f),
            Self::Coded => f.write_str("its `b64` is no base64"),
            Self::NoEvent => f.write_str("an event without an `event`"),
            Self::Another => f.write_str("another cassette begins, which is not read"),
            Self::Start => f.write_str("a start event that does not follow the header"),
            Self::Gap => f.write_str("more bytes are missing than there can be"),
            Self::Event => f.write_str("an event that is not known; kept as a warning"),
            Self::Time { key, found } => time(key, found.as_deref(), f),
            Self::First => f.write_str("its `t0` lies after its `t`; taken for the same"),
            Self::Backwards { us } => backwards(*us, f),
            Self::Seen(found) => write!(
                f,
                "its `seen` names no frame of the server before it: {found}; passed over"
            ),
            Self::SeveralLines => f.write_str("its bytes are several lines, each a frame"),
            Self::Bodies => f.write_str("more than one of `raw`, `b64` and `text`"),
            Self::Key(key) => write!(f, "the key `{key}` is not known; kept"),
            Self::EventKey(key) => write!(f, "the key `{key}` of its event is not known; dropped"),
            Self::KeysTooLong => f.write_str("its unknown keys are too long to be kept; dropped"),
            Self::Kind(kind) => write!(f, "the kind `{kind}` is not known"),
            Self::MoreNames { count, is_all } => more_names(*count, *is_all, f),
            Self::HeaderKey(key) => write!(f, "the header's `{key}` is not known; kept"),
            Self::HeaderValue(key) => {
                write!(f, "the header's `{key}` is not as it should be; kept")
            }
            Self::NoEnd => f.write_str("there is no line `\"k\":\"end\"`: the file may be cut off"),
        }
    }
}

fn too_long(bytes: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{bytes} bytes, which is too much for a line whose last key is not a whole `raw` or `b64`"
    )
}

fn no_body(kind: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("neither `raw` nor `b64` nor `text`")?;
    kind.map_or(Ok(()), |kind| write!(f, ", of the kind `{kind}`"))
}

fn time(key: &str, found: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match found {
        Some(found) => write!(f, "`{key}` is no number of microseconds: {found}")?,
        None => write!(f, "it has no `{key}`")?,
    }
    f.write_str("; taken for that of the line before")
}

fn backwards(us: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "it lies {us} µs before the frame before it on the same stream; taken for the time of that"
    )
}

fn more_names(count: usize, is_all: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let least = if is_all { "" } else { "at least " };
    let names = if count == 1 { "name" } else { "names" };
    write!(
        f,
        "up to here {least}{count} more {names} of keys and kinds not known"
    )
}

fn direction(found: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(found) = found else {
        return f.write_str("no direction (`d`)");
    };
    write!(f, "`d` is neither c2s nor s2c nor stderr but `{found}`")?;
    let names = StreamId::STDIO.map(StreamId::as_str);
    let found = found.to_lowercase();
    let likeness = |name: &&str| strsim::jaro_winkler(name, &found);
    let nearest = names
        .into_iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|name| likeness(name) >= ALIKE) {
        Some(name) => write!(f, ", did you mean {name}?"),
        None => Ok(()),
    }
}

/// The beginning of a text, to be quoted: what stands in a line may be as long as the line.
pub(super) fn quoted(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_where_and_what_and_what_was_probably_meant() {
        let fault = |kind| Fault { line: 7, kind }.to_string();
        let found = |text: &str| FaultKind::Direction {
            found: Some(text.into()),
        };
        assert_eq!(
            fault(found("S2C")),
            "line 7: `d` is neither c2s nor s2c nor stderr but `S2C`, did you mean s2c?; the line is passed over"
        );
        assert!(fault(found("std-err")).contains("did you mean stderr?"));
        assert!(!fault(found("")).contains("mean"));
        assert!(!fault(found("x")).contains("mean"));
        assert_eq!(quoted(&"é".repeat(1000)).chars().count(), QUOTED);
        let more = |count, is_all| fault(FaultKind::MoreNames { count, is_all });
        let said = "line 7: up to here 1 more name of keys and kinds not known";
        assert_eq!(more(1, true), said);
        assert!(more(992, false).contains("up to here at least 992 more names"));
        assert_eq!(
            fault(FaultKind::Backwards { us: 3 }),
            "line 7: it lies 3 µs before the frame before it on the same stream; taken for the time of that"
        );
    }
}
